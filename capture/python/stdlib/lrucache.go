package stdlib

import "whittle/capture/python/vm"

// lruCache is the state of a function that functools.lru_cache has wrapped. Results lie in a dict by key; with a bound they are links of a
// ring, too, in the order of their last use.
type lruCache struct {
	cls          *vm.Type
	fn           vm.Object
	most         int // -1: no bound; 0: nothing is kept
	typed        bool
	info         vm.Object // the class of what cache_info gives
	hits, misses int64
	results      *vm.Dict
	root         *lruLink // its next is the oldest, its prev the newest
}

// lruLink is one result.
type lruLink struct {
	prev, next *lruLink
	key, value vm.Object
}

// Type implements vm.Object, here and below; neither kind is seen by Python code.
func (c *lruCache) Type() *vm.Type { return c.cls }
func (*lruLink) Type() *vm.Type    { return vm.ObjectType }

// lruMark separates positional arguments from keywords in a key.
var lruMark = &lruLink{}

// lruType makes functools._lru_cache_wrapper.
func lruType(in *vm.Interp) *vm.Type {
	params := vm.NewParams("lru_cache", "user_function, maxsize, typed, cache_info_type")
	self := func(f func(in *vm.Interp, c *lruCache, args []vm.Object, kw []vm.KwArg) (vm.Object, error)) vm.GoFunc {
		return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return f(in, args[0].(*vm.Instance).Native.(*lruCache), args[1:], kw)
		}
	}
	return in.NewNativeType(vm.Spec{Strict: true, Name: "_lru_cache_wrapper", Module: "functools",
		Doc: "Create a cached callable that wraps another function.",
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := params.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			return newLRU(in, cls, a)
		},
		Methods: map[string]vm.GoFunc{
			"__init__": noInit,
			"__call__": self(func(in *vm.Interp, c *lruCache, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				return c.call(in, args, kw)
			}),
			"cache_info": self(func(in *vm.Interp, c *lruCache, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				var most vm.Object = vm.None
				if c.most >= 0 {
					most = vm.MakeInt(int64(c.most))
				}
				return in.Call(c.info, []vm.Object{vm.MakeInt(c.hits), vm.MakeInt(c.misses), most, vm.MakeInt(int64(c.results.Len()))}, nil)
			}),
			"cache_clear": self(func(_ *vm.Interp, c *lruCache, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				c.hits, c.misses = 0, 0
				c.clear()
				return vm.None, nil
			}),
			"__reduce__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return in.GetAttr(args[0], "__qualname__")
			},
			"__copy__":     func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) { return args[0], nil },
			"__deepcopy__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) { return args[0], nil },
			"__get__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				if len(args) < 2 || args[1] == vm.None {
					return args[0], nil
				}
				return &vm.BoundMethod{Func: args[0], Self: args[1]}, nil
			}},
		GetSet: []*vm.GetSet{instanceDict()}})
}

func newLRU(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
	if !callableObject(a[0]) {
		return nil, in.Errorf(in.Exc.TypeError, "the first argument must be callable")
	}
	c := &lruCache{cls: cls, fn: a[0], most: -1, info: a[3]}
	if a[1] != vm.None {
		if a[1].Type().Lookup("__index__") == nil {
			return nil, in.Errorf(in.Exc.TypeError, "maxsize should be integer or None")
		}
		n, err := in.Index(a[1])
		if err != nil {
			return nil, err
		}
		c.most = int(max(n, 0))
	}
	var err error
	c.typed, err = in.Truth(a[2])
	c.clear()
	return vm.NewInstance(cls, c), err
}

func (c *lruCache) clear() {
	c.results = vm.NewDict()
	c.root = &lruLink{}
	c.root.prev, c.root.next = c.root, c.root
}

func (l *lruLink) unlink() { l.prev.next, l.next.prev = l.next, l.prev }

// newest puts a link at the end of the ring.
func (c *lruCache) newest(l *lruLink) {
	l.prev, l.next = c.root.prev, c.root
	c.root.prev.next = l
	c.root.prev = l
}

func (c *lruCache) call(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if c.most == 0 {
		c.misses++
		return in.Call(c.fn, args, kw)
	}
	key := c.key(args, kw)
	if v, ok, err := c.results.Get(in, key); err != nil {
		return nil, err
	} else if ok {
		c.hits++
		l, bounded := v.(*lruLink)
		if !bounded {
			return v, nil
		}
		l.unlink()
		c.newest(l)
		return l.value, nil
	}
	c.misses++
	v, err := in.Call(c.fn, args, kw)
	if err != nil {
		return nil, err
	}
	if c.most < 0 {
		return v, c.results.Set(in, key, v)
	}
	return v, c.keep(in, key, v)
}

// keep files a result, for which the oldest may have to go. A call of the function itself may have filed it meanwhile.
func (c *lruCache) keep(in *vm.Interp, key, v vm.Object) error {
	if _, ok, err := c.results.Get(in, key); ok || err != nil {
		return err
	}
	if c.results.Len() >= c.most {
		if old := c.root.next; old != c.root {
			old.unlink()
			if _, err := c.results.Del(in, old.key); err != nil {
				return err
			}
		}
	}
	l := &lruLink{key: key, value: v}
	if err := c.results.Set(in, key, l); err != nil {
		return err
	}
	c.newest(l)
	return nil
}

// key is what results are filed under: a lone int or str itself, and else a tuple of all arguments, with their types if that matters.
func (c *lruCache) key(args []vm.Object, kw []vm.KwArg) vm.Object {
	if !c.typed && len(kw) == 0 && len(args) == 1 {
		switch args[0].(type) {
		case vm.Int, vm.Str:
			return args[0]
		}
	}
	items := append(make([]vm.Object, 0, len(args)+1+2*len(kw)), args...)
	if len(kw) > 0 {
		items = append(items, lruMark)
	}
	for _, k := range kw {
		items = append(items, vm.Str(k.Name), k.Value)
	}
	if c.typed {
		for _, a := range args {
			items = append(items, a.Type())
		}
		for _, k := range kw {
			items = append(items, k.Value.Type())
		}
	}
	return vm.NewTuple(items...)
}
