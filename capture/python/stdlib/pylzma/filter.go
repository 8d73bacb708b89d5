package pylzma

import (
	"encoding/binary"
	"io"

	"github.com/ulikunitz/xz/lzma"

	"whittle/capture/python/vm"
)

// Numbers of filters.
const (
	filterLZMA1 = 0x4000000000000001
	filterLZMA2 = 0x21
	filterDelta = 3
)

// branchFilters are those that convert the jumps of machine code.
var branchFilters = map[uint64]bool{4: true, 5: true, 6: true, 7: true, 8: true, 9: true}

// filter is a step of a chain, with the options that it has.
type filter struct {
	id         uint64
	dict       uint32
	lc, lp, pb int
	dist       int
	start      uint32
}

// presetDict are the sizes of the dictionary by preset, as powers of two.
var presetDict = [...]uint{18, 20, 21, 22, 22, 23, 23, 24, 25, 26}

// presetFilter is an LZMA filter of a preset.
func presetFilter(id uint64, preset int64) (filter, error) {
	n := preset &^ (1 << 31)
	if n < 0 || n > 9 {
		return filter{}, errOption
	}
	return filter{id: id, dict: 1 << presetDict[n], lc: 3, pb: 2}, nil
}

// readFilter reads a filter specifier.
func readFilter(in *vm.Interp, o vm.Object) (filter, error) {
	if o.Type().Lookup("__getitem__") == nil || o.Type().Lookup("keys") == nil {
		return filter{}, in.Errorf(in.Exc.TypeError, "Filter specifier must be a dict or dict-like object")
	}
	opts := map[string]uint64{}
	keys, err := in.IterAll(o)
	if err != nil {
		return filter{}, err
	}
	for _, k := range keys {
		v, err := in.GetItem(o, k)
		if err != nil {
			return filter{}, err
		}
		n, err := in.IndexBig(v)
		if err != nil {
			return filter{}, err
		}
		if n.Sign() < 0 {
			return filter{}, in.Errorf(in.Exc.OverflowError, "can't convert negative int to unsigned")
		}
		if !n.IsUint64() {
			return filter{}, in.Errorf(in.Exc.OverflowError, "int too big to convert")
		}
		name, _ := vm.AsStr(k)
		opts[name] = n.Uint64()
	}
	id, ok := opts["id"]
	if !ok {
		return filter{}, in.Errorf(in.Exc.ValueError, "Filter specifier must have an \"id\" entry")
	}
	delete(opts, "id")
	switch {
	case id == filterLZMA1 || id == filterLZMA2:
		return lzmaFilter(in, id, opts)
	case id == filterDelta:
		f := filter{id: id, dist: 1}
		if d, ok := take(opts, "dist"); ok {
			f.dist = int(d)
		}
		if len(opts) > 0 {
			return f, in.Errorf(in.Exc.ValueError, "Invalid filter specifier for delta filter")
		}
		return f, nil
	case branchFilters[id]:
		s, _ := take(opts, "start_offset")
		if len(opts) > 0 {
			return filter{}, in.Errorf(in.Exc.ValueError, "Invalid filter specifier for BCJ filter")
		}
		return filter{id: id, start: uint32(s)}, nil
	}
	return filter{}, in.Errorf(in.Exc.ValueError, "Invalid filter ID: %d", id)
}

func take(opts map[string]uint64, name string) (uint64, bool) {
	v, ok := opts[name]
	delete(opts, name)
	return v, ok
}

// lzmaFilter reads the options of LZMA1 or LZMA2.
func lzmaFilter(in *vm.Interp, id uint64, opts map[string]uint64) (filter, error) {
	preset, ok := take(opts, "preset")
	if !ok {
		preset = 6
	}
	f, err := presetFilter(id, int64(preset))
	if err != nil {
		return f, err
	}
	if v, ok := take(opts, "dict_size"); ok {
		f.dict = uint32(v)
	}
	for name, p := range map[string]*int{"lc": &f.lc, "lp": &f.lp, "pb": &f.pb} {
		if v, ok := take(opts, name); ok {
			*p = int(v)
		}
	}
	for _, name := range []string{"mode", "nice_len", "mf", "depth"} { // how hard to search, which is the library's affair
		take(opts, name)
	}
	if len(opts) > 0 {
		return f, in.Errorf(in.Exc.ValueError, "Invalid filter specifier for LZMA filter")
	}
	return f, nil
}

// checkChain refuses a chain that cannot be.
func checkChain(chain []filter) error {
	if len(chain) == 0 || len(chain) > 4 {
		return errInternal
	}
	for i, f := range chain {
		last := i == len(chain)-1
		if lz := f.id == filterLZMA1 || f.id == filterLZMA2; lz != last {
			return errOption
		}
		if f.id == filterDelta && (f.dist < 1 || f.dist > 256) {
			return errOption
		}
		if branchFilters[f.id] && f.id != filterX86 {
			return errBranch
		}
		if last && (f.lc+f.lp > 4 || f.pb > 4 || f.dict < lzma.MinDictCap && f.id == filterLZMA1 && f.dict != 0) {
			return errOption
		}
	}
	return nil
}

func (f filter) properties() *lzma.Properties { return &lzma.Properties{LC: f.lc, LP: f.lp, PB: f.pb} }

func (f filter) dictCap() int { return int(max(f.dict, lzma.MinDictCap)) }

// encoded are the options as containers have them.
func (f filter) encoded() []byte {
	switch {
	case f.id == filterLZMA1:
		return binary.LittleEndian.AppendUint32([]byte{byte((f.pb*5+f.lp)*9 + f.lc)}, f.dict)
	case f.id == filterLZMA2:
		return []byte{lzma.EncodeDictCap(int64(f.dict))}
	case f.id == filterDelta:
		return []byte{byte(f.dist - 1)}
	case f.start != 0:
		return binary.LittleEndian.AppendUint32(nil, f.start)
	}
	return nil
}

// decodeFilter reads the options as containers have them.
func decodeFilter(id uint64, props []byte) (filter, error) {
	f := filter{id: id, lc: 3, pb: 2}
	switch {
	case id == filterLZMA1 && len(props) == 5 && props[0] < 225:
		n := int(props[0])
		f.lc, f.lp, f.pb = n%9, n/9%5, n/45
		f.dict = binary.LittleEndian.Uint32(props[1:])
		if f.lc+f.lp > 4 {
			return f, errOption
		}
		return f, nil
	case id == filterLZMA2 && len(props) == 1:
		n, err := lzma.DecodeDictCap(props[0])
		if err != nil {
			return f, errOption
		}
		f.dict = uint32(n)
		return f, nil
	case id == filterDelta && len(props) == 1:
		f.dist = int(props[0]) + 1
		return f, nil
	case branchFilters[id] && len(props) == 0:
		return f, nil
	case branchFilters[id] && len(props) == 4:
		f.start = binary.LittleEndian.Uint32(props)
		return f, nil
	}
	return f, errOption
}

// reader decodes what src has been put through, the last filter first.
func reader(src io.Reader, chain []filter) (io.Reader, error) {
	if err := checkChain(chain); err != nil {
		return nil, err
	}
	last := chain[len(chain)-1]
	var r io.Reader
	var err error
	if last.id == filterLZMA2 {
		r, err = lzma.Reader2Config{DictCap: last.dictCap()}.NewReader2(src)
	} else {
		head := append(last.encoded(), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
		r, err = lzma.NewReader(&headed{head, src})
	}
	if err != nil {
		return nil, err
	}
	for i := len(chain) - 2; i >= 0; i-- {
		if f := chain[i]; f.id == filterDelta {
			r = &deltaReader{r: r, delta: delta{dist: f.dist}}
		} else {
			r = &branchReader{r: r, x86: x86{at: f.start}}
		}
	}
	return r, nil
}

// headed reads a header first and never more of the source than was asked for.
type headed struct {
	head []byte
	src  io.Reader
}

// Read implements io.Reader.
func (h *headed) Read(p []byte) (int, error) {
	if len(h.head) > 0 {
		n := copy(p, h.head)
		h.head = h.head[n:]
		return n, nil
	}
	return h.src.Read(p)
}

// delta is the filter that keeps differences from what was dist bytes before.
type delta struct {
	dist int
	past [256]byte
	at   byte
}

func (d *delta) decode(p []byte) {
	for i := range p {
		p[i] += d.past[byte(d.dist+int(d.at))]
		d.past[d.at] = p[i]
		d.at--
	}
}

func (d *delta) encode(p []byte) {
	for i, c := range p {
		p[i] = c - d.past[byte(d.dist+int(d.at))]
		d.past[d.at] = c
		d.at--
	}
}

type deltaReader struct {
	r io.Reader
	delta
}

// Read implements io.Reader.
func (d *deltaReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.decode(p[:n])
	return n, err
}
