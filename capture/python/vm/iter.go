package vm

import (
	"slices"
	"unicode/utf8"

	"whittle/capture/python/wtf8"
)

// Iterators of built-in values.
type (
	listIter struct {
		l *List
		i int
	}
	tupleIter struct {
		items []Object
		i     int // -1 once its end was reached
	}
	rangeIter struct{ cur, step, n, all int64 } // n more of all
	strIter   struct {
		s string
		i int // -1 once its end was reached
	}
	dictIter struct {
		d     *Dict
		i     int
		n     int
		kind  uint8 // keys, values, items
		given int   // how many were given
	}
)

// Type implements Object, here and below.
func (*listIter) Type() *Type { return ListIterType }

func (*tupleIter) Type() *Type { return TupleIterType }

func (*rangeIter) Type() *Type { return RangeIterType }

func (it *strIter) Type() *Type {
	if isASCII(it.s) {
		return StrIterType
	}
	return strWideIterType
}

func (d *dictIter) Type() *Type {
	switch d.kind {
	case 1:
		return DictValueIterType
	case 2:
		return DictItemIterType
	}
	return DictKeyIterType
}

// Next implements Iterator, here and below. The list may change while it is walked; once its end was reached, that is the end.
func (it *listIter) Next(*Interp) (Object, error) {
	if it.l == nil || it.i >= len(it.l.Items) {
		it.l = nil
		return nil, nil
	}
	v := it.l.Items[it.i]
	it.i++
	return v, nil
}

func (it *tupleIter) Next(*Interp) (Object, error) {
	if uint(it.i) >= uint(len(it.items)) {
		it.i = -1
		return nil, nil
	}
	v := it.items[it.i]
	it.i++
	return v, nil
}

// rest is what is still to come.
func (it *tupleIter) rest() []Object {
	if it.i < 0 {
		return nil
	}
	return it.items[min(it.i, len(it.items)):]
}

func (it *rangeIter) Next(in *Interp) (Object, error) {
	if it.n <= 0 {
		return nil, nil
	}
	v := in.boxInt(it.cur)
	it.cur += it.step
	it.n--
	return v, nil
}

func (it *strIter) Next(*Interp) (Object, error) {
	if uint(it.i) >= uint(len(it.s)) {
		it.i = -1
		return nil, nil
	}
	if c := it.s[it.i]; c < utf8.RuneSelf {
		it.i++
		return charStrs[c], nil
	}
	_, n := wtf8.DecodeRuneInString(it.s[it.i:])
	v := Str(it.s[it.i : it.i+n])
	it.i += n
	return v, nil
}

// rest is what is still to come.
func (it *strIter) rest() string {
	if it.i < 0 {
		return ""
	}
	return it.s[it.i:]
}

// Next implements Iterator.
func (it *dictIter) Next(in *Interp) (Object, error) {
	k, v, err := it.next(in)
	if k == nil {
		return nil, err
	}
	switch it.kind {
	case 1:
		return v, nil
	case 2:
		return newPair(k, v), nil
	}
	return k, nil
}

// next gives the next key and its value, or nil at the end; it fails if the dict has got or lost keys meanwhile.
func (it *dictIter) next(in *Interp) (k, v Object, err error) {
	if it.d == nil {
		return nil, nil, nil
	}
	if it.n != it.d.live {
		it.n = -1 // for good
		return nil, nil, in.Errorf(in.Exc.RuntimeError, "dictionary changed size during iteration")
	}
	i, k, v, ok := it.d.next(it.i)
	if !ok {
		it.d = nil
		return nil, nil, nil
	}
	if it.given == it.n {
		it.d = nil
		return nil, nil, in.Errorf(in.Exc.RuntimeError, "dictionary keys changed during iteration")
	}
	it.given++
	it.i = i
	return k, v, nil
}

// reverseDictIter walks through a dict from its end; kind is as in dictIter.
func reverseDictIter(d *Dict, kind uint8) Object {
	i, n, given := len(d.entries), d.live, 0
	pick := func(e *dictEntry) Object {
		switch kind {
		case 1:
			return e.val
		case 2:
			return newPair(e.key, e.val)
		}
		return e.key
	}
	done := false
	return &GoIter{T: []*Type{DictReverseKeyIterType, DictReverseValueIterType, DictReverseItemIterType}[kind], Reduce: func(in *Interp, _ *Type) (Object, error) {
		left := &List{}
		if !done && n != d.live {
			return nil, in.Errorf(in.Exc.RuntimeError, "dictionary changed size during iteration")
		}
		for j := min(i, len(d.entries)) - 1; j >= 0; j-- {
			if e := &d.entries[j]; e.key != nil {
				left.Items = append(left.Items, pick(e))
			}
		}
		return remake(in, "iter", left)
	}, NextFn: func(in *Interp) (Object, error) {
		if done {
			return nil, nil
		}
		if n != d.live {
			n = -1 // for good
			return nil, in.Errorf(in.Exc.RuntimeError, "dictionary changed size during iteration")
		}
		for i = min(i, len(d.entries)) - 1; i >= 0; i-- {
			if e := &d.entries[i]; e.key != nil {
				given++
				return pick(e), nil
			}
		}
		done = true
		return nil, nil
	}, Left: func() int {
		if done || n != d.live {
			return 0
		}
		return n - given
	}}
}

// NewOrderedIter walks through a dict, from its end where backwards is set, as collections.OrderedDict does: kind is as in NewDictView, t the class of
// the iterator. It fails where a key was added, removed or moved meanwhile, unless it had given the last one.
func NewOrderedIter(d *Dict, kind int, backwards bool, t *Type) Object {
	version, i := d.keysVer, -1
	forth := func() { // to the next entry, -1 where there is none
		if backwards {
			for i--; i >= 0 && d.entries[i].key == nil; i-- {
			}
			return
		}
		for i++; i < len(d.entries) && d.entries[i].key == nil; i++ {
		}
		if i == len(d.entries) {
			i = -1
		}
	}
	if backwards {
		i = len(d.entries)
	}
	forth()
	step := func(in *Interp) (k, v Object, err error) {
		switch {
		case i < 0:
			return nil, nil, nil
		case d.keysVer != version && d.live == 0: // for good
			return nil, nil, in.Errorf(in.Exc.RuntimeError, "OrderedDict changed size during iteration")
		case d.keysVer != version:
			i = -1
			return nil, nil, in.Errorf(in.Exc.RuntimeError, "OrderedDict mutated during iteration")
		}
		k, v = d.entries[i].key, d.entries[i].val
		forth()
		return k, v, nil
	}
	next := func(in *Interp) (Object, error) {
		k, v, err := step(in)
		switch {
		case k == nil || err != nil:
			return nil, err
		case kind == 1:
			return v, nil
		case kind == 2:
			return newPair(k, v), nil
		}
		return k, nil
	}
	it := &GoIter{T: t, NextFn: next, Reduce: func(in *Interp, _ *Type) (Object, error) {
		left, at := &List{}, i
		defer func() { i = at }()
		for {
			v, err := next(in)
			if err != nil {
				return nil, err
			}
			if v == nil {
				return remake(in, "iter", left)
			}
			left.Items = append(left.Items, v)
		}
	}}
	if kind == 2 {
		it.pair = step
	}
	return it
}

// Remaining are the items that the iterator of a list or a tuple is still to give; ok is false for other objects.
func Remaining(o Object) (items []Object, ok bool) {
	switch it := o.(type) {
	case *listIter:
		if it.l == nil || it.i >= len(it.l.Items) {
			return nil, true
		}
		return it.l.Items[it.i:], true
	case *tupleIter:
		return it.rest(), true
	}
	return nil, false
}

// NewListIter makes the iterator of a list that stands before item i; NewTupleIter that of items; NewRangeIter one that
// gives n integers from cur on.
func NewListIter(l *List, i int) Object { return &listIter{l, i} }

// NewTupleIter is an iterator over items, as of a tuple.
func NewTupleIter(items []Object) Object { return &tupleIter{items: items} }

// NewRangeIter is an iterator over n integers from cur on, step apart.
func NewRangeIter(cur, step, n int64) Object { return &rangeIter{cur, step, n, n} }

// Pending lists what a built-in iterator of a list, tuple, range, str or dict has yet to give, without advancing it.
func Pending(it Object) (items []Object, ok bool) {
	switch x := it.(type) {
	case *listIter:
		if x.l == nil {
			return nil, true
		}
		return append(items, x.l.Items[min(x.i, len(x.l.Items)):]...), true
	case *tupleIter:
		return append(items, x.rest()...), true
	case *rangeIter:
		for i := range x.n {
			items = append(items, MakeInt(x.cur+i*x.step))
		}
		return items, true
	case *strIter:
		for _, r := range wtf8.All(x.rest()) {
			items = append(items, Str(wtf8.Char(r)))
		}
		return items, true
	case *dictIter:
		if x.d == nil {
			return nil, true
		}
		for i := x.i; ; {
			j, k, v, more := x.d.next(i)
			if !more {
				return items, true
			}
			i = j
			switch x.kind {
			case 0:
				items = append(items, k)
			case 1:
				items = append(items, v)
			default:
				items = append(items, newPair(k, v))
			}
		}
	}
	return nil, false
}

// Iter is iter(o): __iter__, or, for what has only __getitem__, an iterator over o[0], o[1] and so on up to IndexError.
func (in *Interp) Iter(o Object) (Object, error) {
	switch x := o.(type) {
	case *List:
		return &listIter{l: x}, nil
	case *Tuple:
		return &tupleIter{items: x.Items}, nil
	case *Range:
		n := x.Len()
		return &rangeIter{x.Start, x.Step, n, n}, nil
	case *longRange:
		return x.iter(), nil
	case Str:
		return &strIter{s: string(x)}, nil
	case *Dict:
		return &dictIter{d: x, n: x.live}, nil
	case *Set:
		return (&x.setTable).iter(in), nil
	case *FrozenSet:
		return (&x.setTable).iter(in), nil
	case Bytes:
		return bytesIter(x, BytesIterType, func() []byte { return []byte(x) }), nil
	case *ByteArray:
		return bytesIter(x, ByteArrayIterType, func() []byte { return x.B }), nil
	case *Generator:
		return x, nil
	case *dictView:
		if x.cls == nil || x.cls.Lookup("__iter__") == x.base().Lookup("__iter__") {
			return &dictIter{d: x.d, n: x.d.live, kind: x.kind}, nil
		}
	case Iterator:
		return x, nil
	case *MappingProxy:
		return in.Iter(x.M)
	}
	t := o.Type()
	f := t.Lookup("__iter__")
	if f != nil && f != None {
		v, err := in.callSpecial(f, o)
		if err != nil {
			return nil, err
		}
		if _, ok := v.(Iterator); !ok && v.Type().Lookup("__next__") == nil {
			return nil, in.Errorf(in.Exc.TypeError, "iter() returned non-iterator of type '%s'", TypeName(v))
		}
		return v, nil
	}
	if f == nil && !t.byKey && t.Lookup("__getitem__") != nil {
		i := int64(0)
		return &GoIter{Reduce: func(in *Interp, _ *Type) (Object, error) {
			if i < 0 {
				return remake(in, "iter", emptyTuple)
			}
			return remake(in, "iter", o, MakeInt(i))
		}, SetState: func(in *Interp, state Object) error {
			n, err := stateIndex(in, state)
			if err == nil && i >= 0 {
				i = max(n, 0)
			}
			return err
		}, Left: func() int {
			if i < 0 {
				return 0
			}
			if o.Type().Lookup("__len__") == nil {
				return -1
			}
			n, err := in.Len(o)
			if err != nil {
				return 0
			}
			return max(n-int(i), 0)
		}, NextFn: func(in *Interp) (Object, error) {
			if i < 0 {
				return nil, nil
			}
			v, err := in.GetItem(o, MakeInt(i))
			if err != nil {
				if in.Matches(err, in.Exc.IndexError) || in.Matches(err, in.Exc.StopIteration) {
					i = -1
					return nil, nil
				}
				return nil, err
			}
			i++
			return v, nil
		}}, nil
	}
	return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not iterable", t.errName())
}

// iter walks through a set; it fails if the set changes its size meanwhile.
func (s *setTable) iter(in *Interp) Object {
	items := s.Items()
	n := s.used
	i := 0
	return &GoIter{T: SetIterType, Reduce: func(in *Interp, _ *Type) (Object, error) {
		return remake(in, "iter", &List{slices.Clone(items[i:])})
	}, NextFn: func(in *Interp) (Object, error) {
		if s.used != n {
			return nil, in.Errorf(in.Exc.RuntimeError, "Set changed size during iteration")
		}
		if i >= len(items) {
			return nil, nil
		}
		i++
		return items[i-1], nil
	}, Left: func() int {
		if s.used != n {
			return 0
		}
		return len(items) - i
	}}
}

// left is how many entries are still to come; none once the dict has changed.
func (it *dictIter) left() int {
	if it.d == nil || it.n != it.d.live {
		return 0
	}
	return it.n - it.given
}

// bytesIter gives the bytes as integers. Those of a bytearray may change meanwhile.
func bytesIter(o Object, t *Type, b func() []byte) Object {
	i := 0
	if s, ok := o.(Bytes); ok {
		raw := []byte(s)
		b = func() []byte { return raw }
	}
	return &GoIter{T: t, NextFn: func(*Interp) (Object, error) {
		if i < 0 {
			return nil, nil
		}
		p := b()
		if i >= len(p) {
			i = -1
			return nil, nil
		}
		i++
		return MakeInt(int64(p[i-1])), nil
	}, Left: func() int {
		if i < 0 {
			return 0
		}
		return max(len(b())-i, 0)
	}, Reduce: func(in *Interp, _ *Type) (Object, error) {
		if i < 0 {
			return remake(in, "iter", emptyTuple)
		}
		return remake(in, "iter", o, MakeInt(int64(i)))
	}, SetState: func(in *Interp, state Object) error {
		n, err := stateIndex(in, state)
		if err == nil && i >= 0 {
			i = int(min(max(n, 0), int64(len(b()))))
		}
		return err
	}}
}

// NativeIterator is what an instance holds of a class that is written in Go, and that is iterated over without a call of its method __next__. ok
// is false if that method has to be called after all, as a class that derives from it may have another one; v is nil at the end.
type NativeIterator interface {
	NextOf(in *Interp, self *Instance) (v Object, ok bool, err error)
}

// Next advances an iterator: nil, nil at its end.
func (in *Interp) Next(it Object) (Object, error) {
	if x, ok := it.(Iterator); ok {
		v, err := x.Next(in)
		if err != nil && in.Matches(err, in.Exc.StopIteration) {
			return nil, nil // raised by what map or filter called, say
		}
		return v, err
	}
	if i, ok := it.(*Instance); ok {
		if n, ok := i.Native.(NativeIterator); ok {
			if v, ok, err := n.NextOf(in, i); ok {
				return v, err
			}
		}
	}
	f := it.Type().Lookup("__next__")
	if f == nil {
		return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not an iterator", TypeName(it))
	}
	v, err := in.callSpecial(f, it)
	if err != nil {
		if in.Matches(err, in.Exc.StopIteration) {
			return nil, nil
		}
		return nil, err
	}
	return v, nil
}

// nextPair is Next of an iterator that is known to give tuples of two, without the tuple: a is nil at the end.
func (in *Interp) nextPair(it Object) (a, b Object, known bool, err error) {
	switch x := it.(type) {
	case *dictIter:
		if x.kind != 2 {
			return nil, nil, false, nil
		}
		a, b, err = x.next(in)
	case *GoIter:
		if x.pair == nil {
			return nil, nil, false, nil
		}
		if a, b, err = x.pair(in); err != nil && in.Matches(err, in.Exc.StopIteration) {
			err = nil
		}
	default:
		return nil, nil, false, nil
	}
	return a, b, true, err
}

// eachItem calls f with the items of an iterable. A list that f changes is followed as it is then.
func (in *Interp) eachItem(o Object, f func(Object) error) error {
	switch x := o.(type) {
	case *List:
		for i := 0; i < len(x.Items); i++ {
			if err := f(x.Items[i]); err != nil {
				return err
			}
		}
		return nil
	case *Tuple:
		for _, it := range x.Items {
			if err := f(it); err != nil {
				return err
			}
		}
		return nil
	}
	it, err := in.Iter(o)
	if err != nil {
		return err
	}
	for {
		v, err := in.Next(it)
		if v == nil || err != nil {
			return err
		}
		if err := f(v); err != nil {
			return err
		}
	}
}

// IterAll collects an iterable. The result is the caller's.
func (in *Interp) IterAll(o Object) ([]Object, error) {
	switch x := o.(type) {
	case *List:
		return append(make([]Object, 0, len(x.Items)), x.Items...), nil
	case *Tuple:
		return append(make([]Object, 0, len(x.Items)), x.Items...), nil
	case *Dict:
		return x.Keys(), nil
	case *Set:
		return x.Items(), nil
	case *FrozenSet:
		return x.Items(), nil
	}
	it, err := in.Iter(o)
	if err != nil {
		return nil, err
	}
	var out []Object
	for {
		v, err := in.Next(it)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return out, nil
		}
		out = append(out, v)
	}
}
