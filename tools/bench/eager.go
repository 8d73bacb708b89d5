package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// sizes are how many elements the largest tensor of a row gets: the first for which one call of the program that whittle is compared with takes no longer than tooLong.
var sizes = []int64{1 << 20, 1 << 16, 1 << 12}

const (
	tooLong = 0.1              // seconds
	patient = 10 * time.Second // what answers no sooner is as one that died
	trying  = 5 * time.Second  // the same while rows are looked for
	tried   = 4                // records of an operator that are tried until one can be made larger
)

const noAnswer = "no answer"

// A request is one line to a worker: a row of the registry, or by its name one of rows.py.
type request struct {
	Row        string                     `json:"row"`
	Call       string                     `json:"call,omitempty"`
	Args       []json.RawMessage          `json:"args,omitempty"`
	Kwargs     map[string]json.RawMessage `json:"kwargs"`
	K          int64                      `json:"k"`
	Transposed bool                       `json:"transposed"`
	First      bool                       `json:"first"`  // only the time of the first call is wanted
	Budget     float64                    `json:"budget"` // seconds to repeat it for
}

// A reply is what a worker says to it.
type reply struct {
	First   float64
	Seconds []float64
	Rows    []string // to a request that names no row
	Error   string
}

// A worker is a process that is asked for one row after another, and started anew when it dies.
type worker struct {
	ctx     context.Context
	command []string
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan []byte
	errs    bytes.Buffer
}

func (w *worker) start() error {
	w.cmd = exec.CommandContext(w.ctx, w.command[0], w.command[1:]...)
	w.errs.Reset()
	w.cmd.Stderr = &w.errs
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	w.in, w.lines = in, make(chan []byte)
	go func(lines chan []byte) {
		defer close(lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}(w.lines)
	return w.cmd.Start()
}

func (w *worker) stop() {
	if w.cmd == nil {
		return
	}
	w.in.Close()
	_ = w.cmd.Process.Kill()
	for range w.lines {
	}
	_ = w.cmd.Wait()
	w.cmd = nil
}

// ask is the worker's answer. What it fails by is in the answer's Error; the error is for what no worker can help.
func (w *worker) ask(q request, patient time.Duration) (reply, error) {
	if w.cmd == nil {
		if err := w.start(); err != nil {
			return reply{}, err
		}
	}
	line, err := json.Marshal(q)
	if err != nil {
		return reply{}, err
	}
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		said := lastLine(w.errs.String())
		w.stop()
		return reply{Error: "the worker is gone: " + said}, nil
	}
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				_ = w.cmd.Wait()
				said := lastLine(w.errs.String())
				w.cmd = nil
				if w.ctx.Err() != nil {
					return reply{}, w.ctx.Err()
				}
				return reply{Error: "the worker died: " + said}, nil
			}
			var r reply
			if json.Unmarshal(line, &r) == nil && (r.Error != "" || r.First > 0 || len(r.Seconds) > 0 || r.Rows != nil) {
				return r, nil
			}
		case <-time.After(patient):
			w.stop()
			return reply{Error: noAnswer, First: patient.Seconds()}, nil
		}
	}
}

// planned asks the program that whittle is compared with which rows there are: of each operator the first record that can be made larger, at the first
// size that does not take too long, contiguous and transposed; then those of rows.py.
func planned(w *worker, ops [][]*record, match func(string) bool) (rows []request, out []string, err error) {
	for _, recs := range ops {
		if !match(recs[0].name()) {
			continue
		}
		row, why, err := plannedOf(w, recs)
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			out = append(out, recs[0].name()+": "+why)
			continue
		}
		rows = append(rows, row)
		row.Transposed = true
		row.Row += ", transposed"
		rows = append(rows, row)
	}
	own, err := w.ask(request{}, patient)
	for _, n := range own.Rows {
		if match(n) {
			rows = append(rows, request{Row: n})
		}
	}
	return rows, out, err
}

func plannedOf(w *worker, recs []*record) (row request, why string, err error) {
	for _, r := range recs[:min(len(recs), tried)] {
		for _, n := range sizes {
			row = request{Row: r.name(), Call: r.Call, Args: r.Args, Kwargs: r.Kwargs, K: r.scale(n)}
			if row.Args == nil {
				row.Args = []json.RawMessage{}
			}
			if row.Kwargs == nil {
				row.Kwargs = map[string]json.RawMessage{}
			}
			q := row
			q.First = true
			a, err := w.ask(q, trying)
			if err != nil {
				return row, "", err
			}
			if a.Error == "" && a.First <= tooLong {
				return row, "", nil
			}
			why = a.Error
			if a.Error == "" {
				why = "takes too long"
			}
			if a.Error != "" && a.First == 0 { // another size will not help
				break
			}
		}
		if why == "takes too long" || why == noAnswer {
			break
		}
	}
	return row, why, nil
}

// remembered is what make gives, or what it gave when the file, if any is named, was written: to look for rows takes minutes.
func remembered(file string, make func() ([]request, []string, error)) (rows []request, out []string, err error) {
	type plan struct {
		Rows []request
		Out  []string
	}
	if b, err := os.ReadFile(file); file != "" && err == nil {
		var p plan
		err = json.Unmarshal(b, &p)
		return p.Rows, p.Out, err
	}
	if rows, out, err = make(); err != nil || file == "" {
		return rows, out, err
	}
	b, err := json.Marshal(plan{rows, out})
	if err != nil {
		return nil, nil, err
	}
	return rows, out, os.WriteFile(file, b, 0o666)
}

// eager runs the rows in turns. What is known of each so far goes to progress, where there is one.
func eager(ctx context.Context, ours, theirs []string, dir, plan, into string, rounds int, budget float64, match func(string) bool, report, progress io.Writer) error {
	var ops [][]*record
	if dir != "" {
		var err error
		if ops, err = records(dir); err != nil {
			return err
		}
	}
	text, err := script("eager", "")
	if err != nil {
		return err
	}
	file, err := kept(text)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	us := &worker{ctx: ctx, command: append(slices.Clone(ours), file)}
	them := &worker{ctx: ctx, command: append(slices.Clone(theirs), "-c", text)}
	defer us.stop()
	defer them.stop()
	rows, out, err := remembered(plan, func() ([]request, []string, error) { return planned(them, ops, match) })
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(q request) bool { return !match(q.Row) })
	if len(rows) == 0 {
		return errors.New("no rows: " + strings.Join(out, "; "))
	}
	fmt.Fprintf(report, "%d rows; %d operators are left out\n", len(rows), len(out))
	for _, o := range out {
		fmt.Fprintln(report, "left out:", o)
	}
	ts := make([]timing, len(rows))
	for round := range rounds {
		for i, q := range rows {
			t := &ts[i]
			t.row, q.Budget = q.Row, budget
			for turn := range 2 {
				w, to := us, &t.ours
				if (round+turn)%2 == 0 {
					w, to = them, &t.theirs
				}
				if t.failed != "" {
					continue
				}
				a, err := w.ask(q, patient)
				if err != nil {
					return err
				}
				if a.Error != "" {
					t.failed, t.gone = a.Error, w == them
				}
				*to = append(*to, a.Seconds)
			}
			if progress != nil && t.failed == "" {
				f := t.figures()
				fmt.Fprintf(progress, "%d/%d %s: %.4f ms, %.4f ms, %.3f\n", round+1, rounds, t.row, 1e3*f.ours, 1e3*f.theirs, f.best)
			}
		}
	}
	fmt.Fprint(report, turns(ts, "torch"))
	if into == "" {
		return nil
	}
	b, err := figuresOf(ts, out)
	if err != nil {
		return err
	}
	return os.WriteFile(into, b, 0o666)
}

// figuresOf is the figures of rows, and what is left out, as JSON. Times are in seconds.
func figuresOf(ts []timing, out []string) ([]byte, error) {
	type row struct {
		Row     string  `json:"row"`
		Whittle float64 `json:"whittle,omitempty"`
		Torch   float64 `json:"torch,omitempty"`
		Best    float64 `json:"best,omitempty"`
		Median  float64 `json:"median,omitempty"`
		Low     float64 `json:"low,omitempty"`
		High    float64 `json:"high,omitempty"`
		Failed  string  `json:"failed,omitempty"`
	}
	all := struct {
		Rows    []row    `json:"rows"`
		LeftOut []string `json:"left_out"`
	}{[]row{}, out}
	for i := range ts {
		r := row{Row: ts[i].row, Failed: ts[i].failed}
		if r.Failed == "" {
			f := ts[i].figures()
			r.Whittle, r.Torch, r.Best, r.Median, r.Low, r.High = f.ours, f.theirs, f.best, f.median, f.low, f.high
		}
		all.Rows = append(all.Rows, r)
	}
	return json.MarshalIndent(all, "", "\t")
}
