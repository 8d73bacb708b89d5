package pyjson

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// scanner reads values, as a decoder of json has it.
type scanner struct {
	strict                                             bool
	object, pairs, parseFloat, parseInt, parseConstant vm.Object
}

// scan is a reading of one text.
type scan struct {
	*scanner
	*text
	strs map[string]vm.Object // keys that were there, which share their memory
}

func newScanner(in *vm.Interp, ctx vm.Object) (*scanner, error) {
	s := &scanner{}
	strict, err := in.GetAttr(ctx, "strict")
	if err != nil {
		return nil, err
	}
	if s.strict, err = in.Truth(strict); err != nil {
		return nil, err
	}
	for _, a := range s.attributes() {
		if *a.to, err = in.GetAttr(ctx, a.name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// attribute is a part that is as the decoder has it.
type attribute struct {
	name string
	to   *vm.Object
}

func (s *scanner) attributes() []attribute {
	return []attribute{{"object_hook", &s.object}, {"object_pairs_hook", &s.pairs}, {"parse_float", &s.parseFloat}, {"parse_int", &s.parseInt}, {"parse_constant", &s.parseConstant}}
}

// stop is the error of a place where no value begins, which the decoder catches.
func (s *scan) stop(i int) error {
	return s.in.RaiseObj(s.in.Exc.StopIteration, vm.MakeInt(int64(s.place(i))))
}

// constants are the words, with what stands for them; parse_constant makes those without a value.
var constants = []struct {
	word  string
	value vm.Object
}{{"null", vm.None}, {"true", vm.True}, {"false", vm.False}, {"NaN", nil}, {"Infinity", nil}, {"-Infinity", nil}}

// value reads a value, and gives the place behind its end.
func (s *scan) value(i int) (v vm.Object, end int, err error) {
	if i >= len(s.s) {
		return nil, 0, s.stop(i)
	}
	nested := func(where string, f func(i int) (vm.Object, int, error)) {
		err = s.in.GuardIn(where, func() error {
			var err error
			v, end, err = f(i + 1)
			return err
		})
	}
	switch s.s[i] {
	case '"':
		t, end, err := s.text.scan(i+1, s.strict)
		return vm.Str(t), end, err
	case '{':
		nested(" while decoding a JSON object from a unicode string", s.dict)
		return v, end, err
	case '[':
		nested(" while decoding a JSON array from a unicode string", s.list)
		return v, end, err
	case 'n', 't', 'f', 'N', 'I', '-':
		for _, c := range constants {
			if !strings.HasPrefix(s.s[i:], c.word) {
				continue
			}
			if c.value == nil {
				v, err := s.in.Call(s.parseConstant, []vm.Object{vm.Str(c.word)}, nil)
				return v, i + len(c.word), err
			}
			return c.value, i + len(c.word), nil
		}
	}
	return s.number(i)
}

// space skips white space.
func (s *scan) space(i int) int {
	for i < len(s.s) && strings.IndexByte(" \t\n\r", s.s[i]) >= 0 {
		i++
	}
	return i
}

// is reports whether a character stands at a place.
func (s *scan) is(i int, c byte) bool { return i < len(s.s) && s.s[i] == c }

func (s *scan) list(i int) (vm.Object, int, error) {
	l := &vm.List{}
	i = s.space(i)
	if s.is(i, ']') {
		return l, i + 1, nil
	}
	for {
		v, end, err := s.value(i)
		if err != nil {
			return nil, 0, err
		}
		l.Items = append(l.Items, v)
		i = s.space(end)
		if s.is(i, ']') {
			return l, i + 1, nil
		}
		if !s.is(i, ',') {
			return nil, 0, s.fail("Expecting ',' delimiter", i)
		}
		i = s.space(i + 1)
	}
}

func (s *scan) dict(i int) (vm.Object, int, error) {
	d := vm.NewDict()
	pairs := &vm.List{}
	i = s.space(i)
	for first := true; !first || !s.is(i, '}'); first = false {
		if !s.is(i, '"') {
			return nil, 0, s.fail("Expecting property name enclosed in double quotes", i)
		}
		name, end, err := s.text.scan(i+1, s.strict)
		if err != nil {
			return nil, 0, err
		}
		key, ok := s.strs[name]
		if !ok {
			key = vm.Str(name)
			s.strs[name] = key
		}
		if i = s.space(end); !s.is(i, ':') {
			return nil, 0, s.fail("Expecting ':' delimiter", i)
		}
		v, end, err := s.value(s.space(i + 1))
		if err != nil {
			return nil, 0, err
		}
		if s.pairs != vm.None {
			pairs.Items = append(pairs.Items, vm.NewTuple(key, v))
		} else if err := d.Set(s.in, key, v); err != nil {
			return nil, 0, err
		}
		if i = s.space(end); s.is(i, '}') {
			break
		}
		if !s.is(i, ',') {
			return nil, 0, s.fail("Expecting ',' delimiter", i)
		}
		i = s.space(i + 1)
	}
	var v vm.Object = d
	var err error
	switch {
	case s.pairs != vm.None:
		v, err = s.in.Call(s.pairs, []vm.Object{pairs}, nil)
	case s.object != vm.None:
		v, err = s.in.Call(s.object, []vm.Object{d}, nil)
	}
	return v, i + 1, err
}

// digits skips digits.
func (s *scan) digits(i int) int {
	for i < len(s.s) && s.s[i] >= '0' && s.s[i] <= '9' {
		i++
	}
	return i
}

// number reads a number.
func (s *scan) number(start int) (vm.Object, int, error) {
	i := start
	if s.is(i, '-') {
		i++
	}
	end := s.digits(i)
	switch {
	case end == i:
		return nil, 0, s.stop(start)
	case s.s[i] == '0':
		end = i + 1
	}
	whole := true
	if s.is(end, '.') && s.digits(end+1) > end+1 {
		end, whole = s.digits(end+1), false
	}
	if s.is(end, 'e') || s.is(end, 'E') {
		at := end + 1
		if s.is(at, '+') || s.is(at, '-') {
			at++
		}
		if s.digits(at) > at {
			end, whole = s.digits(at), false
		}
	}
	v, err := s.convert(s.s[start:end], whole)
	return v, end, err
}

// convert makes a number of its digits.
func (s *scan) convert(digits string, whole bool) (vm.Object, error) {
	f := s.parseFloat
	if whole {
		f = s.parseInt
	}
	switch {
	case whole && f == vm.Object(vm.IntType):
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			return vm.MakeInt(n), nil
		}
		if len(digits) < mostDigits {
			if n, ok := new(big.Int).SetString(digits, 10); ok {
				return vm.MakeBig(n), nil
			}
		}
	case !whole && f == vm.Object(vm.FloatType):
		if v, err := strconv.ParseFloat(digits, 64); err == nil || math.IsInf(v, 0) {
			return vm.Float(v), nil
		}
	}
	return s.in.Call(f, []vm.Object{vm.Str(digits)}, nil)
}

// mostDigits is a length of numbers below which int() has no limit.
const mostDigits = 640

// makeScanner makes the class.
func makeScanner(in *vm.Interp) *vm.Type {
	of := func(o vm.Object) *scanner { return o.(*vm.Instance).Native.(*scanner) }
	params := vm.NewParams("make_scanner", "context")
	gets := []*vm.GetSet{readonly("strict", func(o vm.Object) vm.Object { return vm.MakeBool(of(o).strict) })}
	for i, a := range (&scanner{}).attributes() {
		gets = append(gets, readonly(a.name, func(o vm.Object) vm.Object { return *of(o).attributes()[i].to }))
	}
	return in.NewNativeType(vm.Spec{Name: "Scanner", Module: "_json", NoDict: true, Strict: true, GetSet: gets, Doc: "JSON scanner object",
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := params.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			s, err := newScanner(in, a[0])
			return vm.NewInstance(cls, s), err
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil },
			"__call__": clinic.Method("scan_once", "string, idx:int", func(c *clinic.Call) (vm.Object, error) {
				str, ok := vm.AsStr(c.Args[0])
				if !ok {
					return nil, c.Errorf(c.Exc.TypeError, "first argument must be a string, not %s", vm.TypeName(c.Args[0]))
				}
				if c.Int(1) < 0 {
					return nil, c.Errorf(c.Exc.ValueError, "idx cannot be negative")
				}
				s := &scan{of(c.Self), newText(c.Interp, str), map[string]vm.Object{}}
				i, ok := s.offset(int(c.Int(1)))
				if !ok {
					return nil, c.RaiseObj(c.Exc.StopIteration, c.Args[1])
				}
				v, end, err := s.value(i)
				if err != nil {
					return nil, err
				}
				return vm.NewTuple(v, vm.MakeInt(int64(s.place(end)))), nil
			}),
		}})
}

// readonly is an attribute that nobody sets.
func readonly(name string, get func(o vm.Object) vm.Object) *vm.GetSet {
	return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return get(o), nil },
		Set: func(in *vm.Interp, _, _ vm.Object) error {
			return in.Errorf(in.Exc.AttributeError, "readonly attribute")
		}}
}
