package torch

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"whittle/repros/engine"
)

// line is the way to a far side. One goroutine writes and one reads at a time.
type line interface {
	io.ReadWriter
	// leave says goodbye and returns when the line is closed and what this side started is gone. hurry does not wait for it to go by itself. died
	// says that it ended by a signal of somebody else.
	leave(hurry bool, grace time.Duration) (died bool)
	// said is the end of what it printed beside its answers.
	said() string
}

// python is the line to a Python that this side started, by its pipes.
type python struct {
	group  *engine.Group
	in     io.WriteCloser
	out    io.ReadCloser
	stderr tail
	killed bool // by a signal of ours; set by leave
}

// spawn starts the command in dir, "" for this process's own. It waits for its program then.
func spawn(o Options, dir string) (*python, error) {
	args := argv(o.Command)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), o.Env...)
	y := &python{}
	cmd.Stderr = &y.stderr
	cmd.WaitDelay = o.Limits.Grace // a process that it left behind may hold stderr
	var err error
	if y.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if y.out, err = cmd.StdoutPipe(); err != nil {
		return nil, errors.Join(err, y.in.Close())
	}
	if y.group, err = engine.StartGroup(cmd); err != nil { // which has closed the pipes
		return nil, fmt.Errorf("torch: starting %s: %w", strings.Join(o.Command, " "), err)
	}
	return y, nil
}

func (y *python) Read(b []byte) (int, error)  { return y.out.Read(b) }
func (y *python) Write(b []byte) (int, error) { return y.in.Write(b) }
func (y *python) said() string                { return y.stderr.String() }

// leave sees it out: the end of its input asks it to go, then a signal does, then it is killed with its group.
func (y *python) leave(hurry bool, grace time.Duration) (died bool) {
	y.in.Close()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !hurry && y.group.Ends(grace) {
			break
		}
		hurry = false
		y.killed = true
		y.group.Signal(sig)
	}
	ws, ok := y.group.Reap().Sys().(syscall.WaitStatus) // which closes the pipes, and so ends reader and writer
	return ok && ws.Signaled() && !y.killed
}

// visit is the line to a Python that somebody else keeps. Closing it is goodbye.
type visit struct{ net.Conn }

func (v visit) said() string                          { return "" }
func (v visit) leave(bool, time.Duration) (died bool) { v.Close(); return false }

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if over := len(t.b) - 32<<10; over > 0 {
		t.b = append([]byte{}, t.b[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.b), "?")
}
