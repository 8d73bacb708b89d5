package replay

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// owner identifies this process: the boot of its machine, its number, and its start, as numbers come again.
func owner() string {
	return fmt.Sprintf("%s %d %s", bootID(), os.Getpid(), startOf(os.Getpid()))
}

// alive reports whether the process of an owner runs. One on another machine counts as ended: nobody can tell.
func alive(owner string) bool {
	f := strings.Fields(owner)
	if len(f) != 3 || f[0] != bootID() {
		return false
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil || pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	if err := p.Signal(syscall.Signal(0)); err != nil && err != syscall.EPERM {
		return false
	}
	return startOf(pid) == f[2]
}

// bootID names the machine's current boot; "-" where the system does not say.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if id := strings.TrimSpace(string(b)); err == nil && id != "" {
		return id
	}
	return "-"
}

// startOf is when a process began, in the system's ticks; "-" where it does not say, or for one that has ended and is not yet waited for.
func startOf(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "-"
	}
	// The name, in parentheses, may hold anything.
	_, rest, ok := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
	f := strings.Fields(rest)
	if !ok || len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return "-"
	}
	return f[19]
}
