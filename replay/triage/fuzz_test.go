package triage

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"whittle/replay"
	"whittle/repros"
)

// FuzzQuote: whatever comes, a terminal gets printable characters.
func FuzzQuote(f *testing.F) {
	f.Add("\x1b]0;title\x07 \u202e \x9b \xff \u2028 e\u0301")
	f.Fuzz(func(t *testing.T, text string) {
		got := Quote(text)
		if !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
		for _, r := range got {
			if r != ' ' && !unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control) {
				t.Fatalf("%q has %U", got, r)
			}
		}
		for _, r := range QuoteLines(text) {
			if r != ' ' && r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Fatalf("%q has %U", got, r)
			}
		}
	})
}

// FuzzTake: any signature, text and repro has features; they are stored and come back, are at no distance from themselves, and are found by their keys.
func FuzzTake(f *testing.F) {
	f.Add("compile", "BackendCompilerFailed", "backend='x' raised: LoweringException: TypeError: no target: aten.add.Tensor", "  File \"/a/torch/_inductor/lowering.py\", line 3, in f\n  target: aten.add.Tensor", repro("aot", "", f32, []string{"torch.ops.aten.relu.default($)"}))
	f.Add("accuracy", "AccuracyError", "", "", repro("dynamo", "# Minimal repro written by whittle\n", f32, []string{"$.view(torch.uint8)"}))
	f.Add("run", "SIGSEGV", "\xff\x1b", "x", "no python (")
	f.Fuzz(func(t *testing.T, stage, typ, message, raw, text string) {
		got := Take(replay.Failure{Signature: replay.Signature{Stage: stage, Type: typ, Message: message}, Raw: raw, Repro: text}, nil)
		back, err := ParseFeatures(got.Text())
		if err != nil || back.Text() != got.Text() {
			t.Fatalf("%v: %s came back as %s", err, got.Text(), back.Text())
		}
		c := Compare(back, back)
		if c.Distance > Near && len(back.Graph) > 0 && !(c.Distance <= 0.5) || c.Distance < 0 {
			t.Fatalf("%v from itself: %q", c.Distance, c.Explain())
		}
		if c.Same && len(back.Keys()) == 0 {
			t.Fatalf("one bug, and not to be found: %s", got.Text())
		}
		_ = Rate(replay.Group{Members: 1}, back)
		if strings.ContainsAny(Quote(back.Title()), "\n\x1b") {
			t.Fatalf("%q", back.Title())
		}
	})
}

// FuzzFromFile: any file and any error text beside it make a failure that can be stored and compared.
func FuzzFromFile(f *testing.F) {
	f.Add(repro("aot", "# Minimal repro written by whittle 1\n# Failure: run: RuntimeError: a: b: f in torch/x.py\n", f32, []string{"torch.ops.aten.relu.default($)"}), "")
	f.Add(repro("aot", "# SIGABRT while the graph was to compile (after aot)\n", f32, []string{"torch.ops.aten.relu.default($)"}), "")
	f.Add(repro("dynamo", "", f32, []string{"torch.relu($)"}), "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\ntorch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nValueError: no\n")
	f.Fuzz(func(t *testing.T, text, raw string) {
		r, err := repros.Read("repro.py", text)
		if err != nil {
			return
		}
		got := FromFile(r, text, raw)
		if got.Signature.IsZero() {
			t.Fatal("no signature")
		}
		Take(got, nil)
	})
}
