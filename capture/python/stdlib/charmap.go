package stdlib

import (
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// charmaps are the functions of encodings that a table says: of bytes to characters, a str or a mapping, and of characters to bytes.
func charmaps(in *vm.Interp, m *vm.Module) {
	emap := in.NewNativeType(vm.Spec{Name: "EncodingMap", Module: "builtins", NoDict: true, Methods: map[string]vm.GoFunc{
		"size": clinic.Method("size", "", func(c *clinic.Call) (vm.Object, error) {
			return vm.MakeInt(int64(len(c.Self.(*vm.Instance).Native.(encodingMap)))), nil
		}),
	}})
	clinic.Def(m, "charmap_build", "map:str, /", func(c *clinic.Call) (vm.Object, error) {
		e := encodingMap{}
		i := 0
		for _, r := range wtf8.All(c.Str(0)) {
			if r != 0xfffe && i < 256 {
				e[r] = byte(i)
			}
			i++
		}
		return vm.NewInstance(emap, e), nil
	})
	clinic.Def(m, "charmap_encode", "str:str, errors:str?=None, mapping=None, /", charmapEncode)
	clinic.Def(m, "charmap_decode", "data:bytes, errors:str?=None, mapping=None, /", charmapDecode)
}

// encodingMap is the table that charmap_build makes of a decoding table.
type encodingMap map[rune]byte

// charmapGet looks a number up in a mapping; nil for what it does not have.
func charmapGet(c *clinic.Call, mapping vm.Object, n rune) (vm.Object, error) {
	v, err := c.GetItem(mapping, vm.MakeInt(int64(n)))
	if err != nil {
		if c.Matches(err, c.Exc.LookupError) {
			return nil, nil
		}
		return nil, err
	}
	if v == vm.None {
		return nil, nil
	}
	return v, nil
}

// charmapEncode encodes by a table.
func charmapEncode(c *clinic.Call) (vm.Object, error) {
	text, errs := c.Str(0), errorsOf(c, 1)
	rs := wtf8.Runes(text)
	if c.None(2) {
		b, err := c.Encode(text, "latin-1", errs)
		if err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.Bytes(b), vm.MakeInt(int64(len(rs)))), nil
	}
	var table encodingMap
	if inst, ok := c.Args[2].(*vm.Instance); ok {
		table, _ = inst.Native.(encodingMap)
	}
	one := func(r rune) ([]byte, bool, error) {
		if table != nil {
			b, ok := table[r]
			return []byte{b}, ok, nil
		}
		v, err := charmapGet(c, c.Args[2], r)
		if v == nil || err != nil {
			return nil, false, err
		}
		if b, ok := vm.AsBytes(v); ok {
			return b, true, nil
		}
		n, ok := vm.AsInt(v)
		if !ok {
			return nil, false, c.Errorf(c.Exc.TypeError, "character mapping must return integer, bytes or None, not %s", vm.TypeName(v))
		}
		if n < 0 || n > 255 {
			return nil, false, c.Errorf(c.Exc.TypeError, "character mapping must be in range(256)")
		}
		return []byte{byte(n)}, true, nil
	}
	const why = "character maps to <undefined>"
	var out []byte
	for i := 0; i < len(rs); {
		b, ok, err := one(rs[i])
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, b...)
			i++
			continue
		}
		end := i + 1
		for end < len(rs) {
			if _, ok, err := one(rs[end]); ok || err != nil {
				break
			}
			end++
		}
		raw, repl, next, err := c.EncodeError("charmap", text, i, end, why, errs)
		if err != nil {
			return nil, err
		}
		out = append(out, raw...)
		for _, r := range wtf8.All(repl) {
			b, ok, err := one(r)
			if err != nil {
				return nil, err
			}
			if !ok {
				_, _, _, err := c.EncodeError("charmap", text, i, end, why, "strict")
				return nil, err
			}
			out = append(out, b...)
		}
		i = next
	}
	return vm.NewTuple(vm.Bytes(out), vm.MakeInt(int64(len(rs)))), nil
}

// charmapDecode decodes by a table.
func charmapDecode(c *clinic.Call) (vm.Object, error) {
	data, errs := c.Bytes(0), errorsOf(c, 1)
	if c.None(2) {
		s, err := c.Decode(data, "latin-1", errs)
		if err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.Str(s), vm.MakeInt(int64(len(data)))), nil
	}
	var table []rune
	if s, ok := vm.AsStr(c.Args[2]); ok {
		table = wtf8.Runes(s)
	}
	one := func(b byte) (string, bool, error) {
		if table != nil {
			if int(b) >= len(table) || table[b] == 0xfffe {
				return "", false, nil
			}
			return wtf8.Char(table[b]), true, nil
		}
		v, err := charmapGet(c, c.Args[2], rune(b))
		if v == nil || err != nil {
			return "", false, err
		}
		if s, ok := vm.AsStr(v); ok {
			return s, s != "\ufffe", nil
		}
		n, ok := vm.AsInt(v)
		if !ok {
			return "", false, c.Errorf(c.Exc.TypeError, "character mapping must return integer, None or str")
		}
		if n < 0 || n > 0x10ffff {
			return "", false, c.Errorf(c.Exc.TypeError, "character mapping must be in range(0x110000)")
		}
		return wtf8.Char(rune(n)), n != 0xfffe, nil
	}
	var out strings.Builder
	for i := 0; i < len(data); {
		s, ok, err := one(data[i])
		if err != nil {
			return nil, err
		}
		if ok {
			out.WriteString(s)
			i++
			continue
		}
		s, rest, next, err := c.DecodeError("charmap", data, i, i+1, "character maps to <undefined>", errs)
		if err != nil {
			return nil, err
		}
		out.WriteString(s)
		data, i = rest, next
	}
	return vm.NewTuple(vm.Str(out.String()), vm.MakeInt(int64(len(data)))), nil
}
