package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
)

// Which marks prove an outcome, for all engines. A pass that was stopped in the compiler has been through eager; where it says so of a failure, that
// changes nothing.
func TestProved(t *testing.T) {
	for _, c := range []struct {
		status replay.Status
		stage  string
		marks  int    // that it has
		want   string // that it lacks
		before string // the step at which it was stopped
	}{
		{replay.Pass, "", 4, "", ""},
		{replay.Pass, "", 3, "ran", ""},
		{replay.Pass, "", 2, "", "C++"},
		{replay.Pass, "", 1, "eager", "C++"},
		{replay.Failed, "compile", 2, "", ""},
		{replay.Failed, "run", 2, "compiled", "C++"},
		{replay.Failed, "compile", 1, "eager", ""},
		{replay.Failed, "run", 2, "compiled", ""},
		{replay.Failed, "accuracy", 4, "", ""},
		{replay.Failed, "accuracy", 3, "ran", ""},
		{replay.Failed, "eager", 1, "", ""},
		{replay.Failed, "", 0, "loaded", ""},
		{replay.Failed, "load", 0, "loaded", ""},
		{replay.Failed, "some stage", 1, "", ""},
		{replay.Timeout, "run", 2, "compiled", ""},
		{replay.Killed, "compare", 3, "ran", ""},
		{replay.OOM, "compile", 2, "", ""},
		{replay.Invalid, "", 0, "", ""},
		{replay.Infrastructure, "run", 0, "", ""},
	} {
		o := replay.Outcome{Status: c.status, Message: "as it was", Signature: replay.Signature{Stage: c.stage}, Marks: Marks[:c.marks], Before: c.before}
		want := o
		if c.want != "" {
			want = replay.Outcome{Status: replay.Infrastructure, Message: string(c.status) + ` without the mark "` + c.want + `"`, Marks: o.Marks}
		}
		if diff := cmp.Diff(want, Proved(o)); diff != "" {
			t.Errorf("%s at %q with %d marks: %s", c.status, c.stage, c.marks, diff)
		}
	}
	o := replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "compile"}, Marks: []string{Eager, Loaded}}
	if Proved(o).Status != replay.Infrastructure {
		t.Error("marks in another order are a proof")
	}
}

// What ends before eager is through says nothing about the compiler.
func TestEarly(t *testing.T) {
	sig := replay.Signature{Stage: "compile", Type: "SIGSEGV"}
	for n, want := range []replay.Outcome{
		{Status: replay.Infrastructure, Message: "while loading: gone"},
		{Status: replay.Invalid, Message: "in eager: gone"},
		{Status: replay.Killed, Message: "gone", Signature: sig},
	} {
		want.Marks = Marks[:n]
		if diff := cmp.Diff(want, Early(replay.Outcome{Status: replay.Killed, Message: "gone", Signature: sig, Marks: Marks[:n]})); diff != "" {
			t.Error(diff)
		}
	}
}
