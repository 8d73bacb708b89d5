package pylzma

import (
	"errors"
	"math/big"

	"whittle/capture/python/clinic"
	"whittle/capture/python/stdlib/inflow"
	"whittle/capture/python/vm"
)

const (
	formatAuto  = 0
	formatXZ    = 1
	formatAlone = 2
	formatRaw   = 3
)

// numbers are the module's constants.
var numbers = map[string]uint64{"FORMAT_AUTO": formatAuto, "FORMAT_XZ": formatXZ, "FORMAT_ALONE": formatAlone, "FORMAT_RAW": formatRaw, "CHECK_NONE": checkNone,
	"CHECK_CRC32": checkCRC32, "CHECK_CRC64": checkCRC64, "CHECK_SHA256": checkSHA256, "CHECK_ID_MAX": 15, "CHECK_UNKNOWN": checkUnknown, "FILTER_LZMA1": filterLZMA1,
	"FILTER_LZMA2": filterLZMA2, "FILTER_DELTA": filterDelta, "FILTER_X86": filterX86, "FILTER_IA64": 6, "FILTER_ARM": 7, "FILTER_ARMTHUMB": 8, "FILTER_SPARC": 9, "FILTER_POWERPC": 5,
	"MF_HC3": 3, "MF_HC4": 4, "MF_BT2": 18, "MF_BT3": 19, "MF_BT4": 20, "MODE_FAST": 1, "MODE_NORMAL": 2, "PRESET_DEFAULT": 6, "PRESET_EXTREME": 1 << 31}

// module is _lzma of one interpreter.
type module struct{ failed *vm.Type }

// raise makes LZMAError of an error of decoding or encoding. What the library says of data that are wrong is not what liblzma says.
func (m *module) raise(in *vm.Interp, err error) error {
	var raised *vm.Raised
	if errors.As(err, &raised) {
		return err
	}
	for _, known := range []error{errOption, errInternal, errFormat, errMemory, errCheck, errBranch} {
		if errors.Is(err, known) {
			return in.RaiseObj(m.failed, vm.Str(err.Error()))
		}
	}
	return in.RaiseObj(m.failed, vm.Str(errCorrupt.Error()))
}

// Module makes module _lzma.
func Module(in *vm.Interp) (*vm.Module, error) {
	out := in.NewModule("_lzma", "")
	m := &module{failed: in.NewNativeType(vm.Spec{Name: "LZMAError", Module: "_lzma", Bases: []*vm.Type{in.Exc.Exception}, Doc: "Call to liblzma failed."})}
	out.Set("LZMAError", m.failed)
	for n, v := range numbers {
		out.Set(n, vm.MakeBig(new(big.Int).SetUint64(v)))
	}
	out.Set("LZMADecompressor", m.decompressorClass(in))
	out.Set("LZMACompressor", m.compressorClass(in))
	clinic.Def(out, "is_check_supported", "check_id:int, /", func(c *clinic.Call) (vm.Object, error) {
		return vm.MakeBool(c.Int(0) == checkNone || newCheck(int(c.Int(0))) != nil), nil
	})
	clinic.Def(out, "_encode_filter_properties", "filter, /", func(c *clinic.Call) (vm.Object, error) {
		f, err := readFilter(c.Interp, c.Args[0])
		if err != nil {
			return nil, m.raise(c.Interp, err)
		}
		return vm.Bytes(f.encoded()), nil
	})
	clinic.Def(out, "_decode_filter_properties", "filter_id, encoded_props:bytes, /", func(c *clinic.Call) (vm.Object, error) {
		id, err := c.IndexBig(c.Args[0])
		if err != nil {
			return nil, err
		}
		f, err := decodeFilter(id.Uint64(), c.Bytes(1))
		if err != nil {
			return nil, m.raise(c.Interp, err)
		}
		return f.dictionary(), nil
	})
	return out, nil
}

// dictionary is a filter as a program specifies it.
func (f filter) dictionary() vm.Object {
	d := vm.NewDict()
	set := func(n string, v uint64) { d.SetStr(n, vm.MakeBig(new(big.Int).SetUint64(v))) }
	set("id", f.id)
	switch {
	case f.id == filterLZMA1:
		set("dict_size", uint64(f.dict))
		set("lc", uint64(f.lc))
		set("lp", uint64(f.lp))
		set("pb", uint64(f.pb))
	case f.id == filterLZMA2:
		set("dict_size", uint64(f.dict))
	case f.id == filterDelta:
		set("dist", uint64(f.dist))
	case f.start != 0:
		set("start_offset", uint64(f.start))
	}
	return d
}

// chainOf reads a list of filters.
func chainOf(in *vm.Interp, o vm.Object) ([]filter, error) {
	n, err := in.Len(o)
	if err != nil {
		return nil, err
	}
	if n > 4 {
		return nil, in.Errorf(in.Exc.ValueError, "Too many filters - liblzma supports a maximum of 4")
	}
	var chain []filter
	for i := range n {
		v, err := in.GetItem(o, vm.MakeInt(int64(i)))
		if err != nil {
			return nil, err
		}
		f, err := readFilter(in, v)
		if err != nil {
			return nil, err
		}
		chain = append(chain, f)
	}
	return chain, nil
}

// decompressor is a stream and the check that its header names.
type decompressor struct {
	*inflow.Stream
	check int
}

func (m *module) decompressorClass(in *vm.Interp) *vm.Type {
	of := func(o vm.Object) *decompressor { return o.(*vm.Instance).Native.(*decompressor) }
	spec := inflow.Class("LZMADecompressor", "_lzma", "Already at end of stream", func(o vm.Object) *inflow.Stream { return of(o).Stream }, m.raise)
	spec.GetSet = append(spec.GetSet, &vm.GetSet{Name: "check", Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return vm.MakeInt(int64(of(self).check)), nil }})
	p := vm.NewParams("LZMADecompressor", "format=0, memlimit=None, filters=None")
	spec.New = func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := p.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		format, err := in.Index(a[0])
		if err != nil {
			return nil, err
		}
		limit := uint64(0)
		if a[1] != vm.None {
			if format == formatRaw {
				return nil, in.Errorf(in.Exc.ValueError, "Cannot specify memory limit with FORMAT_RAW")
			}
			n, err := in.Index(a[1])
			if err != nil {
				return nil, err
			}
			limit = uint64(max(n, 1))
		}
		var chain []filter
		switch {
		case format == formatRaw && a[2] == vm.None:
			return nil, in.Errorf(in.Exc.ValueError, "Must specify filters for FORMAT_RAW")
		case format != formatRaw && a[2] != vm.None:
			return nil, in.Errorf(in.Exc.ValueError, "Cannot specify filters except with FORMAT_RAW")
		case format < formatAuto || format > formatRaw:
			return nil, in.Errorf(in.Exc.ValueError, "Invalid container format: %d", format)
		case format == formatRaw:
			if chain, err = chainOf(in, a[2]); err == nil {
				err = checkChain(chain)
			}
			if err != nil {
				return nil, m.raise(in, err)
			}
		}
		return vm.NewInstance(cls, newDecompressor(int(format), limit, chain)), nil
	}
	return in.NewNativeType(spec)
}

func newDecompressor(format int, limit uint64, chain []filter) *decompressor {
	d := &decompressor{check: checkNone}
	if format == formatAuto || format == formatXZ {
		d.check = checkUnknown
	}
	d.Stream = inflow.New(func(src *inflow.Source, emit func([]byte) bool) error {
		var first []byte
		if format == formatAuto {
			b, err := src.ReadByte()
			if err != nil {
				return err
			}
			first = []byte{b}
		}
		switch {
		case format == formatRaw:
			r, err := reader(src, chain)
			if err != nil {
				return err
			}
			return copyTo(r, emit)
		case format == formatXZ || format == formatAuto && first[0] == headMagic[0]:
			x := &xzReader{src: &counted{r: src, n: uint64(len(first))}, limit: limit, known: func(kind int) { d.check = kind }}
			return x.read(first, emit)
		}
		d.check = checkNone
		return readAlone(src, first, limit, emit)
	})
	return d
}

func (m *module) compressorClass(in *vm.Interp) *vm.Type {
	of := func(c *clinic.Call) *compressor { return c.Self.(*vm.Instance).Native.(*compressor) }
	p := vm.NewParams("LZMACompressor", "format=1, check=-1, preset=None, filters=None")
	give := func(c *clinic.Call, err error) (vm.Object, error) {
		if err != nil {
			return nil, m.raise(c.Interp, err)
		}
		z := of(c)
		b := vm.Bytes(z.out.Bytes())
		z.out.Reset()
		return b, nil
	}
	return in.NewNativeType(vm.Spec{Name: "LZMACompressor", Module: "_lzma", NoDict: true, Strict: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := p.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			z, err := m.newCompressor(in, a)
			if err != nil {
				return nil, m.raise(in, err)
			}
			return vm.NewInstance(cls, z), nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil },
			"compress": clinic.Method("compress", "data:bytes, /", func(c *clinic.Call) (vm.Object, error) {
				if of(c).done {
					return nil, c.Errorf(c.Exc.ValueError, "Compressor has been flushed")
				}
				return give(c, of(c).write(c.Bytes(0), false))
			}),
			"flush": clinic.Method("flush", "", func(c *clinic.Call) (vm.Object, error) {
				if of(c).done {
					return nil, c.Errorf(c.Exc.ValueError, "Repeated call to flush()")
				}
				of(c).done = true
				return give(c, of(c).finish())
			}),
			"__reduce_ex__": inflow.Unpicklable, "__reduce__": inflow.Unpicklable,
		}})
}

// newCompressor begins a stream of the constructor's arguments.
func (m *module) newCompressor(in *vm.Interp, a []vm.Object) (*compressor, error) {
	format, err := in.Index(a[0])
	if err != nil {
		return nil, err
	}
	check, err := in.Index(a[1])
	if err != nil {
		return nil, err
	}
	if a[2] != vm.None && a[3] != vm.None {
		return nil, in.Errorf(in.Exc.ValueError, "Cannot specify both preset and filter chain")
	}
	preset := int64(6)
	if a[2] != vm.None {
		n, err := in.IndexBig(a[2])
		if err != nil {
			return nil, err
		}
		if n.Sign() < 0 {
			return nil, in.Errorf(in.Exc.OverflowError, "can't convert negative value to unsigned int")
		}
		if n.BitLen() > 32 {
			return nil, in.Errorf(in.Exc.OverflowError, "Value too large for uint32_t type")
		}
		preset = n.Int64()
	}
	if format != formatXZ && check != -1 && check != checkNone {
		return nil, in.Errorf(in.Exc.ValueError, "Integrity checks are only supported by FORMAT_XZ")
	}
	z := &compressor{format: int(format), kind: int(check)}
	if check == -1 {
		z.kind = checkCRC64
	}
	switch {
	case format != formatXZ && format != formatAlone && format != formatRaw:
		return nil, in.Errorf(in.Exc.ValueError, "Invalid container format: %d", format)
	case format == formatXZ && (z.kind < 0 || z.kind > 15):
		return nil, errInternal
	case format == formatXZ && z.kind != checkNone && newCheck(z.kind) == nil:
		return nil, errCheck
	case a[3] != vm.None:
		if z.chain, err = chainOf(in, a[3]); err != nil {
			return nil, err
		}
	case format == formatRaw:
		return nil, in.Errorf(in.Exc.ValueError, "Must specify filters for FORMAT_RAW")
	default:
		f, err := presetFilter(map[bool]uint64{true: filterLZMA1, false: filterLZMA2}[format == formatAlone], preset)
		if err != nil {
			return nil, err
		}
		z.chain = []filter{f}
	}
	return z, z.open()
}
