package worker

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
)

func TestScriptOutcome(t *testing.T) {
	for text, want := range map[string]replay.Signature{
		"Traceback (most recent call last):\n  File \"x.py\", line 1\ntorch._inductor.exc.LoweringException: AssertionError: no 7\n": {Type: "LoweringException", Message: "AssertionError: no #"},
		"whittle: something\nAccuracyError: Bad accuracy detected":                                                                   {Type: "AccuracyError", Message: "Bad accuracy detected"},
		"nothing here": {},
	} {
		if diff := cmp.Diff(want, scriptOutcome(text).Signature); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
