package minify

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/replay"
)

// run runs a search, and sees to it that its journal alone leads to the same result.
func run(t testing.TB, s *Search, start State) (Result, error) {
	t.Helper()
	r, err := s.Run(ctx, start)
	again, rerr := Retrace(ctx, start, anew(s.Values), r.Steps)
	if rerr != nil {
		t.Errorf("the journal does not lead anywhere: %v", rerr)
	} else if h := (&hasher{}); r.State.Module != nil && h.key(again, "") != h.key(r.State, "") {
		t.Errorf("the journal leads to\n%s\nand the search to\n%s", again.Module, r.State.Module)
	}
	return r, err
}

// anew is what knows values as v does, before it was asked.
func anew(v Values) Values {
	switch v := v.(type) {
	case *testEngine:
		return &EagerValues{Execute: v.Execute}
	case *EagerValues:
		return &EagerValues{Execute: v.Execute}
	}
	return v
}

// Every kind of edit is what it was after it was written and read.
func TestEditsAreWrittenAndRead(t *testing.T) {
	cases := []Edit{
		Alone{[]string{"a", "b"}}, Become{"a", "aten.gelu.default", "aten.relu.default", "0"}, Bypass{[]string{"a"}}, BypassInBodies{[]string{"body/a"}}, Concrete{[]string{"s0"}},
		Contiguous{[]string{"x"}}, Cut{[]string{"a"}}, DeadCode{}, Defaults{[]string{"sum.dim"}}, DropInputs{[]string{"x"}}, DropOutputs{[]string{"(a, 'b')"}}, DropRegions{[]string{"a"}},
		DropSettings{[]string{"torch._inductor.config.x"}}, Fills{FillOnes, []string{"x"}}, Inline{"c", 1, "body"}, NoGrad{[]string{"x"}}, AsLeaf{[]string{"x"}}, Number{-1, []string{"add.1"}},
		Resize{Size: 3, Classes: []string{"x.0", "a/'"}}, Shortcut{"a", "x", Adapter{}}, SimplerDTypes{[]string{"x"}}, Uncast{[]string{"c"}}, Unwrap{[]string{"m"}},
		AlonePlain{[]string{"b"}}, AloneSmall{[]string{"b"}, 2}, AsInputs{[]string{"c"}}, WrittenDown{[]string{"x"}, map[string][]string{"x": {"1.0", "inf"}}}, Zero{[]string{"x[0]"}},
		Bridge{[]string{"a", "b"}, []string{"b"}, "b", Shortcut{"a", "x", Adapter{Overload: "aten.reshape.default", Args: []fx.Arg{fx.List{int64(2), int64(-1)}}}}},
		Shortcut{"a", "x", Adapter{Overload: "prims.convert_element_type.default", Args: []fx.Arg{tensor.BFloat16}}},
		Shortcut{"a", "x", Adapter{Method: "narrow", Args: []fx.Arg{int64(1), int64(0), int64(3)}}},
		Together{Name: "all", Only: true, Parts: []Edit{Cut{[]string{"a"}}, Together{Parts: []Edit{DeadCode{}}}}},
	}
	seen := map[string]bool{}
	for _, e := range cases {
		seen[reflect.TypeOf(e).Name()] = true
		text, err := MarshalEdit(e)
		if err != nil {
			t.Errorf("%s: %v", e, err)
			continue
		}
		got, err := UnmarshalEdit(text)
		if diff := cmp.Diff(e, got, cmp.AllowUnexported(Resize{}, extents{})); err != nil || diff != "" {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
	for name := range kinds {
		if !seen[name] {
			t.Errorf("%s has no case", name)
		}
	}
}

// A journal that belongs to another start, and edits that nobody knows, are errors that say so.
func TestWhatCannotBeRetraced(t *testing.T) {
	f := &fails{pred: func(s State) bool { return has(s, "torch.odd") }}
	start := stateOf(t, transformer(40, "torch.odd"))
	r, err := run(t, &Search{Oracle: f, Values: sameValues{}}, start)
	if err != nil {
		t.Fatal(err)
	}
	taken := -1
	for i, st := range r.Steps {
		if st.Taken && strings.Contains(st.Change, `"edit"`) {
			taken = i
		}
	}
	changed := func(edit func(st *replay.Step)) []replay.Step {
		steps := append([]replay.Step{}, r.Steps...)
		edit(&steps[taken])
		return steps
	}
	for _, c := range []struct {
		start State
		steps []replay.Step
		want  string
	}{
		{stateOf(t, transformer(41, "torch.odd")), r.Steps, "the journal began with"},
		{start, changed(func(st *replay.Step) { st.Parent = "elsewhere" }), "it changed elsewhere, this is"},
		{start, changed(func(st *replay.Step) { st.Candidate = "elsewhere" }), "it led to elsewhere, now it leads to"},
		{start, changed(func(st *replay.Step) { st.Change = `{"edit":{"Explode":{}}}` }), `an edit of type "Explode" is not known`},
		{start, changed(func(st *replay.Step) { st.Change = `{"edit":{"Cut":{"Calls":["nothing"]}}}` }), "the edit does not apply"},
		{start, changed(func(st *replay.Step) { st.Change = `{"learned":["everything"]}` }), `"everything" is nothing that can be known`},
	} {
		_, err := Retrace(ctx, c.start, sameValues{}, c.steps)
		var bad *StepError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// FuzzUnmarshalEdit reads what a damaged journal may hold: what is read is written, and read, as it was.
func FuzzUnmarshalEdit(f *testing.F) {
	for _, text := range []string{`{"Cut":{"Calls":["a"]}}`, `{"Together":{"Parts":[{"DeadCode":{}}]}}`, `{"Shortcut":{"By":{"Method":"to","Args":["torch.int8"]}}}`, `{"Resize":{"Size":3}}`, `{}`, `null`, `{"Cut":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := UnmarshalEdit(text)
		if err != nil {
			return
		}
		once, err := MarshalEdit(e)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := UnmarshalEdit(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := MarshalEdit(again); err != nil || string(once) != string(twice) {
			t.Errorf("%s\n%s\n%v", once, twice, err)
		}
	})
}
