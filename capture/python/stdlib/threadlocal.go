package stdlib

import (
	"whittle/capture/python/vm"
)

// local is a threading.local: attributes of which every thread has its own, in the thread itself, so that they go when it does.
type local struct {
	args []vm.Object
	kw   []vm.KwArg
}

// attrs is the running thread's dict of a local; a thread's first use of it runs __init__ again.
func (l *local) attrs(in *vm.Interp, self vm.Object) (*vm.Dict, error) {
	t := in.Thread()
	if d, ok := t.Ext[l].(*vm.Dict); ok {
		return d, nil
	}
	d := vm.NewDict()
	t.Ext[l] = d
	self.(*vm.Instance).Dict = d
	_, err := in.CallMethod(self, "__init__", append([]vm.Object(nil), l.args...)...)
	return d, err
}

// localType is the class _thread._local. What an instance's __dict__ is depends on the thread: it is put in place before every access.
func localType(in *vm.Interp) *vm.Type {
	place := func(in *vm.Interp, self vm.Object) error {
		inst := self.(*vm.Instance)
		d, err := inst.Native.(*local).attrs(in, self)
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
			l := &local{args: args, kw: kw}
			o := vm.NewInstance(cls, l)
			d := vm.NewDict()
			in.Thread().Ext[l] = d
			o.Dict = d
			return o, nil
		}})
}
