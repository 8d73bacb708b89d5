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
