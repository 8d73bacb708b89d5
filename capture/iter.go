package capture

import (
	"fmt"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// replayIter is an iterator that can be read ahead: a resume function's loop holds one, so that a trace can
// walk it without using up the real iterator.
type replayIter struct {
	src   vm.Iterator
	ahead *readAhead
	start int // where this frame began
	pos   int // the next item
}

// readAhead is what the copies of one iterator share.
type readAhead struct {
	items []vm.Object
	ended bool
}

// replayable wraps an iterator over data. Generators and files are left alone: reading ahead would run code, or
// move the file, early.
func replayable(o vm.Object) vm.Object {
	if o == nil {
		return nil
	}
	if _, ok := o.(*replayIter); ok {
		return o
	}
	it, ok := o.(vm.Iterator)
	if !ok {
		return o
	}
	if n := it.Type().Name; strings.HasSuffix(n, "iterator") && n != "callable_iterator" || n == "zip" || n == "enumerate" || n == "reversed" {
		return &replayIter{src: it, ahead: &readAhead{}}
	}
	return o
}

// Type is the class of the iterator underneath.
func (it *replayIter) Type() *vm.Type { return it.src.Type() }

// Next gives the next item; nil, nil at the end.
func (it *replayIter) Next(in *vm.Interp) (vm.Object, error) {
	v, err := it.peek(in, it.pos)
	if v != nil {
		it.pos++
	}
	return v, err
}

// peek is the item at a position, nil behind the end.
func (it *replayIter) peek(in *vm.Interp, at int) (vm.Object, error) {
	a := it.ahead
	for at >= len(a.items) && !a.ended {
		v, err := it.src.Next(in)
		if err != nil {
			return nil, err
		}
		if v == nil {
			a.ended = true
			break
		}
		a.items = append(a.items, v)
	}
	if at < len(a.items) {
		return a.items[at], nil
	}
	return nil, nil
}

// copy is the same iterator for a trace.
func (it *replayIter) copy() *replayIter {
	return &replayIter{src: it.src, ahead: it.ahead, start: it.pos, pos: it.pos}
}

// iterItemSource is the i-th item that an iterator will give.
type iterItemSource struct {
	base source.Source
	i    int
}

// Name is how guards call the item.
func (s iterItemSource) Name() string {
	return fmt.Sprintf("___tuple_iterator_getitem(%s, %d)", s.base.Name(), s.i)
}

// Get reads ahead in the frame's own iterator.
func (s iterItemSource) Get(e *source.Env) (vm.Object, error) { return source.Via(e, s) }

// From is the iterator.
func (s iterItemSource) From() source.Source { return s.base }

// Step reads the item.
func (s iterItemSource) Step(e *source.Env, o vm.Object) (vm.Object, error) {
	it, ok := o.(*replayIter)
	if !ok {
		return nil, fmt.Errorf("%s is no iterator", s.base.Name())
	}
	v, err := it.peek(e.In, it.pos+s.i)
	if err == nil && v == nil {
		err = fmt.Errorf("%s has ended", s.base.Name())
	}
	return v, err
}

// weakTarget is what a weak reference leads to.
type weakTarget struct{ base source.Source }

// Name is how guards call the object.
func (s weakTarget) Name() string { return s.base.Name() + "()" }

// Get asks the reference.
func (s weakTarget) Get(e *source.Env) (vm.Object, error) { return source.Via(e, s) }

// From is the reference.
func (s weakTarget) From() source.Source { return s.base }

// Step asks the reference.
func (s weakTarget) Step(e *source.Env, o vm.Object) (vm.Object, error) {
	return e.In.Call(o, nil, nil)
}

// remaining counts the items that an iterator has yet to give, up to a limit; -1 when there are more.
func (it *replayIter) remaining(in *vm.Interp, limit int) int {
	for n := 0; n <= limit; n++ {
		v, err := it.peek(in, it.pos+n)
		if err != nil {
			return -1
		}
		if v == nil {
			return n
		}
	}
	return -1
}

// maxAhead is how far an iterator from outside is looked into.
const maxAhead = 1000

// stepped registers what a FOR_ITER over a sourced iterator gives. PyTorch keeps such an iterator as one over a tuple, and guards
// all that is left in it; one that is too long for that is guarded item by item.
func (rd *reads) stepped(it *replayIter) {
	src := rd.world.sources[it]
	if src == nil {
		return
	}
	i := it.pos - it.start
	n := it.remaining(rd.in, maxAhead)
	if n < 0 {
		if v, err := it.peek(rd.in, it.pos); err == nil && v != nil {
			rd.world.see(v, iterItemSource{src, i})
		}
		return
	}
	if i > 0 {
		return
	}
	rd.guards.Add(guard.New(guard.TupleIteratorLen, fmt.Sprintf("___tuple_iterator_len(%s) == %d", src.Name(), n), src, func(e *source.Env, now vm.Object) (bool, guard.Failure) {
		other, ok := now.(*replayIter)
		return ok && other.remaining(e.In, n) == n, guard.Failure{}
	}))
	for k := 0; k < n; k++ {
		v, err := it.peek(rd.in, it.pos+k)
		if err != nil {
			return // FOR_ITER itself meets the error
		}
		rd.world.see(v, iterItemSource{src, k})
		_ = rd.standIns.useValue(v) // it has a source, and so becomes an input
	}
}

// stepsOuter is the break at an iterator from outside that something is about to read from: that uses it up, and what it would give the next
// time no guard can say. The frame's own iterators, which are read ahead, are guarded by what is left in them.
func (rd *reads) stepsOuter(o vm.Object) *Unsupported {
	if it, ok := o.(*replayIter); ok {
		rd.stepped(it)
		return nil
	}
	if _, ok := o.(vm.Iterator); !ok || rd.world.sources[o] == nil || rd.quiet() {
		return nil
	}
	return unsupported(breaks.OuterIterator, o.Type().Name)
}

// iterator plans an iterator that a break leaves in the middle: the frame's own, moved on as far as the trace read.
func (p *planner) iterator(it *replayIter, src source.Source) recipe {
	n, key := it.pos-it.start, p.part(it)
	return func(r *rebuild) (vm.Object, error) {
		if x := r.made[key]; x != nil {
			return x, nil
		}
		o, err := src.Get(r.env)
		if err != nil {
			return nil, err
		}
		real, ok := o.(*replayIter)
		if !ok {
			return nil, fmt.Errorf("%s is no iterator", src.Name())
		}
		c := real.copy()
		c.pos += n
		r.made[key] = c
		return c, nil
	}
}

// madeIterator plans an iterator that the trace made: each run gets a new one over the items that it has left, as PyTorch's resume
// functions get one over a tuple.
func (p *planner) madeIterator(o vm.Object, left *replayIter) (recipe, error) {
	n := left.remaining(p.tr.in, maxItems)
	if n < 0 {
		return nil, unsupported(breaks.EndlessIterator)
	}
	items := make([]vm.Object, n)
	for i := range items {
		items[i], _ = left.peek(p.tr.in, left.pos+i) // remaining has read it
	}
	return p.shared(o, items, func() (vm.Object, filler) {
		it := &replayIter{ahead: &readAhead{ended: true}}
		return it, func(items []vm.Object) {
			it.ahead.items = items
			it.src = vm.NewTupleIter(items).(vm.Iterator)
		}
	})
}

// maxItems is how many items an inlined generator may give: more than that, and it is taken to have no end.
const maxItems = 100_000

// drain is the call of a generator function. PyTorch runs an inlined generator to its end as soon as it is called, and the order
// of the graph's nodes shows it.
func (tr *tracer) drain(callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	g, err := tr.in.Call(callable, args, kw)
	if err != nil {
		return nil, false, err
	}
	gen, ok := g.(*vm.Generator)
	if !ok {
		return g, true, nil
	}
	items := vm.NewList()
	for {
		v, err := gen.Next(tr.in)
		if err != nil {
			return nil, false, err
		}
		if v == nil {
			break
		}
		if items.Items = append(items.Items, v); len(items.Items) > maxItems {
			return nil, false, unsupported(breaks.InfiniteGenerator)
		}
	}
	it, err := tr.in.Iter(items)
	return it, true, err
}
