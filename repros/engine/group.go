package engine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Group is a process that an engine started, with all that it starts: a process group of its own. Whoever starts one reaps it; until then its
// number is nobody else's.
type Group struct {
	cmd *exec.Cmd
}

// StartGroup starts cmd as the first process of a new group.
func StartGroup(cmd *exec.Cmd) (*Group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Group{cmd}, nil
}

// PID is the number of the group and of its first process.
func (g *Group) PID() int { return g.cmd.Process.Pid }

// Signal sends sig to all of the group. It does nothing where nobody is left.
func (g *Group) Signal(sig syscall.Signal) { _ = syscall.Kill(-g.PID(), sig) }

// Ends waits up to a time for the first process to end, and leaves it to be reaped.
func (g *Group) Ends(within time.Duration) bool {
	for until := time.Now().Add(within); ; time.Sleep(2 * time.Millisecond) {
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, g.PID(), &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); err != nil || info.Signo != 0 {
			return true
		}
		if !time.Now().Before(until) {
			return false
		}
	}
}

// Reap kills what is left of the group and waits for its first process; then it says how that ended.
func (g *Group) Reap() *os.ProcessState {
	g.Signal(syscall.SIGKILL)
	_ = g.cmd.Wait() // the state says it; this closes the pipes, too
	return g.cmd.ProcessState
}

// CPUTime is the CPU time that the first process has used so far, with all its threads; 0 where that cannot be told.
func (g *Group) CPUTime() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", g.PID()))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * (time.Second / 100) // in ticks, of which Linux tells 100 a second
}

// Resident is how many bytes of memory the first process holds; 0 where that cannot be told.
func (g *Group) Resident() int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", g.PID()))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
