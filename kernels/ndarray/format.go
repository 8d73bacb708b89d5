package ndarray

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// PrintOptions are those of set_printoptions.
type PrintOptions struct {
	Precision int
	Threshold int
	EdgeItems int
	LineWidth int
	Suppress  bool
	NaN, Inf  string
	Sign      byte // '-', '+' or ' '
	FloatMode string
	Separator string
	Prefix    string
	Suffix    string
	Object    func(o any) (string, error)       // repr of an object
	Formatter func(a *Array) func(v any) string // nil, or a formatter of the caller's
}

// DefaultPrintOptions are NumPy's.
func DefaultPrintOptions() PrintOptions {
	return PrintOptions{Precision: 8, Threshold: 1000, EdgeItems: 3, LineWidth: 75, NaN: "nan", Inf: "inf", Sign: '-', FloatMode: "maxprec", Separator: " "}
}

// digits is the shortest text of x that reads back as it, in a format of strconv, for a size in bits; 16 has no help of strconv.
func digits(x float64, format byte, prec, bits int) string {
	if prec >= 0 || bits != 16 {
		if bits == 16 {
			bits = 64
		}
		if prec >= 0 {
			bits = 64
		}
		return strconv.FormatFloat(x, format, prec, bits)
	}
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return strconv.FormatFloat(x, format, -1, 64)
	}
	want := halfFrom(x)
	for p := 0; p < 8; p++ {
		s := strconv.FormatFloat(x, 'e', p, 64)
		if y, _ := strconv.ParseFloat(s, 64); halfFrom(y) == want {
			if format == 'e' {
				return s
			}
			return strconv.FormatFloat(y, format, -1, 64)
		}
	}
	return strconv.FormatFloat(x, format, -1, 64)
}

// FloatText is str() of a float of a size: positional between 1e-4 and 1e16, shortest, with a point.
func FloatText(x float64, bits int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return special(x)
	}
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		return digits(x, 'e', -1, bits)
	}
	s := digits(x, 'f', -1, bits)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func special(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return "nan"
}

// ComplexText is str() of a complex number of two floats of a size.
func ComplexText(c complex128, bits int) string {
	re, im := scalarPart(real(c), bits), scalarPart(imag(c), bits)
	if real(c) == 0 && !math.Signbit(real(c)) {
		return im + "j"
	}
	if im[0] != '-' && im[0] != '+' {
		im = "+" + im
	}
	return "(" + re + im + "j)"
}

func scalarPart(x float64, bits int) string { return strings.TrimSuffix(FloatText(x, bits), ".0") }

// A floatStyle is how all floats of an array are written.
type floatStyle struct {
	o           PrintOptions
	bits        int
	exp         bool
	left, right int // digits, with sign, before and after the point
	expSize     int
	trim        string // the mode of numbers' ends: "k" fills with zeros, "." drops them
	precision   int
	unique      bool
}

// floatsStyle looks at all numbers to write them alike.
func floatsStyle(xs []float64, bits int, o PrintOptions) *floatStyle {
	f := &floatStyle{o: o, bits: bits}
	var finite []float64
	small, large := math.Inf(1), 0.0
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		finite = append(finite, x)
		if a := math.Abs(x); a != 0 {
			small, large = min(small, a), max(large, a)
		}
	}
	const limit = 1e8
	if large > 0 && (large >= limit || !o.Suppress && (small < 1e-4 || large/small > 1000)) {
		f.exp = true
	}
	f.unique = o.FloatMode != "fixed"
	switch {
	case len(finite) == 0:
		f.trim = "."
	case f.exp:
		f.exponentStyle(finite)
	default:
		f.plainStyle(finite)
	}
	if o.Sign == ' ' { // room for a sign whether or not there is one
		neg := false
		for _, x := range finite {
			neg = neg || math.Signbit(x)
		}
		if !neg {
			f.left++
		}
	}
	if len(finite) != len(xs) {
		f.special(xs)
	}
	return f
}

// special makes room for nan and inf.
func (f *floatStyle) special(xs []float64) {
	off := 1
	if f.exp {
		off += f.expSize + 2
	}
	off += f.right
	for _, x := range xs {
		switch {
		case math.IsNaN(x):
			f.left = max(f.left, len(f.o.NaN)-off)
		case math.IsInf(x, 0):
			n := len(f.o.Inf)
			if x < 0 || f.o.Sign == '+' {
				n++
			}
			f.left = max(f.left, n-off)
		}
	}
}

func (f *floatStyle) exponentStyle(xs []float64) {
	for _, x := range xs {
		s := f.scientific(x, "k", -1)
		m, e, _ := strings.Cut(s, "e")
		a, b, _ := strings.Cut(m, ".")
		f.left = max(f.left, len(a))
		f.right = max(f.right, len(b))
		f.expSize = max(f.expSize, len(e)-1)
	}
	f.trim, f.precision = "k", f.right
	if f.o.FloatMode == "fixed" {
		f.right, f.precision = f.o.Precision, f.o.Precision
	} else if f.o.FloatMode == "unique" {
		f.trim = "k"
	}
}

func (f *floatStyle) plainStyle(xs []float64) {
	for _, x := range xs {
		s := f.positional(x, -1)
		a, b, _ := strings.Cut(s, ".")
		f.left = max(f.left, len(a))
		f.right = max(f.right, len(b))
	}
	if f.o.FloatMode == "fixed" {
		f.right = f.o.Precision
	}
	f.trim = "."
	if f.o.FloatMode == "fixed" || f.o.FloatMode == "maxprec_equal" {
		f.trim = "k"
	}
	f.precision = f.right
}

func (f *floatStyle) sign(x float64, s string) string {
	if f.o.Sign == '+' && !math.Signbit(x) {
		return "+" + s
	}
	return s
}

// limit is how many digits behind the point are wanted at most; -1 for all.
func (f *floatStyle) limit() int {
	if f.o.FloatMode == "unique" {
		return -1
	}
	return f.o.Precision
}

// positional writes x without an exponent: the shortest digits, cut off behind a precision; prec >= 0 fills with zeros.
func (f *floatStyle) positional(x float64, prec int) string {
	s := digits(x, 'f', -1, f.bits)
	if f.o.FloatMode == "fixed" {
		s = strconv.FormatFloat(x, 'f', f.o.Precision, 64)
	} else if n := f.limit(); n >= 0 && len(s)-1-strings.IndexByte(s+".", '.') > n {
		s = strconv.FormatFloat(x, 'f', n, 64) // of the number, not of its digits
	}
	a, b, _ := strings.Cut(s, ".")
	if f.o.FloatMode != "fixed" {
		b = strings.TrimRight(b, "0")
	}
	if prec > len(b) {
		b += strings.Repeat("0", prec-len(b))
	}
	return f.sign(x, a+"."+b)
}

// scientific writes x with an exponent, at least two digits of it.
func (f *floatStyle) scientific(x float64, trim string, prec int) string {
	s := digits(x, 'e', -1, f.bits)
	m, e, _ := strings.Cut(s, "e")
	a, b, _ := strings.Cut(m, ".")
	if f.o.FloatMode == "fixed" {
		m, e, _ = strings.Cut(strconv.FormatFloat(x, 'e', f.o.Precision, 64), "e")
		a, b, _ = strings.Cut(m, ".")
	} else if n := f.limit(); n >= 0 && len(b) > n {
		m, e, _ = strings.Cut(strconv.FormatFloat(x, 'e', n, 64), "e")
		a, b, _ = strings.Cut(m, ".")
		b = strings.TrimRight(b, "0")
	}
	if prec > len(b) {
		b += strings.Repeat("0", prec-len(b))
	}
	for len(e)-1 < f.expSize {
		e = e[:1] + "0" + e[1:]
	}
	return f.sign(x, a+"."+b+"e"+e)
}

// text writes one number, padded.
func (f *floatStyle) text(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		s := f.o.NaN
		if math.IsInf(x, 1) {
			s = f.o.Inf
			if f.o.Sign == '+' {
				s = "+" + s
			}
		} else if math.IsInf(x, -1) {
			s = "-" + f.o.Inf
		}
		width := f.left + f.right + 1
		if f.exp {
			width += f.expSize + 2
		}
		return padLeft(s, width)
	}
	if f.exp {
		s := f.scientific(x, f.trim, f.precision)
		return padLeft(s, f.left+1+f.right+2+f.expSize)
	}
	prec := -1
	if f.trim == "k" {
		prec = f.precision
	}
	s := f.positional(x, prec)
	a, b, _ := strings.Cut(s, ".")
	return padLeft(a, f.left) + "." + b + strings.Repeat(" ", max(f.right-len(b), 0))
}

func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(n-utf8.RuneCountInString(s), 0)) + s
}

// floatBits is the size of the floats of a dtype.
func floatBits(d *DType) int {
	switch d.Num {
	case Float16:
		return 16
	case Float32, Complex64:
		return 32
	}
	return 64
}

// formatter makes the function that writes the elements of a.
func formatter(a *Array, o PrintOptions) (func(v any) (string, error), error) {
	offs := a.offsets()
	plain := func(f func(v any) string) func(v any) (string, error) {
		return func(v any) (string, error) { return f(v), nil }
	}
	switch a.DType.Kind {
	case 'b':
		w := 5
		if a.NDim() == 0 {
			w = 0
		}
		return plain(func(v any) string { return padLeft(ValueText(v), w) }), nil
	case 'i', 'u':
		w := 0
		for _, off := range offs {
			w = max(w, len(o.signed(a.Get(off))))
		}
		return plain(func(v any) string { return padLeft(o.signed(v), w) }), nil
	case 'f':
		xs := make([]float64, len(offs))
		for i, off := range offs {
			xs[i] = a.Get(off).(float64)
		}
		f := floatsStyle(xs, floatBits(a.DType), o)
		return plain(func(v any) string { return f.text(v.(float64)) }), nil
	case 'c':
		re, im := make([]float64, len(offs)), make([]float64, len(offs))
		for i, off := range offs {
			c := a.Get(off).(complex128)
			re[i], im[i] = real(c), imag(c)
		}
		plus := o
		plus.Sign = '+'
		f, g := floatsStyle(re, floatBits(a.DType), o), floatsStyle(im, floatBits(a.DType), plus)
		return plain(func(v any) string {
			c := v.(complex128)
			s := g.text(imag(c))
			t := strings.TrimRight(s, " ")
			return f.text(real(c)) + t + "j" + s[len(t):]
		}), nil
	case 'U', 'S':
		return func(v any) (string, error) {
			return o.Object(v)
		}, nil
	}
	return func(v any) (string, error) { return o.Object(v) }, nil
}

func (o PrintOptions) signed(v any) string {
	s := ValueText(v)
	if o.Sign != '-' && s[0] != '-' {
		s = string(o.Sign) + s
	}
	return s
}

// leading is the array that the elements that are written make up: the edges of a large one.
func leading(a *Array, edge int) *Array {
	v := a
	for ax, n := range a.Shape {
		if n > 2*edge {
			c, err := Concatenate([]*Array{v.between(ax, 0, edge), v.between(ax, n-edge, n)}, ax)
			if err != nil {
				return v
			}
			v = c
		}
	}
	return v
}

// Format writes the elements in brackets, as array2string does.
func Format(a *Array, o PrintOptions) (string, error) {
	if a.Len() == 0 {
		return "[]", nil
	}
	sum := ""
	shown := a
	if a.Len() > o.Threshold {
		sum = "..."
		shown = leading(a, o.EdgeItems)
	}
	f, err := formatter(shown, o)
	if o.Formatter != nil {
		if g := o.Formatter(shown); g != nil {
			f = func(v any) (string, error) { return g(v), nil }
		}
	}
	if err != nil {
		return "", err
	}
	p := &printer{a: a, f: f, o: o, dots: sum}
	p.next = " " + strings.Repeat(" ", len(o.Prefix))
	return p.level(nil, a.Offset, p.next, o.LineWidth)
}

type printer struct {
	a    *Array
	f    func(v any) (string, error)
	o    PrintOptions
	dots string
	next string
}

// extend adds a word to a line, or begins another one.
func (p *printer) extend(s, line, word string, width int, hang string) (string, string) {
	if len(line)+len(word) > width && len(line) > len(hang) {
		s += strings.TrimRight(line, " ") + "\n"
		line = hang
	}
	return s, line + word
}

// extendLines is extend for words of several lines, which objects may have.
func (p *printer) extendLines(s, line, word string, width int, hang string) (string, string) {
	words := strings.Split(word, "\n")
	if len(words) == 1 {
		return p.extend(s, line, word, width, hang)
	}
	longest := 0
	for _, w := range words {
		longest = max(longest, len(w))
	}
	indent := strings.Repeat(" ", len(line))
	if len(line)+longest > width && len(line) > len(hang) {
		s += strings.TrimRight(line, " ") + "\n"
		line = hang + words[0]
		indent = hang
	} else {
		line += words[0]
	}
	for _, w := range words[1:] {
		s += strings.TrimRight(line, " ") + "\n"
		line = indent + w
	}
	return s, line
}

// level writes one axis and those below it.
func (p *printer) level(depth []int, off int, hang string, width int) (string, error) {
	ax := len(depth)
	left := len(p.a.Shape) - ax
	if left == 0 {
		return p.f(p.a.Get(off))
	}
	nextHang := hang + " "
	nextWidth := width - 1
	n, edge := p.a.Shape[ax], p.o.EdgeItems
	head, tail := n, 0
	cut := p.dots != "" && 2*edge < n
	if cut {
		head, tail = edge, edge
	}
	sep := strings.TrimRight(p.o.Separator, " ")
	at := func(i int) (string, error) {
		return p.level(append(depth, i), off+i*p.a.Strides[ax], nextHang, nextWidth)
	}
	s := ""
	if left == 1 {
		elem := width - max(len(sep), 1) // room for a bracket or a separator behind it
		line := hang
		word := func(i int, last bool) error {
			t, err := at(i)
			if err != nil {
				return err
			}
			room := elem
			if last {
				room = p.lastWidth(elem, width, left)
			}
			s, line = p.extendLines(s, line, t, room, hang)
			if !last {
				line += p.o.Separator
			}
			return nil
		}
		for i := range head {
			if err := word(i, !cut && i == n-1); err != nil {
				return "", err
			}
		}
		if cut {
			s, line = p.extend(s, line, p.dots, elem, hang)
			line += p.o.Separator
			for i := n - tail; i < n; i++ {
				if err := word(i, i == n-1); err != nil {
					return "", err
				}
			}
		}
		s += line
		return "[" + s[len(hang):] + "]", nil
	}
	line := sep + strings.Repeat("\n", left-1)
	for i := range head {
		t, err := at(i)
		if err != nil {
			return "", err
		}
		s += hang + t
		if cut || i < n-1 {
			s += line
		}
	}
	if cut {
		s += hang + p.dots + line
		for i := n - tail; i < n; i++ {
			t, err := at(i)
			if err != nil {
				return "", err
			}
			s += hang + t
			if i < n-1 {
				s += line
			}
		}
	}
	return "[" + s[len(hang):] + "]", nil
}

// lastWidth is the room for the last element of a line.
func (p *printer) lastWidth(elem, width, left int) int { return elem }

// Short says whether Format writes a with dots.
func Short(a *Array, o PrintOptions) bool { return a.Len() > o.Threshold }

// FloatDigits is format_float_positional and format_float_scientific: prec -1 for as many digits as x needs.
func FloatDigits(x float64, d *DType, prec int, unique, exp bool, least int, sign bool) string {
	bits := floatBits(d)
	format := byte('f')
	if exp {
		format = 'e'
	}
	s := digits(x, format, -1, bits)
	m, e, _ := strings.Cut(s, "e")
	a, b, _ := strings.Cut(m, ".")
	if prec >= 0 && (!unique || len(b) > prec) {
		m, e, _ = strings.Cut(strconv.FormatFloat(x, format, prec, 64), "e")
		a, b, _ = strings.Cut(m, ".")
	}
	if unique {
		b = strings.TrimRight(b, "0")
	}
	if len(b) < least {
		b += strings.Repeat("0", least-len(b))
	}
	if sign && !math.Signbit(x) {
		a = "+" + a
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return special(x)
	}
	if exp {
		return a + "." + b + "e" + e
	}
	return a + "." + b
}
