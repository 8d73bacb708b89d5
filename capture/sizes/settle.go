package sizes

import (
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// probes is how many other sizes an operator without a rule is asked about.
const probes = 3

// settle explains the sizes of an operator's results by what it answers for other sizes. It reports success.
func (c *call) settle(results []*tensor.Tensor, given []*Expr, below func(args []aten.Value) (aten.Value, error)) bool {
	var names []string
	seen := map[string]bool{}
	for _, e := range given {
		if e.IsFloat() || e.IsBool() {
			continue
		}
		for _, s := range e.Symbols() {
			if !seen[s] {
				seen[s] = true
				names = append(names, s)
			}
		}
	}
	answers, values := c.probe(results, names, below)
	if answers == nil && c.unite(names) {
		answers, values = c.probe(results, names, below)
	}
	if answers == nil {
		return false
	}
	ds := make([][]*Expr, len(results))
	for i, t := range results {
		ds[i] = make([]*Expr, len(t.Shape))
		for j, n := range t.Shape {
			want := []int64{n}
			for _, a := range answers {
				want = append(want, a[i][j])
			}
			if ds[i][j] = c.explain(want, given, values); ds[i][j] == nil {
				return false
			}
		}
	}
	return c.take(results, ds)
}

// unite makes sizes equal that were equal while tracing: what most operators ask of sizes that differ too much. It reports whether any were.
func (c *call) unite(names []string) bool {
	done := false
	for i, a := range names {
		for _, b := range names[:i] {
			sa, sb := c.Env.Symbol(a), c.Env.Symbol(b)
			if sa == nil || sb == nil || sa.Hint == nil || sa.Hint != sb.Hint {
				continue
			}
			if _, ok := c.Env.Known(symbolic.Cmp(symbolic.OpEq, symbolic.Sym(b), symbolic.Sym(a))); ok {
				continue
			}
			if c.equal(symbolic.Sym(b), symbolic.Sym(a)) {
				done = true
			}
		}
	}
	return done && c.err == nil
}

// probe asks for the sizes of the results at other sizes of the inputs; nil when an answer is an error.
func (c *call) probe(results []*tensor.Tensor, names []string, below func(args []aten.Value) (aten.Value, error)) (answers [][][]int64, values []map[string]int64) {
	// Sizes that contradict what is known are asked about only when too few others are found: most operators do not mind.
	const steps = 60
	for step := int64(1); step < steps+12 && len(values) < probes; step++ {
		vs := map[string]int64{}
		for i, s := range names {
			n := c.Env.StandIn(s)
			if sym := c.Env.Symbol(s); sym != nil {
				if h, ok := sym.Hint.(int64); ok {
					n = h
				}
			}
			vs[s] = n + step*int64(2*i+1) + int64(i)
			switch step % 3 {
			case 0: // multiples: what has to be divisible stays so
				vs[s] = n * (step/3 + int64(i) + 1)
			case 2: // the first is the greatest: results that are the least of several sizes show
				vs[s] = n + 64*int64(len(names)-i) + step
			}
		}
		if step < steps && !c.Env.Allows(vs) {
			continue
		}
		out, err := below(c.plain(c.args, vs).([]aten.Value))
		if err != nil {
			return nil, nil
		}
		ts := tensors(out, nil)
		if len(ts) != len(results) {
			return nil, nil
		}
		answer := make([][]int64, len(ts))
		for i, t := range ts {
			if len(t.Shape) != len(results[i].Shape) {
				return nil, nil
			}
			answer[i] = t.Shape
		}
		answers, values = append(answers, answer), append(values, vs)
	}
	if len(values) < probes {
		return nil, nil
	}
	return answers, values
}

// explain finds an expression over the inputs with the wanted values: at the hints first, then at each probe.
func (c *call) explain(want []int64, given []*Expr, values []map[string]int64) *Expr {
	fits := func(e *Expr) bool {
		if c.trial(e) != want[0] {
			return false
		}
		for i, vs := range values {
			if c.at(c.Env.Simplify(e), vs) != want[i+1] {
				return false
			}
		}
		return true
	}
	if e := symbolic.Int(want[0]); fits(e) {
		return e
	}
	var ints []*Expr
	for _, e := range given {
		if !e.IsFloat() && !e.IsBool() {
			ints = append(ints, e)
		}
	}
	for _, e := range ints {
		if fits(e) {
			return e
		}
	}
	for _, e := range ints {
		n := c.trial(e)
		for _, x := range []*Expr{symbolic.Add(e, symbolic.Int(want[0]-n)), scaled(e, want[0], n)} {
			if x != nil && fits(x) {
				return x
			}
		}
	}
	for i, a := range ints {
		for _, b := range ints[i:] {
			for _, x := range []*Expr{symbolic.Mul(a, b), symbolic.Add(a, b)} {
				if fits(x) {
					return x
				}
			}
		}
	}
	for _, v := range c.args {
		if t, ok := v.(*tensor.Tensor); ok && t != nil {
			n := symbolic.Mul(c.Size(t)...)
			if fits(n) {
				return n
			}
			if x := scaled(n, want[0], c.trial(n)); x != nil && fits(x) {
				return x
			}
		}
	}
	return nil
}

// scaled is e times or divided by the whole number that takes n to want; nil for none.
func scaled(e *Expr, want, n int64) *Expr {
	switch {
	case n > 0 && want%n == 0:
		return symbolic.Mul(e, symbolic.Int(want/n))
	case want > 0 && n/want > 1:
		return symbolic.FloorDiv(e, symbolic.Int(n/want))
	}
	return nil
}
