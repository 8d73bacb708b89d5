package vm

import "unsafe"

// inlineCache remembers what an instruction found the last time, and by what that is still so. Of attributes and methods, typ and ver are
// the class and its version: they change with everything that could change the lookup, short of the instance's own dict. That is checked by
// looking at the entry at idx, whose key must still be the very string (key is its address). Of LOAD_GLOBAL, dict is where the name was, typ
// is nil for the globals, and for a builtin val and ver say that it was these globals and that no key has come to them since. An entry that
// does not fit is filled anew.
type inlineCache struct {
	typ  *Type
	ver  uint32
	idx  int32
	dict *Dict          // of LOAD_GLOBAL
	key  unsafe.Pointer // data of the key at idx
	val  Object
	kind uint8 // of an attribute
}

// What an attribute was found to be; see inlineCache.
const (
	attrDict     uint8 = iota // an entry of the instance's dict
	attrSlot                  // one of __slots__
	attrProperty              // a property with a Python getter
	attrClass                 // a value of the class that binds to nothing
)

// ownAt is where an instance has what the cache is of, an entry of its dict or a slot; nil if the cache does not say.
func (ic *inlineCache) ownAt(x *Instance) *Object {
	if ic.typ != x.Class || ic.ver != x.Class.version {
		return nil
	}
	switch ic.kind {
	case attrDict:
		if d := x.Dict; d != nil && int(ic.idx) < len(d.entries) {
			if e := &d.entries[ic.idx]; dataOf(e.key) == ic.key {
				return &e.val
			}
		}
	case attrSlot:
		if int(ic.idx) < len(x.Slots) {
			return &x.Slots[ic.idx]
		}
	}
	return nil
}

// store stores into an instance's dict and notes at which entry. A dict is made with room for as many attributes as instances of the class
// had so far.
func (ic *inlineCache) store(x *Instance, name Object, h uint64, v Object) {
	if x.Dict == nil {
		x.Dict = &Dict{entries: make([]dictEntry, 0, max(4, x.Class.width))}
	}
	d := x.Dict
	i := d.findStr(string(name.(Str)), h)
	if i >= 0 {
		d.entries[i].val = v
		d.valsVer++
	} else {
		d.insert(h, name, v)
		i = len(d.entries) - 1
		if i >= x.Class.width && i < smallDict {
			x.Class.width = i + 1
		}
	}
	ic.idx, ic.key = int32(i), dataOf(d.entries[i].key)
}

// fillStore says whether storing an attribute concerns only the instance's dict or one of its slots, and fills the cache. It does not where
// the class has a __setattr__, or a descriptor of the name that could take the value.
func (ic *inlineCache) fillStore(x *Instance, name string) bool {
	t := x.Class
	if t.hooks().setattr != nil || name == "__class__" || name == "__dict__" {
		return false
	}
	switch d := t.Lookup(name).(type) {
	case nil:
		if !t.HasDict {
			return false
		}
		*ic = inlineCache{typ: t, ver: t.version, kind: attrDict}
		return true
	case *Member:
		if d.Index >= len(x.Slots) || !t.IsSubtype(d.Own) {
			return false
		}
		*ic = inlineCache{typ: t, ver: t.version, kind: attrSlot, idx: int32(d.Index)}
		return true
	}
	return false
}

// fillAttr finds an attribute in an instance's dict or slots, or a plain value of its class, and fills the cache; nil if it is anything
// else. A property with a Python getter fills the cache, too, and gives nil: its value takes a call.
func (ic *inlineCache) fillAttr(x *Instance, name string, h uint64) Object {
	t := x.Class
	hooks := t.hooks()
	if hooks.getattribute != nil {
		return nil
	}
	var plain Object
	switch d := t.Lookup(name).(type) {
	case nil:
	case *Member:
		if d.Index < len(x.Slots) && x.Slots[d.Index] != nil && t.IsSubtype(d.Own) {
			*ic = inlineCache{typ: t, ver: t.version, idx: int32(d.Index), kind: attrSlot}
			return x.Slots[d.Index]
		}
		return nil
	case *Property:
		if fn, ok := d.Get.(*Function); ok && hooks.getattr == nil {
			*ic = inlineCache{typ: t, ver: t.version, val: fn, kind: attrProperty}
		}
		return nil
	case Int, Float, Str, Bool, *NoneType, *Tuple, *List, *Dict, *Set, *FrozenSet, *Type:
		plain = d
	default:
		if isData(d) {
			return nil
		}
	}
	i := -1
	if x.Dict != nil && x.Dict.live > 0 {
		i = x.Dict.findStr(name, h)
	}
	if i < 0 {
		if plain != nil {
			*ic = inlineCache{typ: t, ver: t.version, val: plain, kind: attrClass}
		}
		return plain
	}
	e := &x.Dict.entries[i]
	*ic = inlineCache{typ: t, ver: t.version, idx: int32(i), key: dataOf(e.key), kind: attrDict}
	return e.val
}

// loadGlobal finds the i-th name in the globals or the builtins and fills the cache; nil if it is in neither. For a builtin the cache holds
// as long as no key comes to the globals: keysVer says that.
func (f *Frame) loadGlobal(ic *inlineCache, i int) Object {
	name, h := f.Code.Names[i], f.Code.hashes[i]
	if f.Globals.live > 0 {
		if j := f.Globals.findStr(name, h); j >= 0 {
			e := &f.Globals.entries[j]
			*ic = inlineCache{dict: f.Globals, idx: int32(j), key: dataOf(e.key)}
			return e.val
		}
	}
	if j := f.Builtins.findStr(name, h); j >= 0 {
		e := &f.Builtins.entries[j]
		*ic = inlineCache{dict: f.Builtins, idx: int32(j), key: dataOf(e.key), ver: f.Globals.keysVer, typ: ObjectType, val: f.Globals}
		return e.val
	}
	return nil
}
