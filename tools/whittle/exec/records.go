package exec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whittle/replay"
	"whittle/replay/files"
	"whittle/repros"
)

// Found is one repro of a failure.
type Found struct {
	Path    string        // the repro file; stored inputs lie beside it. "" for a failure of the machine
	Repro   *repros.Repro // what it says; nil where Problem tells why it could not be read
	Problem string        // what keeps the repro from being used, "" for nothing
	Notes   []string      // what the repro lacks although it can be used: a backend whose source is not to be had
	Stage   repros.Stage
	Backend string // after dynamo
	Kind    Kind
	// Type, Message and Traceback are the exception's: the type with its module, without the wrappers that torch puts around it.
	Type, Message, Traceback string
	Signal                   string        // Crash: SIGSEGV
	During                   string        // Crash, Hang: "compile" or "run"
	After                    time.Duration // Hang: how long the program had run
	Python                   []string      // the command that starts the program's Python, as far as it can be told from its arguments
	Torch, Interpreter       string        // versions
	Git                      string        // of torch
}

// Kind is the kind of a failure.
type Kind string

// The kinds of failure.
const (
	Exception Kind = "exception" // compiling or running the graph raised
	Crash     Kind = "crash"     // a signal ended the program
	Hang      Kind = "hang"
	Accuracy  Kind = "accuracy" // the compiled graph computes something else
	Stopped   Kind = "stopped"  // the program ended by itself while the graph was under way
)

// Machine is what is wrong with the machine where that is the failure; nil for one of the graph.
func (f Found) Machine() *replay.MachineError {
	if f.Kind != Exception {
		return nil
	}
	return replay.MachineFault(f.Type, f.Message)
}

// Signature is what tells the failure from others, as far as the program's end shows it.
func (f Found) Signature() replay.Signature {
	switch {
	case f.Signal != "":
		return replay.Signature{Stage: f.During, Type: f.Signal}
	case f.Kind == Hang:
		return replay.Signature{Stage: f.During, Type: "timeout"}
	case f.Kind == Accuracy:
		return replay.Signature{Stage: "accuracy", Type: f.Type, Message: f.Message}
	case f.Kind == Stopped:
		return replay.Signature{Stage: f.During, Type: "exit"}
	}
	return replay.NewSignature("compile", f.Type[strings.LastIndex(f.Type, ".")+1:], f.Message, nil, nil)
}

// Title is the failure in one line.
func (f Found) Title() string {
	where := "after aot"
	if f.Stage == repros.AfterDynamo {
		where = "after dynamo, backend " + f.Backend
	}
	switch f.Kind {
	case Crash:
		return fmt.Sprintf("%s while the graph was to %s (%s)", f.Signal, f.During, where)
	case Hang:
		return fmt.Sprintf("a hang while the graph was to %s (%s)", f.During, where)
	case Accuracy:
		return "the compiled graph's results differ from eager's (" + where + ")"
	case Stopped:
		return fmt.Sprintf("the program ended while the graph was to %s (%s)", f.During, where)
	}
	first, _, _ := strings.Cut(f.Message, "\n")
	if f.Type == "" {
		return first + " (" + where + ")"
	}
	return fmt.Sprintf("%s: %s (%s)", f.Type, first, where)
}

// record is record.json.
type record struct {
	ID        string     `json:"id"`
	PID       int        `json:"pid"`
	Stage     string     `json:"stage"`
	State     string     `json:"state"` // compile, idle, run, failed
	Time      float64    `json:"time"`
	Compiler  string     `json:"compiler"`
	Inner     string     `json:"inner"` // the record of the graph that failed inside of this one
	Accuracy  bool       `json:"accuracy"`
	Above     bool       `json:"above"`    // its results are wrong before the graphs inside of it are compiled
	Writes    bool       `json:"writes"`   // the graph writes to its inputs
	Unstored  bool       `json:"unstored"` // it has an input that no storage carries
	Exception *exception `json:"exception"`
	Backend   *backend   `json:"backend"`
	Python    string     `json:"python"`
	Torch     string     `json:"torch"`
	Git       string     `json:"git"`
	Version   string     `json:"version"`
	dir       string
}

type exception struct {
	Type, Module, Message, Traceback string
}

// backend says what compiles: a name that torch knows, or a function and the file that defines it.
type backend struct {
	Name, Module, Function string
	Known, Installed       bool
	File                   string
	Source                 string
	Line                   int
}

func (r record) began() time.Time {
	return time.Unix(0, int64(r.Time*1e9))
}

// records reads what the folder holds, oldest first. Folders that are being written or removed are passed over.
func (p *private) records() []record {
	dirs, err := os.ReadDir(filepath.Join(p.dir, "records"))
	if err != nil {
		return nil
	}
	var out []record
	for _, d := range dirs {
		dir := filepath.Join(p.dir, "records", d.Name())
		b, err := os.ReadFile(filepath.Join(dir, "record.json"))
		if err != nil {
			continue
		}
		r := record{dir: dir}
		if json.Unmarshal(b, &r) == nil {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b record) int { return cmp.Compare(a.Time, b.Time) })
	return out
}

// choose orders the records that tell about the program's end, best first.
func (p *private) choose(all []record, e ending) []record {
	var failed, open []record
	ended, foreign := p.uncaught()
	for _, r := range all {
		switch {
		case r.State == "failed" && (r.Accuracy || !slices.Contains(foreign, r.PID)):
			failed = append(failed, r)
		case r.State == "compile", r.State == "run":
			open = append(open, r)
		}
	}
	slices.Reverse(failed) // the last failure is the one that ended it
	slices.Reverse(open)   // the innermost step began last
	if e.hung != "" {
		slices.SortStableFunc(open, func(a, b record) int { return btoi(b.ID == e.hung) - btoi(a.ID == e.hung) })
		slices.SortStableFunc(open, func(a, b record) int { return btoi(b.Stage == "aot") - btoi(a.Stage == "aot") })
	}
	var out []record
	switch {
	case e.status() == 0: // what the program coped with is no failure of it, but wrong results are
		for _, r := range failed {
			if r.Accuracy {
				out = append(out, r)
			}
		}
	case e.signal() != 0 && len(open) > 0:
		out = append(open, failed...)
	default:
		out = append(failed, open...)
	}
	// The record that the program's last exception carries, with those around it, comes before all others.
	// Next comes what is smaller, the graph after aot; unless running it anew is likely to go another way than it did.
	rank := func(r record) int {
		switch {
		case r.Stage == "aot" && (r.Unstored || r.Writes && r.Accuracy):
			return 4
		case ended != "" && r.ID == ended:
			return 0
		case ended != "" && r.Inner == ended:
			return 1
		case r.Inner != "" && !r.Above:
			return 3 // the graph inside of it is smaller
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b record) int { return rank(a) - rank(b) })
	if p.After != "" {
		slices.SortStableFunc(out, func(a, b record) int { return btoi(b.Stage == p.After) - btoi(a.Stage == p.After) })
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// uncaught is the record of the exception that ended the program, "" for none, and the processes that ended with an
// exception of another origin.
func (p *private) uncaught() (id string, foreign []int) {
	files, _ := filepath.Glob(filepath.Join(p.dir, "uncaught-*"))
	for _, f := range files {
		var u struct{ Record string }
		var pid int
		b, err := os.ReadFile(f)
		if _, bad := fmt.Sscanf(filepath.Base(f), "uncaught-%d", &pid); err != nil || bad != nil || json.Unmarshal(b, &u) != nil {
			continue
		}
		if u.Record != "" {
			id = u.Record
		} else {
			foreign = append(foreign, pid)
		}
	}
	return id, foreign
}

// collect takes the repros out of the private folder.
func (p *private) collect(e ending) ([]Found, error) {
	const most = 4 // further ones are of earlier failures
	var out []Found
	for i, r := range p.choose(p.records(), e) {
		if i == most {
			break
		}
		f, err := p.take(r, e, i)
		if err != nil {
			return out, err
		}
		out = append(out, f)
	}
	if len(out) > 0 || e.status() == 0 {
		return out, nil
	}
	f, err := p.launcher(e)
	if f != nil {
		out = append(out, *f)
	}
	return out, err
}

// place is the folder of the n-th repro, that of the failure below the first one's.
func (p *private) place(f Found, n int) (string, error) {
	if p.out == "" {
		if p.Out == nil {
			return "", errors.New("no folder for repros")
		}
		p.out = p.Out(f)
	}
	if n > 0 {
		return filepath.Join(p.out, fmt.Sprintf("other%d", n)), nil
	}
	return p.out, nil
}

// keep writes the repro of f to dir with the stored inputs that lie in checkpoints.
func (f *Found) keep(dir, checkpoints, text string) error {
	if err := repros.SaveStorages(checkpoints, filepath.Join(dir, "checkpoints")); err != nil {
		return err
	}
	about := []string{"recorded", f.Signature().String()}
	if f.Repro != nil {
		about, text = append(about, f.Repro.Module.Hash()), repros.Write(f.Repro)
	}
	var err error
	f.Path, err = files.Put(filepath.Join(dir, "repro.py"), []byte(text), about...)
	return err
}

func (p *private) take(r record, e ending, n int) (Found, error) {
	f := Found{Stage: repros.Stage(r.Stage), Backend: r.Compiler, Python: python(p.Args, r.Python), Torch: r.Torch, Interpreter: r.Version, Git: r.Git}
	switch {
	case r.Accuracy:
		f.Kind, f.Type, f.Message = Accuracy, "AccuracyError", "Bad accuracy detected"
	case r.State == "failed" && r.Exception != nil:
		f.Kind, f.Type, f.Message, f.Traceback = Exception, r.Exception.Type, r.Exception.Message, r.Exception.Traceback
		if m := r.Exception.Module; m != "builtins" && m != "" {
			f.Type = m + "." + f.Type
		}
	case e.hung != "":
		f.Kind, f.During, f.After = Hang, r.State, e.after
	case e.signal() != 0:
		f.Kind, f.During, f.Signal = Crash, r.State, unix.SignalName(e.signal())
	default:
		f.Kind, f.During = Stopped, r.State
	}
	if f.Machine() != nil {
		return f, nil // there is nothing to run again
	}
	dir, err := p.place(f, n)
	if err != nil {
		return f, err
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "repro.py"))
	if err != nil {
		return f, err
	}
	checkpoints := filepath.Join(r.dir, "checkpoints")
	rep, err := repros.Read(filepath.Join(dir, "repro.py"), string(text))
	if err == nil {
		err = rep.Complete()
	}
	if err != nil {
		f.Problem = err.Error()
		return f, f.keep(dir, checkpoints, string(text))
	}
	rep.Head = f.head()
	if _, err := os.Stat(checkpoints); err != nil {
		rep.SaveDir = ""
	}
	if f.Stage == repros.AfterDynamo {
		rep.Preamble, f.Notes = preamble(r.Backend)
		rep.Backend = r.Compiler
	}
	f.Repro = rep
	return f, f.keep(dir, checkpoints, "")
}

// head are the comment lines of a repro: what failed, and with which versions.
func (f Found) head() []string {
	lines := []string{"# " + strings.Map(printable, f.Title()), "# torch " + f.Torch}
	if f.Git != "" && f.Git != "Unknown" {
		lines[1] += " (" + f.Git + ")"
	}
	lines[1] += ", Python " + f.Interpreter
	return lines
}

func printable(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// preamble is the Python that defines a custom backend and tells torch its name, with notes on what it cannot have.
func preamble(b *backend) (string, []string) {
	if b == nil || b.Known {
		return "", nil
	}
	nested := strings.Contains(b.Function, "<") || strings.Contains(b.Function, ".")
	var def string
	switch {
	case nested || !identifier.MatchString(b.Function):
		return "", []string{fmt.Sprintf("backend %s is %s of %s, line %d, which has no name at the top of a file: the repro only names it", b.Name, b.Function, b.File, b.Line)}
	case b.Installed && b.Module != "":
		def = fmt.Sprintf("from %s import %s\n", b.Module, b.Function)
	case b.Source == "":
		return "", []string{fmt.Sprintf("the source of backend %s (%s) could not be read: the repro only names it", b.Name, b.File)}
	default:
		text, err := repros.SliceSource(b.File, b.Source, b.Function)
		if err != nil {
			return "", []string{fmt.Sprintf("backend %s cannot be cut out of its file: %v", b.Name, err)}
		}
		def = text
	}
	if !regexp.MustCompile(`(?m)^@.*register_backend|^\s*(?:torch\._dynamo\.)?register_backend\(`).MatchString(def) {
		def += fmt.Sprintf("import torch._dynamo\ntorch._dynamo.register_backend(compiler_fn=%s, name=%s)\n", b.Function, quote(b.Name))
	}
	return strings.TrimRight(def, "\n"), nil
}

func quote(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", `\'`) + "'"
}

// launcher is the newest launcher that PyTorch itself left, where our recorder did not run.
func (p *private) launcher(e ending) (*Found, error) {
	var newest string
	var when time.Time
	_ = filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "minifier_launcher.py" {
			if st, err := d.Info(); err == nil && st.ModTime().After(when) {
				newest, when = path, st.ModTime()
			}
		}
		return nil
	})
	if newest == "" {
		return nil, nil
	}
	f := &Found{Kind: Exception, Stage: repros.AfterAOT, Python: python(p.Args, "")}
	if s := e.signal(); s != 0 {
		f.Kind, f.Signal, f.During = Crash, unix.SignalName(s), "run"
	}
	f.Message = "a failure that PyTorch itself recorded: our recorder did not run"
	dir, err := p.place(*f, 0)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(newest)
	if err != nil {
		return nil, err
	}
	r, err := repros.Read(filepath.Join(dir, "repro.py"), string(text))
	if err == nil {
		r.SaveDir = "checkpoints" // the launcher has the private folder's path
		f.Stage, f.Backend = r.Stage, r.Backend
		err = r.Complete()
	}
	if err != nil {
		f.Problem = err.Error()
	} else {
		f.Repro = r
	}
	return f, f.keep(dir, filepath.Join(filepath.Dir(newest), "checkpoints"), string(text))
}

var pythonName = regexp.MustCompile(`^(?:python|pypy)[\d.]*$`)

// python is the command that starts the program's Python: its arguments up to the interpreter, else the interpreter that ran.
func python(args []string, ran string) []string {
	for i, a := range args {
		if pythonName.MatchString(filepath.Base(a)) {
			return slices.Clone(args[:i+1])
		}
	}
	if root := NewRoot(args); root != "" && ran != "" {
		return []string{args[0], root, ran}
	}
	if ran != "" {
		return []string{ran}
	}
	return nil
}
