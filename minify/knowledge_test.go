package minify

import (
	"context"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/replay"
)

func fakeOf(dt tensor.DType, shape, stride []int64, offset int64) *tensor.Tensor {
	return fakeAt(dt, shape, stride, offset)
}

// MakeAll makes what the comment on Data says.
func TestMakeAll(t *testing.T) {
	e := &EagerValues{}
	x := tensor.FromFloat32s([]float32{1.5, 2, 3, 4, 5, 6}, 2, 3)
	gm, err := fx.Parse("t.py", "def forward(self, x):\n    v = torch.ops.aten.t.default(x)\n    w = torch.ops.aten.add_.Tensor(x, 1)\n    r = torch.ops.aten.relu.default(v)\n    return (r,)")
	if err != nil {
		t.Fatal(err)
	}
	held, err := e.Explore(ctx, State{Module: gm, Inputs: []Input{{Value: x}}}, "0/")
	if err != nil {
		t.Fatal(err)
	}
	if x.At(0) != 1.5 {
		t.Error("exploring wrote to an input")
	}
	fx0, fv, fw := isTensor(held["x"].Value), isTensor(held["v"].Value), isTensor(held["w"].Value)
	if fx0.Storage != fv.Storage || fv.Storage == fw.Storage || !slices.Equal(fv.Stride, []int64{1, 3}) || held["x"].Hash == held["w"].Hash {
		t.Errorf("x and v share memory, w is later: %v %v %v", fx0.Storage, fv.Storage, fw.Storage)
	}
	if l, err := e.Elements(ctx, "0/v"); err != nil || strings.Join(l, " ") != "1.5 4.0 2.0 5.0 3.0 6.0" {
		t.Error(l, err)
	}
	got, err := e.MakeAll([]Input{
		{Value: fx0, Data: Data{Of: "0/x"}}, {Value: fv, Data: Data{Of: "0/v"}}, // as they are: shared
		{Value: fakeOf(tensor.Float32, []int64{1, 2}, []int64{2, 1}, 0), Data: Data{Of: "0/x"}},      // cut
		{Value: fakeOf(tensor.Int64, []int64{2, 3}, []int64{1, 2}, 4), Data: Data{Of: "0/x"}},        // cast, other strides and offset
		{Value: fakeOf(tensor.Bool, []int64{2}, []int64{1}, 0), Data: Data{Fill: FillOnes}},          // fills
		{Value: fakeOf(tensor.Int32, []int64{2, 2}, []int64{2, 1}, 0), Data: Data{Fill: FillArange}}, //
		{Value: fakeOf(tensor.Float64, []int64{3}, []int64{1}, 0), Data: Data{Fill: FillList, List: []string{"-2.5", "inf", "0"}}},
		{Value: fakeOf(tensor.Float32, []int64{3}, []int64{0}, 0), Data: Data{Fill: FillZeros}},
		{Value: int64(7)},
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := make([]*tensor.Tensor, len(got))
	for i, v := range got {
		ts[i] = isTensor(v)
	}
	if ts[0].Storage != ts[1].Storage || ts[0].Storage == ts[2].Storage {
		t.Error("what shares memory")
	}
	var text []string
	for _, x := range ts[:8] {
		text = append(text, fmt.Sprint(x.Floats(), x.Stride, x.Offset))
	}
	want := []string{"[1.5 2 3 4 5 6] [3 1] 0", "[1.5 4 2 5 3 6] [1 3] 0", "[1.5 2] [2 1] 0", "[1 2 3 4 5 6] [1 2] 4", "[1 1] [1] 0", "[0 1 2 3] [2 1] 0", "[-2.5 +Inf 0] [1] 0", "[0 0 0] [0] 0"}
	if d := cmp.Diff(want, text); d != "" || got[8] != any(int64(7)) {
		t.Error(d)
	}
	if ts[3].DType != tensor.Int64 {
		t.Error(ts[3].DType)
	}
	ts[0].Fill(0)
	if again, _ := e.Make(Input{Value: fx0, Data: Data{Of: "0/x"}}); isTensor(again).At(0) != 1.5 {
		t.Error("a made value shares memory with what is held")
	}
	for _, bad := range []struct {
		in   Input
		want string
	}{
		{Input{Value: fx0, Data: Data{Of: "0/y"}}, `input 0: no tensor is held under "0/y"`},
		{Input{Value: fakeOf(tensor.Float32, []int64{3, 3}, []int64{3, 1}, 0), Data: Data{Of: "0/x"}}, "larger than the held"},
		{Input{Value: fakeOf(tensor.Float32, []int64{1, 1, 1}, []int64{1, 1, 1}, 0), Data: Data{Of: "0/x"}}, "more dimensions"},
		{Input{Value: fakeOf(tensor.Float32, []int64{2}, []int64{1}, 0), Data: Data{Fill: FillList, List: []string{"1"}}}, "1 elements for"},
		{Input{Value: fakeOf(tensor.Float32, []int64{1}, []int64{1}, 0), Data: Data{Fill: FillList, List: []string{"one"}}}, `"one" is not an element`},
		{Input{Value: fakeOf(tensor.Float8E4M3FN, []int64{1}, []int64{1}, 0), Data: Data{Fill: FillZeros}}, "float8_e4m3fn cannot be made"},
	} {
		if _, err := e.Make(bad.in); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v, want %s", err, bad.want)
		}
	}
}

// The sizes that change together.
func TestExtents(t *testing.T) {
	for _, c := range []struct {
		name, text string
		inputs     []string
		want       string // classes with what they are in the inputs
		slots      string
	}{
		{"broadcast", "    r = torch.ops.aten.add.Tensor(x, y)\n    return (r,)", []string{"f32[4, 8]", "f32[8]"}, "4:x.0 8:x.1,y.0", ""},
		{"merge", "    a = torch.ops.aten.view.default(x, [16, 32])\n    r = torch.ops.aten.mm.default(a, y)\n    return (r,)", []string{"f32[2, 8, 32]", "f32[32, 5]"},
			"2:x.0 8:x.1 32:x.2,y.0 5:y.1", "a.1[0]=16:2*8 a.1[1]=32:32"},
		{"split", "    a = torch.ops.aten.view.default(x, [2, 8, 3, 4])\n    b = torch.ops.aten.permute.default(a, [2, 0, 3, 1])\n    r = torch.ops.aten.reshape.default(b, [3, 8, 8])\n    return (r,)",
			[]string{"f32[2, 8, 12]"}, "2:x.0 8:x.1 3:x.2 4:x.2", "a.1[0]=2:2 a.1[1]=8:8 a.1[2]=3:3 a.1[3]=4:4 r.1[0]=3:3 r.1[1]=8:2*4 r.1[2]=8:8"},
		{"sum", "    a = torch.ops.aten.sum.dim_IntList(x, [0])\n    r = torch.ops.aten.mul.Tensor(a, y)\n    return (r,)", []string{"f32[8, 8]", "f32[8]"}, "8:x.0 8:x.1,y.0", ""},
		{"linear", "    r = torch._C._nn.linear(x, y, z)\n    return (r,)", []string{"f32[2, 3]", "f32[5, 3]", "f32[5]"}, "2:x.0 3:x.1,y.1 5:y.0,z.0", ""},
		{"convolution", "    r = torch.ops.aten.convolution.default(x, y, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)\n    return (r,)",
			[]string{"f32[2, 6, 9, 9]", "f32[4, 6, 3, 3]"}, "2:x.0 6:x.1,y.1 9:x.2 9:x.3 4:y.0 3:y.2 3:y.3", ""},
		{"groups", "    r = torch.nn.functional.conv2d(x, y, groups=3)\n    return (r,)", []string{"f32[2, 6, 9, 9]", "f32[3, 2, 3, 3]"},
			"2:x.0 9:x.2 9:x.3 3:x.1,y.0 2:x.1,y.1 3:y.2 3:y.3", "r.groups=3:3"},
		{"a channel a group", "    r = torch.ops.aten.convolution.default(x, y, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 6)\n    return (r,)",
			[]string{"f32[2, 6, 9, 9]", "f32[6, 1, 3, 3]"}, "2:x.0 6:x.1,y.0 9:x.2 9:x.3 3:y.2 3:y.3", "r.8=6:6"},
		{"a method", "    r = x.reshape(2, 8, -1)\n    return (r,)", []string{"f32[16, 4]"}, "4:x.1 2:x.0 8:x.0", "r.1=2:2 r.2=8:8"},
		{"slice from the start", "    a = torch.ops.aten.slice.Tensor(x, 1, 0, 4)\n    r = torch.ops.aten.add.Tensor(a, y)\n    return (r,)", []string{"f32[2, 9]", "f32[4]"},
			"2:x.0 9:x.1 4:y.0", "a.3=4:4"},
		{"gather", "    r = torch.ops.aten.gather.default(x, 1, y)\n    return (r,)", []string{"f32[6, 9]", "i64[6, 2]"}, "6:x.0,y.0 9:x.1 2:y.1", ""},
		{"parts of given sizes", "    u = torch.ops.aten.split_with_sizes.default(x, [4, 4, 4], 1)\n    g = u[1]\n    r = torch.ops.aten.mul.Tensor(g, y)\n    return (r,)",
			[]string{"f32[2, 12]", "f32[4]"}, "2:x.0 4:x.1,y.0", "u.1[0]=4:4 u.1[1]=4:4 u.1[2]=4:4"},
		{"sections", "    u = torch.tensor_split(x, 3, dim=1)\n    r = u[0] + y\n    return (r,)", []string{"f32[2, 12]", "f32[4]"}, "2:x.0 4:x.1,y.0", ""},
		{"chunk", "    u = torch.chunk(x, 3, 1)\n    r = u[0] + y\n    return (r,)", []string{"f32[2, 12]", "f32[4]"}, "2:x.0 4:x.1,y.0", ""},
		{"unbind", "    u = torch.ops.aten.unbind.int(x, 0)\n    g = u[0]\n    return (g,)", []string{"f32[3, 4]"}, "4:x.1", ""},
		{"split in parts", "    u = torch.ops.aten.split.Tensor(x, 4, 1)\n    g = u[1]\n    r = torch.ops.aten.mul.Tensor(g, y)\n    return (r,)", []string{"f32[2, 12]", "f32[4]"},
			"2:x.0 4:x.1,y.0", "u.1=4:4"},
		{"symbol", "    r = torch.ops.aten.view.default(y, [x, 3])\n    return (r,)", []string{"s7", "f32[21]"}, "7:x,y.0 3:y.0", "r.1[1]=3:3"},
		{"factory", "    f = torch.ops.aten.full.default([4, 5], 1.0)\n    r = torch.ops.aten.add.Tensor(f, x)\n    return (r,)", []string{"f32[5]"}, "5:x.0 4:", "f.0[0]=4:4 f.0[1]=5:5"},
	} {
		names := []string{"x", "y", "z"}[:len(c.inputs)]
		s := atenState(t, "def forward(self, "+strings.Join(names, ", ")+"):\n"+c.text, c.inputs...)
		w := newWorld(nil)
		w.gen = 2
		vals, complete, err := w.propagate(ctx, s)
		if err != nil || !complete {
			t.Fatal(c.name, err)
		}
		w.fakes = vals
		e := w.extentsOf(s)
		in := func(v int) string {
			var at []string
			for i, name := range names {
				if _, number := s.Inputs[i].Value.(int64); number && slices.Contains(e.roots(e.ints[name]), v) {
					at = append(at, name)
				}
				for j, ds := range e.inputs[name] {
					if slices.Contains(e.roots(ds), v) {
						at = append(at, fmt.Sprint(name, ".", j))
					}
				}
			}
			return strings.Join(at, ",")
		}
		var got, slots []string
		for _, cl := range e.classes() {
			got = append(got, fmt.Sprintf("%d:%s", cl.size, in(cl.v)))
		}
		for _, sl := range e.slots {
			var f []string
			for _, v := range e.roots(sl.is) {
				f = append(f, fmt.Sprint(e.sizes[v]))
			}
			slots = append(slots, fmt.Sprintf("%s=%d:%s", sl.at, sl.old, strings.Join(f, "*")))
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if d := cmp.Diff(c.slots, strings.Join(slots, " ")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// A way down the lattice never comes back, and every operator that it names by overload exists.
func TestLatticeEnds(t *testing.T) {
	to := map[string][]string{}
	for _, b := range lattice {
		to[b.from] = append(to[b.from], b.to)
		if depth[b.from] <= depth[b.to] {
			t.Errorf("%s becomes %s, which is no simpler", b.from, b.to)
		}
		for _, name := range []string{b.from, b.to} {
			if n := (&fx.Node{Op: fx.CallFunction, Target: name}); strings.HasPrefix(name, "aten.") && schemaOf(n) == nil {
				t.Errorf("%s is not in the registry", name)
			}
		}
	}
}

// Sizes that a failure needs end at a border.
func TestSizesEndAtTheBorderOfTheFailure(t *testing.T) {
	for _, c := range []struct{ least, want int64 }{{1, 1}, {2, 2}, {3, 3}, {5, 7}, {9, 9}, {16, 16}, {30, 31}, {33, 33}, {100, 100}} {
		e := &testEngine{fails: func(s State, ins []any) bool {
			x := ins[0].(*tensor.Tensor)
			return has(s, "aten.relu.default") && len(x.Shape) == 2 && x.Shape[1] >= c.least
		}}
		s := Search{Oracle: e, Values: e, Workers: 2}
		r, err := run(t, &s, atenState(t, "def forward(self, x):\n    a = torch.ops.aten.relu.default(x)\n    return (a,)", "f32[64, 100]"))
		if err != nil {
			t.Fatal(err)
		}
		if got := isTensor(r.State.Inputs[0].Value).Shape; !slices.Equal(got, []int64{1, c.want}) {
			t.Errorf("at least %d: %v", c.least, got)
		}
	}
}

// A search over real tensors, where sizes, values, dtypes and operators shrink, gives the same for any number of workers.
func TestSameResultForAnyNumberOfWorkers(t *testing.T) {
	text := `def forward(self, x, w, b, i):
    e = torch.ops.aten.embedding.default(w, i)
    v = torch.ops.aten.var_mean.correction(e, [1], correction = 0, keepdim = True)
    g0 = v[0]
    g1 = v[1]
    s = torch.ops.aten.sub.Tensor(e, g1)
    a = torch.ops.aten.add.Tensor(g0, 1e-05)
    r = torch.ops.aten.rsqrt.default(a)
    m = torch.ops.aten.mul.Tensor(s, r)
    p = torch.ops.aten.view.default(x, [6, 16])
    q = torch.ops.aten.addmm.default(b, p, w)
    u = torch.ops.aten.gelu.default(q)
    o = torch.ops.aten.sum.dim_IntList(u, [1], True)
    z = torch.ops.aten.mul.Tensor(m, o)
    return (z, u)
`
	for _, c := range []struct {
		name  string
		fails func(s State, ins []any) bool
		calls int
	}{
		{"one", func(s State, _ []any) bool { return has(s, "aten.gelu.default") }, 1},
		{"several results", func(s State, _ []any) bool { return has(s, "aten.var_mean.correction") }, 1},
		{"pair", func(s State, _ []any) bool { return dependsOn(s, "aten.rsqrt.default", "aten.mul.Tensor") }, 2},
		{"size", func(s State, ins []any) bool {
			n := node(s, "aten.addmm.default")
			return n != nil && isTensor(ins[0]) != nil && CostOf(s).Elements > 12
		}, 1},
	} {
		journals := map[int][]replay.Step{}
		questions := map[int]int{} // by how many candidates are asked together
		for _, how := range []struct{ j, together int }{{1, 1}, {2, 1}, {8, 1}, {1, 8}, {2, 8}, {8, 8}} {
			j := how.j
			e := &testEngine{fails: c.fails}
			s := Search{Values: e, Workers: j, Together: func(replay.Signature) int { return how.together }, Oracle: OracleFunc(func(ctx context.Context, x Candidate) (replay.Outcome, error) {
				time.Sleep(time.Duration(rand.Intn(500)) * time.Microsecond)
				return e.Run(ctx, x)
			})}
			start := atenState(t, text, "f32[2, 3, 16]", "f32[16, 16]", "f32[16]", "i64[6]")
			r, err := run(t, &s, start)
			if err != nil || r.Cost.Calls != c.calls {
				t.Errorf("%s -j%d: %v\n%s", c.name, j, err, r.State.Module)
			}
			if 10*r.Cost.Elements > r.Start.Elements {
				t.Errorf("%s: %d of %d elements left", c.name, r.Cost.Elements, r.Start.Elements)
			}
			if len(r.Certificate) > 0 && slices.ContainsFunc(r.Certificate, func(x Trial) bool { return x.Verdict == replay.Reproduced }) {
				t.Errorf("%s: the certificate has an edit that keeps the failure: %+v", c.name, r.Certificate)
			}
			t.Logf("%s -j%d together %d: %d queries, %d candidates, %d ahead, %d rejected, %+v", c.name, j, how.together, r.Queries, r.Candidates, r.Ahead, r.Rejected, r.Cost)
			if n := questions[how.together]; n != 0 && n != r.Queries {
				t.Errorf("%s -j%d together %d: %d questions, and %d before", c.name, j, how.together, r.Queries, n)
			}
			questions[how.together] = r.Queries
			journal := journals[how.together]
			sameJournal(t, &journal, r.Steps)
			journals[how.together] = journal
		}
		if questions[8] >= questions[1] {
			t.Errorf("%s: %d questions of several candidates, %d of one", c.name, questions[8], questions[1])
		}
	}
}

// Where candidates are asked together, a call of a small window is found by asking about each of them, first on the simplest inputs, and what a small graph does
// not need by asking about all of it: two questions each time, the second of which makes together what the first found.
func TestSmallGraphsAreAskedAboutAtOnce(t *testing.T) {
	text := `
def forward(self, x, y):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.cos.default(a)
    c = torch.ops.aten.tan.default(b)
    m = torch.ops.aten.add.Tensor(c, y, alpha = 3)
    d = torch.ops.aten.exp.default(m)
    e = torch.ops.aten.neg.default(d)
    return (e,)
`
	for _, c := range []struct {
		name  string
		fails func(s State, ins []any) bool
		steps []string // of localise, plain and apart: what was taken, or asked
	}{
		{"all that it needs is the call", func(s State, _ []any) bool { return has(s, "aten.add.Tensor") },
			[]string{"* run alone, on the simplest inputs: m", "* default for argument m.alpha"}},
		{"a number of elements, and one of two inputs", func(s State, ins []any) bool {
			n := node(s, "aten.add.Tensor")
			return n != nil && len(ins) == 2 && isTensor(ins[0]).Numel() >= 2 && isTensor(ins[1]).At(0) != 0
		}, []string{"* run alone: m", "  the simplest inputs and arguments", "  the simplest inputs", "  size 1 for y.1", "* size 2 for y.1", "* size 1 for y.0", "* zeros for y", "  zeros for c", "* ones for c", "* default for argument m.alpha"}},
	} {
		e := &testEngine{fails: c.fails}
		s := Search{Oracle: e, Values: e, Workers: 2, Together: func(replay.Signature) int { return 8 }}
		r, err := run(t, &s, atenState(t, text, "f32[4, 5]", "f32[4, 5]"))
		if err != nil || r.Cost.Calls != 1 {
			t.Fatalf("%s: %v\n%s", c.name, err, r.State.Module)
		}
		asked := map[string]bool{}
		for _, x := range r.Steps {
			mark := "  "
			if x.Taken {
				mark = "* "
			}
			if x.Reduction == "sweep" {
				break
			}
			asked[mark+x.Edit] = true
		}
		for _, want := range c.steps {
			if !asked[want] {
				t.Errorf("%s: no step %q: %v", c.name, want, slices.Sorted(maps.Keys(asked)))
			}
		}
		if r.Queries > 8 {
			t.Errorf("%s: %d questions", c.name, r.Queries)
		}
	}
}

// Where the executions part is looked at first.
func TestSuspectsAreTriedFirst(t *testing.T) {
	n := 0
	s := Search{Values: sameValues{}, Suspects: []string{"proj_3", "gelu_19"}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		if n++; has(c.State, "torch.odd") {
			return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	text := transformer(400, "torch.odd")
	at := strings.Index(text, " = torch.odd")
	name := text[strings.LastIndexByte(text[:at], ' ')+1 : at]
	s.Suspects = append(s.Suspects, name)
	r, err := run(t, &s, stateOf(t, text))
	if err != nil || r.Cost.Calls != 1 || r.Steps[5].Edit != "run alone: "+name || r.Steps[5].Verdict != replay.Reproduced {
		t.Errorf("%v %+v", err, r.Steps[:5])
	}
}

// What the engine takes to be at fault is asked first of all.
func TestTheEnginesSuspectIsTriedFirst(t *testing.T) {
	text := transformer(400, "torch.odd")
	at := strings.Index(text, " = torch.odd")
	name := text[strings.LastIndexByte(text[:at], ' ')+1 : at]
	s := Search{Values: sameValues{}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		if has(c.State, "torch.odd") {
			return replay.Outcome{Status: replay.Failed, Signature: sig, Suspects: []string{name}, Region: []string{"proj_3", "gelu_19", name}}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	r, err := run(t, &s, stateOf(t, text))
	if err != nil || r.Cost.Calls != 1 || r.Steps[1].Edit != "run alone: "+name || !r.Steps[1].Taken {
		t.Errorf("%v %+v", err, r.Steps[:2])
	}
}

// A setting whose name speaks of an operator that is left is kept first: three questions tell that the four others may go.
func TestSettingsThatSpeakOfTheOperatorComeFirst(t *testing.T) {
	s := Search{Values: sameValues{}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		for _, x := range c.State.Config {
			if strings.Contains(x.Name, "odd") && has(c.State, "torch.odd") {
				return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
			}
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	start := stateOf(t, "def forward(self, a):\n    x = torch.odd(a)\n    return (x,)")
	for _, n := range []string{"inplace_buffers", "max_fusion_size", "cpp.inject_odd_bug", "comprehensive_padding", "debug"} {
		start.Config = append(start.Config, Setting{"torch._inductor.config." + n, "1"})
	}
	r, err := run(t, &s, start)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, st := range r.Steps {
		if st.Reduction == "config" {
			asked++
		}
	}
	if asked != 3 || len(r.State.Config) != 1 {
		t.Errorf("%d questions, left %v", asked, r.State.Config)
	}
}

// Exploring is asked as seldom as possible: once, and again only when values are needed after they changed.
func TestExploresSeldom(t *testing.T) {
	v := &counting{}
	e := &testEngine{fails: func(s State, _ []any) bool { return has(s, "aten.relu.default") }}
	v.Values = e
	s := Search{Oracle: e, Values: v}
	if _, err := s.Run(ctx, atenState(t, "def forward(self, x):\n    a = torch.ops.aten.sin.default(x)\n    b = torch.ops.aten.relu.default(a)\n    c = torch.ops.aten.cos.default(b)\n    return (c,)", "f32[8, 8]")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"0/"}, v.prefixes); d != "" {
		t.Error(d)
	}
}

type counting struct {
	Values
	prefixes []string
}

func (c *counting) Explore(ctx context.Context, s State, prefix string) (map[string]Held, error) {
	c.prefixes = append(c.prefixes, prefix)
	return c.Values.Explore(ctx, s, prefix)
}

// Values beyond the limit are let go of and computed again, generation by generation; what comes out differently then is an error.
func TestHeldValuesAreBounded(t *testing.T) {
	const n = 1 << 10
	size := int64(4 * n)
	runs := 0
	e := &EagerValues{Limit: 5 * size}
	e.Execute = func(ctx context.Context, gm *fx.GraphModule, inputs []any, see func(*fx.Node, any)) error {
		runs++
		return executeAten(ctx, gm, inputs, see)
	}
	explore := func(body, prefix string, in Input) map[string]Held {
		t.Helper()
		gm, err := fx.Parse("t.py", "def forward(self, x):\n"+body)
		if err != nil {
			t.Fatal(err)
		}
		held, err := e.Explore(ctx, State{Module: gm, Inputs: []Input{in}}, prefix)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	x := tensor.Full(tensor.Float32, 2, n)
	half := "    h = torch.ops.aten.mul.Tensor(x, 0.5)\n    r = torch.ops.aten.add.Tensor(h, 1)\n    return (r,)"
	first := explore(half, "0/", Input{Value: x})
	second := explore(half, "1/", Input{Value: first["r"].Value, Data: Data{Of: "0/r"}})
	if runs != 2 {
		t.Errorf("%d runs", runs)
	}
	// 0/ had to make room for 1/. Its values are there again when they are asked for, which takes 1/'s place, and so on.
	for i, c := range []struct {
		of   Held
		name string
		want float64
	}{{first["h"], "0/h", 1}, {second["h"], "1/h", 1}, {second["r"], "1/r", 2}, {first["r"], "0/r", 2}} {
		v, err := e.Make(Input{Value: c.of.Value, Data: Data{Of: c.name, Hash: c.of.Hash}})
		if err != nil {
			t.Fatal(err)
		}
		if got := v.(*tensor.Tensor).At(n - 1); got != c.want {
			t.Errorf("%d: %s is %v, not %v", i, c.name, got, c.want)
		}
		bytes := int64(0)
		for _, x := range e.explored {
			bytes += x.bytes
		}
		if bytes > e.Limit {
			t.Errorf("%d bytes are held", bytes)
		}
	}
	if runs < 4 || runs > 6 {
		t.Errorf("%d runs", runs)
	}
	random := explore("    h = torch.ops.aten.rand_like.default(x)\n    return (h,)", "2/", Input{Value: x})
	explore(half, "3/", Input{Value: x})
	explore(half, "4/", Input{Value: x})
	if _, err := e.Make(Input{Value: random["h"].Value, Data: Data{Of: "2/h"}}); err == nil || !strings.Contains(err.Error(), "the graph is random") {
		t.Error(err)
	}
	large := explore("    h = torch.ops.aten.cat.default([x, x, x, x, x])\n    r = torch.ops.aten.sum.default(h)\n    return (r,)", "5/", Input{Value: x})
	if _, ok := large["h"]; ok || large["r"].Value == nil {
		t.Errorf("of %d bytes, a value of as many and an input are held", e.Limit)
	}
	if _, err := e.Elements(ctx, "5/h"); err == nil || !strings.Contains(err.Error(), `no tensor is held under "5/h"`) {
		t.Error(err)
	}
}
