package vm

import (
	"bytes"
	"slices"
	"strings"

	"whittle/capture/python/wtf8"
)

// Len is len(o).
func (in *Interp) Len(o Object) (int, error) {
	switch x := o.(type) {
	case *List:
		return len(x.Items), nil
	case *Tuple:
		return len(x.Items), nil
	case *Dict:
		return x.live, nil
	case Str:
		_, n := in.runes(string(x))
		return n, nil
	case Bytes:
		return len(x), nil
	case *ByteArray:
		return len(x.B), nil
	case *Set:
		return x.used, nil
	case *FrozenSet:
		return x.used, nil
	case *Range:
		return int(x.Len()), nil
	case *longRange:
		if !x.n.IsInt64() {
			return 0, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C ssize_t")
		}
		return int(x.n.Int64()), nil
	}
	v, ok, err := in.Special(o, "__len__")
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, in.Errorf(in.Exc.TypeError, "object of type '%s' has no len()", TypeName(o))
	}
	n, ok := AsInt(v)
	if !ok {
		b, err := in.IndexBig(v)
		if err != nil {
			return 0, err
		}
		if !b.IsInt64() && b.Sign() > 0 {
			return 0, in.Errorf(in.Exc.OverflowError, "cannot fit '%s' into an index-sized integer", TypeName(v))
		}
		if n = b.Int64(); b.Sign() < 0 {
			n = -1
		}
	}
	if n < 0 {
		return 0, in.Errorf(in.Exc.ValueError, "__len__() should return >= 0")
	}
	return int(n), nil
}

// Indices is slice.indices: start, stop and step for a sequence of length n, and how many items that selects.
func (s *Slice) Indices(in *Interp, n int) (start, stop, step, count int, err error) {
	return s.indices(in, n)
}

// indices is slice.indices: start, stop and step for a sequence of length n, and how many items that selects.
func (s *Slice) indices(in *Interp, n int) (start, stop, step, count int, err error) {
	get := func(o Object, def int) (int, bool, error) {
		if o == None {
			return def, false, nil
		}
		if b, ok := unwrap(o).(*BigInt); ok {
			if b.V.Sign() < 0 {
				return -1 << 62, true, nil
			}
			return 1<<62 - 1, true, nil
		}
		i, ok := AsInt(o)
		if !ok {
			if o.Type().Lookup("__index__") == nil {
				return 0, false, in.Errorf(in.Exc.TypeError, "slice indices must be integers or None or have an __index__ method")
			}
			var err error
			if i, err = in.Index(o); err != nil {
				return 0, false, err
			}
		}
		return int(i), true, nil
	}
	step, _, err = get(s.Step, 1)
	if err != nil {
		return
	}
	if step == 0 {
		err = in.Errorf(in.Exc.ValueError, "slice step cannot be zero")
		return
	}
	lo, hi := 0, n
	dStart, dStop := 0, n
	if step < 0 {
		lo, hi = -1, n-1
		dStart, dStop = n-1, -1
	}
	clip := func(o Object, def int) (int, error) {
		v, given, err := get(o, def)
		if err != nil || !given {
			return v, err
		}
		if v < 0 {
			v += n
			if v < lo {
				v = lo
			}
		} else if v > hi {
			v = hi
		}
		return v, nil
	}
	if start, err = clip(s.Start, dStart); err != nil {
		return
	}
	if stop, err = clip(s.Stop, dStop); err != nil {
		return
	}
	if step > 0 && start < stop {
		count = (stop-start-1)/step + 1
	} else if step < 0 && start > stop {
		count = (start-stop-1)/-step + 1
	}
	return
}

// pick gives the items that the slice selects.
func (s *Slice) pick(in *Interp, items []Object) ([]Object, error) {
	start, _, step, n, err := s.indices(in, len(items))
	if err != nil {
		return nil, err
	}
	out := make([]Object, n)
	if step == 1 {
		copy(out, items[start:start+n])
		return out, nil
	}
	for i := range out {
		out[i] = items[start+i*step]
	}
	return out, nil
}

// seqIndex checks an index into a sequence of length n.
func seqIndex(in *Interp, key Object, n int, what string) (int, error) {
	i, ok := AsInt(key)
	if !ok {
		if _, ok := unwrap(key).(*BigInt); !ok && key.Type().Lookup("__index__") == nil {
			plural := map[string]string{"list": "list indices must be integers or slices, not %s", "tuple": "tuple indices must be integers or slices, not %s",
				"string": "string indices must be integers, not '%s'", "bytearray": "bytearray indices must be integers or slices, not %s",
				"range object": "range indices must be integers or slices, not %s"}[what]
			if plural == "" {
				plural = "byte indices must be integers or slices, not %s"
			}
			return 0, in.Errorf(in.Exc.TypeError, plural, TypeName(key))
		}
		b, err := in.IndexBig(key)
		if err != nil {
			return 0, err
		}
		if !b.IsInt64() {
			return 0, in.Errorf(in.Exc.IndexError, "cannot fit '%s' into an index-sized integer", TypeName(key))
		}
		i = b.Int64()
	}
	if i < 0 {
		i += int64(n)
	}
	if i < 0 || i >= int64(n) {
		return 0, in.Errorf(in.Exc.IndexError, "%s", strings.TrimPrefix(what+" index out of range", "index "))
	}
	return int(i), nil
}

// GetItem is o[key].
func (in *Interp) GetItem(o, key Object) (Object, error) {
	switch x := o.(type) {
	case *List, *Tuple, Str, Bytes, *ByteArray, *Range, *longRange, *Dict:
		return nativeGetItem(in, x, key)
	case *Type:
		return x.getItem(in, key)
	case *GenericAlias:
		if x.class == nil {
			return x.getItem(in, key)
		}
	case *MappingProxy:
		return in.GetItem(x.M, key)
	}
	v, ok, err := in.Special(o, "__getitem__", key)
	if ok || err != nil {
		return v, err
	}
	return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not subscriptable", TypeName(o))
}

// getItem is Class[key]: the metaclass's __getitem__, then the class's __class_getitem__.
func (t *Type) getItem(in *Interp, key Object) (Object, error) {
	if f := t.Type().Lookup("__getitem__"); f != nil {
		return in.callSpecial(f, t, key)
	}
	if f := t.Lookup("__class_getitem__"); f != nil {
		if cm, ok := f.(*ClassMethod); ok {
			return in.Call(cm.Func, []Object{t, key}, nil)
		}
		b, err := in.bindDescr(f, t, t.Type())
		if err != nil {
			return nil, err
		}
		return in.Call(b, []Object{key}, nil)
	}
	switch t {
	case ListType, TupleType, DictType, SetType, FrozenSetType, TypeType, EnumerateType:
		return newAlias(t, key), nil
	}
	return nil, in.Errorf(in.Exc.TypeError, "type '%s' is not subscriptable", t.errName())
}

// nativeGetItem is o[key] for built-in containers; nil, nil if o is none.
func nativeGetItem(in *Interp, o, key Object) (Object, error) {
	sl, isSlice := key.(*Slice)
	switch x := o.(type) {
	case *List:
		if isSlice {
			items, err := sl.pick(in, x.Items)
			return &List{items}, err
		}
		i, err := seqIndex(in, key, len(x.Items), "list")
		if err != nil {
			return nil, err
		}
		return x.Items[i], nil
	case *Tuple:
		if isSlice {
			items, err := sl.pick(in, x.Items)
			return NewTuple(items...), err
		}
		i, err := seqIndex(in, key, len(x.Items), "tuple")
		if err != nil {
			return nil, err
		}
		return x.Items[i], nil
	case Str:
		s := string(x)
		rs, _ := in.runes(s)
		if rs == nil {
			if isSlice {
				v, err := sl.pickBytes(in, s)
				return Str(v), err
			}
			i, err := seqIndex(in, key, len(s), "string")
			if err != nil {
				return nil, err
			}
			return charStrs[s[i]], nil
		}
		if isSlice {
			start, _, step, n, err := sl.indices(in, len(rs))
			if err != nil {
				return nil, err
			}
			var sb strings.Builder
			for i := range n {
				wtf8.WriteRune(&sb, rs[start+i*step])
			}
			return Str(sb.String()), nil
		}
		i, err := seqIndex(in, key, len(rs), "string")
		if err != nil {
			return nil, err
		}
		return Str(wtf8.String(rs[i : i+1])), nil
	case Bytes:
		if isSlice {
			v, err := sl.pickBytes(in, string(x))
			return Bytes(v), err
		}
		i, err := seqIndex(in, key, len(x), "index")
		if err != nil {
			return nil, err
		}
		return MakeInt(int64(x[i])), nil
	case *ByteArray:
		if isSlice {
			v, err := sl.pickBytes(in, string(x.B))
			return &ByteArray{[]byte(v)}, err
		}
		i, err := seqIndex(in, key, len(x.B), "bytearray")
		if err != nil {
			return nil, err
		}
		return MakeInt(int64(x.B[i])), nil
	case *Range:
		if i, ok := AsInt(key); ok {
			n := x.Len()
			if i < 0 {
				i += n
			}
			if i < 0 || i >= n {
				return nil, in.Errorf(in.Exc.IndexError, "range object index out of range")
			}
			return MakeInt(x.Start + i*x.Step), nil
		}
		return x.long().item(in, key)
	case *longRange:
		return x.item(in, key)
	case *Dict:
		v, ok, err := x.Get(in, key)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, in.KeyError(key)
		}
		return v, nil
	}
	return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not subscriptable", TypeName(o))
}

// pickBytes gives the bytes that the slice selects: of bytes, or of a text whose characters are one byte each.
func (s *Slice) pickBytes(in *Interp, text string) (string, error) {
	start, _, step, n, err := s.indices(in, len(text))
	if err != nil {
		return "", err
	}
	if step == 1 {
		return text[start : start+n], nil
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = text[start+i*step]
	}
	return string(b), nil
}

// setSlice assigns what bytearray(v) holds to a slice.
func (x *ByteArray) setSlice(in *Interp, sl *Slice, v Object) error {
	b, ok := bytesOf(v)
	if !ok {
		_, isText := AsStr(v)
		if _, isInt := AsBig(v); isText || isInt {
			return in.Errorf(in.Exc.TypeError, "can assign only bytes, buffers, or iterables of ints in range(0, 256)")
		}
		made := &ByteArray{}
		if err := made.init(in, []Object{v}, nil); err != nil {
			return err
		}
		b = made.B
	}
	start, stop, step, n, err := sl.indices(in, len(x.B))
	if err != nil {
		return err
	}
	if step == 1 {
		stop = max(start, stop)
		x.B = append(x.B[:start:start], append(append([]byte(nil), b...), x.B[stop:]...)...)
		return nil
	}
	if len(b) != n {
		if len(b) == 0 {
			return in.DelItem(x, sl)
		}
		return in.Errorf(in.Exc.ValueError, "attempt to assign bytes of size %d to extended slice of size %d", len(b), n)
	}
	b = append([]byte(nil), b...) // it may be of x itself
	for i, c := range b {
		x.B[start+i*step] = c
	}
	return nil
}

// SetItem is o[key] = v.
func (in *Interp) SetItem(o, key, v Object) error {
	switch x := o.(type) {
	case *Dict:
		return x.Set(in, key, v)
	case *List:
		return x.set(in, key, v)
	case *ByteArray:
		if sl, ok := key.(*Slice); ok {
			return x.setSlice(in, sl, v)
		}
		i, err := seqIndex(in, key, len(x.B), "bytearray")
		if err != nil {
			return err
		}
		n, err := in.IndexBig(v)
		if err != nil {
			return err
		}
		if n.Sign() < 0 || n.BitLen() > 8 {
			return in.Errorf(in.Exc.ValueError, "byte must be in range(0, 256)")
		}
		if int(i) >= len(x.B) { // the value's __index__ has taken bytes away
			return in.Errorf(in.Exc.IndexError, "bytearray index out of range")
		}
		x.B[i] = byte(n.Int64())
		return nil
	}
	_, ok, err := in.Special(o, "__setitem__", key, v)
	if ok || err != nil {
		return err
	}
	if t := o.Type(); t.Heap && t.Lookup("__delitem__") != nil { // one slot serves both
		return in.Errorf(in.Exc.AttributeError, "__setitem__")
	}
	return in.Errorf(in.Exc.TypeError, "'%s' object does not support item assignment", TypeName(o))
}

// set is list[key] = v. What a slice with step 1 selects may be replaced by any number of items, with another step by as many.
func (l *List) set(in *Interp, key, v Object) error {
	sl, ok := key.(*Slice)
	if !ok {
		i, err := seqIndex(in, key, len(l.Items), "list")
		if err != nil {
			if _, large := unwrap(key).(*BigInt); !large && in.Matches(err, in.Exc.IndexError) {
				return in.Errorf(in.Exc.IndexError, "list assignment index out of range")
			}
			return err
		}
		l.Items[i] = v
		return nil
	}
	items, err := in.IterAll(v)
	if err != nil {
		if in.Matches(err, in.Exc.TypeError) {
			return in.Errorf(in.Exc.TypeError, "can only assign an iterable")
		}
		return err
	}
	start, stop, step, n, err := sl.indices(in, len(l.Items))
	if err != nil {
		return err
	}
	if step == 1 {
		start = min(start, len(l.Items)) // an __index__ may have made the list shorter
		stop = min(max(start, stop), len(l.Items))
		out := make([]Object, 0, len(l.Items)-(stop-start)+len(items))
		out = append(out, l.Items[:start]...)
		out = append(out, items...)
		l.Items = append(out, l.Items[stop:]...)
		return nil
	}
	if len(items) != n {
		return in.Errorf(in.Exc.ValueError, "attempt to assign sequence of size %d to extended slice of size %d", len(items), n)
	}
	for i, it := range items {
		l.Items[start+i*step] = it
	}
	return nil
}

// DelItem is del o[key].
func (in *Interp) DelItem(o, key Object) error {
	switch x := o.(type) {
	case *Dict:
		ok, err := x.Del(in, key)
		if err == nil && !ok {
			err = in.KeyError(key)
		}
		return err
	case *List:
		if sl, ok := key.(*Slice); ok {
			start, _, step, n, err := sl.indices(in, len(x.Items))
			if err != nil {
				return err
			}
			drop := map[int]bool{}
			for i := range n {
				drop[start+i*step] = true
			}
			out := make([]Object, 0, len(x.Items))
			for i, it := range x.Items {
				if !drop[i] {
					out = append(out, it)
				}
			}
			x.Items = out
			return nil
		}
		i, err := seqIndex(in, key, len(x.Items), "list")
		if err != nil {
			if _, large := unwrap(key).(*BigInt); !large && in.Matches(err, in.Exc.IndexError) {
				return in.Errorf(in.Exc.IndexError, "list assignment index out of range")
			}
			return err
		}
		x.Items = slices.Delete(x.Items, i, i+1)
		return nil
	}
	_, ok, err := in.Special(o, "__delitem__", key)
	if ok || err != nil {
		return err
	}
	if t := o.Type(); t.Heap && t.Lookup("__setitem__") != nil { // one slot serves both
		return in.Errorf(in.Exc.AttributeError, "__delitem__")
	} else if !t.Heap && t.Lookup("__len__") == nil { // it is no sequence at all
		return in.Errorf(in.Exc.TypeError, "'%s' object does not support item deletion", t.errName())
	}
	return in.Errorf(in.Exc.TypeError, "'%s' object doesn't support item deletion", TypeName(o))
}

// Contains is v in o.
func (in *Interp) Contains(o, v Object) (bool, error) {
	switch x := o.(type) {
	case *Dict:
		_, ok, err := x.Get(in, v)
		return ok, err
	case *Set:
		return x.hasSet(in, v)
	case *FrozenSet:
		return x.hasSet(in, v)
	case *List:
		for i := 0; i < len(x.Items); i++ {
			ok, err := sameKey(in, x.Items[i], v)
			if ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case *Tuple:
		for _, it := range x.Items {
			ok, err := sameKey(in, it, v)
			if ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case Str:
		s, ok := AsStr(v)
		if !ok {
			return false, in.Errorf(in.Exc.TypeError, "'in <string>' requires string as left operand, not %s", TypeName(v))
		}
		return strings.Contains(string(x), s), nil
	case Bytes, *ByteArray:
		b, _ := bytesOf(x)
		if v.Type().Lookup("__index__") != nil {
			n, err := in.IndexBig(v)
			if err != nil {
				return false, err
			}
			if n.Sign() < 0 || n.BitLen() > 8 {
				return false, in.Errorf(in.Exc.ValueError, "byte must be in range(0, 256)")
			}
			return bytes.IndexByte(b, byte(n.Int64())) >= 0, nil
		}
		s, ok, err := in.OneBuffer(v)
		if err != nil {
			return false, err
		}
		if !ok {
			return false, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", TypeName(v))
		}
		return strings.Contains(string(b), string(s)), nil
	case *Range, *longRange:
		return rangeContains(in, x, v)
	}
	if o.Type().Lookup("__contains__") == None {
		return false, in.Errorf(in.Exc.TypeError, "'%s' object is not a container", TypeName(o))
	}
	if r, ok, err := in.Special(o, "__contains__", v); ok || err != nil {
		if err != nil {
			return false, err
		}
		return in.Truth(r)
	}
	if o.Type().Lookup("__iter__") == nil && o.Type().Lookup("__getitem__") == nil {
		return false, in.Errorf(in.Exc.TypeError, "argument of type '%s' is not iterable", TypeName(o))
	}
	it, err := in.Iter(o)
	if err != nil && in.Matches(err, in.Exc.TypeError) {
		err = in.Errorf(in.Exc.TypeError, "argument of type '%s' is not iterable", TypeName(o))
	}
	if err != nil {
		return false, err
	}
	return in.among(it, v)
}

// among looks for v in what an iterator gives.
func (in *Interp) among(it, v Object) (bool, error) {
	for {
		x, err := in.Next(it)
		if err != nil || x == nil {
			return false, err
		}
		ok, err := sameKey(in, x, v)
		if ok || err != nil {
			return ok, err
		}
	}
}

// hasSet is v in s. A set, which has no hash, is looked up as the frozen set that equals it.
func (s *setTable) hasSet(in *Interp, v Object) (bool, error) {
	ok, err := s.Has(in, v)
	if f := frozen(v); err != nil && f != nil && in.Matches(err, in.Exc.TypeError) {
		return s.Has(in, f)
	}
	return ok, err
}

// removeSet is Remove in the same way.
func (s *setTable) removeSet(in *Interp, v Object) (bool, error) {
	ok, err := s.Remove(in, v)
	if f := frozen(v); err != nil && f != nil && in.Matches(err, in.Exc.TypeError) {
		return s.Remove(in, f)
	}
	return ok, err
}

// frozen is a set, or an instance of a class that derives from it, as a frozen set; nil for anything else.
func frozen(v Object) Object {
	if x, ok := unwrap(v).(*Set); ok {
		return &FrozenSet{setTable: x.clone()}
	}
	return nil
}

// update copies a mapping, or an iterable of pairs, into d.
func (d *Dict) update(in *Interp, m Object) error {
	if src, ok := m.(*Dict); ok {
		var err error
		n := src.live
		src.Each(func(k, v Object) bool {
			err = d.Set(in, k, v)
			if err == nil && src != d && src.live != n {
				err = in.Errorf(in.Exc.RuntimeError, "dict mutated during update")
			}
			return err == nil
		})
		return err
	}
	if inst, ok := m.(*Instance); ok {
		_, keys := inst.Class.Lookup("keys").(*Builtin) // of dict, or of a native class that derives from it
		if src, ok := inst.Native.(*Dict); ok && keys && inst.Class.Lookup("__iter__") == DictType.Lookup("__iter__") && inst.Class.Lookup("__getitem__") == DictType.Lookup("__getitem__") {
			return d.update(in, src)
		}
	}
	if mp, ok := m.(*MappingProxy); ok {
		return d.update(in, mp.M)
	}
	if m.Type().Lookup("keys") != nil {
		keys, err := in.CallMethod(m, "keys")
		if err != nil {
			return err
		}
		items, err := in.IterAll(keys)
		if err != nil {
			return err
		}
		for _, k := range items {
			v, err := in.GetItem(m, k)
			if err != nil {
				return err
			}
			if err := d.Set(in, k, v); err != nil {
				return err
			}
		}
		return nil
	}
	items, err := in.IterAll(m)
	if err != nil {
		return err
	}
	for i, it := range items {
		kv, err := in.IterAll(it)
		if err != nil {
			return in.Errorf(in.Exc.TypeError, "cannot convert dictionary update sequence element #%d to a sequence", i)
		}
		if len(kv) != 2 {
			return in.Errorf(in.Exc.ValueError, "dictionary update sequence element #%d has length %d; 2 is required", i, len(kv))
		}
		if err := d.Set(in, kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}
