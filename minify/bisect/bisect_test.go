package bisect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var ctx = context.Background()

// says makes a test of a function.
func says(f func(t Trial) Verdict) func(context.Context, Trial) (Answer, error) {
	return func(_ context.Context, t Trial) (Answer, error) { return Answer{Verdict: f(t)}, nil }
}

func verdict(bad bool) Verdict {
	if bad {
		return Bad
	}
	return Good
}

// memory is a journal that lives as long as the process.
type memory struct {
	mu   sync.Mutex
	rows map[string]Answer
}

func (m *memory) Known(_ context.Context, t Trial) (Answer, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.rows[t.key()]
	return a, ok, nil
}

func (m *memory) Note(_ context.Context, t Trial, a Answer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.rows[t.key()]; ok {
		return fmt.Errorf("asked twice: %s", t.key())
	}
	m.rows[t.key()] = a
	return nil
}

func TestRangeTable(t *testing.T) {
	for _, c := range []struct {
		name   string
		points string // + good, x bad, s skip
		want   Found
		err    string
	}{
		{name: "two points", points: "+x", want: Found{Suspects: []int{1}}},
		{name: "in the middle", points: "++++xxxx", want: Found{Suspects: []int{4}}},
		{name: "fixed", points: "xxx++", want: Found{Suspects: []int{3}, Fixed: true}},
		{name: "a skip before it hides it", points: "++sxx", want: Found{Suspects: []int{2, 3}}},
		{name: "a skip elsewhere does not", points: "+s++xsx", want: Found{Suspects: []int{4}}},
		{name: "all between are skipped", points: "+sssx", want: Found{Suspects: []int{1, 2, 3, 4}}},
		{name: "both bad", points: "xxxx", err: "the first and the last are both bad: there is nothing to bisect"},
		{name: "both good", points: "++", err: "the first and the last are both good: there is nothing to bisect"},
		{name: "the first is skipped", points: "s+x", err: "the first cannot be tested"},
		{name: "the last is skipped", points: "+xs", err: "the last cannot be tested"},
		{name: "one point", points: "x", err: ErrTooFew.Error()},
	} {
		for _, workers := range []int{1, 2, 3, 4, 7} {
			s := &Search{Workers: workers, Test: says(func(t Trial) Verdict { return map[byte]Verdict{'+': Good, 'x': Bad, 's': Skip}[c.points[t.Point]] })}
			got, err := s.Range(ctx, len(c.points), nil)
			got.Cost = Cost{}
			if c.err != "" && (err == nil || err.Error() != c.err) || c.err == "" && err != nil {
				t.Errorf("%s, %d workers: error %v, want %q", c.name, workers, err, c.err)
			} else if diff := cmp.Diff(c.want, got); c.err == "" && diff != "" {
				t.Errorf("%s, %d workers: %s", c.name, workers, diff)
			}
		}
	}
}

// TestRangeCost holds what doc.go promises of a chain: no more tests than its number has binary digits, and fewer rounds with more workers.
func TestRangeCost(t *testing.T) {
	for _, c := range []struct{ n, workers, tests, rounds int }{{64, 1, 8, 8}, {64, 2, 10, 5}, {64, 4, 12, 3}, {64, 8, 24, 3}, {1000, 1, 12, 12}, {1000, 4, 20, 5}} {
		tests, rounds := 0, 0
		for first := 1; first < c.n; first++ {
			s := &Search{Workers: c.workers, Test: says(func(t Trial) Verdict { return verdict(t.Point >= first) })}
			got, err := s.Range(ctx, c.n, nil)
			if err != nil || !slices.Equal(got.Suspects, []int{first}) {
				t.Fatalf("%+v, first bad %d: %v, %v", c, first, got, err)
			}
			tests, rounds = max(tests, got.Cost.Tests), max(rounds, got.Cost.Rounds)
		}
		if tests > c.tests || rounds > c.rounds {
			t.Errorf("%d points, %d workers: %d tests in %d rounds; %d in %d are enough", c.n, c.workers, tests, rounds, c.tests, c.rounds)
		}
	}
}

// TestRangeDoubts: where there is more than one change, what is found is one of them, and the other is told where it was seen.
func TestRangeDoubts(t *testing.T) {
	bad := func(p int) bool { return p >= 10 && p < 20 || p >= 40 }
	s := &Search{Workers: 6, Test: says(func(t Trial) Verdict { return verdict(bad(t.Point)) })}
	got, err := s.Range(ctx, 64, nil)
	if err != nil || !got.Decided() || len(got.Doubts) == 0 {
		t.Fatal(got, err)
	}
	if f := got.Suspects[0]; !bad(f) || bad(f-1) {
		t.Errorf("%d is no change", f)
	}
	for _, d := range got.Doubts {
		if !bad(d[0]) || bad(d[1]) || d[1] < d[0] {
			t.Errorf("%v is no doubt", d)
		}
	}
}

// graph makes a history with merges: the point that is guilty makes itself and all that have it bad.
func graph(r *rand.Rand, n int) (parents [][]int) {
	parents = make([][]int, n)
	for i := 1; i < n; i++ {
		parents[i] = []int{i - 1}
		if i > 3 && r.IntN(3) == 0 {
			parents[i] = []int{max(0, i-1-r.IntN(4))}
		}
		if i > 3 && (r.IntN(4) == 0 || i == n-1) {
			for j := range i { // merge all that nobody has merged
				if !slices.ContainsFunc(parents[:i], func(p []int) bool { return slices.Contains(p, j) }) && !slices.Contains(parents[i], j) {
					parents[i] = append(parents[i], j)
				}
			}
		}
	}
	return parents
}

func TestRangeGraph(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 2 + r.IntN(120)
		parents := graph(r, n)
		o := order{func(i int) []int { return parents[i] }}
		has := func(p, q int) bool { return o.reach(p, n)[q] }
		guilty := 1 + r.IntN(n-1)
		if !has(n-1, guilty) {
			continue
		}
		untestable := make([]bool, n)
		for i := 1; i < n-1; i++ {
			untestable[i] = i != guilty && r.IntN(10) == 0
		}
		for _, workers := range []int{1, 4} {
			s := &Search{Workers: workers, Journal: &memory{rows: map[string]Answer{}}, Test: says(func(t Trial) Verdict {
				if untestable[t.Point] {
					return Skip
				}
				return verdict(has(t.Point, guilty))
			})}
			got, err := s.Range(ctx, n, o.parents)
			if err != nil || !slices.Contains(got.Suspects, guilty) || len(got.Doubts) > 0 {
				t.Fatalf("seed %d, %d workers: guilty %d, got %+v, %v", seed, workers, guilty, got, err)
			}
			for _, p := range got.Suspects {
				if p != guilty && !untestable[p] {
					t.Errorf("seed %d, %d workers: %d can be tested, and was not", seed, workers, p)
				}
			}
		}
	}
}

// TestStopped: a search that ends at any moment asks nothing again that was answered, and finds the same.
func TestStopped(t *testing.T) {
	searches := map[string]func(s *Search) (any, error){
		"range":    func(s *Search) (any, error) { f, err := s.Range(ctx, 64, nil); return f.Suspects, err },
		"noisy":    func(s *Search) (any, error) { f, err := s.Noisy(ctx, 64, Noise{}); return f.Suspects, err },
		"settings": func(s *Search) (any, error) { f, err := s.Settings(ctx, 40); return f.Set, err },
	}
	test := says(func(t Trial) Verdict {
		if t.Set != nil {
			return verdict(slices.Contains(t.Set, 7) && slices.Contains(t.Set, 31))
		}
		return verdict(t.Point >= 41 && (t.Attempt+t.Point)%3 != 0)
	})
	for name, search := range searches {
		if name == "range" {
			test = says(func(t Trial) Verdict { return verdict(t.Point >= 41) })
		}
		whole := &Search{Test: test}
		want, err := search(whole)
		if err != nil {
			t.Fatal(name, err)
		}
		stop := errors.New("killed")
		for at := range whole.cost.Tests {
			m := &memory{rows: map[string]Answer{}}
			left := at
			first := &Search{Journal: m, Test: func(ctx context.Context, t Trial) (Answer, error) {
				if left == 0 {
					return Answer{}, stop
				}
				left--
				return test(ctx, t)
			}}
			if _, err := search(first); !errors.Is(err, stop) {
				t.Fatal(name, at, err)
			}
			second := &Search{Journal: m, Test: test}
			got, err := search(second)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s, stopped after %d: %s%v", name, at, diff, err)
			}
			if second.cost.Tests+second.cost.Known != whole.cost.Tests || second.cost.Known != at {
				t.Errorf("%s, stopped after %d: %+v", name, at, second.cost)
			}
		}
		test = says(func(t Trial) Verdict {
			if t.Set != nil {
				return verdict(slices.Contains(t.Set, 7) && slices.Contains(t.Set, 31))
			}
			return verdict(t.Point >= 41 && (t.Attempt+t.Point)%3 != 0)
		})
	}
}

func TestSettings(t *testing.T) {
	any := func(t Trial, all ...int) bool {
		return slices.ContainsFunc(all, func(i int) bool { return slices.Contains(t.Set, i) })
	}
	all := func(t Trial, all ...int) bool {
		return !slices.ContainsFunc(all, func(i int) bool { return !slices.Contains(t.Set, i) })
	}
	for _, c := range []struct {
		name       string
		n          int
		bad        func(t Trial) bool
		skip       func(t Trial) bool
		set        []int
		workaround []int
		tests      int
	}{
		{name: "one of one", n: 1, bad: func(t Trial) bool { return all(t, 0) }, set: []int{0}, workaround: []int{0}, tests: 3},
		{name: "one of forty", n: 40, bad: func(t Trial) bool { return all(t, 22) }, set: []int{22}, workaround: []int{22}, tests: 11},
		{name: "two together", n: 40, bad: func(t Trial) bool { return all(t, 3, 36) }, set: []int{3, 36}, workaround: []int{3}, tests: 20},
		{name: "either of two", n: 40, bad: func(t Trial) bool { return any(t, 3, 36) }, set: []int{3}, workaround: []int{3, 36}, tests: 22},
		{name: "all of four", n: 4, bad: func(t Trial) bool { return all(t, 0, 1, 2, 3) }, set: []int{0, 1, 2, 3}, workaround: []int{0}, tests: 20},
		{name: "one that does not start without another", n: 40, bad: func(t Trial) bool { return all(t, 9) },
			skip: func(t Trial) bool { return all(t, 9) && !all(t, 20) }, set: []int{9, 20}, workaround: []int{9}, tests: 32},
	} {
		for _, workers := range []int{1, 4} {
			s := &Search{Workers: workers, Test: says(func(t Trial) Verdict {
				if c.skip != nil && c.skip(t) {
					return Skip
				}
				return verdict(c.bad(t))
			})}
			got, err := s.Settings(ctx, c.n)
			if err != nil {
				t.Fatal(c.name, err)
			}
			if diff := cmp.Diff([][]int{c.set, c.workaround}, [][]int{got.Set, got.Workaround}); diff != "" {
				t.Errorf("%s, %d workers: %s", c.name, workers, diff)
			}
			if workers == 1 && got.Cost.Tests > c.tests {
				t.Errorf("%s: %d tests, %d are enough", c.name, got.Cost.Tests, c.tests)
			}
		}
	}
}

// TestPairs: every pair of forty settings that is bad together is found in at most thirty tests.
func TestPairs(t *testing.T) {
	most := 0
	for i := range 40 {
		for j := range i {
			s := &Search{Test: says(func(t Trial) Verdict { return verdict(slices.Contains(t.Set, i) && slices.Contains(t.Set, j)) })}
			got, err := s.Settings(ctx, 40)
			if diff := cmp.Diff([]int{j, i}, got.Set); diff != "" || err != nil || len(got.Workaround) != 1 {
				t.Fatal(diff, got, err)
			}
			most = max(most, got.Cost.Tests)
		}
	}
	if most > 30 {
		t.Errorf("%d tests", most)
	}
	t.Logf("at most %d tests", most)
}

// TestAhead: a worker that has nothing to ask makes ready for what is asked next, while another still tests. What is found is the same.
func TestAhead(t *testing.T) {
	const n, first = 200, 137
	var mu sync.Mutex
	ready, used := map[int]bool{}, 0
	begun := make(chan struct{}, 1000)
	s := &Search{Workers: 3,
		Test: func(ctx context.Context, t Trial) (Answer, error) {
			mu.Lock()
			if ready[t.Point] {
				used++
			}
			mu.Unlock()
			if t.Point%3 == 0 { // is slow: it ends when somebody has made something ready
				select {
				case <-begun:
				case <-time.After(20 * time.Millisecond):
				}
			}
			return Answer{Verdict: verdict(t.Point >= first)}, nil
		},
		Ahead: func(ctx context.Context, t Trial) {
			mu.Lock()
			ready[t.Point] = true
			mu.Unlock()
			begun <- struct{}{}
			<-ctx.Done()
		}}
	got, err := s.Range(ctx, n, nil)
	if err != nil || !slices.Equal(got.Suspects, []int{first}) {
		t.Fatal(got, err)
	}
	if used == 0 {
		t.Errorf("of %d points that were made ready, none was asked", len(ready))
	}
}
