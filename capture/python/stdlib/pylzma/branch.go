package pylzma

import (
	"encoding/binary"
	"io"
)

const filterX86 = 4

// x86 converts the targets of calls and jumps (E8 and E9) between addresses and distances. What looks like an opcode behind another one is
// left alone where that one might be a part of an address.
type x86 struct {
	at      uint32 // of the next byte
	mask    uint32 // which of the last three bytes looked like opcodes
	last    uint32 // where the last one was
	started bool
}

// maskBits is how far to look back, by the mask.
var (
	maskAllowed = [8]bool{true, true, true, false, true, false, false, false}
	maskBits    = [8]uint{0, 1, 2, 2, 3, 3, 3, 3}
)

func isSign(b byte) bool { return b == 0 || b == 0xff }

// convert converts as much of p as it can, which is all but the last four bytes, and says how much that was.
func (x *x86) convert(p []byte, encode bool) int {
	if len(p) < 5 {
		return 0
	}
	if !x.started {
		x.started, x.last = true, x.at-5
	}
	if x.at-x.last > 5 {
		x.last = x.at - 5
	}
	limit := len(p) - 5
	i := 0
	for i <= limit {
		if b := p[i]; b != 0xe8 && b != 0xe9 {
			i++
			continue
		}
		offset := x.at + uint32(i) - x.last
		x.last = x.at + uint32(i)
		if offset > 5 {
			x.mask = 0
		} else {
			for range offset {
				x.mask = x.mask & 0x77 << 1
			}
		}
		if isSign(p[i+4]) && maskAllowed[x.mask>>1&7] && x.mask>>1 < 16 {
			x.target(p[i+1:i+5], x.at+uint32(i)+5, encode)
			i += 5
			x.mask = 0
			continue
		}
		i++
		x.mask |= 1
		if isSign(p[i+3]) {
			x.mask |= 16
		}
	}
	x.at += uint32(i)
	return i
}

// target converts one address. next is where the instruction ends.
func (x *x86) target(p []byte, next uint32, encode bool) {
	src := binary.LittleEndian.Uint32(p)
	var dst uint32
	for {
		if dst = src - next; encode {
			dst = src + next
		}
		if x.mask == 0 {
			break
		}
		i := maskBits[x.mask>>1&7]
		if !isSign(byte(dst >> (24 - i*8))) {
			break
		}
		src = dst ^ (1<<(32-i*8) - 1)
	}
	dst &= 1<<25 - 1
	if dst&(1<<24) != 0 {
		dst |= 0xff000000
	}
	binary.LittleEndian.PutUint32(p, dst)
}

// branchReader undoes the filter. The last bytes are held back until it is known what comes behind them.
type branchReader struct {
	r io.Reader
	x86
	buf   []byte
	clear int // so many of them are converted
	err   error
}

// Read implements io.Reader.
func (b *branchReader) Read(p []byte) (int, error) {
	for b.clear == 0 && b.err == nil {
		chunk := make([]byte, 4096)
		n, err := b.r.Read(chunk)
		b.buf, b.err = append(b.buf, chunk[:n]...), err
		b.clear = b.convert(b.buf, false)
	}
	if b.clear == 0 {
		n := copy(p, b.buf)
		if b.buf = b.buf[n:]; n > 0 {
			return n, nil
		}
		return 0, b.err
	}
	n := copy(p, b.buf[:b.clear])
	b.buf, b.clear = b.buf[n:], b.clear-n
	return n, nil
}
