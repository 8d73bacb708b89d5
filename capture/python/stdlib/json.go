package stdlib

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/vm"
)

func jsonModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_json", "")
	m.FuncN("encode_string", 2, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		return vm.Str(jsonString(str(args[0]), args[1] == vm.True)), nil
	})
	// decode(text, hook for objects, hook for pairs, parse_float, parse_int, parse_constant, error class, start) -> value, end
	m.FuncN("decode", 8, 8, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		at, _ := vm.AsInt(args[7])
		d := &jsonDecoder{in: in, s: str(args[0]), hook: args[1], pairs: args[2], pfloat: args[3], pint: args[4], pconst: args[5], errCls: args[6], i: int(at)}
		d.space()
		v, err := d.value(0)
		if err != nil {
			return nil, err
		}
		end := d.i
		return vm.NewTuple(v, vm.MakeInt(int64(end))), nil
	})
	return m, nil
}

func jsonString(s string, ascii bool) string {
	var sb strings.Builder
	sb.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"':
			sb.WriteString(`\"`)
		case r == '\\':
			sb.WriteString(`\\`)
		case r == '\n':
			sb.WriteString(`\n`)
		case r == '\r':
			sb.WriteString(`\r`)
		case r == '\t':
			sb.WriteString(`\t`)
		case r == '\b':
			sb.WriteString(`\b`)
		case r == '\f':
			sb.WriteString(`\f`)
		case r < 32:
			fmt.Fprintf(&sb, `\u%04x`, r)
		case r > 126 && ascii:
			if r > 0xffff {
				r -= 0x10000
				fmt.Fprintf(&sb, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			} else {
				fmt.Fprintf(&sb, `\u%04x`, r)
			}
		default:
			sb.WriteRune(r)
		}
	}
	sb.WriteByte('"')
	return sb.String()
}

type jsonDecoder struct {
	in                                        *vm.Interp
	s                                         string
	i                                         int
	hook, pairs, pfloat, pint, pconst, errCls vm.Object
}

func (d *jsonDecoder) fail(msg string, at int) error {
	return d.in.RaiseObj(d.errCls.(*vm.Type), vm.Str(msg), vm.Str(d.s), vm.MakeInt(int64(utf8.RuneCountInString(d.s[:min(at, len(d.s))]))))
}

func (d *jsonDecoder) space() {
	for d.i < len(d.s) && strings.IndexByte(" \t\n\r", d.s[d.i]) >= 0 {
		d.i++
	}
}

func (d *jsonDecoder) value(depth int) (vm.Object, error) {
	if depth > 900 {
		return nil, d.in.Errorf(d.in.Exc.RecursionError, "maximum recursion depth exceeded while decoding a JSON array from a unicode string")
	}
	if d.i >= len(d.s) {
		return nil, d.fail("Expecting value", d.i)
	}
	start := d.i
	switch c := d.s[d.i]; c {
	case '"':
		s, err := d.str()
		return vm.Str(s), err
	case '{':
		return d.object(depth)
	case '[':
		d.i++
		l := &vm.List{}
		d.space()
		if d.i < len(d.s) && d.s[d.i] == ']' {
			d.i++
			return l, nil
		}
		for {
			d.space()
			v, err := d.value(depth + 1)
			if err != nil {
				return nil, err
			}
			l.Items = append(l.Items, v)
			d.space()
			if d.i < len(d.s) && d.s[d.i] == ']' {
				d.i++
				return l, nil
			}
			if d.i >= len(d.s) || d.s[d.i] != ',' {
				return nil, d.fail("Expecting ',' delimiter", d.i)
			}
			d.i++
		}
	}
	for _, w := range []struct {
		s string
		v vm.Object
	}{{"null", vm.None}, {"true", vm.True}, {"false", vm.False}, {"NaN", vm.Float(math.NaN())}, {"Infinity", vm.Float(math.Inf(1))}, {"-Infinity", vm.Float(math.Inf(-1))}} {
		if strings.HasPrefix(d.s[d.i:], w.s) {
			d.i += len(w.s)
			if _, isF := w.v.(vm.Float); isF && d.pconst != vm.None {
				return d.in.Call(d.pconst, []vm.Object{vm.Str(w.s)}, nil)
			}
			return w.v, nil
		}
	}
	j := d.i
	if j < len(d.s) && d.s[j] == '-' {
		j++
	}
	digits := func() bool {
		k := j
		for j < len(d.s) && d.s[j] >= '0' && d.s[j] <= '9' {
			j++
		}
		return j > k
	}
	k := j
	if !digits() {
		return nil, d.fail("Expecting value", start)
	}
	if d.s[k] == '0' {
		j = k + 1
	}
	isFloat := false
	if j+1 < len(d.s) && d.s[j] == '.' && d.s[j+1] >= '0' && d.s[j+1] <= '9' {
		j++
		digits()
		isFloat = true
	}
	if j < len(d.s) && (d.s[j] == 'e' || d.s[j] == 'E') {
		save := j
		j++
		if j < len(d.s) && (d.s[j] == '+' || d.s[j] == '-') {
			j++
		}
		if digits() {
			isFloat = true
		} else {
			j = save
		}
	}
	text := d.s[start:j]
	d.i = j
	if isFloat {
		if d.pfloat != vm.None {
			return d.in.Call(d.pfloat, []vm.Object{vm.Str(text)}, nil)
		}
		f, _ := strconv.ParseFloat(text, 64)
		return vm.Float(f), nil
	}
	if d.pint != vm.None {
		return d.in.Call(d.pint, []vm.Object{vm.Str(text)}, nil)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return vm.MakeInt(n), nil
	}
	b, _ := new(big.Int).SetString(text, 10)
	return vm.MakeBig(b), nil
}

func (d *jsonDecoder) str() (string, error) {
	start := d.i
	d.i++
	var sb strings.Builder
	for {
		if d.i >= len(d.s) {
			return "", d.fail("Unterminated string starting at", start)
		}
		c := d.s[d.i]
		switch {
		case c == '"':
			d.i++
			return sb.String(), nil
		case c < 32:
			return "", d.fail("Invalid control character at", d.i)
		case c != '\\':
			sb.WriteByte(c)
			d.i++
			continue
		}
		d.i++
		if d.i >= len(d.s) {
			return "", d.fail("Unterminated string starting at", start)
		}
		e := d.s[d.i]
		d.i++
		if i := strings.IndexByte(`"\/bfnrt`, e); i >= 0 {
			sb.WriteByte("\"\\/\b\f\n\r\t"[i])
			continue
		}
		if e != 'u' {
			return "", d.fail("Invalid \\escape", d.i-2)
		}
		hex := func() (rune, bool) {
			if d.i+4 > len(d.s) {
				return 0, false
			}
			v, err := strconv.ParseUint(d.s[d.i:d.i+4], 16, 32)
			if err != nil {
				return 0, false
			}
			d.i += 4
			return rune(v), true
		}
		r, ok := hex()
		if !ok {
			return "", d.fail("Invalid \\uXXXX escape", d.i)
		}
		if r >= 0xd800 && r < 0xdc00 && strings.HasPrefix(d.s[d.i:], `\u`) {
			save := d.i
			d.i += 2
			if lo, ok := hex(); ok && lo >= 0xdc00 && lo < 0xe000 {
				r = 0x10000 + (r-0xd800)<<10 + (lo - 0xdc00)
			} else {
				d.i = save
			}
		}
		sb.WriteRune(r)
	}
}

func (d *jsonDecoder) object(depth int) (vm.Object, error) {
	d.i++
	out := vm.NewDict()
	var pairs []vm.Object
	done := func() (vm.Object, error) {
		if d.pairs != vm.None {
			return d.in.Call(d.pairs, []vm.Object{&vm.List{Items: pairs}}, nil)
		}
		if d.hook != vm.None {
			return d.in.Call(d.hook, []vm.Object{out}, nil)
		}
		return out, nil
	}
	d.space()
	if d.i < len(d.s) && d.s[d.i] == '}' {
		d.i++
		return done()
	}
	for {
		d.space()
		if d.i >= len(d.s) || d.s[d.i] != '"' {
			return nil, d.fail("Expecting property name enclosed in double quotes", d.i)
		}
		k, err := d.str()
		if err != nil {
			return nil, err
		}
		d.space()
		if d.i >= len(d.s) || d.s[d.i] != ':' {
			return nil, d.fail("Expecting ':' delimiter", d.i)
		}
		d.i++
		d.space()
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if d.pairs != vm.None {
			pairs = append(pairs, vm.NewTuple(vm.Str(k), v))
		}
		out.SetStr(k, v)
		d.space()
		if d.i < len(d.s) && d.s[d.i] == '}' {
			d.i++
			return done()
		}
		if d.i >= len(d.s) || d.s[d.i] != ',' {
			return nil, d.fail("Expecting ',' delimiter", d.i)
		}
		d.i++
	}
}
