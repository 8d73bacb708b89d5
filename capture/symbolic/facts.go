package symbolic

// facts are relations that hold, as differences with 0.
type facts struct {
	atMost  []*Expr // d <= 0
	unequal []*Expr // d != 0
	texts   []string
}

func (f *facts) same(e *Expr) bool {
	for _, t := range f.texts {
		if t == e.text {
			return true
		}
	}
	return false
}

func (f *facts) add(op Op, d *Expr) {
	switch op {
	case OpNe:
		f.unequal = append(f.unequal, d)
	case OpLe:
		f.atMost = append(f.atMost, d)
	case OpLt:
		f.atMost = append(f.atMost, Add(d, Int(1)))
	case OpGe:
		f.atMost = append(f.atMost, Neg(d))
	case OpGt:
		f.atMost = append(f.atMost, Add(Neg(d), Int(1)))
	case OpEq:
		f.atMost = append(f.atMost, d, Neg(d))
	}
}

// holds reports whether d <= 0 follows from one fact.
func (f *facts) holds(d *Expr) bool {
	for _, p := range f.atMost {
		if c := Sub(d, p); c.Op == OpInt && c.Int <= 0 {
			return true
		}
	}
	return false
}

// know decides d op 0.
func (f *facts) know(op Op, d *Expr) (truth, ok bool) {
	switch op {
	case OpLe, OpGt:
		if f.holds(d) {
			return op == OpLe, true
		}
		if f.holds(Add(Neg(d), Int(1))) {
			return op == OpGt, true
		}
	case OpLt, OpGe:
		if f.holds(Add(d, Int(1))) {
			return op == OpLt, true
		}
		if f.holds(Neg(d)) {
			return op == OpGe, true
		}
	case OpEq, OpNe:
		for _, p := range f.unequal {
			if p.text == d.text || p.text == Neg(d).text {
				return op == OpNe, true
			}
		}
		if f.holds(Add(d, Int(1))) || f.holds(Add(Neg(d), Int(1))) {
			return op == OpNe, true
		}
		if f.holds(d) && f.holds(Neg(d)) {
			return op == OpEq, true
		}
	}
	return false, false
}
