package kept

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"whittle/repros/engine"
)

// Folder is where the engines of one user are found: of each a socket, a lock that its keeper holds, and a folder that it runs in.
type Folder struct{ path string }

// Open opens a folder. One that is not there is like an empty one: Serve makes it. One that others may write to or look into, or that somebody else
// owns, is an error.
func Open(path string) (Folder, error) {
	st, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return Folder{path}, nil
	}
	if err != nil {
		return Folder{}, err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case !st.IsDir():
		return Folder{}, fmt.Errorf("%s: engines are kept in a folder, and this is none", path)
	case !ok || int(sys.Uid) != os.Geteuid():
		return Folder{}, fmt.Errorf("%s: engines are kept in a folder of the user's own, and this is somebody else's", path)
	case st.Mode().Perm() != 0o700:
		return Folder{}, fmt.Errorf("%s: engines are kept in a folder that only its owner sees, and the mode of this is %#o; 0700 is wanted", path, st.Mode().Perm())
	}
	return Folder{path}, nil
}

// make makes the folder, if need be.
func (f Folder) make() error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(f.path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	_, err := Open(f.path) // whoever made it
	return err
}

// Home is the folder that the engine with a key runs in. Its keeper makes it, and removes it.
func (f Folder) Home(key string) string { return filepath.Join(f.path, key+".home") }

func (f Folder) socket(key string) string { return filepath.Join(f.path, key+".sock") }
func (f Folder) lock(key string) string   { return filepath.Join(f.path, key+".lock") }

// About is what a keeper says of its engine.
type About struct {
	Command []string      `json:"command"`
	Version string        `json:"version"` // of the engine
	PID     int           `json:"pid"`     // of the keeper
	Busy    bool          `json:"busy"`    // a command has it
	Idle    time.Duration `json:"idle"`    // for how long nobody had it
	Keep    time.Duration `json:"keep"`    // after which time without a command it ends
	Ends    time.Time     `json:"ends"`    // when that will be; zero while a command has it
}

// request is the first thing that a keeper is told.
type request struct {
	Op   string        `json:"op"`             // attach, about, keep or stop
	Cwd  string        `json:"cwd,omitempty"`  // attach: the folder of the command
	Keep time.Duration `json:"keep,omitempty"` // keep: the new time
}

// The operations.
const (
	opAttach = "attach"
	opAbout  = "about"
	opKeep   = "keep"
	opStop   = "stop"
)

// manners is how long a keeper or its caller may take for what needs no work.
const manners = 5 * time.Second

// call begins a conversation with the keeper of a key. The error may be os.ErrNotExist or say that nobody listens.
func (f Folder) call(ctx context.Context, key string, r request) (net.Conn, error) {
	ctx, stop := context.WithTimeout(ctx, manners)
	defer stop()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", f.socket(key))
	if err != nil {
		return nil, err
	}
	if err = owned(conn); err == nil {
		err = errors.Join(conn.SetDeadline(time.Now().Add(manners)), engine.WriteFrame(conn, r))
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// ask has one answer from a keeper.
func (f Folder) ask(ctx context.Context, key string, r request) (a About, err error) {
	conn, err := f.call(ctx, key, r)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	return a, engine.ReadFrame(conn, &a)
}

// Connect gives a connection to the engine with a key, whose Host serves it; nil where there is none that answers. One that somebody else has is closed at
// once.
func (f Folder) Connect(ctx context.Context, key, cwd string) net.Conn {
	conn, err := f.call(ctx, key, request{Op: opAttach, Cwd: cwd})
	if err != nil {
		return nil
	}
	if conn.SetDeadline(time.Time{}) != nil {
		conn.Close()
		return nil
	}
	return conn
}

// Keep sets the time after which the engine with a key ends, and says what it is like then. The error says that there is none.
func (f Folder) Keep(ctx context.Context, key string, d time.Duration) (About, error) {
	return f.ask(ctx, key, request{Op: opKeep, Keep: d})
}

// List says what is kept. What dead keepers left is removed.
func (f Folder) List(ctx context.Context) ([]About, error) {
	all, _, err := f.each(ctx, request{Op: opAbout})
	return all, err
}

// Stop ends all engines, also those that a command has, and waits for that. It says which.
func (f Folder) Stop(ctx context.Context) ([]About, error) {
	ctx, cancel := context.WithTimeout(ctx, mostStop)
	defer cancel()
	all, keys, err := f.each(ctx, request{Op: opStop})
	if err != nil {
		return all, err
	}
	for _, key := range keys { // each is held until its keeper is gone
		lock, err := f.hold(ctx, key)
		if err != nil {
			return all, err
		}
		f.remove(key, lock)
	}
	return all, nil
}

// keys are those whose files are there.
func (f Folder) keys() []string {
	var out []string
	files, _ := os.ReadDir(f.path)
	for _, e := range files {
		key, _, _ := strings.Cut(e.Name(), ".")
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// mostStop bounds how long keepers may take to end: an engine gets some seconds to go by itself.
const mostStop = time.Minute

// each asks all keepers the same, and gives the keys of those that answered. What dead ones left is removed.
func (f Folder) each(ctx context.Context, r request) (all []About, keys []string, err error) {
	for _, key := range f.keys() {
		a, err := f.ask(ctx, key, r)
		switch {
		case err == nil:
			all, keys = append(all, a), append(keys, key)
		case ctx.Err() != nil:
			return all, keys, ctx.Err()
		default:
			if lock, err := f.tryHold(key); err == nil {
				f.remove(key, lock)
			}
		}
	}
	return all, keys, nil
}

// ErrKept says that an engine with the key is kept already.
var ErrKept = errors.New("it is kept already")

// tryHold takes the lock of a key. The error is ErrKept, or about the file.
func (f Folder) tryHold(key string) (*os.File, error) {
	for {
		lock, err := os.OpenFile(f.lock(key), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			lock.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				err = ErrKept
			}
			return nil, err
		}
		// Whoever held it may have removed it meanwhile: then it is nobody's lock.
		mine, err := lock.Stat()
		if err != nil {
			lock.Close()
			return nil, err
		}
		if st, err := os.Stat(lock.Name()); err == nil && os.SameFile(mine, st) {
			return lock, nil
		}
		lock.Close()
	}
}

// hold waits for the lock of a key.
func (f Folder) hold(ctx context.Context, key string) (*os.File, error) {
	for {
		lock, err := f.tryHold(key)
		if !errors.Is(err, ErrKept) {
			return lock, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// remove removes all that there is of a key, and gives its lock back.
func (f Folder) remove(key string, lock *os.File) {
	os.Remove(f.socket(key))
	os.RemoveAll(f.Home(key))
	os.Remove(f.lock(key))
	lock.Close()
}

// owned is an error if the process at the other end of conn is not of this user.
func owned(conn net.Conn) error {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) { cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	if cerr == nil && int(cred.Uid) != os.Geteuid() {
		cerr = fmt.Errorf("the process at the other end is of user %d", cred.Uid)
	}
	return cerr
}
