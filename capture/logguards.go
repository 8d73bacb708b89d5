package capture

import (
	"fmt"
	"strings"
	"time"

	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// logGuards logs the guards of a new entry.
func (d *Dynamo) logGuards(en *entry) {
	d.structuredGuards(en)
	if d.logs.on[logVerboseGuards] {
		for _, g := range en.guards.Shown() {
			text := "Guard: " + g.Expr
			if at, ok := g.Made(); ok {
				text += fmt.Sprintf("\nUser stack:\n  File \"%s\", line %d, in %s\n    %s\n", at.Code.Filename, at.Line, at.Code.Name, strings.TrimSpace(at.Text()))
			}
			d.Log(logVerboseGuards, text)
		}
	}
	if !d.logs.on[logGuardTree] {
		return
	}
	d.Log(logGuards, "GUARDS:")
	d.Log(logGuardTree, "\nTREE_GUARD_MANAGER:\n"+strings.Join(en.frame.Tree, "\n")+"\n")
}

// logGuardTime logs how long the guards of an entry take to check.
func (d *Dynamo) logGuardTime(en *entry, e *source.Env) {
	if !d.logs.on[logGuardTree] {
		return
	}
	const rounds = 100
	start := time.Now()
	for range rounds {
		en.guards.Check(e)
	}
	d.Log(logGuardTiming, fmt.Sprintf("Guard eval latency = %.2f us", float64(time.Since(start).Nanoseconds())/rounds/1000))
}

// allReasons are the guards that fail of each entry of a code object, newest first, all of them.
func (d *Dynamo) allReasons(st *codeState, e *source.Env) []string {
	var out []string
	for _, en := range st.entries {
		var failed []string
		for _, why := range en.guards.Failures(e) {
			failed = append(failed, en.id+": "+why.Logged(d.logs.on[logGuardTree]))
		}
		if len(failed) == 0 { // the code is another backend's
			failed = []string{en.id + ": "}
		}
		out = append([]string{strings.Join(failed, "\n")}, out...)
	}
	return out
}

// logLimit warns that a code object is not compiled again.
func (d *Dynamo) logLimit(f *vm.Frame, ev *FrameEvent, own bool, limit, total int) {
	name, n := "accumulated_cache_size_limit", total
	if own {
		name, n = "cache_size_limit", limit
	}
	last := ""
	if len(ev.logged) > 0 {
		last = ev.logged[len(ev.logged)-1]
	}
	d.logf(logLimit, "torch._dynamo hit config.%s (%d)\n   function: '%s' (%s:%d)\n   last reason: %s\nTo log all recompilation reasons, use TORCH_LOGS=\"recompiles\".\n"+
		"To diagnose recompilation issues, see https://pytorch.org/docs/main/torch.compiler_troubleshooting.html.", name, n, f.Code.Name, f.Code.Filename, ev.Line, last)
}

// logSuppressed warns that a frame runs as plain Python after an error.
func (d *Dynamo) logSuppressed(f *vm.Frame, ev *FrameEvent, err error) {
	defer d.within("", 0)()
	text := d.In.FormatException(err)
	if head := "Traceback (most recent call last):\n"; !strings.HasPrefix(text, head) {
		text = head + text // as Python formats an exception that was caught
	}
	d.logf(logSuppressed, "WON'T CONVERT %s %s line %d \ndue to: \n%s", f.Code.Name, f.Code.Filename, ev.Line, text)
}
