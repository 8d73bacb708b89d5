package scenario

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"whittle/repros/engine"
)

// farSide is the command farside: it stands for a Python with torch, says hello as one does, and knows nothing more than to be attached and reset.
// Its argument is the version that it says it has; "broken" for one that does not start, "refuses" for one that nobody can visit twice. A second one names a file: what
// it says is the message of the AssertionError that every repro fails with, and stands in the code that is generated; an empty one has every repro pass.
func farSide() {
	version := os.Args[1]
	if version == "broken" {
		os.Stderr.WriteString("ImportError: no torch here\n")
		os.Exit(1)
	}
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	size, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		panic(err)
	}
	if _, err := io.CopyN(io.Discard, in, int64(size)); err != nil {
		return
	}
	for attached := false; ; {
		var j struct {
			ID int64
			Op string
		}
		if engine.ReadFrame(in, &j) != nil {
			return
		}
		result := map[string]any{}
		switch {
		case j.Op == "hello":
			result = map[string]any{"torch": version, "threads": 1, "memory": 1 << 30, "pid": os.Getpid()}
		case j.Op == "attach" && version == "refuses" && attached:
			result = map[string]any{"refused": "another torch was installed"}
		case j.Op == "attach":
			attached = true
		case len(os.Args) > 2 && j.Op == "explore":
			result = map[string]any{"values": map[string]any{}}
		case len(os.Args) > 2 && (j.Op == "run" || j.Op == "fresh"):
			result = scripted(os.Args[2])
		case len(os.Args) > 2 && j.Op == "code":
			text, _ := os.ReadFile(os.Args[2])
			result = map[string]any{"status": "pass", "marks": engine.Marks, "code": []string{fmt.Sprintf("bug = %q\n", strings.TrimSpace(string(text)))}}
		case j.Op == "cancel", j.Op == "reset", j.Op == "have", j.Op == "ping":
		default:
			result = map[string]any{"status": "infrastructure", "message": "a far side that answers no questions"}
		}
		if engine.WriteFrame(os.Stdout, map[string]any{"id": j.ID, "result": result, "missing": []string{}}) != nil {
			return
		}
	}
}

// scripted is the outcome that a file says.
func scripted(file string) map[string]any {
	text, err := os.ReadFile(file)
	message := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return map[string]any{"status": "infrastructure", "message": err.Error()}
	case message == "":
		return map[string]any{"status": "pass", "marks": engine.Marks}
	}
	return map[string]any{"status": "fail", "marks": engine.Marks[:2], "message": "AssertionError: " + message, "error": map[string]string{"Stage": "compile", "Type": "AssertionError", "Message": message}}
}

// signals is the command signal NAME FILE: the process whose number is the last word of FILE gets a signal, and is waited for.
func signals(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: signal TERM|KILL FILE")
	}
	sig := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}[args[0]]
	text := strings.TrimSpace(ts.ReadFile(args[1]))
	pid, err := strconv.Atoi(text[strings.LastIndex(text, " ")+1:])
	ts.Check(err)
	ts.Check(syscall.Kill(pid, sig))
	for until := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if strings.Contains(string(b), ") Z ") {
			return // whoever collects the dead has not come by yet
		}
		if time.Now().After(until) {
			ts.Fatalf("process %d is still there", pid)
		}
	}
}
