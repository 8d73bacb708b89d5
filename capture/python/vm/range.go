package vm

import (
	"fmt"
	"math"
	"math/big"
)

// longRange is a range() of which a bound or the length does not fit 64 bits.
type longRange struct {
	start, stop, step *big.Int
	n                 *big.Int // length
}

// Type implements Object.
func (*longRange) Type() *Type { return RangeType }

// Len counts the steps of a range.
func (r *Range) Len() int64 {
	if r.Step > 0 && r.Start < r.Stop {
		return (r.Stop-r.Start-1)/r.Step + 1
	}
	if r.Step < 0 && r.Start > r.Stop {
		return (r.Start-r.Stop-1)/-r.Step + 1
	}
	return 0
}

func (r *Range) long() *longRange {
	return newLongRange(big.NewInt(r.Start), big.NewInt(r.Stop), big.NewInt(r.Step))
}

// newLongRange makes a range with bounds of any size.
func newLongRange(start, stop, step *big.Int) *longRange {
	r := &longRange{start, stop, step, new(big.Int)}
	if d := new(big.Int).Sub(stop, start); d.Sign() == step.Sign() && d.Sign() != 0 {
		d.Abs(d).Sub(d, big.NewInt(1))
		r.n.Add(d.Quo(d, new(big.Int).Abs(step)), big.NewInt(1))
	}
	return r
}

// makeRange is the Range of these bounds where 64 bits do, else a longRange. The margin keeps all sums of a Range in 64 bits.
func makeRange(start, stop, step *big.Int) Object {
	const most = math.MaxInt64 / 4
	for _, b := range []*big.Int{start, stop, step} {
		if !b.IsInt64() || b.Int64() > most || b.Int64() < -most {
			return newLongRange(start, stop, step)
		}
	}
	return &Range{start.Int64(), stop.Int64(), step.Int64()}
}

// smallRange is the range of arguments that are integers of modest size; nil of others.
func smallRange(args []Object) Object {
	const most = math.MaxInt64 / 4
	v := [3]int64{0, 0, 1}
	at := v[:]
	if len(args) == 1 {
		at = v[1:]
	}
	for i, a := range args {
		n, ok := a.(Int)
		if !ok || n > most || n < -most {
			return nil
		}
		at[i] = int64(n)
	}
	if v[2] == 0 {
		return nil
	}
	return &Range{v[0], v[1], v[2]}
}

// asLongRange is a range of either kind as one of any size.
func asLongRange(o Object) *longRange {
	switch x := o.(type) {
	case *Range:
		return x.long()
	case *longRange:
		return x
	}
	return nil
}

// String is the range's repr.
func (r *longRange) String() string {
	if r.step.IsInt64() && r.step.Int64() == 1 {
		return fmt.Sprintf("range(%d, %d)", r.start, r.stop)
	}
	return fmt.Sprintf("range(%d, %d, %d)", r.start, r.stop, r.step)
}

// at is the item of index i, which may be outside.
func (r *longRange) at(i *big.Int) *big.Int {
	v := new(big.Int).Mul(i, r.step)
	return v.Add(v, r.start)
}

// rangeContains is v in r. An int is found by its value; what only equals one is looked for.
func rangeContains(in *Interp, r, v Object) (bool, error) {
	switch v.(type) {
	case Int, *BigInt, Bool:
		i, _ := AsBig(v)
		return asLongRange(r).index(i) != nil, nil
	}
	it, err := in.Iter(r)
	if err != nil {
		return false, err
	}
	return in.among(it, v)
}

// index is where v stands, nil if it does not.
func (r *longRange) index(v *big.Int) *big.Int {
	i, rest := new(big.Int).QuoRem(new(big.Int).Sub(v, r.start), r.step, new(big.Int))
	if rest.Sign() != 0 || i.Sign() < 0 || i.Cmp(r.n) >= 0 {
		return nil
	}
	return i
}

func (r *longRange) equal(o *longRange) bool {
	if r.n.Cmp(o.n) != 0 || r.n.Sign() == 0 {
		return r.n.Cmp(o.n) == 0
	}
	return r.start.Cmp(o.start) == 0 && (r.n.IsInt64() && r.n.Int64() == 1 || r.step.Cmp(o.step) == 0)
}

// hash is that of the tuple of length, start and step, of which short ranges leave out what does not matter.
func (r *longRange) hash(in *Interp) (uint64, error) {
	t := NewTuple(MakeBig(r.n), None, None)
	if r.n.Sign() > 0 {
		t.Items[1] = MakeBig(r.start)
		if !r.n.IsInt64() || r.n.Int64() > 1 {
			t.Items[2] = MakeBig(r.step)
		}
	}
	return in.Hash(t)
}

// iter gives the integers one by one.
func (r *longRange) iter() Object {
	i := new(big.Int)
	return &GoIter{T: LongRangeIterType, Reduce: func(in *Interp, _ *Type) (Object, error) {
		return remake(in, "iter", r, MakeBig(new(big.Int).Set(i)))
	}, SetState: func(in *Interp, state Object) error {
		n, ok := AsBig(state)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "'<' not supported between instances of '%s' and 'int'", state.Type().errName())
		}
		i.Set(n)
		if n.Sign() < 0 {
			i.SetInt64(0)
		} else if n.Cmp(r.n) > 0 {
			i.Set(r.n)
		}
		return nil
	}, Left: func() int { return int(new(big.Int).Sub(r.n, i).Int64()) }, NextFn: func(*Interp) (Object, error) {
		if i.Cmp(r.n) >= 0 {
			return nil, nil
		}
		v := MakeBig(r.at(i))
		i.Add(i, big.NewInt(1))
		return v, nil
	}}
}

// item is r[key] for an index or a slice.
func (r *longRange) item(in *Interp, key Object) (Object, error) {
	if s, ok := key.(*Slice); ok {
		start, stop, step, err := s.big(in, r.n)
		if err != nil {
			return nil, err
		}
		return makeRange(r.at(start), r.at(stop), step.Mul(step, r.step)), nil
	}
	if _, ok := AsBig(key); !ok && key.Type().Lookup("__index__") == nil {
		return nil, in.Errorf(in.Exc.TypeError, "range indices must be integers or slices, not %s", TypeName(key))
	}
	b, err := in.IndexBig(key)
	if err != nil {
		return nil, err
	}
	if b.Sign() < 0 {
		b = new(big.Int).Add(b, r.n)
	}
	if b.Sign() < 0 || b.Cmp(r.n) >= 0 {
		return nil, in.Errorf(in.Exc.IndexError, "range object index out of range")
	}
	return MakeBig(r.at(b)), nil
}

// big is indices for a length of any size: what slice.indices computes.
func (s *Slice) big(in *Interp, n *big.Int) (start, stop, step *big.Int, err error) {
	bound := func(o Object) (*big.Int, error) {
		if _, ok := AsBig(o); !ok && o.Type().Lookup("__index__") == nil {
			return nil, in.Errorf(in.Exc.TypeError, "slice indices must be integers or None or have an __index__ method")
		}
		return in.IndexBig(o)
	}
	step = big.NewInt(1)
	if s.Step != None {
		if step, err = bound(s.Step); err != nil {
			return
		}
		if step.Sign() == 0 {
			err = in.Errorf(in.Exc.ValueError, "slice step cannot be zero")
			return
		}
		step = new(big.Int).Set(step)
	}
	lo, hi := new(big.Int), n
	if step.Sign() < 0 {
		lo, hi = big.NewInt(-1), new(big.Int).Sub(n, big.NewInt(1))
	}
	clip := func(o Object, def *big.Int) (*big.Int, error) {
		if o == None {
			return def, nil
		}
		b, err := bound(o)
		if err != nil {
			return nil, err
		}
		if b.Sign() < 0 {
			if b = new(big.Int).Add(b, n); b.Cmp(lo) < 0 {
				return lo, nil
			}
		} else if b.Cmp(hi) > 0 {
			return hi, nil
		}
		return b, nil
	}
	first, last := lo, hi
	if step.Sign() < 0 {
		first, last = hi, lo
	}
	if start, err = clip(s.Start, first); err != nil {
		return
	}
	stop, err = clip(s.Stop, last)
	return
}

// initRange gives ranges their methods.
func initRange() {
	r := RangeType
	r.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(kw) > 0 {
			return nil, in.Errorf(in.Exc.TypeError, "range() takes no keyword arguments")
		}
		if len(args) == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "range expected at least 1 argument, got 0")
		}
		if len(args) > 3 {
			return nil, in.Errorf(in.Exc.TypeError, "range expected at most 3 arguments, got %d", len(args))
		}
		if r := smallRange(args); r != nil {
			return r, nil
		}
		var v [3]*big.Int
		for i, a := range args {
			n, err := in.IndexBig(a)
			if err != nil {
				return nil, err
			}
			v[i] = n
		}
		switch len(args) {
		case 1:
			return makeRange(new(big.Int), v[0], big.NewInt(1)), nil
		case 2:
			return makeRange(v[0], v[1], big.NewInt(1)), nil
		}
		if v[2].Sign() == 0 {
			return nil, in.Errorf(in.Exc.ValueError, "range() arg 3 must not be zero")
		}
		return makeRange(v[0], v[1], v[2]), nil
	}
	addCompare(r, nil, "==", "!=")
	addBasics(r, "repr hash len iter getitem contains bool")
	for n, f := range map[string]func(r *longRange) *big.Int{"start": func(r *longRange) *big.Int { return r.start },
		"stop": func(r *longRange) *big.Int { return r.stop }, "step": func(r *longRange) *big.Int { return r.step }} {
		addGetSet(r, n, func(in *Interp, o Object) (Object, error) { return MakeBig(f(asLongRange(o))), nil }, nil)
	}
	addMethod(r, "__reversed__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if x, ok := args[0].(*Range); ok {
			n := x.Len()
			return &rangeIter{x.Start + (n-1)*x.Step, -x.Step, n, n}, nil
		}
		x := args[0].(*longRange)
		last := x.at(new(big.Int).Sub(x.n, big.NewInt(1)))
		return newLongRange(last, new(big.Int).Sub(x.start, x.step), new(big.Int).Neg(x.step)).iter(), nil
	})
	addMethod(r, "index", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if b, ok := AsBig(args[1]); ok {
			if i := asLongRange(args[0]).index(b); i != nil {
				return MakeBig(i), nil
			}
			s, err := in.Repr(args[1])
			if err != nil {
				return nil, err
			}
			return nil, in.Errorf(in.Exc.ValueError, "%s is not in range", s)
		}
		items, err := in.IterAll(args[0])
		if err != nil {
			return nil, err
		}
		for i, it := range items {
			same, err := sameKey(in, it, args[1])
			if err != nil {
				return nil, err
			}
			if same {
				return MakeInt(int64(i)), nil
			}
		}
		return nil, in.Errorf(in.Exc.ValueError, "sequence.index(x): x not in sequence")
	})
	addMethod(r, "count", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		switch args[1].(type) {
		case Int, *BigInt, Bool:
			ok, err := in.Contains(args[0], args[1])
			if ok {
				return MakeInt(1), err
			}
			return MakeInt(0), err
		}
		n := int64(0)
		items, err := in.IterAll(args[0])
		for i := 0; i < len(items) && err == nil; i++ {
			var same bool
			if same, err = sameKey(in, items[i], args[1]); same {
				n++
			}
		}
		return MakeInt(n), err
	})
}
