package aten

import (
	"slices"

	"whittle/kernels/tensor"
)

// The functions of torch.fft: promotion, trimming and padding around three kernels.

func init() {
	fftKernels()
	fftOneDim()
	fftManyDims()
	fftHelpers()
	shortTime()
}

// fftPromote gives the input the dtype that transforms take; complex asks for a complex one.
func (c *Call) fftPromote(t *tensor.Tensor, complex bool) (*tensor.Tensor, error) {
	d := floatType(t.DType)
	if r := d.ToReal(); r != tensor.Float32 && r != tensor.Float64 {
		return nil, errf("Unsupported dtype %s", cName(d))
	}
	if complex {
		d = d.ToComplex()
	}
	if d == t.DType {
		return t, nil
	}
	return c.viaT("_to_copy", t, d)
}

// fftResize trims or zero-pads t to the sizes along dims; -1 keeps one.
func (c *Call) fftResize(t *tensor.Tensor, dims []int, sizes []int64) (*tensor.Tensor, error) {
	pad := make([]int64, 2*t.Dim())
	grow := false
	for i, d := range dims {
		if sizes[i] == -1 {
			continue
		}
		if t.Shape[d] < sizes[i] {
			pad[2*(t.Dim()-1-d)+1] = sizes[i] - t.Shape[d]
			grow = true
		}
		if t.Shape[d] > sizes[i] {
			var err error
			if t, err = c.viaT("slice.Tensor", t, int64(d), int64(0), sizes[i], int64(1)); err != nil {
				return nil, err
			}
		}
	}
	if !grow {
		return t, nil
	}
	return c.viaT("constant_pad_nd", t, ints(pad), int64(0))
}

func noPoints(n int64) error { return errf("Invalid number of data points (%d) specified", n) }

// intList is a list of dimensions as an argument.
func intList(ds []int) Value {
	out := make([]Value, len(ds))
	for i, d := range ds {
		out[i] = int64(d)
	}
	return out
}

func (c *Call) fftDim(t *tensor.Tensor, d int64) (int, error) {
	if t.Dim() == 0 {
		return 0, kindf(IndexError, "Dimension specified as %d but tensor has no dimensions", d)
	}
	w, err := wrapDim(d, int64(t.Dim()))
	return int(w), err
}

func fftOneDim() {
	// (self, n, dim, norm) of the transforms of one dimension.
	one := func(name string, f func(c *Call, t *tensor.Tensor, d int, n Value) (Value, error)) {
		comp("fft_"+name, func(c *Call) (Value, error) {
			d, err := c.fftDim(c.T(0), c.I(2))
			if err != nil {
				return nil, err
			}
			return f(c, c.T(0), d, c.Args[1])
		})
	}
	sized := func(c *Call, t *tensor.Tensor, d int, n int64) (*tensor.Tensor, error) {
		if n < 1 {
			return nil, noPoints(n)
		}
		return c.fftResize(t, []int{d}, []int64{n})
	}
	size := func(t *tensor.Tensor, d int, n Value) int64 {
		if n == nil {
			return t.Shape[d]
		}
		return toInt(n)
	}
	both := func(forward bool) func(c *Call, t *tensor.Tensor, d int, n Value) (Value, error) {
		return func(c *Call, t *tensor.Tensor, d int, n Value) (Value, error) {
			mode, err := fftMode(c.Args[3], forward)
			if err != nil {
				return nil, err
			}
			x, err := c.fftPromote(t, false)
			if err == nil {
				x, err = sized(c, x, d, size(t, d, n))
			}
			if err != nil {
				return nil, err
			}
			if isComplex(x) {
				return c.via("_fft_c2c", x, intList([]int{d}), mode, forward)
			}
			v, err := c.via("_fft_r2c", x, intList([]int{d}), mode, false)
			if err != nil || forward {
				return v, err
			}
			return c.via("_conj", v)
		}
	}
	one("fft", both(true))
	one("ifft", both(false))
	half := func(forward bool) func(c *Call, t *tensor.Tensor, d int, n Value) (Value, error) {
		return func(c *Call, t *tensor.Tensor, d int, n Value) (Value, error) {
			mode, err := fftMode(c.Args[3], forward)
			if err != nil {
				return nil, err
			}
			if isComplex(t) {
				return nil, errf("%s expects a real input tensor, but got %s", c.Op.Sig().Name[4:], cName(t.DType))
			}
			x, err := c.fftPromote(t, false)
			if err == nil {
				x, err = sized(c, x, d, size(t, d, n))
			}
			if err != nil {
				return nil, err
			}
			v, err := c.via("_fft_r2c", x, intList([]int{d}), mode, true)
			if err != nil || forward {
				return v, err
			}
			return c.via("_conj", v)
		}
	}
	one("rfft", half(true))
	one("ihfft", half(false))
	back := func(forward bool) func(c *Call, t *tensor.Tensor, d int, n Value) (Value, error) {
		return func(c *Call, t *tensor.Tensor, d int, n Value) (Value, error) {
			mode, err := fftMode(c.Args[3], forward)
			if err != nil {
				return nil, err
			}
			x, err := c.fftPromote(t, true)
			if err != nil {
				return nil, err
			}
			out := 2 * (t.Shape[d] - 1)
			if n != nil {
				out = toInt(n)
			}
			if out < 1 {
				return nil, noPoints(out)
			}
			if n != nil {
				if x, err = c.fftResize(x, []int{d}, []int64{out/2 + 1}); err != nil {
					return nil, err
				}
			}
			if forward {
				if x, err = c.viaT("_conj", x); err != nil {
					return nil, err
				}
			}
			return c.via("_fft_c2r", x, intList([]int{d}), mode, out)
		}
	}
	one("irfft", back(false))
	one("hfft", back(true))
}

// fftShape canonicalises s and dim of a transform of several dimensions: the dimensions, and a size for each.
func (c *Call) fftShape(t *tensor.Tensor, s, dim Value) (dims []int, sizes []int64, err error) {
	var given []int64
	if s != nil {
		given = toInts(s)
	}
	if dim != nil {
		ds := toInts(dim)
		for _, d := range ds {
			if t.Dim() == 0 {
				return nil, nil, kindf(IndexError, "Dimension specified as %d but tensor has no dimensions", d)
			}
		}
		if dims, err = fftDims(ds, t.Dim()); err != nil {
			return nil, nil, err
		}
		if s != nil && len(given) != len(dims) {
			return nil, nil, errf("When given, dim and shape arguments must have the same length")
		}
	} else {
		k := t.Dim()
		if s != nil {
			k = len(given)
		}
		if k > t.Dim() {
			return nil, nil, errf("Got shape with %d values but input tensor only has %d dimensions.", k, t.Dim())
		}
		for d := t.Dim() - k; d < t.Dim(); d++ {
			dims = append(dims, d)
		}
	}
	for i, d := range dims {
		n := t.Shape[d]
		if s != nil && given[i] != -1 {
			n = given[i]
		}
		if n < 1 {
			return nil, nil, noPoints(n)
		}
		sizes = append(sizes, n)
	}
	return dims, sizes, nil
}

func fftManyDims() {
	// The two-dimensional functions are those of many dimensions with another default.
	many := func(base string, f func(c *Call, t *tensor.Tensor, dims []int, sizes []int64) (Value, error)) {
		comp("fft_"+base+"2 fft_"+base+"n", func(c *Call) (Value, error) {
			t := c.T(0)
			var dims []int
			var sizes []int64
			var err error
			switch base {
			case "irfft", "hfft":
				dims, sizes, err = c.halfShape(t, c.Args[1], c.Args[2], base)
			default:
				dims, sizes, err = c.fftShape(t, c.Args[1], c.Args[2])
			}
			if err != nil {
				return nil, err
			}
			return f(c, t, dims, sizes)
		})
	}
	whole := func(forward bool) func(c *Call, t *tensor.Tensor, dims []int, sizes []int64) (Value, error) {
		return func(c *Call, t *tensor.Tensor, dims []int, sizes []int64) (Value, error) {
			mode, err := fftMode(c.Args[3], forward)
			if err != nil {
				return nil, err
			}
			x, err := c.fftPromote(t, true)
			if err == nil {
				x, err = c.fftResize(x, dims, sizes)
			}
			if err != nil {
				return nil, err
			}
			return c.via("_fft_c2c", x, intList(dims), mode, forward)
		}
	}
	many("fft", whole(true))
	many("ifft", whole(false))
	realIn := func(c *Call, t *tensor.Tensor, dims []int, sizes []int64, name string) (*tensor.Tensor, error) {
		if isComplex(t) {
			return nil, errf("%s expects a real-valued input tensor, but got %s", name, cName(t.DType))
		}
		if len(dims) == 0 {
			return nil, errf("%s must transform at least one axis", name)
		}
		x, err := c.fftPromote(t, false)
		if err != nil {
			return nil, err
		}
		return c.fftResize(x, dims, sizes)
	}
	many("rfft", func(c *Call, t *tensor.Tensor, dims []int, sizes []int64) (Value, error) {
		mode, err := fftMode(c.Args[3], true)
		if err != nil {
			return nil, err
		}
		x, err := realIn(c, t, dims, sizes, "rfftn")
		if err != nil {
			return nil, err
		}
		return c.via("_fft_r2c", x, intList(dims), mode, true)
	})
	many("ihfft", func(c *Call, t *tensor.Tensor, dims []int, sizes []int64) (Value, error) {
		mode, err := fftMode(c.Args[3], false)
		if err != nil {
			return nil, err
		}
		x, err := realIn(c, t, dims, sizes, "ihfftn")
		if err != nil {
			return nil, err
		}
		k := len(dims) - 1
		v, err := c.viaT("_fft_r2c", x, intList(dims[k:]), mode, true)
		if err == nil {
			v, err = c.viaT("_conj_physical", v)
		}
		if err != nil || k == 0 {
			return v, err
		}
		return c.via("_fft_c2c", v, intList(dims[:k]), mode, false)
	})
	many("irfft", func(c *Call, t *tensor.Tensor, dims []int, sizes []int64) (Value, error) {
		mode, err := fftMode(c.Args[3], false)
		if err != nil {
			return nil, err
		}
		x, err := c.halfInput(t, dims, sizes)
		if err != nil {
			return nil, err
		}
		return c.via("_fft_c2r", x, intList(dims), mode, sizes[len(sizes)-1])
	})
	many("hfft", func(c *Call, t *tensor.Tensor, dims []int, sizes []int64) (Value, error) {
		mode, err := fftMode(c.Args[3], true)
		if err != nil {
			return nil, err
		}
		x, err := c.halfInput(t, dims, sizes)
		k := len(dims) - 1
		if err == nil && k > 0 {
			x, err = c.viaT("_fft_c2c", x, intList(dims[:k]), mode, true)
		}
		if err == nil {
			x, err = c.viaT("_conj", x)
		}
		if err != nil {
			return nil, err
		}
		return c.via("_fft_c2r", x, intList(dims[k:]), mode, sizes[k])
	})
}

// halfShape is fftShape where the input has half of the last dimension's coefficients.
func (c *Call) halfShape(t *tensor.Tensor, s, dim Value, base string) (dims []int, sizes []int64, err error) {
	dims, sizes, err = c.fftShape(t, s, dim)
	if err != nil {
		return nil, nil, err
	}
	if len(dims) == 0 {
		return nil, nil, errf("%sn must transform at least one axis", base)
	}
	k := len(dims) - 1
	if given := toInts(s); s == nil || given[k] == -1 {
		sizes[k] = 2 * (t.Shape[dims[k]] - 1)
	}
	if sizes[k] < 1 {
		return nil, nil, noPoints(sizes[k])
	}
	return dims, sizes, nil
}

func (c *Call) halfInput(t *tensor.Tensor, dims []int, sizes []int64) (*tensor.Tensor, error) {
	x, err := c.fftPromote(t, true)
	if err != nil {
		return nil, err
	}
	in := slices.Clone(sizes)
	in[len(in)-1] = in[len(in)-1]/2 + 1
	return c.fftResize(x, dims, in)
}

func fftHelpers() {
	shift := func(name string, by func(n int64) int64) {
		comp("fft_"+name, func(c *Call) (Value, error) {
			t := c.T(0)
			dims := c.Ints(1)
			if c.None(1) {
				for d := range t.Shape {
					dims = append(dims, int64(d))
				}
			}
			var shifts []int64
			for i, d := range dims {
				w, err := wrapDim(d, int64(t.Dim()))
				if err != nil {
					return nil, err
				}
				dims[i] = w
				shifts = append(shifts, by(t.Shape[w]))
			}
			return c.via("roll", t, ints(shifts), ints(dims))
		})
	}
	shift("fftshift", func(n int64) int64 { return n / 2 })
	shift("ifftshift", func(n int64) int64 { return (n + 1) / 2 })
	freq := func(name string, half bool) {
		def(name, func(c *Call) (Value, error) {
			n, d := c.I(0), c.F(1)
			k := n
			if half {
				k = n/2 + 1
			}
			o := c.NewC(c.optDT(tensor.DefaultDType), k)
			if !c.real {
				return o, nil
			}
			xs := make([]float64, k)
			for i := range xs {
				f := int64(i)
				if !half && f >= (n+1)/2 {
					f -= n
				}
				xs[i] = float64(f) * (1 / (float64(n) * d))
			}
			o.SetFloats(xs)
			return o, nil
		})
	}
	freq("fft_fftfreq", false)
	freq("fft_rfftfreq", true)
}

// shortTime registers the short-time transforms; torch.stft pads in Python, which is stft.center here.
func shortTime() {
	comp("stft.center", func(c *Call) (Value, error) {
		x, nfft := c.T(0), c.I(1)
		if c.B(5) && (x.Dim() == 1 || x.Dim() == 2) {
			shape := slices.Clone(x.Shape)
			wide := append(fill(nil, 3-x.Dim(), 1), shape...)
			v := must(c.via("view", x, ints(wide)))
			v = must(c.via("pad", v, ints([]int64{nfft / 2, nfft / 2}), c.Args[6]))
			t, err := asT(v, nil)
			if e, ok := v.(error); ok {
				err = e
			}
			if err != nil {
				return nil, err
			}
			if x, err = c.viaT("view", t, ints(t.Shape[3-len(shape):])); err != nil {
				return nil, err
			}
		}
		return c.via("stft", x, c.Args[1], c.Args[2], c.Args[3], c.Args[4], c.Args[7], c.Args[8], c.Args[9])
	})
	comp("stft", stft)
	comp("istft", istft)
}

func stft(c *Call) (Value, error) {
	x, nfft, w := c.T(0), c.I(1), c.T(4)
	hop, win := nfft/4, nfft
	if !c.None(2) {
		hop = c.I(2)
	}
	if !c.None(3) {
		win = c.I(3)
	}
	anyComplex := isComplex(x) || w != nil && isComplex(w)
	onesided := !anyComplex
	if !c.None(6) {
		onesided = c.B(6)
	}
	if onesided && anyComplex {
		return nil, errf("Cannot have onesided output if window or input is complex")
	}
	returnComplex := c.B(7)
	if c.None(7) {
		if !anyComplex {
			return nil, errf("stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future PyTorch release.")
		}
		returnComplex = true
	}
	switch {
	case !x.DType.IsFloat() && !isComplex(x):
		return nil, errf("stft: expected a tensor of floating point or complex values")
	case x.Dim() > 2 || x.Dim() < 1:
		return nil, errf("stft: expected a 1D or 2D tensor")
	}
	n := x.Shape[x.Dim()-1]
	switch {
	case nfft <= 0 || nfft > n:
		return nil, errf("stft: expected 0 < n_fft < %d, but got n_fft=%d", n, nfft)
	case hop <= 0:
		return nil, errf("stft: expected hop_length > 0, but got hop_length=%d", hop)
	case win <= 0 || win > nfft:
		return nil, errf("stft: expected 0 < win_length <= n_fft, but got win_length=%d", win)
	case w != nil && (w.Dim() != 1 || w.Shape[0] != win):
		return nil, errf("stft: expected a 1D window tensor of size equal to win_length=%d, but got window with size %s", win, tensor.ShapeText(w.Shape))
	}
	flat := x.Dim() == 1
	cur := Value(x)
	if flat {
		cur = must(c.via("unsqueeze", x, int64(0)))
	}
	window := Value(nil)
	if w != nil {
		window = w
	}
	if win < nfft {
		if w == nil {
			window = must(c.via("ones", ints([]int64{win}), x.DType))
		}
		left := (nfft - win) / 2
		window = must(c.via("constant_pad_nd", window, ints([]int64{left, nfft - win - left}), int64(0)))
	}
	t, err := c.must(cur)
	if err != nil {
		return nil, err
	}
	cur = must(c.via("unfold", t, int64(-1), nfft, hop))
	if window != nil {
		cur = must(c.via("mul.Tensor", cur, window))
	}
	mode := int64(fftNone)
	if c.B(5) {
		mode = fftByRoot
	}
	if t, err = c.must(cur); err != nil {
		return nil, err
	}
	if isComplex(t) {
		cur = must(c.via("_fft_c2c", t, ints([]int64{2}), mode, true))
	} else {
		cur = must(c.via("_fft_r2c", t, ints([]int64{2}), mode, onesided))
	}
	cur = must(c.via("transpose.int", cur, int64(1), int64(2)))
	if flat {
		cur = must(c.via("squeeze.dim", cur, int64(0)))
	}
	if !returnComplex {
		cur = must(c.via("view_as_real", cur))
	}
	t, err = c.must(cur)
	return c.tv(t, err)
}

// must turns the result of a chain of must calls back into a tensor and an error.
func (c *Call) must(v Value) (*tensor.Tensor, error) {
	if e, ok := v.(error); ok {
		return nil, e
	}
	return asT(v, nil)
}

// istftSizes are the hop and the window's length, and whether half of a spectrum is given; an error where they do not fit what is transformed.
func istftSizes(c *Call) (hop, win int64, onesided bool, err error) {
	x, nfft, w := c.T(0), c.I(1), c.T(4)
	hop, win = nfft/4, nfft
	if !c.None(2) {
		hop = c.I(2)
	}
	if !c.None(3) {
		win = c.I(3)
	}
	if !isComplex(x) {
		return 0, 0, false, errf("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
	}
	nd := x.Dim()
	if nd != 2 && nd != 3 {
		return 0, 0, false, errf("istft: expected a tensor with 3 or 4 dimensions, but got %d", nd+1)
	}
	if x.Numel() == 0 {
		return 0, 0, false, errf("istft: input tensor cannot be empty.")
	}
	freq := x.Shape[nd-2]
	onesided = freq != nfft
	if !c.None(7) {
		onesided = c.B(7)
	}
	returnComplex := c.B(9)
	switch {
	case onesided && (returnComplex || w != nil && isComplex(w)):
		return 0, 0, false, errf("Cannot have onesided output if window or input is complex")
	case onesided && freq != nfft/2+1:
		return 0, 0, false, errf("istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when onesided=True, but got %d", freq)
	case !onesided && freq != nfft:
		return 0, 0, false, errf("istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when onesided=False, but got %d", freq)
	case hop <= 0 || hop > win:
		return 0, 0, false, errf("istft: expected 0 < hop_length <= win_length")
	case win <= 0 || win > nfft:
		return 0, 0, false, errf("istft: expected 0 < win_length <= n_fft")
	case w != nil && (w.Dim() != 1 || w.Shape[0] != win):
		return 0, 0, false, errf("istft: Invalid window shape. window has to be 1D and length of `win_length`")
	}
	return hop, win, onesided, nil
}

// istft inverts stft: each frame is transformed back and windowed, frames are added up where they overlap, and the sum is divided by that of the
// squared windows.
func istft(c *Call) (Value, error) {
	hop, win, onesided, err := istftSizes(c)
	if err != nil {
		return nil, err
	}
	x, nfft, w := c.T(0), c.I(1), c.T(4)
	nd := x.Dim()
	frames, returnComplex := x.Shape[nd-1], c.B(9)
	window := Value(w)
	if w == nil {
		d := x.DType.ToReal()
		if returnComplex {
			d = x.DType
		}
		window = must(c.via("ones", ints([]int64{win}), d))
	}
	if win != nfft {
		left := (nfft - win) / 2
		window = must(c.via("constant_pad_nd", window, ints([]int64{left, nfft - win - left}), int64(0)))
	}
	cur := Value(x)
	if nd == 2 {
		cur = must(c.via("unsqueeze", cur, int64(0)))
	}
	cur = must(c.via("transpose.int", cur, int64(1), int64(2)))
	mode := int64(fftByN)
	if c.B(6) {
		mode = fftByRoot
	}
	if returnComplex {
		cur = must(c.via("_fft_c2c", cur, ints([]int64{2}), mode, false))
	} else {
		if !onesided {
			cur = must(c.via("slice.Tensor", cur, int64(2), int64(0), nfft/2+1, int64(1)))
		}
		cur = must(c.via("_fft_c2r", cur, ints([]int64{2}), mode, nfft))
	}
	total := nfft + hop*(frames-1)
	cur = must(c.via("mul.Tensor", cur, must(c.via("view", window, ints([]int64{1, 1, nfft})))))
	batch := int64(1)
	if nd == 3 {
		batch = x.Shape[0]
	}
	sum := must(c.via("unfold_backward", cur, ints([]int64{batch, total}), int64(1), nfft, hop))
	env := must(c.via("expand", must(c.via("pow.Tensor_Scalar", window, int64(2))), ints([]int64{1, frames, nfft})))
	env = must(c.via("unfold_backward", env, ints([]int64{1, total}), int64(1), nfft, hop))
	start, end := int64(0), total
	if c.B(5) {
		start, end = nfft/2, total-nfft/2
	}
	if !c.None(8) {
		end = start + c.I(8)
	}
	cut := func(v Value) Value { return must(c.via("slice.Tensor", v, int64(1), start, min(end, total), int64(1))) }
	sum, env = cut(sum), cut(env)
	if c.Dispatch == nil || c.real {
		low, err := c.must(must(c.via("min", must(c.via("abs", env)))))
		if err != nil {
			return nil, err
		}
		if !low.Fake && low.At(0) < 1e-11 {
			return nil, errf("istft: window overlap add min: 1")
		}
	}
	cur = must(c.via("div.Tensor", sum, env))
	if nd == 2 {
		cur = must(c.via("squeeze.dim", cur, int64(0)))
	}
	if end > total {
		cur = must(c.via("constant_pad_nd", cur, ints([]int64{0, end - total}), int64(0)))
	}
	t, err := c.must(cur)
	return c.tv(t, err)
}
