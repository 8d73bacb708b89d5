package pybz2

import (
	"errors"
	"io"
)

var errInvalid = errors.New("Invalid data stream")

// The 48 bits that begin a block and the end of a stream.
const (
	blockMark = 0x314159265359
	endMark   = 0x177245385090
)

const (
	runA      = 0 // symbols of a block that stand for runs of the first value
	runB      = 1
	groupSize = 50 // symbols that share a Huffman table
	maxLength = 20
)

// bits reads bits, the highest of each byte first.
type bits struct {
	src io.ByteReader
	acc uint64
	n   uint
	err error
}

func (b *bits) read(n uint) uint64 {
	for b.n < n && b.err == nil {
		c, err := b.src.ReadByte()
		b.err = err
		b.acc, b.n = b.acc<<8|uint64(c), b.n+8
	}
	if b.err != nil {
		return 0
	}
	b.n -= n
	return b.acc >> b.n & (1<<n - 1)
}

func (b *bits) bit() bool { return b.read(1) == 1 }

// decode reads one stream.
func decode(src io.ByteReader, emit func([]byte) bool) error {
	b := &bits{src: src}
	if b.read(24) != 'B'<<16|'Z'<<8|'h' {
		return b.fail()
	}
	level := int(b.read(8)) - '0'
	if level < 1 || level > 9 {
		return b.fail()
	}
	d := &decoder{bits: b, most: level * 100000, emit: emit}
	total := uint32(0)
	for {
		switch b.read(48) {
		case blockMark:
			want := uint32(b.read(32))
			if err := d.block(); err != nil {
				return err
			}
			if d.sum != want {
				return errInvalid
			}
			total = (total<<1 | total>>31) ^ d.sum
		case endMark:
			if uint32(b.read(32)) != total {
				return b.fail()
			}
			return nil
		default:
			return b.fail()
		}
	}
}

// fail is the error of data that are wrong, if they could be read.
func (b *bits) fail() error {
	if b.err != nil {
		return b.err
	}
	return errInvalid
}

// decoder decodes the blocks of a stream.
type decoder struct {
	*bits
	most int
	emit func([]byte) bool
	sum  uint32 // of the last block
}

// huffman is a canonical code: of each length the first code, how many there are, and where their symbols begin.
type huffman struct {
	first, count, start [maxLength + 2]int
	symbols             []int
}

func newHuffman(lengths []int) *huffman {
	h := &huffman{}
	for _, n := range lengths {
		h.count[n]++
	}
	code, at := 0, 0
	for n := 1; n <= maxLength; n++ {
		h.first[n], h.start[n] = code, at
		code = (code + h.count[n]) << 1
		at += h.count[n]
		for s, l := range lengths {
			if l == n {
				h.symbols = append(h.symbols, s)
			}
		}
	}
	return h
}

func (h *huffman) read(b *bits) int {
	code := 0
	for n := 1; n <= maxLength; n++ {
		code = code<<1 | int(b.read(1))
		if k := code - h.first[n]; k >= 0 && k < h.count[n] {
			return h.symbols[h.start[n]+k]
		}
	}
	return -1
}

// tables reads the Huffman tables of a block and which of them each group of symbols uses.
func (d *decoder) tables(symbols int) (tables []*huffman, selectors []int, err error) {
	n := int(d.read(3))
	count := int(d.read(15))
	if n < 2 || n > 6 || count < 1 {
		return nil, nil, d.fail()
	}
	order := []int{0, 1, 2, 3, 4, 5}
	for range count {
		j := 0
		for d.bit() {
			if j++; j >= n {
				return nil, nil, d.fail()
			}
		}
		s := order[j]
		copy(order[1:j+1], order[:j])
		order[0] = s
		selectors = append(selectors, s)
	}
	for range n {
		lengths := make([]int, symbols)
		l := int(d.read(5))
		for i := range lengths {
			for {
				if l < 1 || l > maxLength {
					return nil, nil, d.fail()
				}
				if !d.bit() {
					break
				}
				if d.bit() {
					l--
				} else {
					l++
				}
			}
			lengths[i] = l
		}
		tables = append(tables, newHuffman(lengths))
	}
	return tables, selectors, nil
}

// used reads which bytes a block has.
func (d *decoder) used() []byte {
	var out []byte
	groups := d.read(16)
	for g := range 16 {
		if groups>>(15-g)&1 == 0 {
			continue
		}
		in := d.read(16)
		for i := range 16 {
			if in>>(15-i)&1 == 1 {
				out = append(out, byte(g*16+i))
			}
		}
	}
	return out
}

// block decodes a block behind its checksum.
func (d *decoder) block() error {
	d.read(1) // of versions of old
	origin := int(d.read(24))
	front := d.used()
	if len(front) == 0 {
		return d.fail()
	}
	end := len(front) + 1
	tables, selectors, err := d.tables(end + 1)
	if err != nil {
		return err
	}
	var last []uint32 // the last column of the sorted rotations
	run, weight := 0, 1
	for i := 0; ; i++ {
		if i/groupSize >= len(selectors) {
			return d.fail()
		}
		s := tables[selectors[i/groupSize]].read(d.bits)
		if s < 0 || d.err != nil {
			return d.fail()
		}
		if s == runA || s == runB {
			if weight > d.most {
				return errInvalid
			}
			run += weight << s
			weight <<= 1
			continue
		}
		if len(last)+run > d.most {
			return errInvalid
		}
		for ; run > 0; run-- {
			last = append(last, uint32(front[0]))
		}
		weight = 1
		if s == end {
			break
		}
		c := front[s-1]
		copy(front[1:s], front[:s-1])
		front[0] = c
		last = append(last, uint32(c))
	}
	if len(last) > d.most || origin >= len(last) {
		return errInvalid
	}
	return d.unsort(last, origin)
}

// unsort undoes the transform of Burrows and Wheeler. The successor of each place goes into the upper bits of last.
func (d *decoder) unsort(last []uint32, origin int) error {
	var sums [256]int
	for _, c := range last {
		sums[c]++
	}
	at := 0
	for c, n := range sums {
		sums[c], at = at, at+n
	}
	for i := range last {
		c := last[i] & 0xff
		last[sums[c]] |= uint32(i) << 8
		sums[c]++
	}
	return d.expand(last, int(last[origin]>>8))
}

// expand writes the block's bytes: four equal ones are followed by a count of more of them.
func (d *decoder) expand(last []uint32, at int) error {
	crc := ^uint32(0)
	out := make([]byte, 0, len(last))
	equal, prev := 0, -1
	put := func(c byte, n int) {
		for ; n > 0; n-- {
			out = append(out, c)
			crc = crc<<8 ^ crcTable[byte(crc>>24)^c]
		}
	}
	for range last {
		v := last[at]
		c := byte(v)
		at = int(v >> 8)
		if equal == 4 {
			put(byte(prev), int(c))
			equal, prev = 0, -1
			continue
		}
		if int(c) == prev {
			equal++
		} else {
			equal, prev = 1, int(c)
		}
		put(c, 1)
	}
	d.sum = ^crc
	if !d.emit(out) {
		return errInvalid
	}
	return nil
}

// crcTable is that of the CRC-32 of which the highest bit comes first.
var crcTable = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ 0x04c11db7
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()
