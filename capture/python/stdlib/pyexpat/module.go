package pyexpat

import (
	"errors"
	"fmt"
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// module is pyexpat of one interpreter.
type module struct {
	failed, parser *vm.Type
}

// Module makes module pyexpat.
func Module(in *vm.Interp) (*vm.Module, error) {
	out := in.NewModule("pyexpat", "Python wrapper for Expat parser.")
	m := &module{failed: in.NewNativeType(vm.Spec{Name: "ExpatError", Module: "xml.parsers.expat", Bases: []*vm.Type{in.Exc.Exception}})}
	m.parser = m.parserClass(in)
	out.Set("ExpatError", m.failed)
	out.Set("error", m.failed)
	out.Set("XMLParserType", m.parser)
	out.Set("native_encoding", vm.Str("UTF-8"))
	out.Set("EXPAT_VERSION", vm.Str("expat_2.6.3"))
	number := func(n int) vm.Object { return vm.MakeInt(int64(n)) }
	out.Set("version_info", vm.NewTuple(number(2), number(6), number(3)))
	var features []vm.Object
	for _, f := range []struct {
		name string
		n    int
	}{{"sizeof(XML_Char)", 1}, {"sizeof(XML_LChar)", 1}, {"XML_DTD", 0}, {"XML_NS", 0}} {
		features = append(features, vm.NewTuple(vm.Str(f.name), number(f.n)))
	}
	out.Set("features", vm.NewList(features...))
	for i, n := range []string{"NEVER", "UNLESS_STANDALONE", "ALWAYS"} {
		out.Set("XML_PARAM_ENTITY_PARSING_"+n, number(i))
	}
	m.errorModule(in, out)
	model := in.NewModule("pyexpat.model", "Constants used to interpret content model information.")
	for n, v := range map[string]int{"CTYPE_EMPTY": modelEmpty, "CTYPE_ANY": modelAny, "CTYPE_MIXED": modelMixed, "CTYPE_NAME": modelName, "CTYPE_CHOICE": modelChoice,
		"CTYPE_SEQ": modelSeq, "CQUANT_NONE": once, "CQUANT_OPT": optional, "CQUANT_REP": repeated, "CQUANT_PLUS": plus} {
		model.Set("XML_"+n, number(v))
	}
	out.Set("model", model)
	in.Modules.SetStr("pyexpat.model", model)
	clinic.Def(out, "ErrorString", "code:int, /", func(c *clinic.Call) (vm.Object, error) {
		if n := c.Int(0); n > 0 && n < int64(len(faults)) {
			return vm.Str(faults[n][1]), nil
		}
		return vm.None, nil
	})
	clinic.Def(out, "ParserCreate", "encoding=None, namespace_separator=None, intern=None", m.create)
	return out, nil
}

// errorModule is pyexpat.errors.
func (m *module) errorModule(in *vm.Interp, out *vm.Module) {
	errs := in.NewModule("pyexpat.errors", "Constants used to describe error conditions.")
	codes, messages := vm.NewDict(), vm.NewDict()
	for i, f := range faults[1:] {
		errs.Set("XML_ERROR_"+f[0], vm.Str(f[1]))
		codes.SetStr(f[1], vm.MakeInt(int64(i+1)))
		_ = in.SetItem(messages, vm.MakeInt(int64(i+1)), vm.Str(f[1]))
	}
	errs.Set("codes", codes)
	errs.Set("messages", messages)
	out.Set("errors", errs)
	in.Modules.SetStr("pyexpat.errors", errs)
}

// create is ParserCreate.
func (m *module) create(c *clinic.Call) (vm.Object, error) {
	text := func(i int, name string) (string, error) {
		s, ok := vm.AsStr(c.Args[i])
		if !ok && !c.None(i) {
			return "", c.Errorf(c.Exc.TypeError, "ParserCreate() argument '%s' must be str or None, not %s", name, vm.ArgName(c.Args[i]))
		}
		return s, nil
	}
	enc, err := text(0, "encoding")
	if err != nil {
		return nil, err
	}
	sep, err := text(1, "namespace_separator")
	if err != nil {
		return nil, err
	}
	if len(sep) > 1 {
		return nil, c.Errorf(c.Exc.ValueError, "namespace_separator must be at most one character, omitted, or None")
	}
	p := &parser{handlers: &handlers{vmIn: c.Interp, size: 8192}, in: c.Interp, dtd: newDTD(), sep: sep, spaces: !c.None(1), base: vm.None}
	p.encoding = enc
	switch d, ok := vm.AsDict(c.Args[2]); {
	case ok:
		p.interned = d
	case c.None(2):
		p.interned = vm.NewDict()
	default:
		return nil, c.Errorf(c.Exc.TypeError, "intern must be a dictionary")
	}
	return vm.NewInstance(m.parser, p), nil
}

// raise makes ExpatError of what is wrong.
func (m *module) raise(in *vm.Interp, p *parser, err error) error {
	var prob *problem
	if !errors.As(err, &prob) {
		return err
	}
	line, col, _ := p.where(prob.at)
	err = in.RaiseObj(m.failed, vm.Str(fmt.Sprintf("%s: line %d, column %d", prob.Error(), line+1, col)))
	var r *vm.Raised
	if errors.As(err, &r) {
		for n, v := range map[string]int{"code": int(prob.fault), "lineno": line + 1, "offset": col} {
			if err := in.SetAttr(r.Exc, n, vm.MakeInt(int64(v))); err != nil {
				return err
			}
		}
	}
	return err
}

// parse is Parse.
func (m *module) parse(in *vm.Interp, p *parser, data []byte, final bool) (vm.Object, error) {
	p.started = true
	err := error(nil)
	if p.done {
		err = wrong(finished, 0)
	}
	if err == nil && p.encoding != "" && p.offset == 0 && len(p.raw) == 0 {
		err = usable(in, p.encoding)
	}
	if err == nil {
		err = p.feed(data, final)
	}
	if err == nil {
		err = p.run(final)
	}
	if err != nil {
		var prob *problem
		if errors.As(err, &prob) {
			p.last, p.done = *prob, true
			if flushed := p.flush(); flushed != nil {
				return nil, flushed
			}
		}
		return nil, m.raise(in, p, err)
	}
	p.done = final
	return vm.MakeInt(1), p.flush()
}

// parserClass is the class of parsers.
func (m *module) parserClass(in *vm.Interp) *vm.Type {
	of := func(o vm.Object) *parser { return o.(*vm.Instance).Native.(*parser) }
	spec := vm.Spec{Name: "xmlparser", Module: "pyexpat", Doc: "XML parser", NoDict: true, Final: true, Strict: true, Methods: m.methods(of),
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create 'pyexpat.xmlparser' instances")
		}}
	for i, n := range handlerNames {
		spec.GetSet = append(spec.GetSet, &vm.GetSet{Name: n,
			Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) {
				if f := of(self).fn[i]; f != nil {
					return f, nil
				}
				return vm.None, nil
			},
			Set: func(in *vm.Interp, self, v vm.Object) error {
				p := of(self)
				if v == nil {
					return in.Errorf(in.Exc.RuntimeError, "Cannot delete attribute")
				}
				if i == characterHandler {
					if err := p.flush(); err != nil {
						return err
					}
				}
				if p.fn[i] = v; v == vm.None {
					p.fn[i] = nil
				}
				return nil
			}})
	}
	spec.GetSet = append(spec.GetSet, flags(of)...)
	spec.GetSet = append(spec.GetSet, places(of)...)
	return in.NewNativeType(spec)
}

// flags are the attributes that change how a parser works.
func flags(of func(o vm.Object) *parser) (out []*vm.GetSet) {
	for name, field := range map[string]func(p *parser) *bool{"buffer_text": func(p *parser) *bool { return &p.buffered }, "ordered_attributes": func(p *parser) *bool { return &p.ordered },
		"specified_attributes": func(p *parser) *bool { return &p.given }, "namespace_prefixes": func(p *parser) *bool { return &p.triplets }} {
		out = append(out, &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return vm.MakeBool(*field(of(self))), nil },
			Set: func(in *vm.Interp, self, v vm.Object) error {
				if v == nil {
					return in.Errorf(in.Exc.RuntimeError, "Cannot delete attribute")
				}
				on, err := in.Truth(v)
				if err != nil {
					return err
				}
				if *field(of(self)) = on; name == "buffer_text" && !on {
					return of(self).flush()
				}
				return nil
			}})
	}
	return append(out, &vm.GetSet{Name: "buffer_size", Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return vm.MakeInt(int64(of(self).size)), nil },
		Set: func(in *vm.Interp, self, v vm.Object) error {
			if v == nil {
				return in.Errorf(in.Exc.RuntimeError, "Cannot delete attribute")
			}
			b, ok := vm.AsBig(v)
			switch {
			case !ok:
				return in.Errorf(in.Exc.TypeError, "buffer_size must be an integer")
			case b.Sign() <= 0:
				return in.Errorf(in.Exc.ValueError, "buffer_size must be greater than zero")
			case b.BitLen() > 31:
				return in.Errorf(in.Exc.ValueError, "buffer_size must not be greater than 2147483647")
			}
			p := of(self)
			p.size = int(b.Int64())
			return p.flush()
		}})
}

// places are the attributes that say where a parser is, and where it failed.
func places(of func(o vm.Object) *parser) (out []*vm.GetSet) {
	get := func(name string, f func(p *parser) int) {
		out = append(out, &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return vm.MakeInt(int64(f(of(self)))), nil }})
	}
	for _, kind := range []string{"Current", "Error"} {
		get(kind+"LineNumber", func(p *parser) int { l, _, _ := p.where(p.last.at); return l + 1 })
		get(kind+"ColumnNumber", func(p *parser) int { _, c, _ := p.where(p.last.at); return c })
		get(kind+"ByteIndex", func(p *parser) int {
			if !p.started {
				return -1
			}
			_, _, o := p.where(p.last.at)
			return o
		})
	}
	get("ErrorCode", func(p *parser) int { return int(p.last.fault) })
	get("buffer_used", func(p *parser) int { return p.waiting.Len() })
	return append(out, &vm.GetSet{Name: "intern", Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) {
		if d := of(self).interned; d != nil {
			return d, nil
		}
		return vm.None, nil
	}})
}

func (m *module) methods(of func(o vm.Object) *parser) map[string]vm.GoFunc {
	return map[string]vm.GoFunc{
		"Parse": clinic.Method("Parse", "data, isfinal:bool=False, /", func(c *clinic.Call) (vm.Object, error) {
			p := of(c.Self)
			b, ok := vm.AsBytes(c.Args[0])
			if s, isStr := vm.AsStr(c.Args[0]); isStr {
				raw, err := c.Encode(s, "utf-8", "strict")
				if err != nil {
					return nil, err
				}
				b, p.encoding = raw, "utf-8"
			} else if !ok {
				return nil, c.Errorf(c.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(c.Args[0]))
			}
			return m.parse(c.Interp, p, slices.Clone(b), c.Bool(1))
		}),
		"ParseFile": clinic.Method("ParseFile", "file, /", func(c *clinic.Call) (vm.Object, error) {
			read, err := c.GetAttrOpt(c.Args[0], "read")
			if err != nil {
				return nil, err
			}
			if read == nil {
				return nil, c.Errorf(c.Exc.TypeError, "argument must have 'read' attribute")
			}
			for {
				v, err := c.Interp.Call(read, []vm.Object{vm.MakeInt(2048)}, nil)
				if err != nil {
					return nil, err
				}
				b, ok := vm.AsBytes(v)
				if !ok {
					return nil, c.Errorf(c.Exc.TypeError, "read() did not return a bytes object (type=%s)", vm.TypeName(v))
				}
				if len(b) > 2048 {
					return nil, c.Errorf(c.Exc.ValueError, "read() returned too much data: %d bytes requested, %d returned", 2048, len(b))
				}
				r, err := m.parse(c.Interp, of(c.Self), slices.Clone(b), len(b) == 0)
				if err != nil || len(b) == 0 {
					return r, err
				}
			}
		}),
		"SetBase": clinic.Method("SetBase", "base:str, /", func(c *clinic.Call) (vm.Object, error) {
			of(c.Self).base = vm.Str(c.Str(0))
			return vm.None, nil
		}),
		"GetBase": clinic.Method("GetBase", "", func(c *clinic.Call) (vm.Object, error) { return of(c.Self).base, nil }),
		"GetInputContext": clinic.Method("GetInputContext", "", func(c *clinic.Call) (vm.Object, error) {
			p := of(c.Self)
			if !p.started || p.done {
				return vm.None, nil
			}
			return vm.Bytes(p.buf[p.pos:]), nil
		}),
		"SetParamEntityParsing": clinic.Method("SetParamEntityParsing", "flag:int, /", func(c *clinic.Call) (vm.Object, error) {
			of(c.Self).dtd.parameters = int(c.Int(0))
			return vm.MakeInt(1), nil
		}),
		"UseForeignDTD": clinic.Method("UseForeignDTD", "flag:bool=True, /", func(c *clinic.Call) (vm.Object, error) {
			p := of(c.Self)
			if p.started {
				return nil, m.raise(c.Interp, p, wrong(26, 0))
			}
			p.dtd.foreign = c.Bool(0)
			return vm.None, nil
		}),
		"ExternalEntityParserCreate": clinic.Method("ExternalEntityParserCreate", "context, encoding:str?=None, /", func(c *clinic.Call) (vm.Object, error) {
			p := of(c.Self)
			h := &handlers{vmIn: c.Interp, fn: p.fn, buffered: p.buffered, size: p.size, interned: p.interned}
			n := &parser{handlers: h, in: c.Interp, dtd: p.dtd, external: true, bound: slices.Clone(p.bound), sep: p.sep, spaces: p.spaces, triplets: p.triplets, ordered: p.ordered,
				given: p.given, base: p.base, opening: slices.Clone(p.opening)}
			n.encoding = c.Str(1)
			if c.None(0) {
				d := *p.dtd
				d.outer = true
				n.dtd = &d
			}
			return vm.NewInstance(m.parser, n), nil
		}),
	}
}
