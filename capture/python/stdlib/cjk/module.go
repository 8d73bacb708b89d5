package cjk

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// groups are the modules and the codecs that each has, by the names that getcodec knows.
var groups = map[string][]string{
	"_codecs_cn":      {"gb2312", "gbk", "gb18030", "hz"},
	"_codecs_hk":      {"big5hkscs"},
	"_codecs_jp":      {"shift_jis", "cp932", "euc_jp", "shift_jis_2004", "euc_jis_2004", "euc_jisx0213", "shift_jisx0213"},
	"_codecs_kr":      {"euc_kr", "cp949", "johab"},
	"_codecs_tw":      {"big5", "cp950"},
	"_codecs_iso2022": {"iso2022_kr", "iso2022_jp", "iso2022_jp_1", "iso2022_jp_2", "iso2022_jp_2004", "iso2022_jp_3", "iso2022_jp_ext"},
}

// Modules are the modules of this package.
var Modules = map[string]func(in *vm.Interp) (*vm.Module, error){"_multibytecodec": multibyteModule}

func init() {
	for name, codecs := range groups {
		Modules[name] = func(in *vm.Interp) (*vm.Module, error) { return codecModule(in, name, codecs) }
	}
}

func newScheme(name string) *scheme {
	switch {
	case name == "hz":
		return newHZ()
	case len(name) > 7 && name[:7] == "iso2022":
		return newISO2022(name)
	}
	return stateless(name)
}

// codecModule is a module with nothing but getcodec.
func codecModule(in *vm.Interp, name string, codecs []string) (*vm.Module, error) {
	m := in.NewModule(name, "")
	lib, err := in.Import("_multibytecodec")
	if err != nil {
		return nil, err
	}
	cls, _ := lib.Dict.GetStr("MultibyteCodec")
	clinic.Def(m, "getcodec", "encoding, /", func(c *clinic.Call) (vm.Object, error) {
		want, ok := vm.AsStr(c.Args[0])
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "encoding name must be a string.")
		}
		for _, n := range codecs {
			if n == want {
				return vm.NewInstance(cls.(*vm.Type), newScheme(n)), nil
			}
		}
		return nil, c.Errorf(c.Exc.LookupError, "no such codec is supported.")
	})
	return m, nil
}

// multibyteModule is _multibytecodec: the class of codecs, and those that read and write piece by piece.
func multibyteModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_multibytecodec", "")
	of := func(c *clinic.Call) *scheme { return c.Self.(*vm.Instance).Native.(*scheme) }
	codec := in.NewNativeType(vm.Spec{Name: "MultibyteCodec", Module: "_multibytecodec", NoDict: true, Final: true, Strict: true,
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create '_multibytecodec.MultibyteCodec' instances")
		},
		Methods: map[string]vm.GoFunc{
			"encode": clinic.Method("encode", "input, errors:str?=None", func(c *clinic.Call) (vm.Object, error) {
				text, err := textOf(c)
				if err != nil {
					return nil, err
				}
				st := of(c).start
				b, n, err := of(c).encodeAll(c.Interp, &st, text, errorsOf(c), true)
				return vm.NewTuple(vm.Bytes(b), vm.MakeInt(int64(n))), err
			}),
			"decode": clinic.Method("decode", "input:bytes, errors:str?=None", func(c *clinic.Call) (vm.Object, error) {
				st := of(c).start
				data := c.Bytes(0)
				s, _, err := of(c).decodeAll(c.Interp, &st, data, errorsOf(c), true)
				return vm.NewTuple(vm.Str(s), vm.MakeInt(int64(len(data)))), err
			}),
		}})
	m.Set("MultibyteCodec", codec)
	m.Set("MultibyteIncrementalEncoder", encoderClass(in))
	m.Set("MultibyteIncrementalDecoder", decoderClass(in))
	m.Set("MultibyteStreamReader", readerClass(in))
	m.Set("MultibyteStreamWriter", writerClass(in))
	clinic.Def(m, "__create_codec", "arg, /", func(c *clinic.Call) (vm.Object, error) {
		return nil, c.Errorf(c.Exc.ValueError, "argument type invalid")
	})
	return m, nil
}

func errorsOf(c *clinic.Call) string {
	if c.None(1) {
		return "strict"
	}
	return c.Str(1)
}

// textOf is the text that encode is given; what is no str is made one.
func textOf(c *clinic.Call) (string, error) {
	if s, ok := vm.AsStr(c.Args[0]); ok {
		return s, nil
	}
	s, err := c.Interp.Str(c.Args[0])
	if err != nil {
		return "", c.Errorf(c.Exc.TypeError, "couldn't convert the object to unicode.")
	}
	return s, nil
}

// schemeOf is the scheme of the codec that a class has as its attribute codec.
func schemeOf(in *vm.Interp, cls *vm.Type) (*scheme, error) {
	v, err := in.GetAttr(cls, "codec")
	if err != nil {
		return nil, err
	}
	if i, ok := v.(*vm.Instance); ok {
		if s, ok := i.Native.(*scheme); ok {
			return s, nil
		}
	}
	return nil, in.Errorf(in.Exc.TypeError, "codec is unexpected type")
}

// piece is what a class that works piece by piece holds: the state between pieces, and what was left of the last one.
type piece struct {
	*scheme
	st     state
	errs   string
	rest   []byte // of a decoder
	text   string // of an encoder
	stream vm.Object
}

func pieceOf(o vm.Object) *piece { return o.(*vm.Instance).Native.(*piece) }

func (p *piece) reset() { p.st, p.rest, p.text = p.start, nil, "" }

// take decodes a piece.
func (p *piece) take(in *vm.Interp, data []byte, final bool) (string, error) {
	all := append(append([]byte(nil), p.rest...), data...)
	s, n, err := p.decodeAll(in, &p.st, all, p.errs, final)
	if err != nil {
		return "", err
	}
	p.rest = all[n:]
	return s, nil
}

// give encodes a piece.
func (p *piece) give(in *vm.Interp, text string, final bool) ([]byte, error) {
	all := p.text + text
	b, n, err := p.encodeAll(in, &p.st, all, p.errs, final)
	if err != nil {
		return nil, err
	}
	p.text = wtf8.String(wtf8.Runes(all)[n:])
	return b, nil
}

// errorsAttr is the attribute errors.
func errorsAttr() *vm.GetSet {
	return &vm.GetSet{Name: "errors", Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return vm.Str(pieceOf(self).errs), nil },
		Set: func(in *vm.Interp, self, v vm.Object) error {
			if v == nil {
				return in.Errorf(in.Exc.AttributeError, "cannot delete attribute")
			}
			s, ok := vm.AsStr(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "errors must be a string")
			}
			pieceOf(self).errs = s
			return nil
		}}
}
