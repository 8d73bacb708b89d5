package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"whittle/kernels/native"
	"whittle/replay"
	"whittle/replay/triage"
	"whittle/tools/whittle/doctor"
)

// doctorOptions are the command's flags.
type doctorOptions struct {
	json   bool
	torch  string
	noTest bool
}

func (a *app) doctorCommand() *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Print what a bug report needs, and try every stage on a tiny program",
		Long: `Print versions, machine, compilers and the settings of the environment, then try a tiny program with every stage of torch.compile, the
store, and a minification: on whittle's own torch, and on the Python with torch that minify and accuracy would use, where there is one.
The last line is "good", or the first thing that is wrong. Exit status: 0 good, 1 not.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.Flags().BoolVar(&o.noTest, "no-test", false, "print, and try nothing")
	c.Flags().StringVar(&o.torch, "torch", os.Getenv("WHITTLE_TORCH"), "command that starts a Python with torch (default $WHITTLE_TORCH, then python3 if it has torch)")
	return c
}

// doctorReport is what `whittle doctor --json` prints.
type doctorReport struct {
	Facts   []doctor.Fact  `json:"facts"`
	Engines []doctorEngine `json:"engines"`
	Wrong   string         `json:"wrong"` // the first thing; "" for none, or where nothing was tried
}

// doctorEngine is one Python with torch.
type doctorEngine struct {
	Name    string         `json:"name"` // native, or the command
	Facts   []doctor.Fact  `json:"facts"`
	Checks  []doctor.Check `json:"checks"`
	Trouble string         `json:"trouble,omitempty"` // it does not run at all
}

func (a *app) doctor(ctx context.Context, o doctorOptions) error {
	text := a.stdout
	if o.json {
		text = io.Discard
	}
	r := doctorReport{Facts: a.facts(), Engines: []doctorEngine{}}
	for _, f := range r.Facts {
		fmt.Fprintf(text, "%s: %s\n", f.Name, f.Value)
	}
	wrong := func(where, why string) {
		if r.Wrong == "" {
			r.Wrong = where + ": " + why
		}
	}
	for _, f := range r.Facts { // what was compiled before still runs; anything new does not
		if (f.Name == "c" || f.Name == "c++") && strings.HasSuffix(f.Value, notFound) {
			wrong(f.Name, f.Value)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	engines := []struct {
		name    string
		command []string
	}{{"native", []string{self, "run", "--no-minify"}}}
	switch {
	case o.torch != "":
		engines = append(engines, struct {
			name    string
			command []string
		}{o.torch, strings.Fields(o.torch)})
	case hasTorch(ctx):
		engines = append(engines, struct {
			name    string
			command []string
		}{strings.Join(defaultPython, " "), defaultPython})
	}
	for _, x := range engines {
		e := doctorEngine{Name: x.name, Checks: []doctor.Check{}}
		fmt.Fprintf(text, "\n%s\n", x.name)
		run := doctorRunner(x.command)
		if e.Facts, err = doctor.Facts(ctx, run); err != nil {
			e.Trouble = err.Error()
			fmt.Fprintf(text, "  does not run: %s\n", e.Trouble)
			wrong(x.name, e.Trouble)
		}
		for _, f := range e.Facts {
			fmt.Fprintf(text, "  %s: %s\n", f.Name, f.Value)
		}
		show := func(c doctor.Check) {
			if c.Good {
				fmt.Fprintf(text, "  %-26s good, %.1f s\n", c.Stage, c.Seconds)
				return
			}
			fmt.Fprintf(text, "  %-26s wrong: %s\n", c.Stage, triage.Quote(c.Why))
			wrong(x.name+": "+c.Stage+" ("+c.What+")", c.Why)
		}
		if e.Trouble == "" && !o.noTest {
			e.Checks = append(e.Checks, doctor.Try(ctx, run, show)...)
		}
		r.Engines = append(r.Engines, e)
	}
	if !o.noTest {
		fmt.Fprintln(text, "\nwhittle")
		for _, t := range []struct {
			name string
			try  func(context.Context) error
		}{{"store", a.tryStore}, {"minify", a.tryMinify}} {
			begin := time.Now()
			if err := t.try(ctx); err != nil {
				fmt.Fprintf(text, "  %-26s wrong: %s\n", t.name, triage.Quote(err.Error()))
				wrong(t.name, err.Error())
				continue
			}
			fmt.Fprintf(text, "  %-26s good, %.1f s\n", t.name, time.Since(begin).Seconds())
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case o.json:
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s\n", b)
	case r.Wrong != "":
		fmt.Fprintf(a.stdout, "\nwrong: %s\n", triage.Quote(r.Wrong))
	case !o.noTest:
		fmt.Fprintln(a.stdout, "\ngood")
	}
	if r.Wrong != "" {
		return exitCode(1)
	}
	return nil
}

// facts are those of whittle and of the machine.
func (a *app) facts() []doctor.Fact {
	out := []doctor.Fact{{Name: "whittle", Value: fmt.Sprintf("%s (follows PyTorch %s)", Version, PyTorchVersion)}}
	add := func(name, value string) {
		if value != "" {
			out = append(out, doctor.Fact{Name: name, Value: value})
		}
	}
	add("os", osName())
	for _, l := range machine() {
		name, value, _ := strings.Cut(l, ": ")
		add(name, value)
	}
	add("c", firstLine(compilerOf("CC", "gcc"), "--version"))
	add("memory", memory())
	gpus := "none found (no nvidia-smi)"
	if b, err := exec.Command("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").Output(); err == nil {
		gpus = strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", "; ")
	}
	add("gpu", gpus)
	add("store", a.storePath())
	add("cache", fmt.Sprintf("%s, %s", cacheDir(), room(cacheDir())))
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if ofInterest().MatchString(name) {
			add("$"+name, triage.Quote(value))
		}
	}
	return out
}

// ofInterest are the variables of the environment that change what a compiler does.
var ofInterest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(TORCH.*|PYTORCH.*|WHITTLE.*|AOT_.*|INDUCTOR.*|TRITON.*|CUDA_.*|OMP_.*|MKL_.*|KMP_.*|GOMP_.*|PYTHON.*|CC|CXX|CFLAGS|CXXFLAGS|LD_PRELOAD|LD_LIBRARY_PATH|GOMAXPROCS|GOMEMLIMIT|GODEBUG)$`)
})

// osName is the distribution and the kernel.
func osName() string {
	name := runtime.GOOS
	if b, err := os.ReadFile("/etc/os-release"); err == nil {
		for _, l := range strings.Split(string(b), "\n") {
			if v, ok := strings.CutPrefix(l, "PRETTY_NAME="); ok {
				name = strings.Trim(v, `"`)
			}
		}
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		name += ", kernel " + strings.TrimSpace(string(b))
	}
	return name
}

// memory is what the machine has, and has free.
func memory() string {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return ""
	}
	kib := map[string]int64{}
	for _, l := range strings.Split(string(b), "\n") {
		if name, v, ok := strings.Cut(l, ":"); ok {
			var n int64
			if _, err := fmt.Sscanf(v, "%d kB", &n); err == nil {
				kib[name] = n
			}
		}
	}
	const gib = 1 << 20 // in KiB
	return fmt.Sprintf("%.1f GiB, %.1f GiB free", float64(kib["MemTotal"])/gib, float64(kib["MemAvailable"])/gib)
}

// room is how much a folder, or what it will lie in, has room for.
func room(dir string) string {
	for {
		var st unix.Statfs_t
		if unix.Statfs(dir, &st) == nil {
			return fmt.Sprintf("%.1f GiB free", float64(st.Bavail)*float64(st.Bsize)/(1<<30))
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		return "no such folder"
	}
}

// doctorRunner has a Python run the doctor's program, which it reads from its standard input.
func doctorRunner(command []string) doctor.Runner {
	const most = 15 * time.Minute
	return func(ctx context.Context, arguments ...string) (string, string, error) {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], slices.Concat(command[1:], []string{"-"}, arguments)...)
		cmd.Stdin = strings.NewReader(doctor.Program)
		var out bytes.Buffer
		said := &lastLine{}
		cmd.Stdout, cmd.Stderr = &out, said
		err := cmd.Run()
		if ctx.Err() != nil {
			err = fmt.Errorf("it does not end within %v", most)
		}
		return out.String(), said.String(), err
	}
}

// tryStore opens the store, which makes it where it is not there, and looks for damage.
func (a *app) tryStore(ctx context.Context) error {
	s, err := replay.Open(ctx, a.storePath())
	if err != nil {
		return err
	}
	defer s.Close()
	rep, err := s.Check(ctx)
	if err == nil && len(rep.Problems) > 0 {
		err = fmt.Errorf("%s: %s", replay.Count(len(rep.Problems), "problem"), rep.Problems[0])
	}
	return err
}

// broken is a repro of two calls, of which PyTorch's own injected bug fails one.
const broken = `import torch
import torch._inductor.config
torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "compile_error"

class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x_1):
        sin = torch.ops.aten.sin.default(x_1);  x_1 = None
        relu = torch.ops.aten.relu.default(sin);  sin = None
        return (relu,)

def load_args(reader):
    buf0 = reader.storage(None, 16)
    reader.tensor(buf0, (4,), is_leaf=True)  # x_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='minify', save_dir=None, tracing_mode='real', check_str=None)
`

// tryMinify has another process of whittle's shrink a repro, in a folder and a store of its own.
func (a *app) tryMinify(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "whittle-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, out := filepath.Join(dir, "broken.py"), filepath.Join(dir, "repro.py")
	if err := os.WriteFile(file, []byte(broken), 0o666); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "minify", "--store", filepath.Join(dir, "store.db"), "--engine", "native", "-o", out, file)
	said := &lastLine{}
	cmd.Stderr, cmd.Dir = said, dir
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	text, err := os.ReadFile(out)
	if err == nil && (!strings.Contains(string(text), "aten.relu") || strings.Contains(string(text), "aten.sin")) {
		err = errors.New("the result is not the call that fails")
	}
	return err
}

// machine describes in lines what a failure may depend on besides whittle.
func machine() []string {
	return []string{
		fmt.Sprintf("go: %s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH),
		fmt.Sprintf("cpu: %s, %s, vector code %v", cpuName(), replay.Count(runtime.NumCPU(), "core"), native.Level()),
		"c++: " + compilerVersion(),
	}
}

func cpuName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for _, l := range strings.Split(string(data), "\n") {
		if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

func compilerVersion() string {
	return firstLine(compilerOf("CXX", "g++"), "--version")
}

// compilerOf is the compiler that a variable names, or the usual one.
func compilerOf(variable, usual string) string {
	if c := os.Getenv(variable); c != "" {
		return c
	}
	return usual
}

const notFound = ": not found"

// firstLine is what a program says first.
func firstLine(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return name + notFound
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first
}

// fingerprint is what outcomes depend on besides the query.
func fingerprint() string { return replay.HashOf(append([]string{"native", Version}, machine()...)...) }

func (a *app) storeCommand() *cobra.Command {
	c := &cobra.Command{Use: "store", Short: "Look into the store: check, ls, show, export; merge brings what another one has; gc drops what is old", RunE: func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("unknown command %q for \"whittle store\"", args[0])
		}
		return c.Help()
	}}
	var full bool
	show := &cobra.Command{Use: "show KIND/ID", Short: "Show one record", Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, args []string) error {
		s, err := replay.Open(c.Context(), a.storePath())
		if err != nil {
			return err
		}
		defer s.Close()
		text, err := s.Show(c.Context(), args[0], full)
		if err != nil {
			return err
		}
		if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			text = triage.QuoteLines(text) // a file gets it as it is
		}
		fmt.Fprint(a.stdout, text)
		return nil
	}}
	show.Flags().BoolVar(&full, "full", false, "the edits of a search in full, as JSON")
	open := func(ctx context.Context) (*replay.Store, error) { return replay.Open(ctx, a.storePath()) }
	c.AddCommand(&cobra.Command{Use: "check", Short: "Verify every hash and reference", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		s, err := open(c.Context())
		if err != nil {
			return err
		}
		defer s.Close()
		rep, err := s.Check(c.Context())
		if err != nil {
			return err
		}
		for _, p := range rep.Problems {
			fmt.Fprintln(a.stdout, p)
		}
		fmt.Fprintf(a.stdout, "%s, %s, %s: %s\n", replay.Count(rep.Blobs, "blob"), replay.Count(rep.Tensors, "tensor"), replay.Count(rep.Rows, "row"), replay.Count(len(rep.Problems), "problem"))
		if len(rep.Problems) > 0 {
			return exitCode(1)
		}
		return nil
	}}, &cobra.Command{Use: "ls [KIND]", Short: "List records", Args: cobra.MaximumNArgs(1), RunE: func(c *cobra.Command, args []string) error {
		s, err := open(c.Context())
		if err != nil {
			return err
		}
		defer s.Close()
		kind := ""
		if len(args) > 0 {
			kind = args[0]
		}
		es, err := s.List(c.Context(), kind)
		if err != nil {
			return err
		}
		for _, e := range es {
			fmt.Fprintf(a.stdout, "%s/%d\t%s\t%s\n", e.Kind, e.ID, e.Created.Format("2006-01-02 15:04:05"), triage.Quote(e.Summary))
		}
		return nil
	}}, show, &cobra.Command{Use: "export KIND/ID DIR", Short: "Write a record's files to a folder", Args: cobra.ExactArgs(2), RunE: func(c *cobra.Command, args []string) error {
		s, err := open(c.Context())
		if err != nil {
			return err
		}
		defer s.Close()
		p, err := s.Export(c.Context(), args[0], args[1])
		if err != nil {
			return err
		}
		fmt.Fprintln(a.stdout, p)
		return nil
	}}, a.gcCommand(), a.storeMergeCommand())
	return c
}
