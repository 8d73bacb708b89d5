package pystruct

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"whittle/capture/python/vm"
)

// run is a code of a format with its count. Of "s" and "p" the count is the size of the one item.
type run struct {
	code   *code
	offset int
	n      int
}

// values is how many values the run takes.
func (r run) values() int {
	switch r.code.letter {
	case 's', 'p':
		return 1
	}
	return r.n
}

// layout is a format, read.
type layout struct {
	format string
	order  binary.ByteOrder
	runs   []run
	size   int
	values int
}

// parse reads a format.
func (s *state) parse(format string) (*layout, error) {
	if strings.IndexByte(format, 0) >= 0 {
		return nil, s.fail("embedded null character")
	}
	l := &layout{format: format, order: binary.LittleEndian}
	codes := &native
	f := format
	if f != "" {
		switch f[0] {
		case '<', '=':
			codes, f = &standard, f[1:]
		case '>', '!':
			l.order, codes, f = binary.BigEndian, &standard, f[1:]
		case '@':
			f = f[1:]
		}
	}
	for f != "" {
		if strings.IndexByte(" \t\n\r\v\f", f[0]) >= 0 {
			f = f[1:]
			continue
		}
		n, rest, ok := count(f)
		if !ok {
			return nil, s.tooLong()
		}
		if rest == "" {
			return nil, s.fail("repeat count given without format specifier")
		}
		if rest[0] >= 128 || codes[rest[0]] == nil {
			return nil, s.fail("bad char in struct format")
		}
		if !l.add(codes[rest[0]], n) {
			return nil, s.tooLong()
		}
		f = rest[1:]
	}
	return l, nil
}

func (s *state) tooLong() error { return s.fail("total struct size too long") }

// count reads the digits before a code.
func count(f string) (n int, rest string, ok bool) {
	if f[0] < '0' || f[0] > '9' {
		return 1, f, true
	}
	i := 0
	for ; i < len(f) && f[i] >= '0' && f[i] <= '9'; i++ {
		d := int(f[i] - '0')
		if n > (math.MaxInt-d)/10 {
			return 0, "", false
		}
		n = n*10 + d
	}
	return n, f[i:], true
}

// add puts a run at the end, where its code may stand; false if that is further than numbers reach.
func (l *layout) add(c *code, n int) bool {
	at := l.size
	if over := at % c.align; over > 0 {
		if at > math.MaxInt-c.align {
			return false
		}
		at += c.align - over
	}
	hi, lo := bits.Mul64(uint64(n), uint64(c.size))
	if hi > 0 || lo > uint64(math.MaxInt-at) {
		return false
	}
	r := run{c, at, n}
	if c.letter != 'x' && (n > 0 || r.values() > 0) {
		l.runs = append(l.runs, r)
		l.values += r.values()
	}
	l.size = at + int(lo)
	return true
}

// packTo writes values to memory of the layout's size.
func (l *layout) packTo(s *state, p []byte, args []vm.Object) error {
	clear(p)
	for _, r := range l.runs {
		switch r.code.letter {
		case 's', 'p':
			if err := s.packText(r, p[r.offset:r.offset+r.n], args[0]); err != nil {
				return err
			}
			args = args[1:]
			continue
		}
		at := r.offset
		for _, v := range args[:r.n] {
			if err := r.code.pack(s, r.code, l.order, p[at:at+r.code.size], v); err != nil {
				return err
			}
			at += r.code.size
		}
		args = args[r.n:]
	}
	return nil
}

// packText packs an item of "s" or "p".
func (s *state) packText(r run, p []byte, v vm.Object) error {
	if !s.isBytes(v, true) {
		return s.fail("argument for '%c' must be a bytes object", r.code.letter)
	}
	b, _ := vm.AsBytes(v)
	if r.code.letter == 's' {
		copy(p, b)
	} else if len(p) > 0 {
		n := copy(p[1:], b)
		p[0] = byte(min(n, 255))
	}
	return nil
}

// unpack reads the values from memory of the layout's size.
func (l *layout) unpack(p []byte) vm.Object {
	out := make([]vm.Object, 0, l.values)
	for _, r := range l.runs {
		switch r.code.letter {
		case 's':
			out = append(out, vm.Bytes(p[r.offset:r.offset+r.n]))
			continue
		case 'p':
			t := p[r.offset : r.offset+r.n]
			if len(t) > 0 {
				t = t[1 : 1+min(int(t[0]), len(t)-1)]
			}
			out = append(out, vm.Bytes(t))
			continue
		}
		for at := r.offset; at < r.offset+r.n*r.code.size; at += r.code.size {
			out = append(out, r.code.unpack(r.code, l.order, p[at:at+r.code.size]))
		}
	}
	return vm.NewTuple(out...)
}
