package guard

import (
	"fmt"
	"sort"
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// Type holds for values of v's class.
func Type(v vm.Object, src source.Source) *Guard {
	t := v.Type()
	return New(TypeMatch, fmt.Sprintf("___check_type_id(%s, <id>)", src.Name()), src, func(_ *source.Env, now vm.Object) (bool, Failure) { return now.Type() == t, Failure{} })
}

// Identity holds for v alone.
func Identity(v vm.Object, src source.Source) *Guard {
	return New(IDMatch, fmt.Sprintf("___check_obj_id(%s, <id>)", src.Name()), src, func(_ *source.Env, now vm.Object) (bool, Failure) { return now == v, Failure{} })
}

// Code holds for every function with the code and the globals of v: closures may differ.
func Code(v *vm.Function, src source.Source) *Guard {
	c := v.Code
	g := New(IDMatch, fmt.Sprintf("___check_obj_id(%s.__code__, <id>)", src.Name()), src, func(_ *source.Env, now vm.Object) (bool, Failure) {
		f, ok := now.(*vm.Function)
		return ok && f.Code == c && f.Globals == v.Globals, Failure{}
	})
	g.part = "__code__"
	return g
}

// Part is a guard on a part of the compiler that PyTorch has in Python, at this path of attributes. It cannot fail here.
func Part(path string) *Guard {
	return &Guard{Kind: IDMatch, Expr: "___check_obj_id(" + path + ", <id>)", path: path}
}

// Equals holds for values that cannot be told from v, which Python writes as repr. Lists and sets may be equal ones.
func Equals(v vm.Object, repr string, src source.Source) *Guard {
	return New(EqualsMatch, src.Name()+" == "+repr, src, func(e *source.Env, now vm.Object) (bool, Failure) {
		if now.Type() != v.Type() {
			return false, Failure{}
		}
		switch v.(type) {
		case *vm.List, *vm.Set:
			if now == v {
				return true, Failure{}
			}
			eq, err := e.In.Eq(now, v)
			return err == nil && eq, Failure{}
		}
		return Same(e.In, now, v), Failure{}
	})
}

// NativeEquals holds for instances whose built-in value cannot be told from v. It is hidden.
func NativeEquals(v vm.Object, src source.Source) *Guard {
	return New(EqualsMatch, "the value of "+src.Name(), src, func(e *source.Env, now vm.Object) (bool, Failure) {
		i, ok := now.(*vm.Instance)
		if !ok {
			return false, Failure{}
		}
		x, ok := i.Native.(vm.Object)
		return ok && Same(e.In, x, v), Failure{}
	}).Hide()
}

// Length holds for containers for which size gives n. kind is LengthCheck or DictLength.
func Length(kind Kind, src source.Source, n int, size func(vm.Object) int) *Guard {
	expr := fmt.Sprintf("len(%s) == %d", src.Name(), n)
	if n == 0 {
		expr = "not " + src.Name()
	}
	return New(kind, expr, src, func(_ *source.Env, now vm.Object) (bool, Failure) { return size(now) == n, Failure{} })
}

// attrs are the attributes of an object's own; nil for none.
func attrs(o vm.Object) *vm.Dict {
	if h, ok := o.(vm.HasDict); ok {
		return h.AttrDict(false)
	}
	return nil
}

// Has holds for objects that have an attribute of their own of a name.
func Has(name string, src source.Source) *Guard {
	g := New(DictContains, fmt.Sprintf("___dict_contains('%s', %s.__dict__)", name, src.Name()), src, func(_ *source.Env, now vm.Object) (bool, Failure) {
		d := attrs(now)
		if d == nil {
			return false, Failure{}
		}
		_, has := d.GetStr(name)
		return has, Failure{}
	})
	g.part = "__dict__"
	return g
}

// Lacks holds for objects that have no attribute of their own of a name.
func Lacks(name string, src source.Source) *Guard {
	var before vm.Absence
	g := New(DictContains, fmt.Sprintf("not ___dict_contains('%s', %s.__dict__)", name, src.Name()), src, func(_ *source.Env, now vm.Object) (bool, Failure) {
		if d := attrs(now); d != nil {
			return d.Lacks(name, &before), Failure{}
		}
		_, can := now.(vm.HasDict)
		return can, Failure{}
	})
	g.part = "__dict__"
	return g
}

// LacksAttr holds for objects that have no attribute of a name, neither of their own nor of their class's.
func LacksAttr(name string, src source.Source) *Guard {
	return New(NoHasattr, fmt.Sprintf("not hasattr(%s, '%s')", src.Name(), name), src, func(e *source.Env, now vm.Object) (bool, Failure) {
		_, err := e.In.GetAttr(now, name)
		return err != nil, Failure{}
	})
}

// Member holds for dicts that have a key, which Python writes as repr, or have it not.
func Member(key vm.Object, repr string, has bool, src source.Source) *Guard {
	return New(DictContains, fmt.Sprintf("%s in %s", repr, src.Name()), src, func(e *source.Env, now vm.Object) (bool, Failure) {
		d, ok := vm.AsDict(now)
		if !ok {
			return false, Failure{}
		}
		_, ok, err := d.Get(e.In, key)
		return err == nil && ok == has, Failure{}
	})
}

// Keys holds for dicts of a class that have these keys, in order.
func Keys(class *vm.Type, keys []vm.Object, src source.Source) *Guard {
	return New(DictKeys, "list("+src.Name()+".keys())", src, func(e *source.Env, now vm.Object) (bool, Failure) {
		d, ok := vm.AsDict(now)
		return ok && now.Type() == class && sameList(e.In, keys, d.Keys()), Failure{}
	})
}

// KeysInOrder hold for dicts that begin with these keys, which Python writes as reprs. The first guard checks them all; each is
// shown.
func KeysInOrder(keys []vm.Object, reprs []string, src source.Source) []*Guard {
	gs := make([]*Guard, len(keys))
	for i := range keys {
		if source.Identity(keys[i]) != nil && !Constant(keys[i]) {
			gs[i] = &Guard{Kind: IDMatch, Expr: fmt.Sprintf("___check_obj_id(list(%s.keys())[%d], <id>)", src.Name(), i), Source: src, isKey: true, place: i, key: reprs[i]}
			continue
		}
		gs[i] = &Guard{Kind: EqualsMatch, Expr: fmt.Sprintf("list(%s.keys())[%d] == %s", src.Name(), i, reprs[i]), Source: src, isKey: true, place: i, key: reprs[i]}
	}
	if len(gs) == 0 {
		return nil
	}
	gs[0].check = func(e *source.Env, now vm.Object) (bool, Failure) {
		d, ok := vm.AsDict(now)
		if !ok {
			return false, Failure{}
		}
		at := 0
		d.Each(func(key, _ vm.Object) bool {
			if at == len(keys) {
				return false
			}
			if k := keys[at]; key != k {
				if key.Type() != k.Type() {
					return false
				}
				if eq, err := e.In.Eq(key, k); err != nil || !eq {
					return false
				}
			}
			at++
			return true
		})
		if at < len(keys) {
			return false, Failure{Text: gs[at].Expr}
		}
		return true, Failure{}
	}
	return gs
}

// Contents holds for containers of o's class that hold items, which Contained listed of o.
func Contents(o vm.Object, items []vm.Object, src source.Source) *Guard {
	return New(Members, "list("+src.Name()+")", src, func(e *source.Env, now vm.Object) (bool, Failure) {
		got, ok := Contained(e.In, now)
		if !ok || now.Type() != o.Type() || len(got) != len(items) {
			return false, Failure{}
		}
		switch o.(type) {
		case *vm.Set, *vm.FrozenSet:
			return sameSet(e.In, items, got), Failure{}
		}
		return sameList(e.In, items, got), Failure{}
	})
}

// Class holds as long as t has what was found under names; nil for nothing. number tells the guard from others on t. It is hidden.
func Class(t *vm.Type, number int, names []string, found []vm.Object) *Guard {
	version := t.Version()
	return New(ClassMatch, fmt.Sprintf("___check_class(%s, %d)", t.FullName(), number), nil, func(e *source.Env, _ vm.Object) (bool, Failure) {
		now := t.Version()
		if now == version {
			return true, Failure{}
		}
		for i, n := range names {
			if !Same(e.In, t.Lookup(n), found[i]) {
				return false, Failure{Text: fmt.Sprintf("%s.%s has changed", t.FullName(), n)}
			}
		}
		version = now
		return true, Failure{}
	}).Hide()
}

// Unbound holds as long as a dict of globals lacks a name, so that the builtin of that name is found. It is hidden.
func Unbound(globals *vm.Dict, name string) *Guard {
	var before vm.Absence
	return New(NoGlobal, fmt.Sprintf("'%s' not in globals %p", name, globals), nil, func(*source.Env, vm.Object) (bool, Failure) {
		return globals.Lacks(name, &before), Failure{Text: "a global hides the builtin " + name}
	}).Hide()
}

// OneObject holds while both sources give one object.
func OneObject(a, b source.Source) *Guard {
	return &Guard{Kind: ObjectAliasing, Expr: a.Name() + " is " + b.Name(), Source: b, among: []source.Source{a, b},
		relate: func(vs []vm.Object) (bool, Failure) { return vs[0] == vs[1], Failure{} }}
}

// TwoObjects holds while the sources give different objects.
func TwoObjects(a, b source.Source) *Guard {
	return &Guard{Kind: NoAliasing, Expr: a.Name() + " is not " + b.Name(), Source: a, among: []source.Source{a, b},
		relate: func(vs []vm.Object) (bool, Failure) { return vs[0] != vs[1], Failure{} }}
}

// distinctTensors are the guard that tensors which came in as different objects still do, and one for those that have no name
// besides.
func distinctTensors(sources []source.Source) []*Guard {
	var named []source.Source
	for _, s := range sources {
		if !source.IsFixed(s) {
			named = append(named, s)
		}
	}
	var out []*Guard
	if len(named) > 1 {
		out = append(out, distinct(named))
	}
	if len(named) < len(sources) {
		out = append(out, distinct(sources).Hide())
	}
	return out
}

func distinct(sources []source.Source) *Guard {
	all := append([]source.Source(nil), sources...)
	sort.SliceStable(all, func(i, j int) bool { return source.Less(all[i], all[j]) })
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name()
	}
	return &Guard{Kind: NoTensorAliasing, Expr: "check_no_aliasing(" + strings.Join(names, ", ") + ")", among: all, relate: func(vs []vm.Object) (bool, Failure) {
		why := Failure{Text: "Duplicate tensors found"}
		if len(vs) < 8 {
			for i, v := range vs {
				for _, w := range vs[:i] {
					if v == w {
						return false, why
					}
				}
			}
			return true, Failure{}
		}
		seen := make(map[vm.Object]bool, len(vs))
		for _, v := range vs {
			if seen[v] {
				return false, why
			}
			seen[v] = true
		}
		return true, Failure{}
	}}
}

// ListLen is the length of a list, or of an instance that is one; -1 for other objects.
func ListLen(o vm.Object) int {
	if l, ok := vm.AsList(o); ok {
		return len(l.Items)
	}
	return -1
}

// TupleLen is ListLen for tuples.
func TupleLen(o vm.Object) int {
	if t, ok := vm.AsTuple(o); ok {
		return len(t.Items)
	}
	return -1
}

// DictLen is ListLen for dicts.
func DictLen(o vm.Object) int {
	if d, ok := vm.AsDict(o); ok {
		return d.Len()
	}
	return -1
}

// TensorLen is the size of a tensor's first dimension; -1 for other objects, and for tensors without dimensions.
func TensorLen(o vm.Object) int {
	if q, ok := o.(*torch.Tensor); ok && len(q.T.Shape) > 0 {
		return int(q.T.Shape[0])
	}
	return -1
}
