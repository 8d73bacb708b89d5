package ablate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"whittle/accuracy"
	"whittle/tools/whittle/exec"
)

// call is the result of a call that returned one number.
func call(n int, v, seconds float64) exec.Call {
	return exec.Call{N: n, Kind: "call", What: "f", At: "x.py:1", Seconds: seconds, Values: []accuracy.Checksum{{Name: "output 0", DType: "float32", Shape: []int64{1}, Sum: v, Abs: v, Mix: v}}}
}

func calls(n int, v, seconds float64) (out []exec.Call) {
	for i := range n {
		out = append(out, call(i, v, seconds))
	}
	return out
}

// fine is a run in which all went well.
func fine(c []exec.Call, arguments map[string]any) exec.Result {
	notes := []exec.Note{{Kind: "compile", What: "f", Arguments: arguments}}
	for _, x := range c {
		notes = append(notes, exec.Note{Kind: "begin", N: x.N, What: x.What, At: x.At})
	}
	return exec.Result{Heard: true, Calls: c, Notes: append(notes, exec.Note{Kind: "end", N: len(c)})}
}

// raises is a run whose first call raises.
func raises(arguments map[string]any) exec.Result {
	return exec.Result{Heard: true, Status: 1, Notes: []exec.Note{{Kind: "compile", What: "f", Arguments: arguments}, {Kind: "begin", What: "f", At: "x.py:1"},
		{Kind: "raised", What: "f", Type: "BackendCompilerFailed", Message: "backend='inductor' raised:\nLoweringException: no"},
		{Kind: "ended", Type: "BackendCompilerFailed", Message: "backend='inductor' raised:\nLoweringException: no"}, {Kind: "end", N: 1}}}
}

// A program is faulty from one backend on; what is blamed is the first layer of the program's own backend that is at fault.
func TestGuilty(t *testing.T) {
	asItIs := func(layer string) bool { return layer == "" }
	for name, c := range map[string]struct {
		own  map[string]any
		bad  func(backend string) bool // "" for the program as it is
		run  exec.Result
		want string
	}{
		"nothing":     {nil, func(string) bool { return false }, exec.Result{}, ""},
		"inductor":    {nil, func(b string) bool { return b == "" || b == "inductor" }, raises(nil), "inductor fails LoweringException: no"},
		"aot":         {nil, func(b string) bool { return b != "eager" }, raises(nil), "aot fails LoweringException: no"},
		"dynamo":      {nil, func(string) bool { return true }, raises(nil), "dynamo fails LoweringException: no"},
		"drift":       {nil, func(b string) bool { return b == "" || b == "inductor" }, fine(calls(2, 3, 1), nil), "inductor drifts output 0 of call 0, f (x.py:1): off by 0.33 of its magnitude"},
		"its backend": {map[string]any{"backend": "toy"}, asItIs, raises(map[string]any{"backend": "toy"}), "backend fails LoweringException: no"},
		"its backend, and another": {map[string]any{"backend": "toy"}, func(b string) bool { return b == "" || b == "inductor" }, raises(map[string]any{"backend": "toy"}),
			"backend fails LoweringException: no"},
		"one that it does not use": {map[string]any{"backend": "aot_eager"}, func(b string) bool { return b == "inductor" }, raises(map[string]any{"backend": "aot_eager"}), ""},
		"its mode":                 {map[string]any{"mode": "max-autotune"}, asItIs, raises(map[string]any{"mode": "max-autotune"}), "inductor fails LoweringException: no"},
		"a hang":                   {nil, asItIs, exec.Result{Heard: true, Status: 143, Overdue: true, Notes: []exec.Note{{Kind: "begin", What: "f", At: "x.py:1"}}}, "inductor hangs it does not end in time, in call 0, f (x.py:1)"},
		"a crash":                  {nil, asItIs, exec.Result{Heard: true, Status: 134, Notes: []exec.Note{{Kind: "begin", What: "f", At: "x.py:1"}}}, "inductor dies killed by SIGABRT, in call 0, f (x.py:1)"},
		"a status":                 {nil, asItIs, func() exec.Result { r := fine(calls(2, 2, 1), nil); r.Status = 3; return r }(), "inductor fails exit status 3, not 0"},
		"too few":                  {nil, asItIs, fine(calls(1, 2, 1), nil), "inductor drifts 1 call, not 2"},
	} {
		run := func(_ context.Context, x Change) (exec.Result, string, error) {
			b, _ := x.Compile["backend"].(string)
			if !x.Eager && c.bad(b) {
				return c.run, "", nil
			}
			return fine(calls(2, 2, 1), c.own), "", nil
		}
		r, err := Ablate(context.Background(), run, Options{Quick: true, Tolerance: 1e-3})
		if err != nil {
			t.Fatal(name, err)
		}
		got := ""
		if r.Guilty != nil {
			got = r.Guilty.Layer + " " + string(r.Guilty.Status) + " " + r.Guilty.Why
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if c.want == "" && name != "nothing" && len(r.Also) != 1 {
			t.Errorf("%s: %v", name, r.Also)
		}
	}
}

// What makes the failure go away is said, and what brings one about.
func TestVary(t *testing.T) {
	run := func(_ context.Context, x Change) (exec.Result, string, error) {
		r := fine(calls(2, 2, 1), nil)
		r.Notes = append(r.Notes, exec.Note{Kind: "settings", Changed: []exec.Setting{{Name: "torch._inductor.config.a", Before: nil, Value: "bug"}}})
		bad := !x.Eager && (x.Compile == nil || x.Compile["backend"] == "inductor")
		for _, s := range x.Settings {
			bad = bad && s.Name != "torch._inductor.config.a" && s.Name != "torch._inductor.config.b"
		}
		if bad && x.Compile["dynamic"] != true {
			f := raises(nil)
			f.Notes = append(f.Notes, r.Notes[len(r.Notes)-1])
			return f, "", nil
		}
		return r, "", nil
	}
	r, err := Ablate(context.Background(), run, Options{Settings: []exec.Setting{{Name: "torch._inductor.config.b", Value: false}}})
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Join(r.Helps, "; "), "dynamic=True; torch._inductor.config.a = None; torch._inductor.config.b = False"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestSlow(t *testing.T) {
	run := func(_ context.Context, x Change) (exec.Result, string, error) {
		seconds := 1.0
		if x.Compile["backend"] == "inductor" {
			seconds = 1.5
		}
		return fine(calls(10, 2, seconds), nil), "", nil
	}
	r, err := Ablate(context.Background(), run, Options{Quick: true})
	if err != nil || len(r.Slow) != 1 || r.Slow[0] != (Slow{"inductor", 1.5, 1}) {
		t.Error(r.Slow, err)
	}
}

func TestNotAblated(t *testing.T) {
	n := 0
	for want, result := range map[string]func() exec.Result{
		"no Python ran":                    func() exec.Result { return exec.Result{} },
		"ends with status 1":               func() exec.Result { return raises(nil) },
		"calls nothing that torch.compile": func() exec.Result { return exec.Result{Heard: true} },
		"two eager runs part already": func() exec.Result {
			n++
			return fine(calls(1, float64(n), 1), nil)
		},
	} {
		_, err := Ablate(context.Background(), func(context.Context, Change) (exec.Result, string, error) { return result(), "", nil }, Options{})
		var e *EagerError
		if !errors.As(err, &e) || !strings.Contains(e.Why, want) {
			t.Error(want, err)
		}
	}
}
