package native

/*
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef void (*whittle_entry)(void **, const int64_t *);

static void *open_library(const char *path, char **err) {
  void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!h) *err = dlerror();
  return h;
}
static void *find_symbol(void *h, const char *name) { return dlsym(h, name); }
static void call_entry(void *f, void **bufs, int64_t *sizes) { ((whittle_entry)f)(bufs, sizes); }
*/
import "C"

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
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

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
// concurrent use, and several processes may share the directory. It is bounded: see KernelAge.
type Builder struct {
	Dir      string   // the cache directory, made when missing
	Compiler []string // the command; nil: found by FindCompiler
	Flags    []string // nil: DefaultFlags

	mu     sync.Mutex
	loaded map[string]*Library
}

// DefaultFlags optimise for the machine at hand without changing floating-point results beyond contraction.
func DefaultFlags() []string {
	return []string{"-O3", "-std=c++17", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fno-plt", "-w"}
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

// A Library is a loaded shared object. It stays loaded for the life of the process.
type Library struct {
	Path  string
	entry unsafe.Pointer
	h     unsafe.Pointer
}

// Build compiles source, unless the cache has it, loads it and finds the entry `kernel`. A refused
// source is a *CompileError; a cancelled ctx kills the compiler and everything it started.
func (b *Builder) Build(ctx context.Context, source string) (*Library, error) {
	cmd := b.Compiler
	if cmd == nil {
		var err error
		if cmd, err = FindCompiler(); err != nil {
			return nil, err
		}
	}
	flags := b.Flags
	if flags == nil {
		flags = DefaultFlags()
		if b.openMP(ctx, cmd) {
			flags = append(flags, "-fopenmp")
		}
	}
	h := sha256.New()
	fmt.Fprintf(h, "whittle-1\x00%s\x00%s\x00%s\x00", strings.Join(cmd, "\x01"), strings.Join(flags, "\x01"), machine())
	h.Write([]byte(source))
	key := hex.EncodeToString(h.Sum(nil))[:40]
	b.mu.Lock()
	lib := b.loaded[key]
	b.mu.Unlock()
	if lib != nil {
		return lib, nil
	}
	dir := filepath.Join(b.Dir, key[:2])
	so := filepath.Join(dir, key+".so")
	now := time.Now()
	if _, err := os.Stat(so); err != nil {
		if err := compile(ctx, cmd, flags, source, dir, so); err != nil {
			return nil, err
		}
		pruneNow(b.Dir, now)
	} else {
		_ = os.Chtimes(so, now, now) // what is used is young; in a cache that is read-only nothing goes anyway
	}
	lib, err := Load(so)
	if err != nil {
		// A damaged cache entry is made again, once.
		os.Remove(so)
		if err := compile(ctx, cmd, flags, source, dir, so); err != nil {
			return nil, err
		}
		if lib, err = Load(so); err != nil {
			return nil, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.loaded == nil {
		b.loaded = map[string]*Library{}
	}
	b.loaded[key] = lib
	return lib, nil
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

var openMPCache sync.Map // compiler command -> bool

// openMP reports whether the compiler links OpenMP programs.
func (b *Builder) openMP(ctx context.Context, cmd []string) bool {
	key := strings.Join(cmd, "\x00")
	if v, ok := openMPCache.Load(key); ok {
		return v.(bool)
	}
	dir, err := os.MkdirTemp("", "whittle-omp")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	err = compile(ctx, cmd, []string{"-fopenmp"}, "#include <omp.h>\nextern \"C\" void kernel(void**, const long*) { omp_get_max_threads(); }\n", dir, filepath.Join(dir, "t.so"))
	if ctx.Err() == nil {
		openMPCache.Store(key, err == nil)
	}
	return err == nil
}

// Load opens a shared object and finds its entry `void kernel(void** bufs, const int64_t* sizes)`.
func Load(path string) (*Library, error) {
	// The path must not be looked up along the library path.
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	cp := C.CString(abs)
	defer C.free(unsafe.Pointer(cp))
	var cerr *C.char
	h := C.open_library(cp, &cerr)
	if h == nil {
		return nil, fmt.Errorf("loading %s: %s", path, C.GoString(cerr))
	}
	l := &Library{Path: abs, h: h}
	if l.entry, err = l.Symbol("kernel"); err != nil {
		return nil, err
	}
	return l, nil
}

// Symbol finds another exported function of the library with the entry's signature.
func (l *Library) Symbol(name string) (unsafe.Pointer, error) {
	cn := C.CString(name)
	defer C.free(unsafe.Pointer(cn))
	p := C.find_symbol(l.h, cn)
	if p == nil {
		return nil, fmt.Errorf("%s exports no %s", l.Path, name)
	}
	return p, nil
}

// Call runs the entry on buffers (nil allowed for empty ones) and sizes.
func (l *Library) Call(bufs []unsafe.Pointer, sizes []int64) { l.CallSymbol(l.entry, bufs, sizes) }

// CallSymbol runs a function found by Symbol.
func (l *Library) CallSymbol(fn unsafe.Pointer, bufs []unsafe.Pointer, sizes []int64) {
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, p := range bufs {
		if p != nil {
			pin.Pin(p)
		}
	}
	C.call_entry(fn, (*unsafe.Pointer)(unsafe.SliceData(bufs)), (*C.int64_t)(unsafe.SliceData(sizes)))
}
