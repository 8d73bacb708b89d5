package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"whittle/accuracy"
	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/repros/torch"
	"whittle/tools/whittle/exec"
	"whittle/tools/whittle/nightly"
	"whittle/tools/whittle/reduce"
)

// nightLab measures for the bot: by commands, in a real PyTorch, and in whittle's own stack.
type nightLab struct {
	a        *app
	st       *replay.Store
	commands nightly.Command
	engines  *versionEngines

	mu    sync.Mutex
	torch map[string][]string // commands that were started, by their keys
}

var (
	_ nightly.Diverger = (*nightLab)(nil)
	_ nightly.Coder    = (*nightLab)(nil)
)

func (a *app) nightLab(c *nightly.Config, st *replay.Store, jobs int) *nightLab {
	l := &nightLab{a: a, st: st, commands: nightly.Command{Dir: c.Dir()}, torch: map[string][]string{}}
	l.engines = &versionEngines{most: max(jobs, 2), open: map[string]*versionEngine{}, options: func(key string) minifyOptions {
		l.mu.Lock()
		defer l.mu.Unlock()
		// A limit that is learned from other cases would take a busy machine for a hang.
		return minifyOptions{engine: "torch", python: l.torch[key], timeout: c.Limits.Measurement(), memory: defaultText(c.Limits.Memory, "0"), noKeep: true}
	}}
	return l
}

func defaultText(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// Start implements nightly.Lab.
func (l *nightLab) Start(ctx context.Context, e nightly.Engine) (string, error) {
	switch {
	case e.Native:
		return fingerprint(), nil
	case len(e.Command) > 0:
		return l.commands.Start(ctx, e)
	}
	l.mu.Lock()
	l.torch[torchKey(e)] = e.Torch
	l.mu.Unlock()
	x := l.engines.take(torchKey(e))
	defer l.engines.release(x)
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := l.startTorch(ctx, x, e); err != nil {
		return "", err
	}
	return x.g.client.Fingerprint(), nil
}

// torchKey tells the Pythons of engines apart. A commit that was built twice has two.
func torchKey(e nightly.Engine) string {
	return strings.Join(append([]string{e.Version}, e.Torch...), "\x00")
}

// startTorch starts the Python of a version, if it does not run. The caller holds x.mu.
func (l *nightLab) startTorch(ctx context.Context, x *versionEngine, e nightly.Engine) error {
	if x.g.client != nil {
		return nil
	}
	var memory int64
	if m := x.g.o.memory; m != "0" {
		var err error
		if memory, err = parseBytes(m); err != nil {
			return err
		}
	}
	return x.g.start(ctx, e.Torch, memory)
}

// Measure implements nightly.Lab.
func (l *nightLab) Measure(ctx context.Context, q nightly.Question) (nightly.Measurement, error) {
	if len(q.Engine.Command) > 0 {
		return l.commands.Measure(ctx, q)
	}
	limited, cancel := context.WithTimeout(ctx, q.Time)
	defer cancel()
	var m nightly.Measurement
	var err error
	switch {
	case q.Case.Repro:
		m, err = l.repro(limited, q)
	case q.Engine.Native:
		return m, errors.New("programs are measured in a real PyTorch or by a command, and not in whittle's own stack")
	default:
		m, err = l.program(limited, q)
	}
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return nightly.Measurement{Outcome: replay.Outcome{Status: replay.Timeout, Signature: replay.Signature{Type: "timeout"}, Message: fmt.Sprintf("ran longer than %v", q.Time)}}, nil
	}
	return m, err
}

// read reads a case's repro in its mode.
func readCase(q nightly.Question) (*repros.Repro, string, error) {
	r, err := repros.Read("repro.py", q.Case.Text)
	if err == nil {
		err = r.Complete()
	}
	if err != nil {
		return nil, "", err
	}
	q.Mode.Apply(r)
	if reduce.NeedsBackend(r) {
		return nil, "", fmt.Errorf("backend %s is not PyTorch's own, and the repro does not define it", r.Backend)
	}
	dir := ""
	if q.Case.Path != "" {
		dir = filepath.Dir(q.Case.Path)
	}
	return r, dir, nil
}

// with calls f with the engine that a question is for.
func (l *nightLab) with(ctx context.Context, q nightly.Question, r *repros.Repro, f func(e engine.Engine) error) error {
	if q.Engine.Native {
		e, err := nativeEngine(r, 0, 0)
		if err != nil {
			return err
		}
		return errors.Join(f(e), e.Close())
	}
	x := l.engines.take(torchKey(q.Engine))
	defer l.engines.release(x)
	x.mu.Lock()
	err := l.startTorch(ctx, x, q.Engine)
	x.mu.Unlock()
	if err != nil {
		return err
	}
	return f(torch.New(x.g.client))
}

// repro measures a repro.
func (l *nightLab) repro(ctx context.Context, q nightly.Question) (nightly.Measurement, error) {
	var m nightly.Measurement
	r, dir, err := readCase(q)
	if err != nil {
		return nightly.Measurement{Outcome: replay.Outcome{Status: replay.Invalid, Message: err.Error()}}, nil
	}
	err = l.with(ctx, q, r, func(e engine.Engine) error {
		s, err := e.Load(ctx, r, dir)
		if err != nil {
			return err
		}
		if m.Outcome, err = e.Run(ctx, r, minify.Candidate{State: s, Reduction: "nightly", Attempt: q.Attempt, Fresh: q.Attempt > 0}); err != nil {
			return err
		}
		m.Outcome.Marks, m.Outcome.Duration = nil, 0
		t, ok := e.(*torch.Engine)
		if !ok || !q.Figures || m.Outcome.Status != replay.Pass {
			return nil
		}
		m.Figures, err = t.Measure(ctx, r, dir, q.Repeats)
		if err != nil && ctx.Err() == nil { // there are graphs that run, and cannot be measured: that is no failure of theirs
			m.Outcome.Detail, err = err.Error(), nil
		}
		return err
	})
	return m, err
}

// Minimise implements nightly.Lab.
func (l *nightLab) Minimise(ctx context.Context, q nightly.Question, want replay.Signature, dir string) (nightly.Minimal, error) {
	var m nightly.Minimal
	if len(q.Engine.Command) > 0 {
		return l.commands.Minimise(ctx, q, want, dir)
	}
	r, from, err := readCase(q)
	if err != nil {
		return m, err
	}
	err = l.with(ctx, q, r, func(e engine.Engine) error {
		rep, err := reduce.Run(ctx, reduce.Options{Engine: e, Repro: r, Dir: from, Want: want, Workers: max(l.a.workers, 1), Confirm: 1, Deadline: time.Now().Add(q.Time), Store: l.st})
		if err != nil {
			return err
		}
		rep.Final.Head[0] += " " + Version
		if rep.ID > 0 {
			if err := l.st.PutResult(context.WithoutCancel(ctx), rep.ID, rep.Stored(e.Name(), q.Case.Name, append([]string{"whittle: " + Version}, e.About()...))); err != nil {
				return err
			}
		}
		m = nightly.Minimal{Calls: rep.Cost.Calls, Minification: rep.ID, Rate: rep.Rate, FalseRate: rep.FalseRate}
		if !rep.Complete {
			m.Unfinished = defaultText(rep.Stopped, "stopped")
		}
		m.Repro = rep.Text
		m.Path, err = rep.WriteFiles(filepath.Join(dir, "repro.py"), "minimal", r.Module.Hash(), rep.Signature.String())
		return err
	})
	return m, err
}

// Diverge implements nightly.Diverger.
func (l *nightLab) Diverge(ctx context.Context, q nightly.Question, inside bool) (*nightly.Divergence, error) {
	if len(q.Engine.Command) > 0 {
		return l.commands.Diverge(ctx, q, inside)
	}
	if !q.Case.Repro {
		return nil, errors.New("a program has many graphs")
	}
	ctx, cancel := context.WithTimeout(ctx, q.Time)
	defer cancel()
	r, dir, err := readCase(q)
	if err != nil {
		return nil, err
	}
	o, err := compareOptions(q.Case.Path, r)
	if err != nil {
		return nil, err
	}
	if inside {
		o = o.Strict(0)
	}
	var rows []accuracy.Row
	err = l.with(ctx, q, r, func(e engine.Engine) error {
		d, ok := e.(divergeEngine)
		if !ok {
			d = nativeDiverge{}
		}
		rows, err = d.Diverge(ctx, r, dir, o)
		return err
	})
	if i := slices.IndexFunc(rows, func(x accuracy.Row) bool { return x.First }); err == nil && i >= 0 {
		return &nightly.Divergence{Node: rows[i].Node, Target: rows[i].Target}, nil
	}
	return nil, err
}

// Code implements nightly.Coder.
func (l *nightLab) Code(ctx context.Context, q nightly.Question) (files map[string][]byte, err error) {
	if len(q.Engine.Command) > 0 || !q.Case.Repro {
		return nil, errors.New("the engine is a command, or the case a program")
	}
	ctx, cancel := context.WithTimeout(ctx, q.Time)
	defer cancel()
	r, dir, err := readCase(q)
	if err != nil {
		return nil, err
	}
	err = l.with(ctx, q, r, func(e engine.Engine) error {
		files, err = codeOf(ctx, e, r, dir, nil)
		return err
	})
	return files, err
}

// close ends the engines.
func (l *nightLab) close() { l.engines.close() }

// programArg is the hidden subcommand of the process that runs a program for the bot: it can be ended with all that the program started.
const programArg = "__program"

// programOrder is what it is told, as its one argument.
type programOrder struct {
	Args   []string `json:"args"`
	Out    string   `json:"out"`    // what is found goes to its folder "found"
	Report string   `json:"report"` // file for a programReport
	Eager  bool     `json:"eager"`
}

// programReport is what it leaves.
type programReport struct {
	Status    int              `json:"status"`
	Error     string           `json:"error,omitempty"`
	Found     bool             `json:"found,omitempty"`
	Signature replay.Signature `json:"signature,omitzero"`
	Message   string           `json:"message,omitempty"`
	Repro     string           `json:"repro,omitempty"`
	Kind      exec.Kind        `json:"kind,omitempty"`
}

// runProgram is the hidden subcommand __program ORDER.
func runProgram(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var o programOrder
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &o) != nil {
		fmt.Fprintf(stderr, "whittle: %s is not for people: use whittle exec\n", programArg)
		return 2
	}
	opt := exec.Options{Args: o.Args, Stdin: stdin, Stdout: stdout, Stderr: stderr, Out: func(exec.Found) string { return filepath.Join(o.Out, "found") }}
	if o.Eager {
		opt.Env = append(os.Environ(), "TORCHDYNAMO_DISABLE=1")
	}
	res, err := exec.Run(context.Background(), opt)
	r := programReport{Status: res.Status}
	if err != nil {
		r.Error = err.Error()
	}
	if len(res.Found) > 0 {
		f := res.Found[0]
		r.Found, r.Signature, r.Kind, r.Message = true, f.Signature(), f.Kind, strings.TrimSpace(f.Title()+"\n\n"+f.Traceback)
		if fault := f.Machine(); fault != nil {
			r.Error = fault.Error()
		}
		if f.Path != "" && f.Problem == "" {
			if b, err := os.ReadFile(f.Path); err == nil {
				r.Repro = string(b)
			}
		}
	}
	b, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(o.Report, b, 0o666)
	}
	if err != nil {
		fmt.Fprintln(stderr, "whittle:", err)
		return 2
	}
	return 0
}

// programRun is how a program ended.
type programRun struct {
	programReport
	printed string
	figures map[string][]float64
	said    string // the end of its standard error
}

// program measures a program: compiled, and where that ends well, in eager twice, so that what it prints can be compared with what may vary.
func (l *nightLab) program(ctx context.Context, q nightly.Question) (nightly.Measurement, error) {
	var m nightly.Measurement
	run, err := l.runProgram(ctx, q, false)
	if err != nil {
		return m, err
	}
	switch {
	case run.Error != "":
		return m, errors.New(run.Error)
	case run.Found:
		m.Outcome = replay.Outcome{Status: replay.Failed, Signature: run.Signature, Message: run.Message}
		switch {
		case run.Kind == exec.Crash:
			m.Outcome.Status = replay.Killed
		case run.Kind == exec.Hang:
			m.Outcome.Status = replay.Timeout
		}
		m.Repro = run.Repro
		return m, nil
	}
	eager, err := l.runProgram(ctx, q, true)
	if err != nil {
		return m, err
	}
	switch {
	case eager.Status != 0:
		m.Outcome = replay.Outcome{Status: replay.Invalid, Message: fmt.Sprintf("exit status %d in eager: %s", eager.Status, eager.said)}
		return m, nil
	case run.Status != 0:
		typ, text, _ := strings.Cut(run.said, ": ")
		m.Outcome = replay.Outcome{Status: replay.Failed, Signature: replay.NewSignature("run", typ, text, nil, nil), Message: run.said}
		return m, nil
	}
	m.Outcome, m.Figures = replay.Outcome{Status: replay.Pass}, run.figures
	if nightly.SameOutput(eager.printed, run.printed) {
		return m, nil
	}
	again, err := l.runProgram(ctx, q, true)
	if err != nil {
		return m, err
	}
	if again.Status == 0 && nightly.SameOutput(eager.printed, again.printed) {
		m.Outcome = replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "accuracy", Type: "output", Message: "the program prints something else than in eager"},
			Message: "in eager:\n" + eager.printed + "\n\ncompiled:\n" + run.printed}
	}
	return m, nil
}

// runProgram runs a program once, in a process group of its own.
func (l *nightLab) runProgram(ctx context.Context, q nightly.Question, eager bool) (programRun, error) {
	var p programRun
	folder, err := nightly.NewFolder()
	if err != nil {
		return p, err
	}
	defer folder.Close()
	dir := folder.Path
	nonce := rand.Text()
	script, err := nightly.ProgramScript(q.Case.Text, q.Mode, nonce)
	if err != nil {
		return p, err
	}
	out := dir // what is found has to outlive this
	if q.Dir != "" && !eager {
		if out = q.Dir; os.MkdirAll(out, 0o777) != nil {
			out = dir
		}
	}
	order, err := json.Marshal(programOrder{Args: append(append([]string{}, q.Engine.Torch...), "-"), Out: out, Report: filepath.Join(dir, "report.json"), Eager: eager})
	if err != nil {
		return p, err
	}
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	var files [3]*os.File
	for i, name := range []string{"stdin", "stdout", "stderr"} {
		if files[i], err = os.Create(filepath.Join(dir, name)); err != nil {
			return p, err
		}
		defer files[i].Close()
	}
	if _, err = files[0].WriteString(script); err == nil {
		_, err = files[0].Seek(0, io.SeekStart)
	}
	if err != nil {
		return p, err
	}
	cmd := osexec.Command(self, programArg, string(order))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[2]
	cmd.ExtraFiles = []*os.File{folder.Lock} // it uses the folder even where this process is killed
	g, err := engine.StartGroup(cmd)
	if err != nil {
		return p, err
	}
	for !g.Ends(20*time.Millisecond) && ctx.Err() == nil {
	}
	state := g.Reap()
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	said, _ := os.ReadFile(files[2].Name())
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	p.said = lines[len(lines)-1]
	for up := range 3 { // where nothing was found, the folders that were made for it are empty; others stay
		_ = os.Remove(filepath.Join(out, strings.Repeat("../", up)))
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil || json.Unmarshal(bytes.TrimSpace(b), &p.programReport) != nil {
		return p, fmt.Errorf("the process that was to run the program: %s: %s", state, p.said)
	}
	printed, err := os.ReadFile(files[1].Name())
	if err != nil {
		return p, err
	}
	p.printed, p.figures, err = nightly.ProgramOutput(printed, nonce)
	if err != nil && p.Status == 0 && !p.Found {
		return p, err
	}
	return p, nil
}
