package trace

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Record is one step of a compilation, as the trace has it. Its texts are parts of the file's, and nobody changes them.
type Record struct {
	Time  string // as written: month, day, time of day
	Place string // file:line of who wrote it
	Line  int    // in the trace, from 1

	Kind string          // "" of a record that has none
	Meta json.RawMessage // what stands beside the kind
	Name string          // of an artifact

	Frame, Compile, Attempt int    // -1: it belongs to no compilation
	Autograd                int    // of compiled autograd, -1: none
	Rank                    int    // -1: there is one process
	Stack                   []Call // where it came from, where that is said
	Hash                    string // of the payload, as written; "" => there is none

	indented []byte // the payload with a tab before each line
}

// A Call is a line of a Python stack. File is a number of a "str" record in the trace, and its name here.
type Call struct {
	File string `json:"file"`
	Name string `json:"name"`
	Line int    `json:"line"`
	Text string `json:"text,omitempty"` // the line, where it is written down
}

// A Problem is a place of a trace that cannot be read.
type Problem struct {
	File string
	Line int
	What string
}

// Payload is the text that belongs to the record.
func (r *Record) Payload() string {
	if len(r.indented) == 0 {
		return ""
	}
	return string(unindent(r.indented))
}

// envelope is what every record may have beside its kind.
var envelope = []string{"frame_id", "frame_compile_id", "attempt", "has_payload", "stack", "rank", "compiled_autograd_id", "pathname", "lineno", "thread"}

// Records reads a trace. What is no record becomes a problem; the rest is read all the same. Names of files in "str" records are put in where they are used.
func Records(text []byte) ([]*Record, []Problem) {
	var out []*Record
	var problems []Problem
	complain := func(line int, format string, a ...any) {
		if len(problems) < maxProblems {
			problems = append(problems, Problem{Line: line, What: fmt.Sprintf(format, a...)})
		}
	}
	names := map[int]string{}
	n, stray := 0, false
	for len(text) > 0 {
		n++
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if bytes.HasPrefix(line, []byte("\t")) {
			// A payload is taken in one go, and is not looked into.
			size, count := payloadSize(text)
			body := bytes.TrimSuffix(text[:size], []byte("\n"))
			switch {
			case len(out) == 0 || stray || out[len(out)-1].indented != nil:
				complain(n, "a payload without a record")
			default:
				r := out[len(out)-1]
				r.indented = body
				if r.Hash != "" && hashOf(body) != r.Hash {
					complain(n, "the payload of %s is not what its hash says: it is cut off, or was changed", r.Kind)
				}
			}
			text, n = text[size:], n+count-1
			continue
		}
		text = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r, err := parseRecord(line, names)
		if stray = err != nil; stray {
			if !whole {
				complain(n, "the last line is cut off")
			} else {
				complain(n, "%v", err)
			}
			continue
		}
		if r.Line = n; r.Kind != "str" {
			out = append(out, r)
		} else {
			stray = true // it has no payload
		}
	}
	return out, problems
}

// maxProblems is how many are told of one file.
const maxProblems = 50

// payloadSize is how many bytes, and lines, at the start of text begin with a tab.
func payloadSize(text []byte) (size, lines int) {
	for size < len(text) && text[size] == '\t' {
		end := bytes.IndexByte(text[size:], '\n')
		lines++
		if end < 0 {
			return len(text), lines
		}
		size += end + 1
	}
	return size, lines
}

func hashOf(indented []byte) string {
	sum := md5.Sum(unindent(indented))
	return hex.EncodeToString(sum[:])
}

// unindent takes away the tab before each line.
func unindent(indented []byte) []byte {
	return bytes.ReplaceAll(indented[1:], []byte("\n\t"), []byte("\n"))
}

// parseRecord reads a line: what a logger puts first, as far as the bracket, and a JSON object.
func parseRecord(line []byte, names map[int]string) (*Record, error) {
	head, body, ok := bytes.Cut(line, []byte("] "))
	if !ok || !bytes.HasPrefix(body, []byte("{")) {
		return nil, fmt.Errorf("no record: %.80q", line)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	r := &Record{Frame: -1, Compile: -1, Attempt: -1, Autograd: -1, Rank: -1}
	if w := strings.Fields(string(head)); len(w) >= 4 {
		r.Time, r.Place = w[0][min(1, len(w[0])):]+" "+w[1], w[len(w)-1]
	}
	for name, to := range map[string]*int{"frame_id": &r.Frame, "frame_compile_id": &r.Compile, "attempt": &r.Attempt, "rank": &r.Rank, "compiled_autograd_id": &r.Autograd} {
		if v, ok := fields[name]; ok {
			if i, err := strconv.Atoi(string(v)); err == nil {
				*to = i
			}
		}
	}
	if v, ok := fields["has_payload"]; ok {
		_ = json.Unmarshal(v, &r.Hash) // anything else than a text is no hash
	}
	if v, ok := fields["stack"]; ok {
		r.Stack = calls(v, names)
	}
	var kinds []string
	for name := range fields {
		if !slices.Contains(envelope, name) {
			kinds = append(kinds, name)
		}
	}
	slices.Sort(kinds)
	if len(kinds) > 0 {
		r.Kind, r.Meta = kinds[0], fields[kinds[0]]
	} else if r.Stack != nil {
		r.Kind, r.Meta = "stack", fields["stack"]
	}
	switch r.Kind {
	case "str":
		var pair []json.RawMessage
		var name string
		if json.Unmarshal(r.Meta, &pair) == nil && len(pair) == 2 && json.Unmarshal(pair[0], &name) == nil {
			if i, err := strconv.Atoi(string(pair[1])); err == nil {
				names[i] = name
			}
		}
	case "artifact":
		var a struct{ Name string }
		_ = json.Unmarshal(r.Meta, &a)
		r.Name = a.Name
	case "dynamo_start":
		var s struct{ Stack json.RawMessage }
		if json.Unmarshal(r.Meta, &s) == nil {
			r.Stack = calls(s.Stack, names)
		}
	}
	return r, nil
}

// calls reads a stack. A file without a name in the trace goes by its number.
func calls(raw json.RawMessage, names map[int]string) []Call {
	var list []struct {
		Line     int
		Name     string
		Filename json.RawMessage
		Loc      string
	}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []Call
	for _, c := range list {
		var file string
		if i, err := strconv.Atoi(string(c.Filename)); err == nil {
			var ok bool
			if file, ok = names[i]; !ok {
				file = "file " + strconv.Itoa(i)
			}
		} else {
			_ = json.Unmarshal(c.Filename, &file)
		}
		out = append(out, Call{file, c.Name, c.Line, c.Loc})
	}
	return out
}

// Files are the traces below a path: the file itself, or what PyTorch or whittle wrote into the folder. The latest of them is last.
func Files(path string) ([]string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return []string{path}, nil
	}
	type aged struct {
		name string
		at   time.Time
	}
	var found []aged
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".log" {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		found = append(found, aged{filepath.Join(path, e.Name()), info.ModTime()})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no trace is there: TORCH_TRACE=%s makes a program write one", path, path)
	}
	slices.SortStableFunc(found, func(a, b aged) int { return a.at.Compare(b.at) })
	var out []string
	for _, f := range found {
		out = append(out, f.name)
	}
	return out, nil
}
