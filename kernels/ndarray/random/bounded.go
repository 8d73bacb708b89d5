package random

import "math/bits"

// A Bounded draws integers of [0, top], as NumPy does for a dtype of a width in bits: by masks (RandomState) or by multiplication (Generator).
type Bounded struct {
	S      Source
	Top    uint64
	Width  int // 1 (bool), 8, 16, 32 or 64
	Masked bool

	buf  uint32 // bits of a draw that are left, for the small widths
	left int
}

func (b *Bounded) mask() uint64 { return 1<<bits.Len64(b.Top) - 1 }

// small is the next piece of a draw of 32 bits.
func (b *Bounded) small(width int) uint32 {
	if b.left == 0 {
		b.buf, b.left = b.S.Uint32(), 32/width-1
	} else {
		b.buf >>= width
		b.left--
	}
	return b.buf & (1<<width - 1)
}

// Next is the next integer.
func (b *Bounded) Next() uint64 {
	switch {
	case b.Top == 0:
		return 0
	case b.Width == 1:
		return uint64(b.small(1))
	case b.Width < 32:
		return b.narrow()
	case b.Top == 0xffffffff:
		return uint64(b.S.Uint32())
	case b.Top < 0xffffffff:
		return b.middle()
	case b.Top == 1<<64-1:
		return b.S.Uint64()
	}
	if b.Masked {
		for {
			if v := b.S.Uint64() & b.mask(); v <= b.Top {
				return v
			}
		}
	}
	n := b.Top + 1
	hi, lo := bits.Mul64(b.S.Uint64(), n)
	if lo < n {
		least := (1<<64 - 1 - b.Top) % n
		for lo < least {
			hi, lo = bits.Mul64(b.S.Uint64(), n)
		}
	}
	return hi
}

func (b *Bounded) middle() uint64 {
	if b.Masked {
		for {
			if v := uint64(b.S.Uint32()) & b.mask(); v <= b.Top {
				return v
			}
		}
	}
	return lemire(func() uint64 { return uint64(b.S.Uint32()) }, b.Top, 32)
}

func (b *Bounded) narrow() uint64 {
	draw := func() uint64 { return uint64(b.small(b.Width)) }
	if b.Top == 1<<b.Width-1 {
		return draw()
	}
	if b.Masked {
		for {
			if v := draw() & b.mask(); v <= b.Top {
				return v
			}
		}
	}
	return lemire(draw, b.Top, b.Width)
}

// lemire scales a draw of a width, and draws again where that would not be even.
func lemire(draw func() uint64, top uint64, width int) uint64 {
	low := uint64(1)<<width - 1
	n := top + 1
	m := draw() * n
	if m&low < n {
		least := (low - top) % n
		for m&low < least {
			m = draw() * n
		}
	}
	return m >> width
}

// Interval draws from [0, top] by masks, whatever the stream.
func Interval(s Source, top uint64) uint64 {
	b := Bounded{S: s, Top: top, Width: 64, Masked: true}
	if top == 0xffffffff {
		return uint64(s.Uint32())
	}
	return b.Next()
}

// Shuffle calls swap for each place from the last down to first, with where its item goes.
func Shuffle(n, first int, draw func(top uint64) uint64, swap func(i, j int)) {
	for i := n - 1; i >= max(first, 1); i-- {
		swap(i, int(draw(uint64(i))))
	}
}
