package tensor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// PrintOptions mirrors torch.set_printoptions.
type PrintOptions struct {
	Precision int
	Threshold int64 // tensors of more elements are summarised
	EdgeItems int64
	LineWidth int
	SciMode   *bool  // nil: decided by the values
	Class     string // the name of the class, where that is another than Tensor
	Default   DType  // the floating dtype that is not shown; Invalid => DefaultDType
}

// DefaultPrintOptions is PyTorch's default profile.
func DefaultPrintOptions() PrintOptions {
	return PrintOptions{Precision: 4, Threshold: 1000, EdgeItems: 3, LineWidth: 80}
}

// String is repr(t) with the default options.
func (t *Tensor) String() string { return t.Repr(DefaultPrintOptions()) }

// Repr is the text of Python's repr(t). Each extra is appended as a further item before the
// closing parenthesis: "requires_grad=True" or "grad_fn=<MulBackward0>".
func (t *Tensor) Repr(o PrintOptions, extra ...string) string {
	def := o.Default
	if def == Invalid {
		def = DefaultDType
	}
	defaultComplex := Complex64
	if def == Float64 {
		defaultComplex = Complex128
	}
	prefix := "tensor("
	if o.Class != "" {
		prefix = o.Class + "("
	}
	var suffix []string
	var body string
	switch {
	case t.Fake:
		prefix = "FakeTensor("
		body = "..."
		suffix = append(suffix, "size="+shapeText(t.Shape))
		if t.DType != def {
			suffix = append(suffix, "dtype=torch."+t.DType.String())
		}
	case t.Numel() == 0:
		body = "[]"
		if len(t.Shape) != 1 {
			suffix = append(suffix, "size="+shapeText(t.Shape))
		}
		if t.DType != def {
			suffix = append(suffix, "dtype=torch."+t.DType.String())
		}
	default:
		if t.DType != def && t.DType != Int64 && t.DType != Bool && t.DType != defaultComplex {
			suffix = append(suffix, "dtype=torch."+t.DType.String())
		}
		body = t.body(o, len(prefix))
	}
	suffix = append(suffix, extra...)
	var b strings.Builder
	b.WriteString(prefix + body)
	first := prefix + body
	last := len(first) - strings.LastIndexByte(first, '\n') + 1
	for _, s := range suffix {
		if last+len(s)+2 > o.LineWidth {
			b.WriteString(",\n" + strings.Repeat(" ", len(prefix)) + s)
			last = len(prefix) + len(s)
		} else {
			b.WriteString(", " + s)
			last += len(s) + 2
		}
	}
	b.WriteByte(')')
	return b.String()
}

func shapeText(s []int64) string {
	parts := make([]string, len(s))
	for i, x := range s {
		parts[i] = strconv.FormatInt(x, 10)
	}
	if len(s) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// ShapeText is a shape as a Python list prints: [2, 3].
func ShapeText(s []int64) string {
	parts := make([]string, len(s))
	for i, x := range s {
		parts[i] = strconv.FormatInt(x, 10)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

type formatter struct {
	o        PrintOptions
	kind     Kind
	intMode  bool
	sci      bool
	maxWidth int
	imag     *formatter
}

func newFormatter(o PrintOptions, kind Kind, floats []float64, ints []int64) *formatter {
	f := &formatter{o: o, kind: kind, intMode: true, maxWidth: 1}
	widen := func(s string, pad int) {
		f.maxWidth = max(f.maxWidth, len(s)+pad)
	}
	if kind == KindBool || kind == KindInt {
		for _, x := range ints {
			widen(f.integer(x), 0)
		}
		return f
	}
	lo, hi := math.Inf(1), 0.0
	var finite []float64
	for _, x := range floats {
		if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		finite = append(finite, x)
		lo, hi = min(lo, math.Abs(x)), max(hi, math.Abs(x))
		if x != math.Ceil(x) {
			f.intMode = false
		}
	}
	if len(finite) == 0 {
		return f
	}
	f.sci = hi/lo > 1000 || hi > 1e8 || (!f.intMode && lo < 1e-4)
	for _, x := range finite {
		switch {
		case f.sci:
			widen(pyExp(x, o.Precision), 0)
		case f.intMode:
			widen(strconv.FormatFloat(x, 'f', 0, 64), 1)
		default:
			widen(strconv.FormatFloat(x, 'f', o.Precision, 64), 0)
		}
	}
	if o.SciMode != nil {
		f.sci = *o.SciMode
	}
	return f
}

func pyExp(x float64, prec int) string { return pyFloat(x, 'e', prec) }

func pyFloat(x float64, verb byte, prec int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, verb, prec, 64)
}

func (f *formatter) integer(x int64) string {
	if f.kind == KindBool {
		if x != 0 {
			return "True"
		}
		return "False"
	}
	return strconv.FormatInt(x, 10)
}

func (f *formatter) pad(s string) string {
	if n := f.maxWidth - len(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

func (f *formatter) float(x float64) string {
	var s string
	switch {
	case f.sci:
		s = pyExp(x, f.o.Precision)
	case f.intMode:
		s = pyFloat(x, 'f', 0)
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			s += "."
		}
	default:
		s = pyFloat(x, 'f', f.o.Precision)
	}
	return f.pad(s)
}

func (f *formatter) width() int {
	if f.imag != nil {
		return f.maxWidth + f.imag.maxWidth + 1
	}
	return f.maxWidth
}

// body is the bracketed text, indented for a prefix of the given length.
func (t *Tensor) body(o PrintOptions, indent int) string {
	summarize := t.Numel() > o.Threshold
	// Collect the elements that will be shown, in order, then format them all alike.
	var pos []int64
	var walk func(d int, off int64)
	edges := func(n int64) []int64 {
		var idx []int64
		for i := int64(0); i < n; i++ {
			if summarize && n > 2*o.EdgeItems && i >= o.EdgeItems && i < n-o.EdgeItems {
				i = n - o.EdgeItems
			}
			idx = append(idx, i)
			if summarize && o.EdgeItems == 0 {
				return nil
			}
		}
		return idx
	}
	walk = func(d int, off int64) {
		if d == len(t.Shape) {
			pos = append(pos, off)
			return
		}
		for _, i := range edges(t.Shape[d]) {
			walk(d+1, off+i*t.Stride[d])
		}
	}
	walk(0, t.Offset)
	kind := t.DType.Kind()
	var f *formatter
	var fl, im []float64
	var in []int64
	switch kind {
	case KindFloat:
		fl = make([]float64, len(pos))
		for i, p := range pos {
			LoadFloat(t, p, 0, fl[i:i+1])
		}
	case KindComplex:
		fl, im = make([]float64, len(pos)), make([]float64, len(pos))
		for i, p := range pos {
			if t.DType == Complex64 {
				s := all[float32](t)
				fl[i], im[i] = float64(s[2*p]), float64(s[2*p+1])
			} else {
				s := all[float64](t)
				fl[i], im[i] = s[2*p], s[2*p+1]
			}
		}
	default:
		in = make([]int64, len(pos))
		for i, p := range pos {
			LoadInt(t, p, 0, in[i:i+1])
		}
	}
	f = newFormatter(o, kind, fl, in)
	if kind == KindComplex {
		f.kind = KindFloat
		f.imag = newFormatter(o, KindFloat, im, nil)
	}
	next := 0
	item := func() string {
		i := next
		next++
		switch {
		case f.imag != nil:
			re := f.float(fl[i])
			f.imag.maxWidth, f.imag.kind = max(f.imag.maxWidth, 0), KindFloat
			s := strings.TrimLeft(f.imag.float(im[i]), " ") + "j"
			if strings.HasPrefix(s, "-") {
				return re + s
			}
			return re + "+" + s
		case kind == KindFloat:
			return f.float(fl[i])
		}
		return f.pad(f.integer(in[i]))
	}
	var render func(d, indent int) string
	render = func(d, indent int) string {
		if d == len(t.Shape) {
			return item()
		}
		n := t.Shape[d]
		cut := summarize && n > 2*o.EdgeItems
		var parts []string
		for k, count := int64(0), int64(len(edges(n))); k < count; k++ {
			if cut && k == o.EdgeItems {
				if d == len(t.Shape)-1 {
					parts = append(parts, " ...")
				} else {
					parts = append(parts, "...")
				}
			}
			parts = append(parts, render(d+1, indent+1))
		}
		if summarize && o.EdgeItems == 0 {
			parts = []string{"..."}
		}
		if d < len(t.Shape)-1 {
			sep := "," + strings.Repeat("\n", len(t.Shape)-d-1) + strings.Repeat(" ", indent+1)
			return "[" + strings.Join(parts, sep) + "]"
		}
		per := max(1, int(math.Floor(float64(o.LineWidth-indent)/float64(f.width()+2))))
		var lines []string
		for i := 0; i < len(parts); i += per {
			lines = append(lines, strings.Join(parts[i:min(i+per, len(parts))], ", "))
		}
		return "[" + strings.Join(lines, ",\n"+strings.Repeat(" ", indent+1)) + "]"
	}
	return render(0, indent)
}

// Describe is a short form for messages: f32[2, 3].
func (t *Tensor) Describe() string {
	return fmt.Sprintf("%s%s", t.DType.Short(), ShapeText(t.Shape))
}
