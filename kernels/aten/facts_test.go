package aten

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func factsByName() map[string]*Facts {
	m := map[string]*Facts{}
	for _, f := range Declared() {
		m[f.Sig.FullName()] = f
	}
	return m
}

// TestFactsAreKnown walks every operator that PyTorch declares: each has exactly one effect, and does something.
func TestFactsAreKnown(t *testing.T) {
	known := factsByName()
	for _, l := range strings.Split(strings.TrimSpace(schemasTSV+pythonOnlyTSV), "\n") {
		flags, text, _ := strings.Cut(l, "\t")
		name := text[:strings.IndexByte(text, '(')]
		effects := 0
		for _, c := range flags {
			if _, ok := effectLetters[c]; ok {
				effects++
			}
		}
		if effects != 1 {
			t.Errorf("%s has %d effects, want one: %q", name, effects, flags)
		}
		f := known[name]
		if f == nil {
			t.Errorf("%s has no facts", name)
			continue
		}
		if len(f.Sig.Returns) == 0 && len(f.Writes) == 0 && f.Effect != Lasting {
			t.Errorf("%s gives nothing, writes nothing and has no lasting effect", name)
		}
		if f.Effect == Uninitialised && len(f.Sig.Returns) == 0 {
			t.Errorf("%s is uninitialised memory, and gives nothing", name)
		}
	}
	for _, op := range All() {
		if op.Facts() != known[op.FullName()] {
			t.Errorf("%s: the row has other facts than the declaration", op)
		}
	}
	for name, arg := range metadata {
		if !slices.ContainsFunc(Declared(), func(f *Facts) bool {
			return (f.Sig.Name == name || f.Sig.Name+"."+f.Sig.Overload == name) && f.Sig.Arg(arg) >= 0
		}) {
			t.Errorf("metadata: no operator %s has an argument %s", name, arg)
		}
	}
	for name := range updating {
		for _, f := range Declared() {
			if f.Sig.Name == name && len(f.Updates) != 2 {
				t.Errorf("%s updates %d running statistics, want 2", f.Sig.FullName(), len(f.Updates))
			}
		}
	}
}

// pytorchFacts is what PyTorch 2.6 says of the operators; facts.py beside it wrote it and says how to read it.
//
//go:embed testdata/facts.tsv
var pytorchFacts string

// moreLasting have an effect to us, and none to PyTorch's fx: they give nothing, so that nobody would call them for less.
var moreLasting = setOfNames(`aten::_assert_async aten::_backward aten::_cufft_clear_plan_cache aten::_cufft_set_plan_cache_max_size
	aten::_linalg_check_errors aten::_print aten::_propagate_xla_data prims::_sink_tokens`)

// TestFactsAsPyTorch compares the facts of every operator with PyTorch's.
func TestFactsAsPyTorch(t *testing.T) {
	type facts struct{ Letters, Writes, Aliases string }
	recorded := map[string]facts{}
	for _, l := range strings.Split(strings.TrimSpace(pytorchFacts), "\n") {
		c := strings.Split(strings.ReplaceAll(l, "\t-", "\t"), "\t")
		recorded[c[0]] = facts{c[1], c[2], c[3]}
	}
	for name, f := range factsByName() {
		if f.Sig.Namespace == "torchvision" || name == "aten::copy_.python" {
			continue // no operators of PyTorch: the second is a form of copy_ that it binds by hand
		}
		var got facts
		var writes, aliases []string
		for _, i := range f.Writes {
			writes = append(writes, f.Sig.Args[i].Name)
		}
		for _, a := range f.Aliases {
			if !f.Sig.Returns[a.Result].Type.List {
				aliases = append(aliases, strconv.Itoa(a.Result)+"="+f.Sig.Args[a.Arg].Name)
			}
		}
		if f.Effect == Random {
			got.Letters += "R"
		}
		if len(f.Writes) > 0 || f.Effect == Lasting && !moreLasting[name] {
			got.Letters += "I"
		}
		if len(f.Aliases) > 0 && len(f.Writes) == 0 {
			got.Letters += "V"
		}
		got.Writes, got.Aliases = strings.Join(writes, ","), strings.Join(aliases, ",")
		if diff := cmp.Diff(recorded[name], got); diff != "" {
			t.Errorf("%s (-PyTorch +here):\n%s", f.Sig, diff)
		}
		delete(recorded, name)
	}
	for name := range recorded {
		t.Errorf("%s is not declared here", name)
	}
}

// TestUnknownEffect shows that nobody gets the facts of a row that says nothing of its effect.
func TestUnknownEffect(t *testing.T) {
	defer func() {
		if got, want := recover(), any("aten: no row says what effect mylib.forgotten.default has"); got != want {
			t.Errorf("panic %v, want %v", got, want)
		}
	}()
	op := &Op{Schema: "mylib::forgotten(Tensor x) -> Tensor"}
	op.Facts()
}

// TestLibraryFacts shows the facts of operators that a program defines: what their schemas say, and no effect unless the program says so.
func TestLibraryFacts(t *testing.T) {
	same := func(c *Call) (Value, error) { return c.Args[0], nil }
	lib := new(Library)
	for _, c := range []struct {
		schema string
		effect Effect
		want   Effect
		writes []int
	}{
		{"mylib::twice(Tensor x) -> Tensor", UnknownEffect, Pure, nil},
		{"mylib::bump(Tensor x, Tensor(a!) y) -> ()", UnknownEffect, Pure, []int{1}},
		{"mylib::noise(Tensor x) -> Tensor", Random, Random, nil},
	} {
		op, err := lib.Define(Op{Schema: c.schema, Effect: c.effect, Meta: same, Eager: same})
		if err != nil {
			t.Fatal(err)
		}
		if f := op.Facts(); f.Effect != c.want || !slices.Equal(f.Writes, c.writes) {
			t.Errorf("%s: effect %d, writes %v; want %d, %v", c.schema, f.Effect, f.Writes, c.want, c.writes)
		}
	}
}

// TestTags shows the tags that follow from facts, one operator of each kind.
func TestTags(t *testing.T) {
	for name, want := range map[string]Tag{
		"aten.add.Tensor":              0,
		"aten.add_.Tensor":             Inplace,
		"aten.add.out":                 OutVariant,
		"aten.view":                    View,
		"aten.split.Tensor":            View,
		"aten.squeeze_":                Inplace,
		"aten.reshape":                 View,
		"aten.var_mean.correction_out": OutVariant,
	} {
		if got := Lookup(name).Tags & (Inplace | OutVariant | View); got != want {
			t.Errorf("%s: tags %b, want %b", name, got, want)
		}
	}
}

// TestTrains shows which calls train: those that no flag keeps from it.
func TestTrains(t *testing.T) {
	known := factsByName()
	for _, c := range []struct {
		op   string
		flag Value // nil: not known
		want bool
	}{
		{"native_batch_norm", true, true}, {"native_batch_norm", false, false}, {"native_batch_norm", nil, true},
		{"instance_norm", false, false}, {"dropout", false, false}, {"relu", nil, true},
	} {
		got := known["aten::"+c.op].Trains(func(i int) (Value, bool) { return c.flag, c.flag != nil })
		if got != c.want {
			t.Errorf("%s with %v: trains is %t", c.op, c.flag, got)
		}
	}
}

// TestGiven shows what the arguments of a call change.
func TestGiven(t *testing.T) {
	known := factsByName()
	node := struct{}{} // an argument that is no constant
	for _, c := range []struct {
		op     string
		args   []Value
		effect Effect
		writes []int
	}{
		{"dropout", []Value{node, 0.5, true}, Random, nil},
		{"dropout", []Value{node, 0.5, false}, Pure, nil},
		{"dropout", []Value{node, 0.5, node}, Random, nil},
		{"dropout_", []Value{node, 0.5, false}, Pure, []int{0}},
		{"native_dropout", []Value{node, 0.5, nil}, Random, nil},
		{"scaled_dot_product_attention", []Value{node, node, node, nil, 0.0}, Pure, nil},
		{"scaled_dot_product_attention", []Value{node, node, node, nil, 0.1}, Random, nil},
		{"lstm.input", []Value{node, node, node, true, int64(1), 0.5, true, false, true}, Random, nil},
		{"lstm.input", []Value{node, node, node, true, int64(1), 0.0, true, false, true}, Pure, nil},
		{"lstm.input", []Value{node, node, node, true, int64(1), 0.5, false, false, true}, Pure, nil},
		{"native_batch_norm", []Value{node, nil, nil, node, node, true, 0.1, 1e-5}, Pure, []int{3, 4}},
		{"native_batch_norm", []Value{node, nil, nil, nil, nil, true, 0.1, 1e-5}, Pure, nil},
		{"native_batch_norm", []Value{node, nil, nil, node, node, false, 0.1, 1e-5}, Pure, nil},
		{"_native_batch_norm_legit", []Value{node, nil, nil, node, node, false, 0.1, 1e-5}, Pure, []int{3, 4}},
		{"rand", []Value{node}, Random, nil},
	} {
		f := known["aten::"+c.op]
		if f == nil {
			t.Fatalf("no operator %s", c.op)
		}
		got := f.Given(func(i int) (Value, bool) {
			if i >= len(c.args) {
				return f.Sig.Args[i].Default, f.Sig.Args[i].HasDefault
			}
			return c.args[i], c.args[i] != Value(node)
		})
		if got.Effect != c.effect || !slices.Equal(got.Writes, c.writes) || got.Updates != nil {
			t.Errorf("%s%v: effect %d, writes %v; want %d, %v", c.op, c.args, got.Effect, got.Writes, c.effect, c.writes)
		}
	}
}
