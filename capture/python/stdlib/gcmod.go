package stdlib

import (
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// gcModule is module gc. Memory is Go's affair: what programs set is kept and shown to them, and collect has Go collect.
func gcModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("gc", "")
	enabled, debug := true, int64(0)
	threshold := vm.NewTuple(vm.Int(700), vm.Int(10), vm.Int(10))
	m.Set("garbage", &vm.List{})
	callbacks := &vm.List{}
	m.Set("callbacks", callbacks)
	var collections, collected [3]int64
	tell := func(in *vm.Interp, phase string, generation, dead int64) {
		info := vm.StrDict("generation", vm.MakeInt(generation), "collected", vm.MakeInt(dead), "uncollectable", vm.Int(0))
		for _, f := range slices.Clone(callbacks.Items) {
			if _, err := in.Call(f, []vm.Object{vm.Str(phase), info}, nil); err != nil {
				unraisable(in, err, "", f)
			}
		}
	}
	for n, v := range map[string]int{"DEBUG_STATS": 1, "DEBUG_COLLECTABLE": 2, "DEBUG_UNCOLLECTABLE": 4, "DEBUG_SAVEALL": 32, "DEBUG_LEAK": 38} {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	clinic.Def(m, "collect", "generation:int=2", func(c *clinic.Call) (vm.Object, error) {
		g := c.Int(0)
		if g < 0 || g > 2 {
			return nil, c.Errorf(c.Exc.ValueError, "invalid generation")
		}
		tell(c.Interp, "start", g, 0)
		dead := int64(c.Interp.CollectCircles())
		collections[g]++
		collected[g] += dead
		tell(c.Interp, "stop", g, dead)
		return vm.MakeInt(dead), nil
	})
	clinic.Def(m, "enable", "", func(*clinic.Call) (vm.Object, error) { enabled = true; return vm.None, nil })
	clinic.Def(m, "disable", "", func(*clinic.Call) (vm.Object, error) { enabled = false; return vm.None, nil })
	clinic.Def(m, "isenabled", "", func(*clinic.Call) (vm.Object, error) { return vm.MakeBool(enabled), nil })
	clinic.Def(m, "set_debug", "flags:int, /", func(c *clinic.Call) (vm.Object, error) { debug = c.Int(0); return vm.None, nil })
	clinic.Def(m, "get_debug", "", func(*clinic.Call) (vm.Object, error) { return vm.MakeInt(debug), nil })
	clinic.Def(m, "set_threshold", "threshold0:int, threshold1:int=10, threshold2:int=10, /", func(c *clinic.Call) (vm.Object, error) {
		threshold = vm.NewTuple(c.Args...)
		return vm.None, nil
	})
	clinic.Def(m, "get_threshold", "", func(*clinic.Call) (vm.Object, error) { return threshold, nil })
	clinic.Def(m, "get_count", "", func(*clinic.Call) (vm.Object, error) { return vm.NewTuple(vm.Int(0), vm.Int(0), vm.Int(0)), nil })
	clinic.Def(m, "freeze", "", func(*clinic.Call) (vm.Object, error) { return vm.None, nil })
	clinic.Def(m, "unfreeze", "", func(*clinic.Call) (vm.Object, error) { return vm.None, nil })
	clinic.Def(m, "get_freeze_count", "", func(*clinic.Call) (vm.Object, error) { return vm.Int(0), nil })
	clinic.Def(m, "get_stats", "", func(*clinic.Call) (vm.Object, error) {
		l := &vm.List{}
		for g, n := range collections {
			l.Items = append(l.Items, vm.StrDict("collections", vm.MakeInt(n), "collected", vm.MakeInt(collected[g]), "uncollectable", vm.Int(0)))
		}
		return l, nil
	})
	clinic.Def(m, "is_tracked", "obj, /", func(c *clinic.Call) (vm.Object, error) {
		switch o := c.Args[0].(type) {
		case *vm.NoneType, vm.Int, *vm.BigInt, vm.Bool, vm.Float, vm.Complex, vm.Str, vm.Bytes, *vm.ByteArray, *vm.EllipsisType:
			return vm.False, nil
		case *vm.Type:
			return vm.MakeBool(o.Heap), nil
		case *vm.Instance:
			return vm.MakeBool(o.Class != vm.ObjectType), nil
		}
		return vm.True, nil
	})
	clinic.Def(m, "is_finalized", "obj, /", func(*clinic.Call) (vm.Object, error) { return vm.False, nil })
	clinic.Def(m, "get_objects", "generation=None", func(c *clinic.Call) (vm.Object, error) {
		if c.Args[0] != vm.None {
			switch g, err := c.Index(c.Args[0]); {
			case err != nil:
				return nil, err
			case g >= 3:
				return nil, c.Errorf(c.Exc.ValueError, "generation must be less than the number of available generations (3)")
			case g < 0:
				return nil, c.Errorf(c.Exc.ValueError, "generation cannot be negative")
			case g < 2: // Go's collector has one
				return &vm.List{}, nil
			}
		}
		return vm.NewList(c.Reachable()...), nil
	})
	clinic.Def(m, "get_referrers", "*objs", func(c *clinic.Call) (vm.Object, error) {
		objs, _ := vm.AsTuple(c.Args[0])
		l := &vm.List{}
		for _, o := range c.Reachable() {
			if o == vm.Object(objs) {
				continue
			}
			refers := false
			vm.Referents(o, func(r vm.Object) {
				refers = refers || slices.ContainsFunc(objs.Items, func(x vm.Object) bool { return vm.Is(r, x) })
			})
			if refers {
				l.Items = append(l.Items, o)
			}
		}
		return l, nil
	})
	clinic.Def(m, "get_referents", "*objs", func(c *clinic.Call) (vm.Object, error) {
		l := &vm.List{}
		objs, _ := vm.AsTuple(c.Args[0])
		for _, o := range objs.Items {
			vm.Referents(o, func(r vm.Object) { l.Items = append(l.Items, r) })
		}
		return l, nil
	})
	return m, nil
}
