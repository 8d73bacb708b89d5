package pyctypes

import (
	"fmt"
	"math/big"
	"strconv"

	"whittle/capture/python/vm"
)

// param is an argument as a function of C takes it: what from_param and byref make.
type param struct {
	vm.Identity
	lib   *lib
	tag   byte // a letter of codes; 'P' for addresses, 'V' for records
	value vm.Object
	keeps vm.Object // whose address it is
	block *data     // the text that it is the address of
}

// Type implements vm.Object.
func (p *param) Type() *vm.Type { return p.lib.param }

// address is what a parameter's value is as an address.
func (p *param) address() uint64 {
	b, ok := vm.AsBig(p.value)
	if !ok {
		return 0
	}
	return low64(b)
}

// paramType is the class of such arguments, CArgObject.
func (c *lib) paramType() *vm.Type {
	return c.in.NewNativeType(vm.Spec{Name: "CArgObject", Module: "builtins", NoDict: true, New: vm.Uncreatable,
		GetSet: []*vm.GetSet{{Name: "_obj", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return orNone(o.(*param).keeps), nil }}},
		Methods: map[string]vm.GoFunc{"__repr__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			p := args[0].(*param)
			switch p.tag {
			case 'c':
				b, _ := vm.AsBytes(p.value)
				if b[0] >= ' ' && b[0] < 0x7f && b[0] != '\'' && b[0] != '\\' {
					return vm.Str(fmt.Sprintf("<cparam 'c' ('%c')>", b[0])), nil
				}
				return vm.Str(fmt.Sprintf("<cparam 'c' ('\\x%02x')>", b[0])), nil
			case 'z', 'Z', 'P':
				return vm.Str(fmt.Sprintf("<cparam '%c' (0x%x)>", p.tag, p.address())), nil
			case 'O', '?', 'u', 'g':
				return vm.Str(fmt.Sprintf("<cparam '%c' at 0x%x>", p.tag, in.ID(p))), nil
			}
			s, err := in.Repr(p.value)
			if f, ok := vm.AsFloat(p.value); ok && p.tag == 'f' {
				s = strconv.FormatFloat(f, 'g', -1, 32)
			}
			return vm.Str(fmt.Sprintf("<cparam '%c' (%s)>", p.tag, s)), err
		}}})
}

func (c *lib) pointerParam(tag byte, address uint64, keeps vm.Object) *param {
	return &param{lib: c, tag: tag, value: vm.MakeBig(new(big.Int).SetUint64(address)), keeps: keeps}
}

// byref is the address of an object, some bytes on, for a function that takes one.
func (c *lib) byref(o vm.Object, offset int64) (vm.Object, error) {
	d := dataOf(o)
	if d == nil {
		return nil, c.in.Errorf(c.in.Exc.TypeError, "byref() argument must be a ctypes instance, not '%s'", o.Type().Name)
	}
	return c.pointerParam('P', c.address(d)+uint64(offset), o), nil
}

// fromParam is a class's from_param: an argument of a function that takes the class.
func (c *lib) fromParam(cls *vm.Type, v vm.Object) (vm.Object, error) {
	if v.Type().IsSubtype(cls) {
		return v, nil
	}
	l := layoutOf(cls)
	if l == nil {
		return nil, c.in.Errorf(c.in.Exc.TypeError, "abstract class")
	}
	if l.kind == simpleKind {
		if o, err := c.simpleParam(l, v); o != nil || err != nil {
			return o, err
		}
	}
	if l.kind == pointerKind {
		if o, err := c.pointerFrom(l, v); o != nil || err != nil {
			return o, err
		}
	}
	if p, ok := v.(*param); ok && p.keeps != nil && p.keeps.Type().IsSubtype(cls) {
		return v, nil
	}
	as, err := c.in.GetAttrOpt(v, "_as_parameter_")
	if err != nil {
		return nil, err
	}
	if as != nil {
		return c.fromParam(cls, as)
	}
	if l.kind == simpleKind {
		return nil, c.in.Errorf(c.in.Exc.TypeError, "wrong type")
	}
	return nil, c.in.Errorf(c.in.Exc.TypeError, "expected %s instance instead of %s", cls.Name, v.Type().Name)
}

// simpleParam is a value of Python's as a simple type; nil if it is none.
func (c *lib) simpleParam(l *layout, v vm.Object) (vm.Object, error) {
	letter := l.code.letter
	_, isInt := vm.AsBig(v)
	text, isStr := vm.AsStr(v)
	raw, isBytes := vm.AsBytes(v)
	isBytes = isBytes && v.Type().IsSubtype(vm.BytesType)
	src := dataOf(v)
	switch letter {
	case 'z', 'Z', 'P':
		switch {
		case v == vm.None:
			return v, nil
		case isInt && letter == 'P':
			return c.pointerParam('P', intAddress(v), nil), nil
		case isBytes && letter != 'Z':
			return c.textParam('z', v, append(raw[:len(raw):len(raw)], 0)), nil
		case isStr && letter != 'z':
			return c.textParam('Z', v, append(wide(text), 0, 0, 0, 0)), nil
		}
		if p, ok := v.(*param); ok && (p.tag == 'P' || p.tag == letter) {
			return p, nil
		}
		if src == nil {
			return nil, nil
		}
		of := src.layout.item.letter()
		characters := map[byte]byte{'z': 'c', 'Z': 'u'}[letter]
		switch {
		case src.layout.kind == arrayKind && (letter == 'P' || of == characters):
			return c.pointerParam(letter, c.address(src), v), nil
		case src.layout.kind == pointerKind && (letter == 'P' || of == characters), src.layout.kind == functionKind && letter == 'P':
			return c.pointerParam(letter, src.target(), v), nil
		case src.layout.kind == simpleKind && letter == 'P' && (src.layout.letter() == 'z' || src.layout.letter() == 'Z'):
			return c.pointerParam('Z', src.target(), v), nil
		}
		return nil, nil
	case 'O':
		return &param{lib: c, tag: 'O', value: vm.MakeInt(c.in.ID(v)), keeps: v}, nil
	}
	if src != nil {
		return nil, nil
	}
	tmp := &data{lib: c, layout: l, mem: make([]byte, l.size)}
	tmp.root = tmp
	if err := l.set(tmp, 0, tmp.mem, v); err != nil {
		if _, ok := err.(*vm.Raised); ok {
			return nil, nil // whatever was wrong: it is the wrong type, unless it says what it is as a parameter
		}
		return nil, err
	}
	made, err := l.get(tmp, tmp.mem)
	if err != nil {
		return nil, err
	}
	return &param{lib: c, tag: letter, value: made}, nil
}

func intAddress(v vm.Object) uint64 {
	b, _ := vm.AsBig(v)
	return low64(b)
}

// textParam is a copy of text as a parameter.
func (c *lib) textParam(tag byte, v vm.Object, text []byte) *param {
	block := &data{lib: c, mem: text}
	block.root = block
	p := c.pointerParam(tag, c.address(block), v)
	p.block = block
	return p
}

// pointerFrom is an argument for a function that takes pointers of a class; nil if it is none.
func (c *lib) pointerFrom(l *layout, v vm.Object) (vm.Object, error) {
	if v == vm.None {
		return v, nil
	}
	if l.item == nil {
		return nil, nil
	}
	if v.Type().IsSubtype(l.item.class) {
		return c.byref(v, 0)
	}
	if p, ok := v.(*param); ok && p.keeps != nil && p.keeps.Type().IsSubtype(l.item.class) {
		return v, nil
	}
	if d := dataOf(v); d != nil && (d.layout.kind == pointerKind || d.layout.kind == arrayKind) && d.layout.item != nil && d.layout.item.class.IsSubtype(l.item.class) {
		return v, nil
	}
	return nil, nil
}
