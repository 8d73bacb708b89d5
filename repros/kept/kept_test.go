package kept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/sourcegraph/conc"
)

// echo is a host that says back what it hears, after its number. It dies when it hears an x, and is of no use at its end when it hears a y.
type echo struct {
	number byte
	gone   chan struct{}
	resets *atomic.Int64
}

func (e *echo) Serve(ctx context.Context, conn net.Conn, _ string) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	for b := make([]byte, 1); ; {
		if _, err := conn.Read(b); err != nil {
			return nil
		}
		switch b[0] {
		case 'x':
			close(e.gone)
			return nil
		case 'y':
			return errors.New("of no use")
		}
		if _, err := conn.Write([]byte{e.number, b[0]}); err != nil {
			return nil
		}
	}
}

func (e *echo) Reset(context.Context) error {
	e.resets.Add(1)
	select {
	case <-e.gone:
		return errors.New("dead")
	default:
		return nil
	}
}
func (e *echo) Gone() <-chan struct{} { return e.gone }
func (e *echo) Close()                {}

// keeps runs a keeper of echoes until the test ends; over gives the end of its Serve.
type keeps struct {
	f      Folder
	starts atomic.Int64
	resets atomic.Int64
	stop   context.CancelFunc
	over   chan error
}

func folder(t *testing.T) Folder {
	t.Helper()
	dir, err := os.MkdirTemp("", "kept") // a short path: it is a socket's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f, err := Open(filepath.Join(dir, "engines"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func keepEchoes(t *testing.T, f Folder, keep time.Duration, most int64) *keeps {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	k := &keeps{f: f, stop: stop, over: make(chan error, 1)}
	ready := make(chan struct{})
	var wg conc.WaitGroup
	wg.Go(func() {
		k.over <- f.Serve(ctx, "key", Options{Command: []string{"echo"}, Keep: keep, Ready: func(About) { close(ready) }, Start: func(context.Context) (Host, string, error) {
			n := k.starts.Add(1)
			if n > most {
				return nil, "", errors.New("no more echoes")
			}
			return &echo{byte('0' + n), make(chan struct{}), &k.resets}, "echo 1", nil
		}})
	})
	t.Cleanup(func() { stop(); wg.Wait() })
	select {
	case <-ready:
	case err := <-k.over:
		t.Fatal(err)
	}
	return k
}

// say has one echo of text; "" where there is no engine to be had.
func (k *keeps) say(t *testing.T, conn net.Conn, text string) string {
	t.Helper()
	if conn == nil {
		return ""
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return ""
	}
	b := make([]byte, 2)
	n, _ := io.ReadFull(conn, b)
	return string(b[:n])
}

// eventually asks until it gets what it wants: ends of others take a moment.
func eventually(t *testing.T, want string, ask func() string) {
	t.Helper()
	got := ""
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if got = ask(); got == want {
			return
		}
	}
	t.Fatalf("%q, want %q", got, want)
}

// One command after another has the engine, one at a time; a dead one is replaced; stopping removes all.
func TestServe(t *testing.T) {
	f := folder(t)
	k := keepEchoes(t, f, time.Hour, 9)
	ctx := t.Context()
	visit := func() net.Conn { return f.Connect(ctx, "key", "/") }
	first := visit()
	if got := k.say(t, first, "a"); got != "1a" {
		t.Fatal(got)
	}
	if got := k.say(t, visit(), "b"); got != "" { // meanwhile
		t.Errorf("two have it: %q", got)
	}
	if all, err := f.List(ctx); err != nil || len(all) != 1 || !all[0].Busy || !all[0].Ends.IsZero() {
		t.Error(all, err)
	}
	first.Close()
	once := func(text string) func() string {
		return func() string {
			c := visit()
			if c == nil {
				return "none"
			}
			defer c.Close()
			return k.say(t, c, text)
		}
	}
	eventually(t, "1c", once("c"))
	if k.resets.Load() == 0 {
		t.Error("it was not reset between two commands")
	}
	for i, end := range []string{"x", "y"} { // it dies; it is of no use any more
		next := string(rune('2' + i))
		eventually(t, next, func() string { // where somebody has it still, it does not hear that
			if k.starts.Load() < int64(i+2) {
				once(end)()
			}
			return fmt.Sprint(k.starts.Load())
		})
		eventually(t, next+"d", once("d"))
	}
	eventually(t, "false", func() string {
		all, _ := f.List(ctx)
		want := []About{{Command: []string{"echo"}, Version: "echo 1", PID: os.Getpid(), Keep: time.Hour}}
		if diff := cmp.Diff(want, all, cmpopts.IgnoreFields(About{}, "Idle", "Ends", "Busy")); diff != "" {
			t.Fatal(diff)
		}
		return map[bool]string{true: "true", false: "false"}[all[0].Busy]
	})
	if err := f.Serve(ctx, "key", Options{}); !errors.Is(err, ErrKept) {
		t.Error(err)
	}
	if all, err := f.Stop(ctx); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
	if err := <-k.over; err != nil || len(f.keys()) > 0 {
		t.Error(err, f.keys())
	}
	if visit() != nil {
		t.Error("somebody answers")
	}
}

// An engine ends after its time, which can be set anew, and when it cannot be started again.
func TestEnds(t *testing.T) {
	f := folder(t)
	k := keepEchoes(t, f, time.Hour, 1)
	if a, err := f.Keep(t.Context(), "key", time.Millisecond); err != nil || a.Keep != time.Millisecond {
		t.Error(a, err)
	}
	if err := <-k.over; err != nil || len(f.keys()) > 0 {
		t.Error(err, f.keys())
	}
	k = keepEchoes(t, f, time.Hour, 1)
	conn := f.Connect(t.Context(), "key", "/")
	if got := k.say(t, conn, "x"); got != "" {
		t.Error(got)
	}
	if err := <-k.over; err == nil || err.Error() != "no more echoes" {
		t.Error(err)
	}
	if _, err := f.Keep(t.Context(), "key", time.Hour); err == nil {
		t.Error("somebody keeps it")
	}
}

// What a dead keeper left does not stand in the way of the next, and is removed when engines are listed.
func TestWhatADeadKeeperLeft(t *testing.T) {
	f := folder(t)
	dead := func() {
		if err := f.make(); err != nil {
			t.Fatal(err)
		}
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: f.socket("key"), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		l.Close()
		if err := errors.Join(os.WriteFile(f.lock("key"), nil, 0o600), os.MkdirAll(filepath.Join(f.Home("key"), "sub"), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	dead()
	if f.Connect(t.Context(), "key", "/") != nil {
		t.Error("the dead answer")
	}
	k := keepEchoes(t, f, time.Hour, 1)
	if got := k.say(t, f.Connect(t.Context(), "key", "/"), "a"); got != "1a" {
		t.Error(got)
	}
	k.stop()
	<-k.over
	dead()
	if all, err := f.List(t.Context()); err != nil || len(all) > 0 || len(f.keys()) > 0 {
		t.Error(all, err, f.keys())
	}
}

func TestFoldersOfOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(path string) error
		want string
	}{
		{"open to a group", func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o750)) }, "the mode of this is 0750; 0700 is wanted"},
		{"open to all", func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o777)) }, "the mode of this is 0777"},
		{"a file", func(p string) error { return os.WriteFile(p, nil, 0o600) }, "and this is none"},
		{"a link", func(p string) error { return os.Symlink(os.TempDir(), p) }, "and this is none"},
		{"somebody else's", func(p string) error {
			if os.Geteuid() != 0 {
				return os.WriteFile(p, nil, 0o600) // it cannot be given away
			}
			return errors.Join(os.Mkdir(p, 0o700), os.Chown(p, 12345, 12345))
		}, "this is"},
		{"well", func(p string) error { return os.Mkdir(p, 0o700) }, ""},
		{"not there", func(string) error { return nil }, ""},
	} {
		p := filepath.Join(t.TempDir(), "engines")
		if err := c.make(p); err != nil {
			t.Fatal(err)
		}
		_, err := Open(p)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := (Folder{p}).make(); (err == nil) != (c.want == "") {
			t.Errorf("%s: it is made: %v", c.name, err)
		}
	}
}

// Which starts may take each other's place.
func TestKey(t *testing.T) {
	of := func(change func(*Start)) string {
		s := Start{Command: []string{"chroot", "/root", "python3"}, Env: []string{"A=1", "PATH=/bin:/usr/bin", "B=2"}, Cwd: "/here", Machine: []string{"v1"}}
		change(&s)
		return s.Key()
	}
	same := of(func(*Start) {})
	for _, c := range []struct {
		name   string
		change func(*Start)
		same   bool
	}{
		{"the order of variables", func(s *Start) { s.Env = []string{"B=2", "A=1", "PATH=/bin:/usr/bin"} }, true},
		{"a terminal", func(s *Start) { s.Env = append(s.Env, "TERM=dumb", "TERM_PROGRAM=x", "PWD=/there", "WHITTLE_STORE=x") }, true},
		{"a folder", func(s *Start) { s.Cwd = "/there" }, true},
		{"a variable", func(s *Start) { s.Env = append(s.Env, "OMP_NUM_THREADS=1") }, false},
		{"a variable's value", func(s *Start) { s.Env[0] = "A=2" }, false},
		{"a command", func(s *Start) { s.Command = []string{"python3"} }, false},
		{"a version", func(s *Start) { s.Machine = []string{"v2"} }, false},
		{"words run together", func(s *Start) { s.Command = []string{"chroot", "/root python3"} }, false},
	} {
		if got := of(c.change) == same; got != c.same {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, relative := range []func(*Start){
		func(s *Start) { s.Command = []string{"venv/bin/python"} },
		func(s *Start) { s.Env = []string{"PYTHONPATH=lib"} },
		func(s *Start) { s.Env = []string{"PATH=/bin:"} },
	} {
		there := func(s *Start) { relative(s); s.Cwd = "/there" }
		if of(relative) == of(there) {
			t.Error("what is named by where it stands is the same elsewhere")
		}
	}
}
