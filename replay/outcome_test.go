package replay

import "testing"

func TestVerdictsOnAFailure(t *testing.T) {
	want := Signature{Stage: "compile", Type: "SIGSEGV", Frame: "inductor"}
	for _, c := range []struct {
		name string
		o    Outcome
		want Verdict
	}{
		{"the same", Outcome{Status: Killed, Signature: want}, Reproduced},
		{"no frame", Outcome{Status: Killed, Signature: Signature{Stage: "compile", Type: "SIGSEGV"}}, Reproduced},
		{"another frame", Outcome{Status: Killed, Signature: Signature{Stage: "compile", Type: "SIGSEGV", Frame: "dynamo"}}, VerdictKilled},
		{"a fresh process, which cannot tell the stage", Outcome{Status: Killed, Signature: Signature{Type: "SIGSEGV"}}, Reproduced},
		{"another stage", Outcome{Status: Killed, Signature: Signature{Stage: "run", Type: "SIGSEGV"}}, VerdictKilled},
		{"another signal", Outcome{Status: Killed, Signature: Signature{Type: "SIGABRT"}}, VerdictKilled},
		{"no signature", Outcome{Status: Failed}, Different},
		{"an exception", Outcome{Status: Failed, Signature: Signature{Stage: "compile", Type: "RuntimeError"}}, Different},
		{"a pass", Outcome{Status: Pass}, Passed},
		{"a hang", Outcome{Status: Timeout, Signature: Signature{Stage: "compile", Type: "timeout"}}, VerdictTimeout},
		{"no answer", Outcome{Status: Infrastructure, Signature: want}, VerdictInfra},
	} {
		if got := Judge(c.o, want); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Which marks prove an outcome, for all engines.
func TestUnproved(t *testing.T) {
	for _, c := range []struct {
		status Status
		stage  string
		marks  int    // that it has
		want   string // that it lacks
	}{
		{Pass, "", 4, ""},
		{Pass, "", 3, "ran"},
		{Failed, "compile", 2, ""},
		{Failed, "compile", 1, "eager"},
		{Failed, "run", 2, "compiled"},
		{Failed, "accuracy", 4, ""},
		{Failed, "accuracy", 3, "ran"},
		{Failed, "eager", 1, ""},
		{Failed, "", 0, "loaded"},
		{Failed, "load", 0, "loaded"},
		{Failed, "some stage", 1, ""},
		{Timeout, "run", 2, "compiled"},
		{Killed, "compare", 3, "ran"},
		{OOM, "compile", 2, ""},
		{Invalid, "", 0, ""},
		{Infrastructure, "run", 0, ""},
	} {
		o := Outcome{Status: c.status, Signature: Signature{Stage: c.stage}, Marks: []string{"loaded", "eager", "compiled", "ran"}[:c.marks]}
		want := ""
		if c.want != "" {
			want = string(c.status) + ` without the mark "` + c.want + `"`
		}
		if got := o.Unproved(); got != want {
			t.Errorf("%s at %q with %d marks: %q, want %q", c.status, c.stage, c.marks, got, want)
		}
	}
	if o := (Outcome{Status: Failed, Signature: Signature{Stage: "compile"}, Marks: []string{"eager", "loaded"}}); o.Unproved() == "" {
		t.Error("marks in another order are a proof")
	}
}
