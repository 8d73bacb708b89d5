package stdlib

import (
	"weak"

	"whittle/capture/python/vm"
)

// local is a threading.local: attributes of which every thread has its own. They go when the thread ends, or when the local itself does.
type local struct {
	args  []vm.Object
	kw    []vm.KwArg
	dicts map[*vm.Thread]*vm.Dict // of the threads that run and have used it
}

// localsKey finds the locals that a thread has used, which it does not keep.
type localsKey struct{}

// put gives the running thread a dict of its own.
func (l *local) put(in *vm.Interp, self *vm.Instance) *vm.Dict {
	t := in.Thread()
	used, _ := t.Ext[localsKey{}].([]weak.Pointer[vm.Instance])
	t.Ext[localsKey{}] = append(used, weak.Make(self))
	d := vm.NewDict()
	self.Dict, l.dicts[t] = d, d
	return d
}

// attrs is the running thread's dict of a local; a thread's first use of it runs __init__ again.
func (l *local) attrs(in *vm.Interp, self *vm.Instance) (*vm.Dict, error) {
	t := in.Thread()
	if d := l.dicts[t]; d != nil {
		return d, nil
	}
	d := l.put(in, self)
	init, err := in.GetAttr(self, "__init__")
	if err == nil {
		_, err = in.Call(init, append([]vm.Object(nil), l.args...), l.kw)
	}
	if err != nil { // the next use tries again
		delete(l.dicts, t)
	}
	return d, err
}

// dropLocals lets go of the running thread's attributes of all locals: it ends.
func dropLocals(in *vm.Interp) {
	t := in.Thread()
	used, _ := t.Ext[localsKey{}].([]weak.Pointer[vm.Instance])
	delete(t.Ext, localsKey{})
	for _, p := range used {
		self := p.Value()
		if self == nil {
			continue
		}
		l := self.Native.(*local)
		if d := l.dicts[t]; d != nil {
			delete(l.dicts, t)
			if self.Dict == d {
				self.Dict = vm.NewDict()
			}
			in.LetGo(d)
		}
	}
}

// localType is the class _thread._local. What an instance's __dict__ is depends on the thread: it is put in place before every access.
func localType(in *vm.Interp) *vm.Type {
	place := func(in *vm.Interp, self vm.Object) error {
		inst := self.(*vm.Instance)
		d, err := inst.Native.(*local).attrs(in, inst)
		if err == nil {
			inst.Dict = d
		}
		return err
	}
	access := func(name string) vm.GoFunc {
		return func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if err := place(in, args[0]); err != nil {
				return nil, err
			}
			if len(args) > 1 && str(args[1]) == "__dict__" && name != "__getattribute__" {
				return nil, in.Errorf(in.Exc.AttributeError, "'%s' object attribute '__dict__' is read-only", args[0].Type().FullName())
			}
			f, err := in.GetAttr(vm.ObjectType, name)
			if err != nil {
				return nil, err
			}
			return in.Call(f, args, nil)
		}
	}
	return in.NewNativeType(vm.Spec{Strict: true, Name: "_local", Module: "_thread",
		Methods: map[string]vm.GoFunc{"__getattribute__": access("__getattribute__"), "__setattr__": access("__setattr__"), "__delattr__": access("__delattr__")},
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if (len(args) > 0 || len(kw) > 0) && cls.Lookup("__init__") == vm.ObjectType.Lookup("__init__") {
				return nil, in.Errorf(in.Exc.TypeError, "Initialization arguments are not supported")
			}
			l := &local{args: args, kw: kw, dicts: map[*vm.Thread]*vm.Dict{}}
			o := vm.NewInstance(cls, l)
			l.put(in, o)
			return o, nil
		}})
}
