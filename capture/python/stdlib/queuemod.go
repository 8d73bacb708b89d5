package stdlib

import (
	"math"
	"time"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// simpleQueue is _queue.SimpleQueue: items, and a token while there is something that a thread may wait for.
type simpleQueue struct {
	items []vm.Object
	more  *lock // free while there are items
}

// queueModule is _queue.
func queueModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_queue", "C implementation of the Python queue module.\nThis module is an implementation detail, please do not use it directly.")
	empty, err := in.MakeClass(vm.TypeType, "Empty", []*vm.Type{in.Exc.Exception}, vm.StrDict("__module__", vm.Str("_queue"), "__doc__", vm.Str("Exception raised by Queue.get(block=0)/get_nowait().")))
	if err != nil {
		return nil, err
	}
	m.Set("Empty", empty)
	m.Set("SimpleQueue", in.NewNativeType(queueSpec(empty)))
	return m, nil
}

func queueSpec(empty *vm.Type) vm.Spec {
	methods := map[string]vm.GoFunc{}
	def := func(name, params string, f func(c *clinic.Call, q *simpleQueue) (vm.Object, error)) {
		methods[name] = clinic.Method(name, params, func(c *clinic.Call) (vm.Object, error) {
			return f(c, c.Self.(*vm.Instance).Native.(*simpleQueue))
		})
	}
	put := func(c *clinic.Call, q *simpleQueue) (vm.Object, error) {
		q.items = append(q.items, c.Args[0])
		q.more.release()
		return vm.None, nil
	}
	def("put", "item, block:bool=True, timeout=None", put)
	def("put_nowait", "item", put)
	def("get", "block:bool=True, timeout=None", func(c *clinic.Call, q *simpleQueue) (vm.Object, error) {
		wait, err := queueTimeout(c)
		if err != nil {
			return nil, err
		}
		return q.get(c.Interp, c.Bool(0), wait, empty)
	})
	def("get_nowait", "", func(c *clinic.Call, q *simpleQueue) (vm.Object, error) { return q.get(c.Interp, false, 0, empty) })
	def("empty", "", func(_ *clinic.Call, q *simpleQueue) (vm.Object, error) { return vm.MakeBool(len(q.items) == 0), nil })
	def("qsize", "", func(_ *clinic.Call, q *simpleQueue) (vm.Object, error) { return vm.MakeInt(int64(len(q.items))), nil })
	return vm.Spec{Name: "SimpleQueue", Module: "_queue", NoDict: true, Strict: true, Methods: methods, Class: map[string]vm.GoFunc{"__class_getitem__": genericAlias},
		Doc: "Simple, unbounded, reentrant FIFO queue.",
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(args) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "SimpleQueue() takes no positional arguments")
			}
			if len(kw) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "SimpleQueue() takes no keyword arguments")
			}
			q := &simpleQueue{more: newLock()}
			<-q.more.token
			return vm.NewInstance(cls, q), nil
		}}
}

// queueTimeout reads the time that get may wait, negative for any.
func queueTimeout(c *clinic.Call) (time.Duration, error) {
	if !c.Bool(0) || c.None(1) {
		return -1, nil
	}
	var s float64
	if f, ok := c.Args[1].(vm.Float); ok {
		s = float64(f)
	} else {
		n, err := c.Index(c.Args[1])
		if err != nil {
			return 0, err
		}
		s = float64(n)
	}
	switch {
	case s < 0:
		return 0, c.Errorf(c.Exc.ValueError, "'timeout' must be a non-negative number")
	case s > math.MaxInt64:
		return 0, c.Errorf(c.Exc.OverflowError, "timestamp out of range for platform time_t")
	case s > math.MaxInt64/float64(time.Second):
		return 0, c.Errorf(c.Exc.OverflowError, "timeout value is too large")
	}
	return time.Duration(s * float64(time.Second)), nil
}

// get takes the first item, and waits for one.
func (q *simpleQueue) get(in *vm.Interp, block bool, wait time.Duration, empty *vm.Type) (vm.Object, error) {
	end := time.Now().Add(wait)
	for len(q.items) == 0 {
		left := wait
		if wait > 0 {
			left = max(time.Until(end), 0)
		}
		got, err := q.more.acquire(in, block, left)
		if err != nil {
			return nil, err
		}
		if !got && len(q.items) == 0 {
			return nil, in.RaiseObj(empty)
		}
	}
	v := q.items[0]
	q.items[0] = nil
	q.items = q.items[1:]
	if len(q.items) > 0 {
		q.more.release() // another thread may wait, too
	}
	return v, nil
}
