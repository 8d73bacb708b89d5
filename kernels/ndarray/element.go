package ndarray

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Item is an element that is a Python object; other elements are Go's values.
type Item struct{ V any }

// Get is the element at a place: a bool, int64, uint64, float64, complex128, string, Raw or Item.
func (a *Array) Get(off int) any {
	d := a.DType
	if d.Num == Object {
		return Item{a.Buf.Objects[off/8]}
	}
	b := a.Buf.Bytes[off : off+d.Size]
	if d.Swapped {
		b = swapped(b, d)
	}
	return decode(b, d)
}

// swapped are the bytes of an element in the other order.
func swapped(b []byte, d *DType) []byte {
	c := slices.Clone(b)
	part := d.Size
	switch d.Kind {
	case 'c':
		part /= 2
	case 'U':
		part = 4
	}
	for i := 0; i+part <= len(c); i += part {
		slices.Reverse(c[i : i+part])
	}
	return c
}

func decode(b []byte, d *DType) any {
	le := binary.LittleEndian
	f32 := func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }
	f64 := func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }
	switch d.Num {
	case Bool:
		return b[0] != 0
	case Int8:
		return int64(int8(b[0]))
	case UInt8:
		return uint64(b[0])
	case Int16:
		return int64(int16(le.Uint16(b)))
	case UInt16:
		return uint64(le.Uint16(b))
	case Int32:
		return int64(int32(le.Uint32(b)))
	case UInt32:
		return uint64(le.Uint32(b))
	case Int64:
		return int64(le.Uint64(b))
	case UInt64:
		return le.Uint64(b)
	case Float16:
		return float64(f16(le.Uint16(b)).f32())
	case Float32:
		return f32(b)
	case Float64:
		return f64(b)
	case Complex64:
		return complex(f32(b), f32(b[4:]))
	case Complex128:
		return complex(f64(b), f64(b[8:]))
	case String:
		return Raw(strings.TrimRight(string(b), "\x00"))
	case Unicode:
		var s strings.Builder
		for i := 0; i+4 <= len(b); i += 4 {
			s.WriteRune(rune(le.Uint32(b[i:])))
		}
		return strings.TrimRight(s.String(), "\x00")
	}
	return nil
}

// Set stores a value at a place, as Get gives it, converted to the dtype.
func (a *Array) Set(off int, v any) error {
	d := a.DType
	if d.Num == Object {
		if it, ok := v.(Item); ok {
			a.Buf.Objects[off/8] = it.V
		} else {
			a.Buf.Objects[off/8] = d.Lang.ToObject(v)
		}
		return nil
	}
	b := a.Buf.Bytes[off : off+d.Size]
	if it, ok := v.(Item); ok {
		var err error
		if v, err = a.DType.lang(it).FromObject(it.V, d); err != nil {
			return err
		}
	}
	if !d.Swapped {
		return encode(b, d, v)
	}
	t := make([]byte, d.Size)
	if err := encode(t, d.Native(), v); err != nil {
		return err
	}
	copy(b, swapped(t, d))
	return nil
}

// A Speaker is an object that knows its language: those in object arrays are wrapped so when they leave for another dtype.
type Speaker interface{ Language() Language }

// lang is the language of an element.
func (d *DType) lang(it Item) Language {
	if d.Lang != nil {
		return d.Lang
	}
	if s, ok := it.V.(Speaker); ok {
		return s.Language()
	}
	return nolang{}
}

// AsBool, AsInt, AsUint, AsFloat and AsComplex convert a value as a cast between dtypes does.
func AsBool(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case int64:
		return v != 0
	case uint64:
		return v != 0
	case float64:
		return v != 0
	case complex128:
		return v != 0
	case string:
		return v != ""
	case Raw:
		return v != ""
	}
	return false
}

// AsInt is described at AsBool.
func AsInt(v any) int64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
	case int64:
		return v
	case uint64:
		return int64(v)
	case float64:
		return int64(v)
	case complex128:
		return int64(real(v))
	}
	return 0
}

// AsFloat is described at AsBool.
func AsFloat(v any) float64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		return v
	case complex128:
		return real(v)
	}
	return 0
}

// AsComplex is described at AsBool.
func AsComplex(v any) complex128 {
	if c, ok := v.(complex128); ok {
		return c
	}
	return complex(AsFloat(v), 0)
}

// text reads a number out of a text, as a cast from U to a number does.
func text(d *DType, s string) (any, error) {
	t := strings.TrimSpace(s)
	switch d.Kind {
	case 'b', 'i', 'u':
		if d.Kind == 'b' {
			switch t {
			case "True", "true":
				return true, nil
			case "False", "false", "":
				return false, nil
			}
		}
		if i, err := strconv.ParseInt(t, 10, 64); err == nil {
			return i, nil
		}
		return nil, fail("ValueError", "invalid literal for int() with base 10: '%s'", s)
	case 'f':
		if f, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", "x"), 64); err == nil || math.IsInf(f, 0) {
			return f, nil
		}
		return nil, fail("ValueError", "could not convert string to float: '%s'", s)
	}
	if c, err := strconv.ParseComplex(strings.ReplaceAll(t, "j", "i"), 128); err == nil {
		return c, nil
	}
	return nil, fail("ValueError", "complex() arg is a malformed string")
}

func encode(b []byte, d *DType, v any) (err error) {
	if d.Numeric() {
		switch s := v.(type) {
		case string:
			v, err = text(d, s)
		case Raw:
			v, err = text(d, string(s))
		}
		if err != nil {
			return err
		}
	}
	le := binary.LittleEndian
	switch d.Num {
	case Bool:
		b[0] = byte(boolean(AsBool(v)))
	case Int8, UInt8:
		b[0] = byte(AsInt(v))
	case Int16, UInt16:
		le.PutUint16(b, uint16(AsInt(v)))
	case Int32, UInt32:
		le.PutUint32(b, uint32(AsInt(v)))
	case Int64:
		le.PutUint64(b, uint64(AsInt(v)))
	case UInt64:
		u := uint64(AsInt(v))
		if f, ok := v.(float64); ok {
			u = uint64(f)
		}
		le.PutUint64(b, u)
	case Float16:
		le.PutUint16(b, uint16(halfFrom(AsFloat(v))))
	case Float32:
		le.PutUint32(b, math.Float32bits(float32(AsFloat(v))))
	case Float64:
		le.PutUint64(b, math.Float64bits(AsFloat(v)))
	case Complex64:
		c := complex64(AsComplex(v))
		le.PutUint32(b, math.Float32bits(real(c)))
		le.PutUint32(b[4:], math.Float32bits(imag(c)))
	case Complex128:
		c := AsComplex(v)
		le.PutUint64(b, math.Float64bits(real(c)))
		le.PutUint64(b[8:], math.Float64bits(imag(c)))
	case String:
		s := ValueText(v)
		clear(b[copy(b, s):])
	case Unicode:
		i := 0
		for _, r := range ValueText(v) {
			if i+4 > len(b) {
				break
			}
			le.PutUint32(b[i:], uint32(r))
			i += 4
		}
		clear(b[i:])
	}
	return nil
}

// ValueText is a value as str() writes it: what a cast to U stores.
func ValueText(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return FloatText(v, 64)
	case complex128:
		return ComplexText(v, 64)
	case string:
		return v
	case Raw:
		return string(v)
	}
	return ""
}

// sized is d, of S or U, with room for all elements of a.
func (d *DType) sized(a *Array) *DType {
	n := 1
	if w, ok := textWidth[a.DType.Num]; ok {
		n = w
	} else if a.DType.Flexible() && d.Num == a.DType.Num {
		return a.DType
	} else if a.DType.Num == Unicode {
		n = a.DType.Size / 4
	} else if a.DType.Num == String {
		n = a.DType.Size
	} else {
		for _, off := range a.offsets() {
			if it, ok := a.Get(off).(Item); ok && a.DType.Lang != nil {
				if v, err := a.DType.Lang.FromObject(it.V, d); err == nil {
					n = max(n, utf8.RuneCountInString(ValueText(v)))
				}
			}
		}
	}
	if d.Num == Unicode {
		return Text(n)
	}
	return RawText(n)
}

// textWidth is how many characters the elements of a dtype may take.
var textWidth = map[Num]int{Bool: 5, Int8: 4, UInt8: 3, Int16: 6, UInt16: 5, Int32: 11, UInt32: 10, Int64: 21, UInt64: 20, Float16: 32, Float32: 32, Float64: 32, Complex64: 64, Complex128: 64}
