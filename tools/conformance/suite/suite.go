package suite

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sourcegraph/conc/pool"
)

//go:embed runner.py
var runner []byte

// A Config says what is run, and how.
type Config struct {
	Command []string      // starts an interpreter; the runner, its arguments and nothing else are put behind it
	Module  Modules       // how an interpreter imports a file
	Dir     string        // copied for each interpreter, as its working folder; empty: a new one
	Alone   bool          // each test has an interpreter of its own
	Workers int           // interpreters at a time
	Limit   time.Duration // for one test, and for the import of a file; together where tests are alone
	Match   string        // only files whose name contains one of these, separated by commas; empty: all

	// Earlier are results of an earlier run, by the tests' names: these tests are not run again.
	Earlier map[string]Record
	// Each, where it is set, is given every file when the last of its tests has ended, and the report of all that has ended until then. It is
	// called by one goroutine at a time; its error ends the run.
	Each func(done File, far Report) error
}

// Modules says under which name a file is imported, and what that adds to the environment of an interpreter that starts in dir.
type Modules func(file, dir string) (name string, env []string)

// InPackage imports files as modules of a package that lies in one of the folders of path, which an environment variable is to name.
func InPackage(name, variable, path string) Modules {
	return func(file, _ string) (string, []string) { return name + "." + file, []string{variable + "=" + path} }
}

// A Record is what became of a test elsewhere, or here.
type Record struct {
	File   string `json:"file"`
	Test   string `json:"test"`
	Result string `json:"result"`          // ok, FAIL, ERROR, skipped, expected, crash, time, missing
	Cause  string `json:"cause,omitempty"` // of one that did not pass: the exception's class and the first line of its text
}

// A File is how many of a file's recorded tests pass.
type File struct {
	Name  string `json:"file"`
	OK    int    `json:"ok"`
	Of    int    `json:"of"`
	Tests []Record
}

// A Report is what became of all files, in the order of their names.
type Report struct {
	OK    int     `json:"ok"`
	Of    int     `json:"of"`
	Mean  float64 `json:"mean"` // over files, of the share of tests that pass: 0 to 100
	Files []File  `json:"files"`
	// Causes of what did not pass, those that stop most tests first.
	Causes []Cause `json:"causes"`
	// Kinds are how many tests did not pass for a cause of each kind.
	Kinds map[Kind]int `json:"kinds"`
}

// A Cause is why tests did not pass.
type Cause struct {
	Kind  Kind   `json:"kind"`
	Text  string `json:"cause"`
	Tests int    `json:"tests"`
	First string `json:"first"` // the first test that it stops
}

// Read reads records, a JSON object a line.
func Read(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Record
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for n := 1; s.Scan(); n++ {
		var r Record
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		out = append(out, r)
	}
	return out, s.Err()
}

// Run runs the files of the recorded tests that passed elsewhere. With an error comes the report of the tests that had ended until then.
func Run(ctx context.Context, records []Record, c Config) (Report, error) {
	wanted := map[string][]string{}
	for _, r := range records {
		if r.Result == "ok" && c.wants(r.File) {
			wanted[r.File] = append(wanted[r.File], r.Test)
		}
	}
	dir, err := os.MkdirTemp("", "whittle-suite-")
	if err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "runner.py")
	if err := os.WriteFile(script, runner, 0o600); err != nil {
		return Report{}, err
	}
	p := pool.New().WithContext(ctx).WithMaxGoroutines(max(c.Workers, 1)).WithCancelOnError()
	t := newTally(wanted, c)
	for i, name := range sorted(wanted) {
		rest := slices.DeleteFunc(slices.Clone(wanted[name]), t.has)
		if len(rest) == 0 {
			p.Go(func(context.Context) error { return t.add(name, nil) })
			continue
		}
		groups := [][]string{nil} // of a run, the tests that it is for; none: all of the file
		if c.Alone {
			groups = slices.Collect(slices.Chunk(rest, 1))
		}
		for j, tests := range groups {
			r := &fileRun{config: c, name: name, only: tests, dir: filepath.Join(dir, fmt.Sprintf("%d-%d", i, j)), script: script, results: map[string]Record{}}
			p.Go(func(ctx context.Context) error {
				if err := r.run(ctx); err != nil {
					return err
				}
				if tests == nil {
					return t.add(name, r.file(rest))
				}
				return t.add(name, r.file(tests))
			})
		}
	}
	err = p.Wait()
	return t.report(), err
}

// A tally is what has become of the tests so far.
type tally struct {
	wanted map[string][]string // the tests of each file
	each   func(File, Report) error

	mu      sync.Mutex
	results map[string]Record // of the tests that have ended
}

func newTally(wanted map[string][]string, c Config) *tally {
	t := &tally{wanted: wanted, each: c.Each, results: map[string]Record{}}
	maps.Copy(t.results, c.Earlier)
	return t
}

// has reports whether a test has ended.
func (t *tally) has(test string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.results[test]
	return ok
}

// add takes in results of a file's tests, and tells of the file when these were its last.
func (t *tally) add(file string, results []Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range results {
		t.results[r.Test] = r
	}
	f := t.file(file)
	if t.each == nil || f.Of < len(t.wanted[file]) {
		return nil
	}
	return t.each(f, t.sum())
}

// file is what became of those tests of a file that have ended.
func (t *tally) file(name string) File {
	f := File{Name: name}
	for _, test := range t.wanted[name] {
		r, ok := t.results[test]
		if !ok {
			continue
		}
		if r.Result == "ok" {
			f.OK++
		}
		f.Of, f.Tests = f.Of+1, append(f.Tests, r)
	}
	return f
}

// report is the report of all that has ended.
func (t *tally) report() Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum()
}

// sum is report, for who holds the lock.
func (t *tally) sum() Report {
	var files []File
	for _, name := range sorted(t.wanted) {
		if f := t.file(name); f.Of > 0 {
			files = append(files, f)
		}
	}
	return report(files)
}

// wants reports whether a file is to be run.
func (c Config) wants(file string) bool {
	return slices.ContainsFunc(strings.Split(c.Match, ","), func(m string) bool { return strings.Contains(file, m) })
}

func sorted[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// report sums up.
func report(files []File) Report {
	r := Report{Files: files, Kinds: map[Kind]int{}}
	causes := map[string]*Cause{}
	for _, f := range files {
		r.OK, r.Of = r.OK+f.OK, r.Of+f.Of
		r.Mean += 100 * float64(f.OK) / float64(f.Of) / float64(len(files))
		for _, t := range f.Tests {
			if t.Result == "ok" {
				continue
			}
			text := t.Result + ": " + t.Cause
			if causes[text] == nil {
				causes[text] = &Cause{Kind: kindOf(t), Text: text, First: t.Test}
			}
			causes[text].Tests++
			r.Kinds[causes[text].Kind]++
		}
	}
	for _, k := range sorted(causes) {
		r.Causes = append(r.Causes, *causes[k])
	}
	slices.SortStableFunc(r.Causes, func(a, b Cause) int { return cmp.Compare(b.Tests, a.Tests) })
	return r
}

// fileRun is the run of one file, or of some of its tests, in as many interpreters as it takes.
type fileRun struct {
	config  Config
	name    string
	only    []string // the tests that are run; none: all
	dir     string   // where the interpreters start: the tests' own files go there
	script  string
	results map[string]Record
	failed  string // why the file could not be imported
}

// maxStarts is how often a file is gone on with: one whose every test hangs is not worth an hour.
const maxStarts = 25

// run starts interpreters until every test was begun.
func (r *fileRun) run(ctx context.Context) error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	for range maxStarts {
		before := len(r.results)
		over, err := r.start(ctx)
		if err != nil || over || len(r.results) == before {
			return err
		}
	}
	return ctx.Err()
}

// start runs one interpreter, and says whether there is nothing left to do.
func (r *fileRun) start(ctx context.Context) (over bool, err error) {
	out, done := filepath.Join(r.dir, "out.jsonl"), filepath.Join(r.dir, "done")
	if err := errors.Join(os.WriteFile(out, nil, 0o600), os.WriteFile(done, []byte(strings.Join(sorted(r.results), "\n")), 0o600)); err != nil {
		return false, err
	}
	work, err := os.MkdirTemp(r.dir, "cwd-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(work)
	if r.config.Dir != "" {
		if err := os.CopyFS(work, os.DirFS(r.config.Dir)); err != nil {
			return false, err
		}
	}
	module, env := r.config.Module(r.name, work)
	args := slices.Concat(r.config.Command, []string{r.script, out, done, module}, r.only)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	current, late := r.watch(out, ended, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what the tests have left running
	switch {
	case current.over:
		return true, nil
	case current.test != "" && late:
		r.results[current.test] = Record{Result: "time", Cause: fmt.Sprintf("longer than %s", r.config.Limit)}
	case current.test != "":
		r.results[current.test] = Record{Result: "crash", Cause: said.last()}
	case late:
		r.failed = "time: the import"
	case r.failed == "":
		r.failed = "crash: " + said.last()
	}
	return current.test == "", ctx.Err()
}

// progress is how far an interpreter has come.
type progress struct {
	test string // begun and not ended
	over bool   // the file is
}

// watch reads what the runner writes until its interpreter ends, and kills it when a test takes too long.
func (r *fileRun) watch(out string, ended <-chan error, kill func()) (at progress, late bool) {
	var read int
	last := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-tick.C:
		}
		b, _ := os.ReadFile(out)
		for {
			n := bytes.IndexByte(b[read:], '\n')
			if n < 0 {
				break
			}
			r.line(b[read:read+n], &at)
			read, last = read+n+1, time.Now()
		}
		if running && time.Since(last) > r.config.Limit {
			late = true
			kill()
			<-ended
			running = false
		}
	}
	return at, late
}

// line takes in one line of the runner's.
func (r *fileRun) line(b []byte, at *progress) {
	var l struct{ Start, Test, Result, Cause, Module string }
	if json.Unmarshal(b, &l) != nil {
		return
	}
	switch {
	case l.Start != "":
		at.test = l.Start
	case l.Module == "done":
		at.over, at.test = true, ""
	case l.Module != "":
		at.over, r.failed = true, l.Module+": "+l.Cause
	default:
		if old, ok := r.results[l.Test]; !ok || old.Result == "ok" {
			r.results[l.Test] = Record{Result: l.Result, Cause: l.Cause}
		}
		at.test = ""
	}
}

// file is what became of the tests that passed elsewhere.
func (r *fileRun) file(wanted []string) []Record {
	var out []Record
	for _, t := range wanted {
		rec, ok := r.results[t]
		if !ok {
			rec = Record{Result: "missing", Cause: r.failed}
			for id, x := range r.results { // setUpClass (test.test_x.Case), setUpModule (test.test_x)
				if _, of, ok := strings.Cut(id, " ("); ok && x.Result != "ok" && strings.HasPrefix(t, strings.TrimSuffix(of, ")")+".") {
					rec = Record{Result: x.Result, Cause: x.Cause}
				}
			}
		}
		rec.File, rec.Test = r.name, t
		out = append(out, rec)
	}
	return out
}

// tail keeps the end of what an interpreter says.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 1<<16 {
		t.b = slices.Clone(t.b[len(t.b)-1<<14:])
	}
	return len(p), nil
}

// last is what it died of: the line where a Go panic or a fatal error begins, or its last line.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	for _, l := range lines {
		if strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") {
			return l
		}
	}
	return lines[len(lines)-1]
}
