package code

// The line table of CPython 3.11: an entry says how many units it covers (up to eight), in which of five forms it is written, and the source
// range of these units. https://github.com/python/cpython/blob/3.11/Objects/locations.md describes it.
const (
	formOneLine  = 10 // to 12: lines ahead, then both columns
	formNoColumn = 13
	formLong     = 14
	formNone     = 15 // no line
)

// lineTable writes the source ranges of the instructions, which begin at starts.
func (c *Code) lineTable(starts []int32) []byte {
	t := lineWriter{line: int32(c.FirstLine)}
	for i, in := range c.Instrs {
		n := starts[i+1] - starts[i]
		for ; n > 8; n -= 8 {
			t.entry(in, 8)
		}
		t.entry(in, n)
	}
	return t.out
}

// lineWriter writes a line table; line is that of the entry before.
type lineWriter struct {
	out  []byte
	line int32
}

func (t *lineWriter) first(form, units int32) {
	t.out = append(t.out, byte(0x80|form<<3|(units-1)))
}

// entry writes one entry, in the shortest form that can say it.
func (t *lineWriter) entry(in Instr, units int32) {
	if in.Line < 0 {
		t.first(formNone, units)
		return
	}
	delta := in.Line - t.line
	switch {
	case in.Col < 0 || in.EndCol < 0:
		if in.EndLine == in.Line || in.EndLine < 0 {
			t.first(formNoColumn, units)
			t.signed(delta)
			t.line = in.Line
			return
		}
	case in.EndLine != in.Line:
	case delta == 0 && in.Col < 80 && in.EndCol >= in.Col && in.EndCol-in.Col < 16:
		t.first(in.Col>>3, units)
		t.out = append(t.out, byte(in.Col&7<<4|(in.EndCol-in.Col)))
		return
	case delta >= 0 && delta < 3 && in.Col < 128 && in.EndCol < 128:
		t.first(formOneLine+delta, units)
		t.out = append(t.out, byte(in.Col), byte(in.EndCol))
		t.line = in.Line
		return
	}
	t.first(formLong, units)
	t.signed(delta)
	t.varint(uint32(in.EndLine - in.Line))
	t.varint(uint32(in.Col + 1))
	t.varint(uint32(in.EndCol + 1))
	t.line = in.Line
}

// varint writes a number in groups of six bits, the lowest first.
func (t *lineWriter) varint(v uint32) {
	for ; v >= 64; v >>= 6 {
		t.out = append(t.out, 0x40|byte(v&0x3f))
	}
	t.out = append(t.out, byte(v))
}

func (t *lineWriter) signed(v int32) {
	if v < 0 {
		t.varint(uint32(-v)<<1 | 1)
		return
	}
	t.varint(uint32(v) << 1)
}

// lineReader reads a line table; what lies behind its end are zeros.
type lineReader struct {
	in []byte
	at int
}

func (r *lineReader) byte() byte {
	if r.at >= len(r.in) {
		return 0
	}
	r.at++
	return r.in[r.at-1]
}

func (r *lineReader) varint() int32 {
	v := uint32(0)
	for shift := 0; ; shift += 6 {
		b := r.byte()
		v |= uint32(b&0x3f) << min(shift, 31)
		if b&0x40 == 0 {
			return int32(v)
		}
	}
}

func (r *lineReader) signed() int32 {
	v := r.varint()
	if v&1 != 0 {
		return -(v >> 1)
	}
	return v >> 1
}

// readLines gives the instructions the ranges of a line table: each that of its own unit.
func (c *Code) readLines(table []byte, w *Wire) {
	r := lineReader{in: table}
	line := int32(c.FirstLine)
	i, unit := 0, int32(0)
	for r.at < len(table) && i < len(c.Instrs) {
		b := r.byte()
		form, units := int32(b>>3)&15, int32(b&7)+1
		p := Instr{Line: -1, Col: -1, EndLine: -1, EndCol: -1}
		switch {
		case form < formOneLine:
			b := int32(r.byte())
			p.Line, p.EndLine, p.Col = line, line, form<<3|b>>4
			p.EndCol = p.Col + b&15
		case form < formNoColumn:
			line += form - formOneLine
			p.Line, p.EndLine = line, line
			p.Col, p.EndCol = int32(r.byte()), int32(r.byte())
		case form == formNoColumn:
			line += r.signed()
			p.Line, p.EndLine = line, line
		case form == formLong:
			line += r.signed()
			p.Line = line
			p.EndLine = line + r.varint()
			p.Col = r.varint() - 1
			p.EndCol = r.varint() - 1
		}
		for unit += units; i < len(c.Instrs) && w.Units[i] < unit; i++ {
			in := &c.Instrs[i]
			in.Line, in.Col, in.EndLine, in.EndCol = p.Line, p.Col, p.EndLine, p.EndCol
		}
	}
	for ; i < len(c.Instrs); i++ { // what the table does not reach
		in := &c.Instrs[i]
		in.Line, in.Col, in.EndLine, in.EndCol = -1, -1, -1, -1
	}
}
