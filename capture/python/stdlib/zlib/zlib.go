package zlib

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
	"iter"
	"strconv"
	"sync"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// The module's numbers.
const (
	noFlush      = 0
	syncFlush    = 2
	fullFlush    = 3
	finish       = 4
	maxWindow    = 15
	bufferSize   = 16384
	streamEnd    = "incomplete or truncated stream"
	headerBroken = "incorrect header check"
)

// form is how the deflated data are wrapped.
type form int

const (
	rawForm form = iota
	zlibForm
	gzipForm
	anyForm // zlib or gzip, by the first byte
)

// formOf is the wrapping that a window size stands for.
func formOf(wbits int64) (form, bool) {
	switch {
	case wbits == 0 || wbits >= 8 && wbits <= maxWindow:
		return zlibForm, true
	case wbits <= -8 && wbits >= -maxWindow:
		return rawForm, true
	case wbits >= 24 && wbits <= 16+maxWindow:
		return gzipForm, true
	case wbits >= 40 && wbits <= 32+maxWindow:
		return anyForm, true
	}
	return 0, false
}

// Module makes module zlib.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("zlib", "")
	failed := in.NewNativeType(vm.Spec{Name: "error", Module: "zlib", Bases: []*vm.Type{in.Exc.Exception}})
	m.Set("error", failed)
	for n, v := range map[string]int{"MAX_WBITS": maxWindow, "DEFLATED": 8, "DEF_MEM_LEVEL": 8, "DEF_BUF_SIZE": bufferSize, "Z_BEST_SPEED": 1, "Z_BEST_COMPRESSION": 9,
		"Z_DEFAULT_COMPRESSION": -1, "Z_NO_COMPRESSION": 0, "Z_FILTERED": 1, "Z_HUFFMAN_ONLY": 2, "Z_RLE": 3, "Z_FIXED": 4, "Z_DEFAULT_STRATEGY": 0, "Z_NO_FLUSH": noFlush,
		"Z_PARTIAL_FLUSH": 1, "Z_SYNC_FLUSH": syncFlush, "Z_FULL_FLUSH": fullFlush, "Z_FINISH": finish, "Z_BLOCK": 5, "Z_TREES": 6} {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	m.Set("ZLIB_VERSION", vm.Str("1.3.1"))
	m.Set("ZLIB_RUNTIME_VERSION", vm.Str("1.3.1"))
	raise := func(c *clinic.Call, no int, doing, what string) error {
		msg := vm.Str("Error " + strconv.Itoa(no) + " while " + doing)
		if what != "" {
			msg += vm.Str(": " + what)
		}
		return c.RaiseObj(failed, msg)
	}
	clinic.Def(m, "adler32", "data:bytes, value=1, /", func(c *clinic.Call) (vm.Object, error) {
		start, err := word(c, 1)
		if err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(adlerFrom(start, c.Bytes(0)))), nil
	})
	clinic.Def(m, "crc32", "data:bytes, value=0, /", func(c *clinic.Call) (vm.Object, error) {
		start, err := word(c, 1)
		if err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(crc32.Update(start, crc32.IEEETable, c.Bytes(0)))), nil
	})
	clinic.Def(m, "compress", "data:bytes, /, level:int=-1, wbits:int=15", func(c *clinic.Call) (vm.Object, error) {
		f, ok := formOf(c.Int(2))
		if !ok || f == anyForm || c.Int(1) < -1 || c.Int(1) > 9 {
			return nil, c.RaiseObj(failed, vm.Str("Bad compression level"))
		}
		d := newDeflater(f, int(c.Int(1)), nil)
		return vm.Bytes(append(d.write(c.Bytes(0)), d.flush(finish)...)), nil
	})
	clinic.Def(m, "decompress", "data:bytes, /, wbits:int=15, bufsize:int=16384", func(c *clinic.Call) (vm.Object, error) {
		if c.Int(2) <= 0 {
			return nil, c.Errorf(c.Exc.ValueError, "bufsize must be greater than zero")
		}
		f, ok := formOf(c.Int(1))
		if !ok {
			return nil, raise(c, -2, "preparing to decompress data", "inconsistent stream state")
		}
		d := newInflater(f, nil)
		out, err := d.feed(c.Bytes(0), -1)
		d.stop()
		if err != nil {
			return nil, raise(c, err.no, "decompressing data", err.what)
		}
		if !d.eof {
			return nil, raise(c, -5, "decompressing data", streamEnd)
		}
		return vm.Bytes(out), nil
	})
	comp, decomp := compressType(in, raise), decompressType(in, raise)
	clinic.Def(m, "compressobj", "level:int=-1, method:int=8, wbits:int=15, memLevel:int=8, strategy:int=0, zdict=None", func(c *clinic.Call) (vm.Object, error) {
		f, ok := formOf(c.Int(2))
		if !ok || f == anyForm || c.Int(0) < -1 || c.Int(0) > 9 || c.Int(1) != 8 || c.Int(3) < 1 || c.Int(3) > 9 || c.Int(4) < 0 || c.Int(4) > 4 {
			return nil, c.Errorf(c.Exc.ValueError, "Invalid initialization option")
		}
		dict, err := dictOf(c, 5)
		if err != nil {
			return nil, err
		}
		return vm.NewInstance(comp, newDeflater(f, int(c.Int(0)), dict)), nil
	})
	clinic.Def(m, "decompressobj", "wbits:int=15, zdict=None", func(c *clinic.Call) (vm.Object, error) {
		f, ok := formOf(c.Int(0))
		if !ok {
			return nil, c.Errorf(c.Exc.ValueError, "Invalid initialization option")
		}
		dict, err := dictOf(c, 1)
		if err != nil {
			return nil, err
		}
		return vm.NewInstance(decomp, newInflater(f, dict)), nil
	})
	return m, nil
}

// word is an argument's lowest 32 bits.
func word(c *clinic.Call, i int) (uint32, error) {
	b, err := c.IndexBig(c.Args[i])
	if err != nil {
		return 0, err
	}
	var w uint32
	for k := range 32 {
		w |= uint32(b.Bit(k)) << k
	}
	return w, nil
}

// dictOf is a preset dictionary.
func dictOf(c *clinic.Call, i int) ([]byte, error) {
	if c.None(i) {
		return nil, nil
	}
	b, ok := vm.AsBytes(c.Args[i])
	if !ok {
		return nil, c.Errorf(c.Exc.TypeError, "zdict argument must support the buffer protocol")
	}
	return bytes.Clone(b), nil
}

// adlerFrom goes on with a checksum, which Go's package begins anew each time: RFC 1950, section 8.2.
func adlerFrom(start uint32, data []byte) uint32 {
	const mod = 65521
	a, b := start&0xffff, start>>16
	for len(data) > 0 {
		n := min(len(data), 5552)
		for _, c := range data[:n] {
			a += uint32(c)
			b += a
		}
		a, b = a%mod, b%mod
		data = data[n:]
	}
	return b<<16 | a
}

// deflater compresses a stream.
type deflater struct {
	form   form
	level  int
	dict   []byte
	w      *flate.Writer
	out    bytes.Buffer
	sum    hash.Hash32
	size   uint32
	opened bool
	done   bool
	fed    []byte // everything so far, for copies
}

// writers are writers that have done their work, by level from -1: each has a megabyte of tables, which costs more than a short text.
var writers [11]sync.Pool

// newWriter is a writer of flate's, an old one if there is one. The level is from -1 to 9.
func newWriter(to io.Writer, level int, dict []byte) *flate.Writer {
	if dict == nil {
		if w, ok := writers[level+1].Get().(*flate.Writer); ok {
			w.Reset(to)
			return w
		}
	}
	w, _ := flate.NewWriterDict(to, level, dict)
	return w
}

func newDeflater(f form, level int, dict []byte) *deflater {
	d := &deflater{form: f, level: level, dict: dict}
	d.w = newWriter(&d.out, level, dict)
	if f == gzipForm {
		d.sum = crc32.NewIEEE()
	} else {
		d.sum = adler32.New()
	}
	return d
}

// open writes what stands in front of the data: RFC 1950 and RFC 1952, sections 2.2 and 2.3.
func (d *deflater) open() {
	if d.opened {
		return
	}
	d.opened = true
	speed := byte(2)
	switch {
	case d.level == 0 || d.level == 1:
		speed = 0
	case d.level >= 2 && d.level <= 5:
		speed = 1
	case d.level >= 7:
		speed = 3
	}
	switch d.form {
	case zlibForm:
		flags := speed << 6
		if d.dict != nil {
			flags |= 0x20
		}
		head := uint16(0x78)<<8 | uint16(flags)
		if r := head % 31; r != 0 {
			head += 31 - r
		}
		d.out.Write(binary.BigEndian.AppendUint16(nil, head))
		if d.dict != nil {
			d.out.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(d.dict)))
		}
	case gzipForm:
		extra := byte(0)
		if d.level == 9 {
			extra = 2
		} else if d.level == 1 {
			extra = 4
		}
		d.out.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, extra, 3})
	}
}

// take gives what has been written since the last time.
func (d *deflater) take() []byte {
	b := bytes.Clone(d.out.Bytes())
	d.out.Reset()
	return b
}

func (d *deflater) write(data []byte) []byte {
	d.open()
	d.fed = append(d.fed, data...)
	d.sum.Write(data)
	d.size += uint32(len(data))
	_, _ = d.w.Write(data) // into memory
	return d.take()
}

func (d *deflater) flush(mode int64) []byte {
	if mode == noFlush {
		return nil
	}
	d.open()
	if mode != finish {
		_ = d.w.Flush()
		return d.take()
	}
	_ = d.w.Close()
	d.done = true
	if d.dict == nil {
		d.w.Reset(nil)
		writers[d.level+1].Put(d.w)
		d.w = nil
	}
	switch d.form {
	case zlibForm:
		d.out.Write(binary.BigEndian.AppendUint32(nil, d.sum.Sum32()))
	case gzipForm:
		d.out.Write(binary.LittleEndian.AppendUint32(nil, d.sum.Sum32()))
		d.out.Write(binary.LittleEndian.AppendUint32(nil, d.size))
	}
	return d.take()
}

// inflateError is what is wrong with a stream: a number of zlib's and a text.
type inflateError struct {
	no   int
	what string
}

// inflater decompresses a stream of which parts come one after the other. Go's reader asks for bytes; it runs as a coroutine, which gives
// way where there are none yet.
type inflater struct {
	form   form
	dict   []byte
	in     []byte // what has come and was not read
	next   func() ([]byte, bool)
	stop   func()
	failed *inflateError
	ready  []byte // decompressed, and not taken yet
	eof    bool
	unused []byte
	tail   []byte // what was left when the output was full
	fed    []byte
}

func newInflater(f form, dict []byte) *inflater {
	d := &inflater{form: f, dict: dict}
	d.next, d.stop = iter.Pull(d.run)
	return d
}

// source is the inflater's input as the reader sees it: byte by byte, so that nothing behind the stream is read.
type source struct {
	d     *inflater
	yield func([]byte) bool
}

var errStopped = errors.New("stopped")

func (s *source) ReadByte() (byte, error) {
	for len(s.d.in) == 0 {
		if !s.yield(nil) {
			return 0, errStopped
		}
	}
	b := s.d.in[0]
	s.d.in = s.d.in[1:]
	return b, nil
}

func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := s.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	n := 1 + copy(p[1:], s.d.in)
	s.d.in = s.d.in[n-1:]
	return n, nil
}

// bytes reads exactly n bytes.
func (s *source) bytes(n int) ([]byte, bool) {
	out := make([]byte, n)
	for i := range out {
		b, err := s.ReadByte()
		if err != nil {
			return nil, false
		}
		out[i] = b
	}
	return out, true
}

// run reads the stream and yields what it holds; nil where more input is wanted.
func (d *inflater) run(yield func([]byte) bool) {
	s := &source{d, yield}
	f, ok := d.header(s)
	if !ok {
		return
	}
	r := flate.NewReaderDict(s, d.dict)
	var sum hash.Hash32 = adler32.New()
	if f == gzipForm {
		sum = crc32.NewIEEE()
	}
	size := uint32(0)
	for {
		buf := make([]byte, bufferSize)
		n, err := r.Read(buf)
		sum.Write(buf[:n])
		size += uint32(n)
		if n > 0 && !yield(buf[:n]) {
			return
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			if !errors.Is(err, errStopped) {
				d.failed = &inflateError{-3, "invalid block type"}
			}
			return
		}
	}
	switch f {
	case zlibForm:
		b, ok := s.bytes(4)
		if !ok {
			return
		}
		if binary.BigEndian.Uint32(b) != sum.Sum32() {
			d.failed = &inflateError{-3, "incorrect data check"}
			return
		}
	case gzipForm:
		b, ok := s.bytes(8)
		if !ok {
			return
		}
		if binary.LittleEndian.Uint32(b) != sum.Sum32() {
			d.failed = &inflateError{-3, "incorrect data check"}
			return
		}
		if binary.LittleEndian.Uint32(b[4:]) != size {
			d.failed = &inflateError{-3, "incorrect length check"}
			return
		}
	}
	d.eof = true
}

// header reads what stands in front of the data.
func (d *inflater) header(s *source) (form, bool) {
	bad := func(what string) (form, bool) {
		d.failed = &inflateError{-3, what}
		return 0, false
	}
	if d.form == rawForm {
		return rawForm, true
	}
	b, ok := s.bytes(2)
	if !ok {
		return 0, false
	}
	f := d.form
	if f == anyForm {
		f = zlibForm
		if b[0] == 0x1f && b[1] == 0x8b {
			f = gzipForm
		}
	}
	if f == zlibForm {
		switch {
		case (uint16(b[0])<<8|uint16(b[1]))%31 != 0:
			return bad(headerBroken)
		case b[0]&0xf != 8:
			return bad("unknown compression method")
		case b[0]>>4 > 7:
			return bad("invalid window size")
		}
		if b[1]&0x20 != 0 {
			id, ok := s.bytes(4)
			if !ok {
				return 0, false
			}
			if d.dict == nil {
				d.failed = &inflateError{2, ""}
				return 0, false
			}
			if binary.BigEndian.Uint32(id) != adler32.Checksum(d.dict) {
				return bad("incorrect data check")
			}
		} else {
			d.dict = nil
		}
		return f, true
	}
	if b[0] != 0x1f || b[1] != 0x8b {
		return bad(headerBroken)
	}
	return f, d.gzipHeader(s)
}

// gzipHeader reads the rest of a header of gzip: RFC 1952, section 2.3.
func (d *inflater) gzipHeader(s *source) bool {
	b, ok := s.bytes(8)
	if !ok {
		return false
	}
	if b[0] != 8 {
		d.failed = &inflateError{-3, "unknown compression method"}
		return false
	}
	flags := b[1]
	if flags&4 != 0 {
		n, ok := s.bytes(2)
		if !ok {
			return false
		}
		if _, ok = s.bytes(int(binary.LittleEndian.Uint16(n))); !ok {
			return false
		}
	}
	for _, bit := range []byte{8, 16} { // the name and the comment
		for flags&bit != 0 {
			c, err := s.ReadByte()
			if err != nil {
				return false
			}
			if c == 0 {
				break
			}
		}
	}
	if flags&2 != 0 {
		_, ok = s.bytes(2)
	}
	return ok
}

// feed decompresses more data, up to most bytes, or all of it if that is negative.
func (d *inflater) feed(data []byte, most int) ([]byte, *inflateError) {
	d.fed = append(d.fed, data...)
	if d.eof {
		d.unused = append(d.unused, data...)
		return nil, nil
	}
	d.in = append(d.in, data...)
	out := d.ready
	d.ready = nil
	for (most < 0 || len(out) < most) && d.failed == nil && !d.eof {
		b, ok := d.next()
		if !ok || b == nil {
			break
		}
		out = append(out, b...)
	}
	if d.failed != nil {
		return out, d.failed
	}
	if d.eof {
		d.unused = append(d.unused, d.in...)
		d.in = nil
	}
	d.tail = nil
	if most >= 0 && len(out) > most {
		out, d.ready = out[:most:most], bytes.Clone(out[most:])
	}
	if most >= 0 && len(out) == most && !d.eof {
		d.tail, d.in = d.in, nil
	}
	return out, nil
}
