package pyitertools

import (
	"whittle/capture/python/vm"
)

// iterator is what every row of the table makes: next gives nil at the end.
type iterator interface {
	next(in *vm.Interp) (vm.Object, error)
}

// reducer is an iterator that can be pickled: cls is the class of the object that it is.
type reducer interface {
	reduce(in *vm.Interp, cls *vm.Type) (vm.Object, error)
}

// stateful is an iterator with a state of its own beside its arguments.
type stateful interface {
	setState(in *vm.Interp, state vm.Object) error
}

// shown is an iterator with a repr of its own.
type shown interface {
	repr(in *vm.Interp) (string, error)
}

// counted is an iterator that knows how many objects are left.
type counted interface {
	left(in *vm.Interp) (vm.Object, error)
}

// call is a call of a class: what its parameters were given, in order, and the arguments as they came.
type call struct {
	*vm.Interp
	m    *module
	args []vm.Object
}

// row is one class.
type row struct {
	name string
	// params are read by vm.NewParams; empty for any number. Those that end with "/" take no keywords.
	params string
	least  int // of params that end with "/"
	most   int
	make   func(c *call) (iterator, error)
}

// rows are the classes that are called with what they iterate over.
var rows = []row{
	{"accumulate", "iterable, func=None, *, initial=None", 0, 0, newAccumulate},
	{"combinations", "iterable, r", 0, 0, newCombinations},
	{"combinations_with_replacement", "iterable, r", 0, 0, newReplacing},
	{"compress", "data, selectors", 0, 0, newCompress},
	{"count", "start=0, step=1", 0, 0, newCount},
	{"cycle", "/", 1, 1, newCycle},
	{"dropwhile", "/", 2, 2, newDropWhile},
	{"filterfalse", "/", 2, 2, newFilterFalse},
	{"groupby", "iterable, key=None", 0, 0, newGroupBy},
	{"islice", "/", 2, 4, newSlice},
	{"pairwise", "/", 1, 1, newPairwise},
	{"permutations", "iterable, r=None", 0, 0, newPermutations},
	{"repeat", "object, times=nil", 0, 0, newRepeat},
	{"starmap", "/", 2, 2, newStarMap},
	{"takewhile", "/", 2, 2, newTakeWhile},
	{"chain", "/", 0, -1, newChain},
}

// module is what the classes share.
type module struct {
	classes map[string]*vm.Type
	grouper *vm.Type
	tee     *vm.Type
	data    *vm.Type
}

// Module makes itertools.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("itertools", "Functional tools for creating and using iterators.")
	s := &module{classes: map[string]*vm.Type{}}
	for _, r := range rows {
		s.class(in, m, r)
	}
	s.product(in, m)
	s.zipLongest(in, m)
	s.makeGrouper(in, m)
	s.makeTee(in, m)
	s.classes["chain"].SetAttr("from_iterable", &vm.ClassMethod{Func: &vm.Builtin{Name: "from_iterable", Owner: s.classes["chain"], Max: -1,
		Fn: func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if len(a) != 2 {
				return nil, in.Errorf(in.Exc.TypeError, "chain.from_iterable() takes exactly one argument (%d given)", len(a)-1)
			}
			it, err := in.Iter(a[1])
			if err != nil {
				return nil, err
			}
			cls, _ := a[0].(*vm.Type)
			return s.object(cls, s.classes["chain"], &chain{source: it}), nil
		}}})
	s.classes["chain"].SetAttr("__class_getitem__", vm.NewClassMethod(s.classes["chain"], "__class_getitem__", vm.ClassGetItem))
	return m, nil
}

// class makes the class of a row.
func (s *module) class(in *vm.Interp, m *vm.Module, r row) {
	var params *vm.Params
	if r.params != "/" {
		params = vm.NewParams(r.name, r.params)
	}
	s.define(in, m, r.name, func(in *vm.Interp, plain bool, args []vm.Object, kw []vm.KwArg) (it iterator, err error) {
		c := &call{in, s, args}
		if params != nil {
			if c.args, err = params.Bind(in, args, kw); err != nil {
				return nil, err
			}
			return r.make(c)
		}
		n := len(args)
		if plain && len(kw) > 0 {
			return nil, in.Errorf(in.Exc.TypeError, "%s() takes no keyword arguments", r.name)
		}
		if n < r.least || r.most >= 0 && n > r.most {
			return nil, r.wrong(in, n)
		}
		return r.make(c)
	})
}

// wrong is the error of n arguments.
func (r row) wrong(in *vm.Interp, n int) error {
	how, want := "", r.least
	switch {
	case r.least == r.most:
	case n < r.least:
		how = "at least "
	default:
		how, want = "at most ", r.most
	}
	plural := "s"
	if want == 1 {
		plural = ""
	}
	return in.Errorf(in.Exc.TypeError, "%s expected %s%d argument%s, got %d", r.name, how, want, plural, n)
}

// define adds a class to the module whose instances are Go iterators.
func (s *module) define(in *vm.Interp, m *vm.Module, name string, make func(in *vm.Interp, plain bool, args []vm.Object, kw []vm.KwArg) (iterator, error)) {
	var t *vm.Type
	t = in.NewNativeType(s.spec(name, func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		plain := cls == t || cls.Lookup("__init__") == t.Lookup("__init__") // else keywords may be for a derived class's __init__
		it, err := make(in, plain, args, kw)
		if err != nil {
			return nil, err
		}
		return s.object(cls, t, it), nil
	}))
	s.classes[name] = t
	m.Set(name, t)
}

// spec describes a class of iterators. The methods that only some iterators have are there where the type of the row has them.
func (s *module) spec(name string, makeNew vm.NewFunc) vm.Spec {
	methods := map[string]vm.GoFunc{
		"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil },
		"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
		"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			v, err := goIter(a[0]).NextFn(in)
			if v == nil && err == nil {
				return nil, in.RaiseObj(in.Exc.StopIteration)
			}
			return v, err
		},
	}
	kind := prototypes[name]
	if _, ok := kind.(reducer); ok {
		methods["__reduce__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return goIter(a[0]).Reduce(in, a[0].Type())
		}
	}
	if _, ok := kind.(stateful); ok {
		methods["__setstate__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.None, goIter(a[0]).SetState(in, a[1])
		}
	}
	if _, ok := kind.(shown); ok {
		methods["__repr__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			s, err := iteratorOf(a[0]).(shown).repr(in)
			return vm.Str(a[0].Type().Name + s), err
		}
	}
	if _, ok := kind.(counted); ok {
		methods["__length_hint__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return iteratorOf(a[0]).(counted).left(in)
		}
	}
	if name != "pairwise" && name != "groupby" && name != "_grouper" {
		methods["__sizeof__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return vm.MakeInt(basicSize), nil }
	}
	return vm.Spec{Name: name, NoModule: true, Module: "itertools", NoDict: true, Strict: true, New: makeNew, Methods: methods}
}

const basicSize = 56

// prototypes say which methods the classes have.
var prototypes = map[string]iterator{"accumulate": &accumulate{}, "combinations": &combinations{}, "combinations_with_replacement": &combinations{}, "compress": &compress{},
	"count": &count{}, "cycle": &cycle{}, "dropwhile": &dropWhile{}, "filterfalse": &filterFalse{}, "groupby": &groupBy{}, "islice": &slice{}, "pairwise": &pairwise{},
	"permutations": &permutations{}, "repeat": &repeat{}, "starmap": &starMap{}, "takewhile": &takeWhile{}, "chain": &chain{}, "product": &product{},
	"zip_longest": &zipLongest{}, "_grouper": &grouper{}, "_tee": &tee{}}

// carrier is a vm.GoIter that knows its iterator.
type carrier struct {
	vm.GoIter
	it iterator
}

// object makes an object of a class of an iterator.
func (s *module) object(cls, exact *vm.Type, it iterator) vm.Object {
	c := &carrier{vm.GoIter{T: exact, NextFn: it.next}, it}
	if r, ok := it.(reducer); ok {
		c.Reduce = r.reduce
	}
	if r, ok := it.(stateful); ok {
		c.SetState = r.setState
	}
	var o vm.Object = c
	if cls != exact && cls != nil {
		o = vm.NewInstance(cls, c)
	}
	if g, ok := it.(*groupBy); ok {
		g.self = o
	}
	return o
}

// goIter and iteratorOf give what an object of one of the classes is or holds.
func goIter(o vm.Object) *vm.GoIter { return &carrierOf(o).GoIter }

func iteratorOf(o vm.Object) iterator { return carrierOf(o).it }

func carrierOf(o vm.Object) *carrier {
	if i, ok := o.(*vm.Instance); ok {
		c, _ := i.Native.(*carrier)
		return c
	}
	c, _ := o.(*carrier)
	return c
}

// made is what __reduce__ gives: the class, its arguments, the state if there is one.
func made(cls *vm.Type, args *vm.Tuple, state ...vm.Object) (vm.Object, error) {
	return vm.NewTuple(append([]vm.Object{cls, args}, state...)...), nil
}

// emptyIter is an iterator over nothing, as pickles have it.
func emptyIter() vm.Object { return vm.NewListIter(vm.NewList(), 0) }

// tupleState checks that a state is a tuple of as many items.
func tupleState(in *vm.Interp, state vm.Object, n int) ([]vm.Object, error) {
	t, ok := vm.AsTuple(state)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "state is not a tuple")
	}
	if n >= 0 && len(t.Items) != n {
		return nil, in.Errorf(in.Exc.TypeError, "function takes exactly %d arguments (%d given)", n, len(t.Items))
	}
	return t.Items, nil
}

// stateInt reads an integer of a state.
func stateInt(in *vm.Interp, o vm.Object) (int64, error) {
	if _, ok := vm.AsBig(o); !ok {
		return 0, in.Errorf(in.Exc.TypeError, "an integer is required")
	}
	return in.Index(o)
}
