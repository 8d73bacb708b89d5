package stdlib

import (
	"slices"
	"strings"

	"whittle/capture/python/vm"
)

// Deque is collections.deque: a ring of items. An instance of a class that derives from it holds one as its Native.
type Deque struct {
	vm.Identity
	types *dequeTypes
	buf   []vm.Object // its length is a power of two
	head  int         // of the first item
	n     int
	most  int // -1: any number
	turns int // grows with every change, for those who walk through it
}

// dequeTypes are the classes of an interpreter that have to do with deques.
type dequeTypes struct{ deque, iter, reverse *vm.Type }

// Type implements vm.Object.
func (d *Deque) Type() *vm.Type { return d.types.deque }

// Len is the number of items.
func (d *Deque) Len() int { return d.n }

// ItemAt is item i, counted from the front.
func (d *Deque) ItemAt(i int) vm.Object { return *d.at(i) }

// Items are the items, from the front.
func (d *Deque) Items() []vm.Object { return d.items() }

// SetItems makes it hold items, of which there are no more than it may have.
func (d *Deque) SetItems(items []vm.Object) { d.set(items) }

func (d *Deque) at(i int) *vm.Object { return &d.buf[(d.head+i)&(len(d.buf)-1)] }

// grow makes room for one more item.
func (d *Deque) grow() {
	if d.n < len(d.buf) {
		return
	}
	buf := make([]vm.Object, max(8, 2*len(d.buf)))
	for i := range d.n {
		buf[i] = *d.at(i)
	}
	d.buf, d.head = buf, 0
}

func (d *Deque) append(v vm.Object) {
	d.turns++
	d.grow()
	d.n++
	*d.at(d.n - 1) = v
	if d.most >= 0 && d.n > d.most {
		d.popLeft()
	}
}

func (d *Deque) appendLeft(v vm.Object) {
	d.turns++
	d.grow()
	d.head = (d.head - 1) & (len(d.buf) - 1)
	d.n++
	*d.at(0) = v
	if d.most >= 0 && d.n > d.most {
		d.pop()
	}
}

// pop and popLeft take an item of a deque that has one.
func (d *Deque) pop() vm.Object {
	d.turns++
	p := d.at(d.n - 1)
	v := *p
	*p = nil
	d.n--
	return v
}

func (d *Deque) popLeft() vm.Object {
	d.turns++
	p := d.at(0)
	v := *p
	*p = nil
	d.head = (d.head + 1) & (len(d.buf) - 1)
	d.n--
	return v
}

// items is a copy of the items in order.
func (d *Deque) items() []vm.Object {
	out := make([]vm.Object, d.n)
	for i := range out {
		out[i] = *d.at(i)
	}
	return out
}

// set replaces all items.
func (d *Deque) set(items []vm.Object) {
	d.turns++
	d.buf, d.head, d.n = nil, 0, 0
	for _, v := range items {
		d.append(v)
	}
}

// extend adds what an iterable gives, at either end.
func (d *Deque) extend(in *vm.Interp, o vm.Object, add func(vm.Object)) error {
	if x, ok := dequeOf(o); ok && x == d {
		o = vm.NewList(d.items()...)
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
		add(v)
	}
}

// rotate moves n items from the end to the front.
func (d *Deque) rotate(n int64) {
	if d.n < 2 {
		return
	}
	k := int(n % int64(d.n))
	if k > d.n/2 {
		k -= d.n
	} else if k < -d.n/2 {
		k += d.n
	}
	for ; k > 0; k-- {
		v := d.pop()
		d.grow()
		d.head = (d.head - 1) & (len(d.buf) - 1)
		d.n++
		*d.at(0) = v
	}
	for ; k < 0; k++ {
		v := d.popLeft()
		d.n++
		*d.at(d.n - 1) = v
	}
}

// dequeOf gives the deque that o is or holds.
func dequeOf(o vm.Object) (*Deque, bool) {
	switch x := o.(type) {
	case *Deque:
		return x, true
	case *vm.Instance:
		d, ok := x.Native.(*Deque)
		return d, ok
	}
	return nil, false
}

// dequeIter walks through a deque in either direction.
type dequeIter struct {
	d     *Deque
	cls   *vm.Type
	i     int
	turns int
	left  int
}

// Type implements vm.Object.
func (it *dequeIter) Type() *vm.Type { return it.cls }

// Next implements vm.Iterator.
func (it *dequeIter) Next(in *vm.Interp) (vm.Object, error) {
	if it.turns != it.d.turns {
		it.left = 0
		return nil, in.Errorf(in.Exc.RuntimeError, "deque mutated during iteration")
	}
	if it.left == 0 {
		return nil, nil
	}
	it.left--
	i := it.i
	it.i++
	if it.cls == it.d.types.reverse {
		i = it.d.n - 1 - i
	}
	return *it.d.at(i), nil
}

func (d *Deque) iter(cls *vm.Type) *dequeIter {
	return &dequeIter{d: d, cls: cls, turns: d.turns, left: d.n}
}

// newDequeTypes makes the three classes.
func newDequeTypes(in *vm.Interp) *dequeTypes {
	t := &dequeTypes{}
	t.deque = in.NewNativeType(t.spec())
	walker := func(name string, cls **vm.Type) *vm.Type {
		return in.NewNativeType(vm.Spec{Strict: true, Name: name, Module: "_collections", NoDict: true, Final: true,
			New: func(in *vm.Interp, c *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				a, err := vm.NewParams(name, "iterable, index=0, /").Bind(in, args, kw)
				if err != nil {
					return nil, err
				}
				d, ok := dequeOf(a[0])
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "argument 1 must be collections.deque, not %s", vm.ArgName(a[0]))
				}
				n, err := in.Index(a[1])
				it := d.iter(*cls)
				it.i = int(min(max(n, 0), int64(d.n)))
				it.left -= it.i
				return it, err
			},
			Methods: map[string]vm.GoFunc{
				"__init__": noInit,
				"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
				"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
					v, err := a[0].(*dequeIter).Next(in)
					if v == nil && err == nil {
						return nil, in.RaiseObj(in.Exc.StopIteration)
					}
					return v, err
				},
				"__length_hint__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
					return vm.MakeInt(int64(a[0].(*dequeIter).left)), nil
				},
				"__reduce__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
					it := a[0].(*dequeIter)
					return vm.NewTuple(it.cls, vm.NewTuple(it.d, vm.MakeInt(int64(it.d.n-it.left)))), nil
				}}})
	}
	t.iter = walker("_deque_iterator", &t.iter)
	t.reverse = walker("_deque_reverse_iterator", &t.reverse)
	return t
}

// init is __init__(iterable, maxlen).
func (d *Deque) init(in *vm.Interp, a []vm.Object) error {
	d.most = -1
	if a[1] != vm.None {
		if a[1].Type().Lookup("__index__") == nil {
			return in.Errorf(in.Exc.TypeError, "an integer is required")
		}
		n, err := in.Index(a[1])
		if err != nil {
			return err
		}
		if n < 0 {
			return in.Errorf(in.Exc.ValueError, "maxlen must be non-negative")
		}
		d.most = int(n)
	}
	d.set(nil)
	if a[0] == nil {
		return nil
	}
	return d.extend(in, a[0], d.append)
}

// like makes a deque of the same class as self, with the same bound.
func (d *Deque) like(in *vm.Interp, self vm.Object, items []vm.Object) (vm.Object, error) {
	if self == vm.Object(d) {
		c := &Deque{types: d.types, most: d.most}
		c.set(items)
		return c, nil
	}
	args := []vm.Object{vm.NewList(items...)}
	if d.most >= 0 {
		args = append(args, vm.MakeInt(int64(d.most)))
	}
	return in.Call(self.Type(), args, nil)
}

// find gives the place of the first item equal to v between two places, or -1.
func (d *Deque) find(in *vm.Interp, v vm.Object, from, to int, mutated error) (int, error) {
	turns := d.turns
	for i := from; i < to; i++ {
		x := *d.at(i)
		eq := vm.Is(x, v)
		if !eq {
			var err error
			if eq, err = in.Eq(x, v); err != nil {
				return 0, err
			}
		}
		if turns != d.turns {
			return 0, mutated
		}
		if eq {
			return i, nil
		}
	}
	return -1, nil
}

func (d *Deque) repr(in *vm.Interp, self vm.Object) (vm.Object, error) {
	var sb strings.Builder
	ok, err := in.ReprGuard(self, func() error {
		s, err := in.Repr(vm.NewList(d.items()...))
		sb.WriteString(self.Type().Name + "(" + s)
		return err
	})
	if !ok {
		return vm.Str("[...]"), nil
	}
	if d.most >= 0 {
		s, _ := in.Repr(vm.MakeInt(int64(d.most)))
		sb.WriteString(", maxlen=" + s)
	}
	return vm.Str(sb.String() + ")"), err
}

// index reads an index of an item.
func (d *Deque) index(in *vm.Interp, o vm.Object) (int, error) {
	if o.Type().Lookup("__index__") == nil {
		return 0, in.Errorf(in.Exc.TypeError, "sequence index must be integer, not '%s'", vm.TypeName(o))
	}
	i, err := in.Index(o)
	if err != nil {
		return 0, err
	}
	if i < 0 {
		i += int64(d.n)
	}
	if i < 0 || i >= int64(d.n) {
		return 0, in.Errorf(in.Exc.IndexError, "deque index out of range")
	}
	return int(i), nil
}

// repeat is d * n.
func (d *Deque) repeat(in *vm.Interp, n vm.Object) ([]vm.Object, error) {
	v, err := in.BinaryOp("*", vm.NewList(d.items()...), n)
	if err != nil {
		return nil, err
	}
	return v.(*vm.List).Items, nil
}

// compare is a comparison with another deque.
func (d *Deque) compare(in *vm.Interp, op string, o vm.Object) (vm.Object, error) {
	x, ok := dequeOf(o)
	if !ok {
		return vm.NotImplemented, nil
	}
	return in.Compare(op, vm.NewList(d.items()...), vm.NewList(x.items()...))
}

// bounds clamps the bounds of a slice as list.index does.
func (d *Deque) bounds(in *vm.Interp, a []vm.Object) (from, to int, err error) {
	to = d.n
	for i, p := range []*int{&from, &to} {
		if i >= len(a) {
			break
		}
		n, err := in.Index(a[i])
		if err != nil {
			return 0, 0, err
		}
		if n < 0 {
			n = max(n+int64(d.n), 0)
		}
		*p = int(min(n, int64(d.n)))
	}
	return from, to, nil
}

// insert puts an item before the one at i.
func (d *Deque) insert(i int64, v vm.Object) {
	items := d.items()
	if i < 0 {
		i += int64(d.n)
	}
	d.set(slices.Insert(items, int(min(max(i, 0), int64(d.n))), v))
}
