package minify

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/replay"
)

var ctx = context.Background()

// sameValues gives every call one small tensor: the test's graphs keep one shape throughout.
type sameValues struct{}

func (sameValues) Explore(_ context.Context, s State, _ string) (map[string]Held, error) {
	out := map[string]Held{}
	for i, n := range s.Module.Graph.Placeholders() {
		out[n.Name] = Held{fx.Fake(s.Inputs[i].Value), n.Name}
	}
	for _, n := range s.Module.Graph.Calls() {
		out[n.Name] = Held{tensor.EmptyFake(tensor.Float32, []int64{2}, []int64{1}), n.Name}
	}
	return out, nil
}

func (sameValues) Elements(context.Context, string) ([]string, error) {
	return []string{"1.0", "2.0"}, nil
}

func stateOf(t testing.TB, text string) State {
	t.Helper()
	gm, err := fx.Parse("test.py", text)
	if err != nil {
		t.Fatal(err)
	}
	s := State{Module: gm}
	for range gm.Graph.Placeholders() {
		s.Inputs = append(s.Inputs, Input{Value: tensor.FromFloat32s([]float32{3, 4}, 2)})
	}
	return s
}

// fails makes an oracle of a predicate over graphs, and counts its questions.
type fails struct {
	mu    sync.Mutex
	pred  func(s State) bool
	count int
	delay func() time.Duration
	asked map[string]int
}

var sig = replay.Signature{Stage: "compile", Type: "Error", Message: "boom"}

func (f *fails) Run(_ context.Context, c Candidate) (replay.Outcome, error) {
	if f.delay != nil {
		time.Sleep(f.delay())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	if !c.Fresh {
		f.asked[c.Hash]++
	}
	if f.pred(c.State) {
		return replay.Outcome{Status: replay.Failed, Signature: sig, Message: "boom"}, nil
	}
	return replay.Outcome{Status: replay.Pass}, nil
}

func has(s State, target string) bool {
	for _, n := range s.Module.Graph.Calls() {
		if n.Target == target {
			return true
		}
	}
	return false
}

// transformer is a decoder of about n calls, with one odd operator in the middle.
func transformer(n int, odd string) string {
	var b strings.Builder
	b.WriteString("def forward(self, x, w):\n    h = torch.embed(x)\n")
	prev, k := "h", 1
	for layer := 0; k < n-1; layer++ {
		for _, op := range []string{"norm", "q", "kk", "v", "scores", "softmax", "attend", "proj", "res", "norm2", "up", "gelu", "down", "res2"} {
			name := fmt.Sprintf("%s_%d", op, layer)
			target := "torch." + op
			if k == n*2/3 && odd != "" {
				target = odd
			}
			fmt.Fprintf(&b, "    %s = %s(%s, w)\n", name, target, prev)
			prev = name
			if k++; k >= n-1 {
				break
			}
		}
	}
	fmt.Fprintf(&b, "    logits = torch.head(%s)\n    return (logits, h)", prev)
	return b.String()
}

func TestSingleOperatorAmongFourHundred(t *testing.T) {
	var first []replay.Step
	for _, j := range []int{1, 4, 8} {
		f := &fails{pred: func(s State) bool { return has(s, "torch.odd") }}
		s := Search{Oracle: f, Values: sameValues{}, Workers: j}
		r, err := run(t, &s, stateOf(t, transformer(400, "torch.odd")))
		if err != nil {
			t.Fatal(err)
		}
		if r.Cost.Calls != 1 || !r.Complete || r.Queries+r.Ahead != f.count || r.Queries > 40 {
			t.Errorf("-j%d: %d calls, %d queries, complete %v", j, r.Cost.Calls, r.Queries, r.Complete)
		}
		t.Logf("-j%d: %d calls to %d, %d queries, %d cache hits, %d steps", j, r.Start.Calls, r.Cost.Calls, r.Queries, r.CacheHits, len(r.Steps))
		sameJournal(t, &first, r.Steps)
	}
}

func sameJournal(t *testing.T, first *[]replay.Step, got []replay.Step) {
	t.Helper()
	for i := range got {
		got[i].Duration = 0
	}
	if *first == nil {
		*first = got
	} else if d := cmp.Diff(*first, got); d != "" {
		t.Errorf("the journal depends on the number of workers: %s", d)
	}
}

func TestNamedOperatorIsFoundAtOnce(t *testing.T) {
	n := 0
	s := Search{Values: sameValues{}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		n++
		if has(c.State, "torch.odd") {
			return replay.Outcome{Status: replay.Failed, Signature: sig, Message: "LoweringException: boom\n  target: torch.odd"}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	r, err := run(t, &s, stateOf(t, transformer(400, "torch.odd")))
	if err != nil || r.Cost.Calls != 1 || r.Queries > 12 {
		t.Errorf("%v: %d calls, %d queries", err, r.Cost.Calls, r.Queries)
	}
}

// dependsOn reports whether b's value is computed from a's.
func dependsOn(s State, a, b string) bool {
	from := map[*fx.Node]bool{}
	for _, n := range s.Module.Graph.Nodes {
		n.WalkInputs(func(in *fx.Node) { from[n] = from[n] || from[in] })
		if n.Target == b && from[n] {
			return true
		}
		if n.Target == a {
			from[n] = true
		}
	}
	return false
}

func TestTwoOperatorsFarApart(t *testing.T) {
	text := strings.Replace(transformer(120, "torch.second"), "torch.kk(", "torch.first(", 1)
	for name, pred := range map[string]func(s State) bool{
		"both there":         func(s State) bool { return has(s, "torch.first") && has(s, "torch.second") },
		"one feeds the next": func(s State) bool { return dependsOn(s, "torch.first", "torch.second") },
	} {
		var steps []replay.Step
		for _, j := range []int{1, 4} {
			f := &fails{pred: pred}
			s := Search{Oracle: f, Values: sameValues{}, Workers: j}
			r, err := run(t, &s, stateOf(t, text))
			if err != nil || r.Cost.Calls != 2 {
				t.Errorf("%s: %v: %d calls left\n%s", name, err, r.Cost.Calls, r.State.Module)
			}
			t.Logf("%s -j%d: %d queries", name, j, r.Queries)
			sameJournal(t, &steps, r.Steps)
		}
	}
}

// Calls that fail only together, wherever they stand, beside others that do as well.
func TestGroupsOfCallsThatFailTogether(t *testing.T) {
	const n = 160
	for name, groups := range map[string][][]int{
		"first and last":    {{0, n - 1}},
		"neighbours":        {{79, 80}},
		"at the end":        {{n - 3, n - 1}},
		"one after another": {{10, 50}, {100, 150}},
		"interleaved":       {{10, 100}, {50, 150}},
		"nested":            {{10, 150}, {70, 90}},
		"three":             {{5, 77, 131}},
		"five":              {{3, 40, 41, 120, 158}},
	} {
		all := func(s State, group []int) bool {
			for _, i := range group {
				if s.Module.Graph.Node(fmt.Sprintf("n%d", i)) == nil || s.Module.Graph.Node(fmt.Sprintf("n%d", i)).Op == fx.Placeholder {
					return false
				}
			}
			return true
		}
		var b strings.Builder
		b.WriteString("def forward(self, x):\n")
		prev := "x"
		for i := range n {
			fmt.Fprintf(&b, "    n%d = torch.op%d(%s)\n", i, i, prev)
			prev = fmt.Sprintf("n%d", i)
		}
		text := b.String() + "    return (" + prev + ",)"
		var steps []replay.Step
		for _, j := range []int{1, 2, 8} {
			f := &fails{pred: func(s State) bool {
				return slices.ContainsFunc(groups, func(g []int) bool { return all(s, g) })
			}, delay: func() time.Duration { return time.Duration(rand.Intn(200)) * time.Microsecond }}
			s := Search{Oracle: f, Values: sameValues{}, Workers: j}
			r, err := run(t, &s, stateOf(t, text))
			if err != nil || r.Cost.Calls != len(groups[0]) || !f.pred(r.State) {
				t.Errorf("%s: %v: %d calls left\n%s", name, err, r.Cost.Calls, r.State.Module)
			}
			t.Logf("%s -j%d: %d queries", name, j, r.Queries)
			sameJournal(t, &steps, r.Steps)
		}
	}
}

func randomGraph(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("def forward(self, a, b, c):\n")
	names := []string{"a", "b", "c"}
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		fmt.Fprintf(&b, "    %s = torch.op%d(%s, %s)\n", name, r.Intn(12), names[r.Intn(len(names))], names[max(0, len(names)-1-r.Intn(4))])
		names = append(names, name)
	}
	fmt.Fprintf(&b, "    return (n%d, n%d, None, a)", n-1, r.Intn(n))
	return b.String()
}

// Whatever the predicate, the result is no larger, still fails, and no single cut, bypass or drop keeps the failure.
func TestRandomGraphsUnderRandomPredicates(t *testing.T) {
	for seed := range int64(40) {
		r := rand.New(rand.NewSource(seed))
		text := randomGraph(r, 5+r.Intn(40))
		preds := []func(s State) bool{
			func(s State) bool { return has(s, "torch.op3") },
			func(s State) bool { return has(s, "torch.op1") && has(s, "torch.op2") },
			func(s State) bool { return dependsOn(s, "torch.op4", "torch.op5") },
			func(s State) bool { return len(s.Module.Graph.Calls()) >= 3 },
			func(s State) bool { return has(s, "torch.op6") && len(s.Inputs) >= 2 },
			func(s State) bool { return len(s.Module.Graph.Calls())%2 == 1 && has(s, "torch.op7") },
		}
		pred := preds[r.Intn(len(preds))]
		start := stateOf(t, text)
		start.Config = []Setting{{"a", "1"}, {"b", "2"}}
		if !pred(start) {
			continue
		}
		f := &fails{pred: pred, delay: func() time.Duration { return time.Duration(rand.Intn(200)) * time.Microsecond }}
		var steps []replay.Step
		for _, j := range []int{1, 8} {
			s := Search{Oracle: f, Values: sameValues{}, Workers: j}
			res, err := run(t, &s, start)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			sameJournal(t, &steps, res.Steps)
			if res.Start.Less(res.Cost) || !pred(res.State) || len(res.State.Config) > 0 {
				t.Errorf("seed %d: worse, or does not fail: %+v", seed, res.Cost)
			}
			if err := res.State.Module.Graph.Lint(); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			v := &view{cur: res.State, w: newWorld(nil)}
			v.w.held, _ = sameValues{}.Explore(ctx, start, "")
			for _, n := range callItems(v) {
				for _, e := range []Edit{Cut{[]string{n}}, Bypass{[]string{n}}} {
					if st, ok := e.apply(v.w, res.State); ok && pred(st) {
						t.Errorf("seed %d: not minimal: %s", seed, e)
					}
				}
			}
			for _, o := range outputItems(v) {
				if st, ok := (DropOutputs{[]string{o}}).apply(v.w, res.State); ok && pred(st) {
					t.Errorf("seed %d: output %s could go", seed, o)
				}
			}
		}
	}
}

func TestOtherFailuresAreFindings(t *testing.T) {
	other := replay.Signature{Stage: "run", Type: "Other", Message: "bang"}
	s := Search{Values: sameValues{}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		switch {
		case has(c.State, "torch.odd") && has(c.State, "torch.head"):
			return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
		case has(c.State, "torch.odd"):
			return replay.Outcome{Status: replay.Failed, Signature: other}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	r, err := run(t, &s, stateOf(t, transformer(30, "torch.odd")))
	if err != nil || r.Cost.Calls != 2 || len(r.Findings) != 1 || r.Findings[0].Outcome.Signature != other {
		t.Errorf("%v %+v", err, r.Cost)
	}
}

func TestStartThatPassesIsAnError(t *testing.T) {
	s := Search{Oracle: &fails{pred: func(State) bool { return false }}, Values: sameValues{}}
	var nf *NotFailingError
	if _, err := run(t, &s, stateOf(t, transformer(10, ""))); !errors.As(err, &nf) || nf.Runs != 1+startTries {
		t.Error(err)
	}
	s.Once = true
	if _, err := run(t, &s, stateOf(t, transformer(10, ""))); !errors.As(err, &nf) || nf.Runs != 1 {
		t.Error(err)
	}
}

func TestCancelLeavesTheBestSoFar(t *testing.T) {
	c, cancel := context.WithCancel(ctx)
	f := &fails{pred: func(s State) bool { return has(s, "torch.odd") }}
	f.delay = func() time.Duration {
		if f.count > 12 {
			cancel()
		}
		return 0
	}
	s := Search{Oracle: f, Values: sameValues{}}
	r, err := s.Run(c, stateOf(t, transformer(400, "torch.odd")))
	if !errors.Is(err, context.Canceled) || r.Complete || r.Cost.Calls >= r.Start.Calls || !has(r.State, "torch.odd") {
		t.Errorf("%v %+v", err, r.Cost)
	}
}

func TestInfrastructureIsNeverReproduced(t *testing.T) {
	s := Search{Values: sameValues{}, Oracle: OracleFunc(func(_ context.Context, c Candidate) (replay.Outcome, error) {
		if c.Reduction == "start" {
			return replay.Outcome{Status: replay.Failed, Signature: sig}, nil
		}
		return replay.Outcome{}, errors.New("worker gone")
	})}
	r, err := run(t, &s, stateOf(t, transformer(20, "torch.odd")))
	var uc *UnconfirmedError
	if !errors.As(err, &uc) || r.Cost != r.Start {
		t.Errorf("%v %+v", err, r.Cost)
	}
}

func TestMain(m *testing.M) {
	if p := os.Getenv("MINIFY_TEST_CHILD"); p != "" {
		child(p)
		return
	}
	os.Exit(m.Run())
}

// child searches with a store and prints the hash of each question when it is asked.
func child(path string) {
	st, err := replay.Open(ctx, path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s := Search{Store: st, Workers: 2, Values: sameValues{}, Oracle: OracleFunc(func(ctx context.Context, c Candidate) (replay.Outcome, error) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return replay.Outcome{}, ctx.Err()
		}
		o := replay.Outcome{Status: replay.Pass}
		if has(c.State, "torch.odd") {
			o = replay.Outcome{Status: replay.Failed, Signature: sig}
		}
		fmt.Println(c.Hash, c.Fresh, c.Attempt)
		return o, nil
	})}
	r, err := s.Run(ctx, stateOf(new(testing.T), transformer(400, "torch.odd")))
	fmt.Println("done", r.Cost.Calls, err)
	st.Close()
}

func TestKilledSearchResumesAndRepeatsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	run := func(killAfter int) (asked []string, done string) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MINIFY_TEST_CHILD="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			if strings.HasPrefix(sc.Text(), "done") {
				done = sc.Text()
				continue
			}
			asked = append(asked, sc.Text())
			if len(asked) == killAfter {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		return asked, done
	}
	a, done := run(7)
	if done != "" {
		t.Fatal("was not killed in time")
	}
	b, done := run(-1)
	if done != "done 1 <nil>" {
		t.Fatal(done)
	}
	finished := a[:len(a)-2] // the last ones may have been answered and not stored
	for _, q := range finished {
		for _, p := range b {
			if p == q {
				t.Errorf("asked again: %s", q)
			}
		}
	}
	c, done := run(-1)
	if len(c) != 0 || done != "done 1 <nil>" {
		t.Errorf("a finished search asked %d questions", len(c))
	}
	t.Logf("killed after %d queries, resumed with %d more", len(a), len(b))
}
