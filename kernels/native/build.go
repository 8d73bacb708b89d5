package native

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// A CompileError is a compiler that refused the source or could not run.
type CompileError struct {
	Cmd    []string
	Output string // the compiler's standard error and output
	Err    error
}

func (e *CompileError) Error() string {
	return fmt.Sprintf("CppCompileError: C++ compile error\n\nCommand:\n%s\n\nOutput:\n%s", strings.Join(e.Cmd, " "), e.Output)
}

func (e *CompileError) Unwrap() error { return e.Err }

// ErrNoCompiler says that none of $CXX, g++, clang++, c++ exists.
var ErrNoCompiler = errors.New("no C++ compiler found ($CXX, g++, clang++, c++)")

// A Builder compiles generated C++ into shared objects in a cache directory. It is safe for
// concurrent use, and several processes may share the directory. It is bounded: see KernelAge. What
// builders of one process load they share, whatever their directories: see MostLoaded.
type Builder struct {
	Dir      string   // the cache directory, made when missing
	Compiler []string // the command; nil: found by FindCompiler
	Flags    []string // nil: DefaultFlags
}

// DefaultFlags optimise for the machine at hand without changing floating-point results beyond contraction. What -O3 does beyond -O2, but for the
// optional flags, takes two to three times as long to compile and makes few loops of this kind faster.
func DefaultFlags() []string {
	return []string{"-O2", "-std=c++17", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fno-plt", "-w"}
}

// FindCompiler returns the C++ compiler command: $CXX (which may hold arguments), g++, clang++ or c++.
func FindCompiler() ([]string, error) {
	if f := strings.Fields(os.Getenv("CXX")); len(f) > 0 {
		if p, err := exec.LookPath(f[0]); err == nil {
			return append([]string{p}, f[1:]...), nil
		}
	}
	for _, n := range []string{"g++", "clang++", "c++"} {
		if p, err := exec.LookPath(n); err == nil {
			return []string{p}, nil
		}
	}
	return nil, ErrNoCompiler
}

// Build compiles source, unless the process has it loaded or the cache has it, loads it and finds the entry
// `void kernel(void** bufs, const int64_t* sizes)`. A refused source is a *CompileError; a cancelled ctx kills the
// compiler and everything it started.
func (b *Builder) Build(ctx context.Context, source string) (*Library, error) {
	cmd, err := b.command()
	if err != nil {
		return nil, err
	}
	flags := b.Flags
	if flags == nil {
		flags = append(DefaultFlags(), b.optional(ctx, cmd)...)
	}
	key := keyOf(cmd, flags, source)
	so := b.object(key)
	dir := filepath.Dir(so)
	now := time.Now()
	there := os.Chtimes(so, now, now) == nil // what is used is young; in a cache that is read-only nothing goes anyway
	if lib := libraries.find(key); lib != nil {
		return lib, nil
	}
	if _, err := os.Stat(so); !there && err != nil {
		if err := compile(ctx, cmd, flags, source, dir, so); err != nil {
			return nil, err
		}
		pruneNow(b.Dir, now)
	}
	obj, err := open(so)
	if err != nil {
		// A damaged cache entry is made again, once.
		os.Remove(so)
		if err := compile(ctx, cmd, flags, source, dir, so); err != nil {
			return nil, err
		}
		if obj, err = open(so); err != nil {
			return nil, err
		}
	}
	return libraries.add(key, obj), nil
}

// Has reports whether Build would find the source compiled. It runs no compiler to know.
func (b *Builder) Has(source string) bool {
	cmd, err := b.command()
	if err != nil {
		return false
	}
	flags := b.Flags
	if flags == nil {
		optional, ok := b.known(cmd)
		if !ok {
			return false
		}
		flags = append(DefaultFlags(), optional...)
	}
	key := keyOf(cmd, flags, source)
	if libraries.find(key) != nil {
		return true
	}
	_, err = os.Stat(b.object(key))
	return err == nil
}

// command is the compiler's.
func (b *Builder) command() ([]string, error) {
	if b.Compiler != nil {
		return b.Compiler, nil
	}
	return FindCompiler()
}

// keyOf is what the result of a compilation is known by.
func keyOf(cmd, flags []string, source string) string {
	h := sha256.New()
	fmt.Fprintf(h, "whittle-1\x00%s\x00%s\x00%s\x00", strings.Join(cmd, "\x01"), strings.Join(flags, "\x01"), machine())
	h.Write([]byte(Uncommented(source)))
	return hex.EncodeToString(h.Sum(nil))[:40]
}

// object is the place of a result in the cache.
func (b *Builder) object(key string) string { return filepath.Join(b.Dir, key[:2], key+".so") }

// Uncommented is generated C++ without its comments to the end of a line, which are all that it has: they name the nodes of the graph that it was made
// for, and what is otherwise the same need not be compiled twice. Text in quotes holds no slashes there.
func Uncommented(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		code, _, found := strings.Cut(line, "//")
		b.WriteString(code)
		if found {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// machine distinguishes caches on shared file systems.
func machine() string { return runtime.GOARCH + " " + detected.String() }

// compile writes the source beside the result, runs the compiler in a process group of its own, and renames the object into place.
func compile(ctx context.Context, cmd, flags []string, source, dir, so string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	src := strings.TrimSuffix(so, ".so") + ".cpp"
	tmpSrc, err := os.CreateTemp(dir, "src-*.cpp")
	if err != nil {
		return err
	}
	_, werr := tmpSrc.WriteString(source)
	if err := errors.Join(werr, tmpSrc.Close()); err != nil {
		os.Remove(tmpSrc.Name())
		return err
	}
	tmp := tmpSrc.Name() + ".so"
	defer os.Remove(tmp)
	args := append(append([]string{}, cmd[1:]...), flags...)
	args = append(args, "-fPIC", "-shared", "-o", tmp, tmpSrc.Name(), "-lm")
	c := exec.CommandContext(ctx, cmd[0], args...)
	c.Env = append(os.Environ(), "LC_ALL=C") // one wording of its messages everywhere: signatures are made of them
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 2 * time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err = c.Run()
	if err != nil {
		os.Remove(tmpSrc.Name())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &CompileError{Cmd: append([]string{cmd[0]}, args...), Output: strings.ReplaceAll(out.String(), tmpSrc.Name(), filepath.Base(src)), Err: err}
	}
	os.Remove(tmpSrc.Name())
	if err := renameio.WriteFile(src, []byte(source), 0o666, renameio.WithTempDir(dir)); err != nil {
		return err
	}
	return keep(tmp, so)
}

// keep gives what a compiler made its name, once it is on the disk: after a crash of the machine a library is there whole, or not at all.
func keep(tmp, so string) error {
	f, err := os.Open(tmp)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, so)
}

// optionalFlags are used where the compiler knows them: GCC vectorises at -O2 only what costs no code, unless it is told to weigh it; threads need OpenMP.
var optionalFlags = []string{"-fvect-cost-model=dynamic", "-fopenmp"}

var optionalCache sync.Map // compiler command => the optional flags it takes

// known are the optional flags that a compiler takes, as far as that was found out, by this process or by one with the same cache.
func (b *Builder) known(cmd []string) ([]string, bool) {
	if v, ok := optionalCache.Load(strings.Join(cmd, "\x00")); ok {
		return v.([]string), true
	}
	path, err := b.answer(cmd)
	if err != nil {
		return nil, false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	flags := strings.Fields(string(text))
	for _, f := range flags {
		if !slices.Contains(optionalFlags, f) {
			return nil, false
		}
	}
	optionalCache.Store(strings.Join(cmd, "\x00"), flags)
	return flags, true
}

// answer is the file that says which optional flags a compiler takes: this one, as it is now.
func (b *Builder) answer(cmd []string) (string, error) {
	at, err := filepath.EvalSymlinks(cmd[0])
	if err != nil {
		return "", err
	}
	st, err := os.Stat(at)
	if err != nil {
		return "", err
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %d %q", cmd, at, st.Size(), st.ModTime().UnixNano(), optionalFlags))
	return filepath.Join(b.Dir, "flags-"+hex.EncodeToString(h[:8])), nil
}

// optional finds out which of the optional flags the compiler takes: all at once, and one by one where that fails.
func (b *Builder) optional(ctx context.Context, cmd []string) []string {
	if flags, ok := b.known(cmd); ok {
		return flags
	}
	dir, err := os.MkdirTemp("", "whittle-flags")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(dir)
	takes := func(flags ...string) bool {
		source := "extern \"C\" void kernel(void**, const long*) {}\n"
		if slices.Contains(flags, "-fopenmp") {
			source = "#include <omp.h>\nextern \"C\" void kernel(void**, const long*) { omp_get_max_threads(); }\n"
		}
		return compile(ctx, cmd, flags, source, dir, filepath.Join(dir, "t.so")) == nil
	}
	var known []string
	if takes(optionalFlags...) {
		known = optionalFlags
	} else {
		for _, f := range optionalFlags {
			if takes(f) {
				known = append(known, f)
			}
		}
	}
	if ctx.Err() == nil {
		optionalCache.Store(strings.Join(cmd, "\x00"), known)
		if path, err := b.answer(cmd); err == nil && os.MkdirAll(b.Dir, 0o777) == nil {
			_ = renameio.WriteFile(path, []byte(strings.Join(known, "\n")+"\n"), 0o666) // who cannot write it finds out again
		}
	}
	return known
}
