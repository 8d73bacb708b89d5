package lowering

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/google/renameio/v2"

	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering/codegen"
	"whittle/lowering/ir"
	"whittle/lowering/sched"
	"whittle/lowering/tiles"
)

// A Tuning is a choice that was made by measuring, for one kernel: every form computes the same, and one of them is the fastest.
type Tuning struct {
	Name  string // the nodes that the kernel computes, with the sizes of its first loops: "relu_sum_1(64x48)"
	Forms []Form // the fastest first
	// Known says that an earlier compilation measured them, on this machine.
	Known bool
	// Built is how long the forms of all kernels of the graph took to compile, Measured how long those of this kernel took to run.
	Built, Measured time.Duration
}

// A Form is one of the ways to run a kernel.
type Form struct {
	Name string // "cpp_threads_2", "cpp", "tiles"
	Time time.Duration

	threads int
	tiles   bool
	index   int64 // of the code that is measured
	kernel  *codegen.Kernel
}

// How long a form is measured: it runs once, to be warm, and then in rounds of which the best counts.
const (
	tuneRounds = 5
	tuneRound  = 2 * time.Millisecond
)

// A tuner measures the forms of the kernels of one graph.
type tuner struct {
	cfg    Config
	result func(*ir.Buffer) bool // see codegen.Options
	source strings.Builder       // of all forms of generated code
	table  strings.Builder
	count  int64
	byText map[string]*tuned // layers that are alike share their code, and what was measured
	order  []*tuned
	at     map[int]*tuned // by step
}

// tuned is a kernel that has several forms.
type tuned struct {
	step sched.Step
	text string // of its first form
	Tuning
}

// tune gives the fastest form of each step whose kernel has several. What was measured is kept beside the code of the forms: a machine measures once.
func tune(ctx context.Context, cfg Config, steps []sched.Step, local func(at int) func(*ir.Buffer) bool, result func(*ir.Buffer) bool) (map[int]Form, error) {
	t := &tuner{cfg: cfg, result: result, byText: map[string]*tuned{}, at: map[int]*tuned{}}
	for at, s := range steps {
		if s.Other == nil && tunable(s) {
			t.add(at, s, local(at))
		}
	}
	if len(t.order) == 0 {
		return nil, nil
	}
	if err := t.measure(ctx); err != nil {
		return nil, err
	}
	best := map[int]Form{}
	for at, k := range t.at {
		best[at] = k.Forms[0]
	}
	for _, k := range t.order {
		cfg.Tuned(k.Tuning)
	}
	return best, nil
}

// tunable reports whether a kernel may run on made-up values: not where integers from memory may say where it reads, or be what it divides by.
func tunable(s sched.Step) bool {
	ok := true
	for _, l := range s.Loops {
		ok = ok && !slices.Contains(l.Sizes(), 0)
		l.Value.Reads(func(e *ir.Expr) { ok = ok && (e.Buf.DType.IsFloat() || e.Buf.DType == tensor.Bool) })
	}
	return ok
}

// add takes a kernel, if it has several forms: its loops may be shared out among several threads, or be run by tiles.
func (t *tuner) add(at int, s sched.Step, local func(*ir.Buffer) bool) {
	k := &tuned{step: s, Tuning: Tuning{Name: tuningName(s)}}
	var source, table strings.Builder
	seen := map[string]bool{}
	index := t.count
	for n := max(threads(t.cfg, s), 1); n > 0; n /= 2 {
		c := codegen.Generate(s.Loops, codegen.Options{Threads: n, Local: local, Result: t.result})
		body := strings.TrimPrefix(c.Source, codegen.Prelude)
		bare := native.Uncommented(body)
		if seen[bare] {
			continue
		}
		if len(seen) == 0 {
			k.text = bare
		}
		seen[bare] = true
		k.Forms = append(k.Forms, Form{Name: fmt.Sprintf("cpp_threads_%d", n), threads: n, index: index, kernel: c})
		writeKernel(&source, &table, body, index)
		index++
	}
	if len(seen) == 1 { // no loop is long enough for threads
		k.Forms[0].Name, k.Forms[0].threads = "cpp", t.cfg.Threads
	}
	if _, err := tiles.New(s.Loops); err == nil {
		k.Forms = append(k.Forms, Form{Name: "tiles", threads: t.cfg.Threads, tiles: true})
	}
	if like := t.byText[k.text]; like != nil {
		t.at[at] = like
		return
	}
	if len(k.Forms) < 2 {
		return
	}
	t.byText[k.text], t.at[at] = k, k
	t.order = append(t.order, k)
	t.source.WriteString(source.String())
	t.table.WriteString(table.String())
	t.count = index
}

// measure times all forms, or reads how long they took before.
func (t *tuner) measure(ctx context.Context) error {
	b := &native.Builder{Dir: t.cfg.CacheDir}
	source := moduleSource(t.source.String(), t.table.String())
	note := t.note(source)
	known := map[string]map[string]time.Duration{} // by text and form
	if data, err := os.ReadFile(note); err != nil || json.Unmarshal(data, &known) != nil {
		clear(known)
	}
	var err error
	start := time.Now()
	var lib *native.Library
	for _, k := range t.order {
		k.Known = len(known[k.text]) == len(k.Forms)
		if !k.Known && lib == nil {
			if lib, err = b.Build(ctx, source); err != nil {
				return refused(err, source)
			}
			k.Built = time.Since(start)
		}
	}
	for _, k := range t.order {
		start := time.Now()
		if !k.Known {
			known[k.text] = map[string]time.Duration{}
			for _, f := range k.Forms {
				run, err := k.prepare(f, lib)
				if err != nil {
					return err
				}
				known[k.text][f.Name] = fastest(run)
			}
		}
		for i := range k.Forms {
			k.Forms[i].Time = known[k.text][k.Forms[i].Name]
		}
		slices.SortStableFunc(k.Forms, func(a, b Form) int { return cmp.Compare(a.Time, b.Time) })
		k.Measured = time.Since(start)
	}
	if lib != nil {
		if data, err := json.Marshal(known); err == nil && os.MkdirAll(filepath.Dir(note), 0o777) == nil {
			_ = renameio.WriteFile(note, data, 0o666) // without it the next compilation measures again
			bounded(filepath.Dir(note))
		}
	}
	return nil
}

// note is the file that has what was measured of the forms in source, on this machine with as many threads.
func (t *tuner) note(source string) string {
	host, _ := os.Hostname() // the folder may be one of several machines
	h := sha256.Sum256(fmt.Appendf(nil, "whittle-1\x00%s\x00%d\x00%s", host, runtime.NumCPU(), native.Uncommented(source)))
	return filepath.Join(t.cfg.CacheDir, "tuned", hex.EncodeToString(h[:20])+".json")
}

// maxNotes is how many notes a folder has at most: what was measured first goes first.
const maxNotes = 2000

func bounded(dir string) {
	files, err := os.ReadDir(dir)
	if err != nil || len(files) <= maxNotes {
		return
	}
	age := func(f os.DirEntry) time.Time {
		st, err := f.Info()
		if err != nil {
			return time.Time{}
		}
		return st.ModTime()
	}
	slices.SortFunc(files, func(a, b os.DirEntry) int { return age(a).Compare(age(b)) })
	for _, f := range files[:len(files)-maxNotes] {
		_ = os.Remove(filepath.Join(dir, f.Name()))
	}
}

// prepare makes memory for a form, all ones, and gives what runs it.
func (k *tuned) prepare(f Form, lib *native.Library) (run func(), err error) {
	mem := map[*ir.Buffer]*tensor.Tensor{}
	made := func(b *ir.Buffer) *tensor.Tensor {
		if mem[b] == nil {
			mem[b] = tensor.EmptyUnset(b.DType, b.Shape, fullStrides(b))
			mem[b].Fill(1)
		}
		return mem[b]
	}
	if f.tiles {
		p, err := tiles.New(k.step.Loops)
		if err != nil {
			return nil, err
		}
		for _, b := range p.Buffers() {
			made(b)
		}
		return func() { p.Run(mem) }, nil
	}
	ptrs := make([]unsafe.Pointer, len(f.kernel.Bufs))
	for i, b := range f.kernel.Bufs {
		ptrs[i] = made(b).Ptr()
	}
	return func() {
		lib.Call(ptrs, []int64{f.index})
		runtime.KeepAlive(mem)
	}, nil
}

// fastest is the time of one run in the best of some rounds.
func fastest(run func()) time.Duration {
	run()
	best := time.Duration(1<<63 - 1)
	for range tuneRounds {
		n, start := 0, time.Now()
		for n == 0 || time.Since(start) < tuneRound {
			run()
			n++
		}
		best = min(best, time.Since(start)/time.Duration(n))
	}
	return best
}

// tuningName names a kernel by the nodes that it computes, and the sizes of its first loops.
func tuningName(s sched.Step) string {
	var names, sizes []string
	for _, l := range s.Loops {
		for _, o := range l.Origins {
			name, _, _ := strings.Cut(o, " ")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, n := range s.Loops[0].Sizes() {
		sizes = append(sizes, fmt.Sprint(n))
	}
	return strings.Join(names, "_") + "(" + strings.Join(sizes, "x") + ")"
}
