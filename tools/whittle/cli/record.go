package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"

	"whittle/capture"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/replay/files"
)

// objectID is a number of a guard that may differ from run to run, and numbers that look like one.
var objectID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{12,}\b`) })

// recorder collects what capture did, in the form of the conformance records.
type recorder struct {
	script   string
	frames   []*recordedFrame
	breaks   []any
	recs     []any
	pending  []*recordedAOT // graphs of the frame that is being compiled
	backends map[string]bool
	nbreaks  int
}

type recordedFrame struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	File     string         `json:"file"`
	Line     int            `json:"line"`
	Status   string         `json:"status"`
	Attempts int            `json:"attempts"`
	Backend  *string        `json:"backend"`
	Graph    *fx.Recorded   `json:"graph"`
	Reasons  []string       `json:"recompile_reasons"`
	Guards   any            `json:"guards"`
	AOT      []*recordedAOT `json:"aot"`
	Error    any            `json:"error"`
}

type recordedAOT struct {
	Kind   string       `json:"kind"`
	Ops    []string     `json:"ops"`
	Inputs int          `json:"inputs"`
	Graph  *fx.Recorded `json:"graph"`
}

func newRecorder(path string) *recorder {
	return &recorder{script: path, backends: map[string]bool{}, frames: []*recordedFrame{}, breaks: []any{}, recs: []any{}}
}

func (r *recorder) frame(ev *capture.FrameEvent) {
	f := &recordedFrame{ID: ev.ID, Name: ev.Name, File: ev.File, Line: ev.Line, Status: ev.Status, Attempts: ev.Attempts, Reasons: ev.Reasons, AOT: r.pending}
	r.pending = nil
	if f.AOT == nil {
		f.AOT = []*recordedAOT{}
	}
	if f.Reasons == nil {
		f.Reasons = []string{}
	}
	if ev.Backend != "" {
		r.backends[ev.Backend] = true
		f.Backend = &ev.Backend
	}
	if ev.Graph != nil {
		f.Graph = fx.Record(ev.Graph)
	}
	if ev.Guards != nil {
		exprs := [][2]string{}
		tree := make([]string, len(ev.Tree))
		for i, l := range ev.Tree {
			tree[i] = objectID().ReplaceAllString(l, "<id>")
		}
		for _, g := range ev.Guards {
			exprs = append(exprs, [2]string{g.Kind.String(), objectID().ReplaceAllString(g.Expr, "<id>")})
		}
		f.Guards = map[string]any{"tree": tree, "exprs": exprs}
	}
	if ev.Err != nil {
		f.Error = map[string]any{"type": "", "message": ev.Err.Error(), "stack": []any{}}
	}
	r.frames = append(r.frames, f)
}

func (r *recorder) broke(b *capture.BreakEvent) {
	stack := [][]any{}
	for _, s := range b.Stack {
		stack = append(stack, []any{s.Function, s.Line, s.File})
	}
	if b.Kind == "break" {
		r.nbreaks++
	}
	r.breaks = append(r.breaks, map[string]any{"frame": b.Frame, "kind": b.Kind, "reason": b.Reason.String(), "line": b.Line, "stack": stack})
}

func (r *recorder) recompiled(e *capture.RecompileEvent) {
	var reasons []string
	for _, u := range e.Reasons {
		reasons = append(reasons, u.String())
	}
	r.recs = append(r.recs, map[string]any{"frame": e.Frame, "function": e.Function, "file": e.File, "line": e.Line, "reasons": reasons})
}

func (r *recorder) aot(kind string, gm *fx.GraphModule) {
	a := &recordedAOT{Kind: kind, Ops: []string{}, Inputs: len(gm.Graph.Placeholders()), Graph: fx.Record(gm)}
	for _, n := range gm.Graph.Nodes {
		if n.Op == fx.CallFunction {
			a.Ops = append(a.Ops, n.Target)
		}
	}
	if kind == "backward" && len(r.frames) > 0 && len(r.pending) == 0 {
		// A backward graph is compiled at the first backward(); it belongs to the frame that made the forward.
		for i := len(r.frames) - 1; i >= 0; i-- {
			if r.frames[i].Graph != nil {
				r.frames[i].AOT = append(r.frames[i].AOT, a)
				return
			}
		}
	}
	r.pending = append(r.pending, a)
}

// write writes the record to path, or beside it where path is somebody else's, and returns where.
func (r *recorder) write(path string, in *vm.Interp, err error, code int) (string, error) {
	var exc any
	var last any
	var raised *vm.Raised
	if errors.As(err, &raised) && !raised.Exc.Class.IsSubtype(in.Exc.SystemExit) {
		msg, serr := in.Str(raised.Exc)
		if serr != nil {
			msg = ""
		}
		for _, cut := range []string{"\nfrom user code", "\n\nSet TORCH_LOGS"} {
			if i := strings.Index(msg, cut); i >= 0 {
				msg = msg[:i]
			}
		}
		line := 0
		abs, _ := filepath.Abs(r.script)
		for tb := raised.Exc.Traceback; tb != nil; tb = tb.Next {
			if tb.Code.Filename == r.script || tb.Code.Filename == abs {
				line = tb.Line()
			}
		}
		exc = map[string]any{"type": raised.Exc.Class.FullName(), "message": msg, "line": line}
		text := strings.TrimSpace(in.FormatException(raised))
		if i := strings.LastIndex(text, "\n"); i >= 0 {
			text = text[i+1:]
		}
		last = text
	}
	names := []string{}
	for b := range r.backends {
		names = append(names, b)
	}
	sort.Strings(names)
	graphs, ops := 0, 0
	for _, f := range r.frames {
		if f.Graph != nil {
			graphs++
			ops += f.Graph.Ops
		}
	}
	out := map[string]any{
		"script": r.script, "torch": PyTorchVersion, "exit_code": code, "exception": exc, "stderr_last": last, "backends": names,
		"totals":       map[string]int{"frames": len(r.frames), "graphs": graphs, "ops": ops, "graph_breaks": r.nbreaks, "recompiles": len(r.recs)},
		"graph_breaks": r.breaks, "recompiles": r.recs, "warnings": []any{}, "frames": r.frames, "other_aot": r.pending,
	}
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return "", err
	}
	if st, err := os.Stat(filepath.Dir(path)); err != nil || !st.IsDir() {
		return "", &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
	}
	return files.Put(path, b, "record", r.script)
}
