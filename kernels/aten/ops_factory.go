package aten

import (
	"fmt"
	"math"
	"strings"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Operators that make tensors from sizes and numbers. Without a dtype floats get the default one and integers int64. The _like forms take
// dtype and strides from a tensor, of which they read nothing else. Each value of a range is computed alone, so that errors do not add up;
// linspace counts from both ends towards the middle, so that both are exact.

// opt finds an argument by name; nil when the schema lacks it.
func (c *Call) opt(name string) Value {
	if i := c.Op.Sig().Arg(name); i >= 0 {
		return c.Args[i]
	}
	return nil
}

// optDT is the dtype argument, or def for None.
func (c *Call) optDT(def tensor.DType) tensor.DType {
	if d, ok := c.opt("dtype").(tensor.DType); ok {
		return d
	}
	return def
}

// checkSize refuses negative sizes.
func (c *Call) checkSize(size []int64) error {
	for _, s := range size {
		if s < 0 {
			return errf("Trying to create tensor with negative dimension %d: %s", s, tensor.ShapeText(size))
		}
	}
	return nil
}

// deviceOf is which argument, counted from 1, says where a result is to be; 0 if none does.
func deviceOf(s *Schema) int {
	if s.Arg("dtype") < 0 && s.Name != "device_put" { // such as is_pinned, which only asks
		return 0
	}
	return s.Arg("device") + 1
}

// checkDevice refuses devices that are not there.
func checkDevice(op *Op, args []Value) error {
	if op.device == 0 || op.device > len(args) {
		return nil
	}
	if d, ok := args[op.device-1].(tensor.Device); ok {
		return NoDevice(d.Type)
	}
	return nil
}

// Accelerator is the type of a device that is given by its number alone.
const Accelerator = "accelerator"

// NoDevice is the error of a build of PyTorch for the CPU alone that is asked for a tensor on another device; nil for the CPU and for meta.
func NoDevice(kind string) error {
	switch kind {
	case "cpu", "meta":
		return nil
	case "cuda", "xpu":
		return kindf(AssertionError, "Torch not compiled with %s enabled", strings.ToUpper(kind))
	case "mps":
		return errf("PyTorch is not linked with support for mps devices")
	case Accelerator:
		return errf("Cannot access accelerator device when none is available.")
	}
	return errf("device %s is not available", kind)
}

func scalarDType(v Value) tensor.DType {
	switch v.(type) {
	case bool:
		return tensor.Bool
	case int64:
		return tensor.Int64
	case complex128:
		return tensor.Complex64
	}
	return tensor.DefaultDType
}

// fillScalar sets t to a number without losing integers above 2^53.
func fillScalar(t *tensor.Tensor, v Value) {
	switch v := v.(type) {
	case float64:
		t.Fill(v)
	case complex128:
		t.FillComplex(v)
	default:
		t.FillInt(toInt(v))
	}
}

// likeStrides is the layout of x_like(self, memory_format).
func (c *Call) likeStrides(t *tensor.Tensor) []int64 {
	f, _ := c.opt("memory_format").(tensor.MemoryFormat)
	if f == "" || f == tensor.PreserveFormat {
		return tensor.PreservedStrides(t.Shape, t.Stride)
	}
	return tensor.FormatStrides(t.Shape, f)
}

func init() {
	sized := func(names string, dt tensor.DType, fill func(c *Call, t *tensor.Tensor) error) {
		def(names, func(c *Call) (Value, error) {
			size := toInts(c.opt("size"))
			if err := c.checkSize(size); err != nil {
				return nil, err
			}
			f, _ := c.opt("memory_format").(tensor.MemoryFormat)
			if c.Op.Facts().Effect == Uninitialised {
				return c.NewBlank(c.optDT(dt), size, tensor.FormatStrides(size, f)), nil
			}
			if !c.real || fill == nil {
				return c.New(c.optDT(dt), size, tensor.FormatStrides(size, f)), nil
			}
			t := c.NewUnset(c.optDT(dt), size, tensor.FormatStrides(size, f))
			return t, fill(c, t)
		})
	}
	one := func(_ *Call, t *tensor.Tensor) error {
		t.FillInt(1)
		return nil
	}
	gen := func(c *Call) *tensor.Generator {
		if g, ok := c.opt("generator").(*tensor.Generator); ok && g != nil {
			return g
		}
		return DefaultGenerator
	}
	rnd := func(c *Call, t *tensor.Tensor) error {
		err := continuous("check_uniform_bounds", t)
		if err == nil {
			gen(c).UniformFill(t, 0, 1)
		}
		return err
	}
	nrm := func(c *Call, t *tensor.Tensor) error {
		err := continuous("normal_kernel_cpu", t)
		if err == nil {
			gen(c).NormalFill(t, 0, 1)
		}
		return err
	}
	sized("empty.memory_format zeros", tensor.Float32, nil)
	sized("ones", tensor.Float32, one)
	sized("rand rand.generator", tensor.Float32, rnd)
	sized("randn randn.generator", tensor.Float32, nrm)
	randint := func(c *Call, t *tensor.Tensor, lo, hi int64) error {
		if lo >= hi {
			return errf("random_ expects 'from' to be less than 'to', but got from=%d >= to=%d", lo, hi)
		}
		if c.real {
			gen(c).RandomFill(t, lo, hi)
		}
		return nil
	}
	def("randint randint.generator randint.low randint.low_generator", func(c *Call) (Value, error) {
		size := toInts(c.opt("size"))
		if err := c.checkSize(size); err != nil {
			return nil, err
		}
		lo, hi := toInt(c.opt("low")), toInt(c.opt("high"))
		t := c.newCUnset(c.optDT(tensor.Int64), size...)
		return t, randint(c, t, lo, hi)
	})
	like := func(names string, fill func(c *Call, t *tensor.Tensor) error) {
		def(names, func(c *Call) (Value, error) {
			s := c.T(0)
			if c.Op.Facts().Effect == Uninitialised {
				return c.NewBlank(c.optDT(s.DType), s.Shape, c.likeStrides(s)), nil
			}
			if !c.real || fill == nil {
				return c.New(c.optDT(s.DType), s.Shape, c.likeStrides(s)), nil
			}
			t := c.NewUnset(c.optDT(s.DType), s.Shape, c.likeStrides(s))
			return t, fill(c, t)
		})
	}
	like("empty_like zeros_like", nil)
	like("ones_like", one)
	like("rand_like", rnd)
	like("randn_like", nrm)
	like("full_like", func(c *Call, t *tensor.Tensor) error { fillScalar(t, c.Args[1]); return nil })
	def("randint_like randint_like.low_dtype", func(c *Call) (Value, error) {
		s := c.T(0)
		t := c.NewUnset(c.optDT(s.DType), s.Shape, c.likeStrides(s))
		return t, randint(c, t, toInt(c.opt("low")), toInt(c.opt("high")))
	})
	newLike := func(names string, fill func(c *Call, t *tensor.Tensor) error) {
		def(names, func(c *Call) (Value, error) {
			size := c.Ints(1)
			if err := c.checkSize(size); err != nil {
				return nil, err
			}
			if c.Op.Facts().Effect == Uninitialised {
				return c.NewBlank(c.optDT(c.T(0).DType), size, tensor.ContiguousStrides(size)), nil
			}
			t := c.NewC(c.optDT(c.T(0).DType), size...)
			if c.real && fill != nil {
				return t, fill(c, t)
			}
			return t, nil
		})
	}
	newLike("new_empty new_zeros", nil)
	newLike("new_ones", one)
	newLike("new_full", func(c *Call, t *tensor.Tensor) error { fillScalar(t, c.Args[2]); return nil })
	def("new_empty_strided", func(c *Call) (Value, error) {
		if a, b := len(c.Ints(1)), len(c.Ints(2)); a != b {
			return nil, errf("mismatch in length of strides and shape: %d and %d", b, a)
		}
		if err := c.checkSize(c.Ints(1)); err != nil {
			return nil, err
		}
		return c.NewUnset(c.optDT(c.T(0).DType), c.Ints(1), c.Ints(2)), nil
	})
	def("empty_strided", func(c *Call) (Value, error) {
		if len(c.Ints(0)) != len(c.Ints(1)) {
			return nil, errf("dimensionality of sizes (%d) must match dimensionality of strides (%d)", len(c.Ints(0)), len(c.Ints(1)))
		}
		if err := c.checkSize(c.Ints(0)); err != nil {
			return nil, err
		}
		return c.NewUnset(c.optDT(tensor.Float32), c.Ints(0), c.Ints(1)), nil
	})
	def("empty_permuted", func(c *Call) (Value, error) {
		size, phys := c.Ints(0), c.Ints(1)
		st := make([]int64, len(size))
		n := int64(1)
		for i := len(phys) - 1; i >= 0; i-- {
			if phys[i] < 0 || int(phys[i]) >= len(size) {
				return nil, errf("Dimension out of range (expected to be between 0 and %d, but got %d at index %d).  NB: negative dims not currently supported; file an issue if you want it.", len(size)-1, phys[i], i)
			}
			st[phys[i]] = n
			n *= max(size[phys[i]], 1)
		}
		return c.NewUnset(c.optDT(tensor.Float32), size, st), c.checkSize(size)
	})
	def("full", func(c *Call) (Value, error) {
		if err := c.checkSize(c.Ints(0)); err != nil {
			return nil, err
		}
		t := c.newCUnset(c.optDT(scalarDType(c.Args[1])), c.Ints(0)...)
		if c.real {
			fillScalar(t, c.Args[1])
		}
		return t, nil
	})
	def("scalar_tensor", func(c *Call) (Value, error) {
		t := c.NewC(c.optDT(tensor.Float32))
		if c.real {
			fillScalar(t, c.Args[0])
		}
		return t, nil
	})
	def("arange arange.start arange.start_step", func(c *Call) (Value, error) {
		var start, step Value = int64(0), int64(1)
		end := c.opt("end")
		if s := c.opt("start"); s != nil {
			start = s
		}
		if s := c.opt("step"); s != nil {
			step = s
		}
		d := tensor.Int64
		for _, v := range []Value{start, end, step} {
			if _, ok := v.(float64); ok {
				d = tensor.DefaultDType
			}
		}
		d = c.optDT(d)
		sf, ef, pf := toFloat(start), toFloat(end), toFloat(step)
		if pf == 0 {
			return nil, errf("step must be nonzero")
		}
		if math.IsInf(sf, 0) || math.IsInf(ef, 0) || sf != sf || ef != ef {
			return nil, errf("unsupported range: %s -> %s", cNumber(sf), cNumber(ef))
		}
		if pf > 0 && sf > ef || pf < 0 && sf < ef {
			return nil, errf("upper bound and larger bound inconsistent with step sign")
		}
		n := int64(math.Ceil((ef - sf) / pf))
		if d.IsInt() {
			if _, ok := start.(float64); !ok {
				if _, ok := step.(float64); !ok {
					a, e, s := toInt(start), toInt(end), toInt(step)
					if s > 0 {
						n = (e - a + s - 1) / s
					} else {
						n = (e - a + s + 1) / s
					}
				}
			}
		}
		n = max(n, 0)
		t := c.NewUnset(d, []int64{n}, []int64{1})
		if c.real && n > 0 {
			a, s := toInt(start), toInt(step)
			parallel.For(int(n), grain, func(lo, hi int) {
				if d == tensor.Int64 {
					x := a + int64(lo)*s
					to := tensor.Whole[int64](t)[lo:hi]
					for i := range to {
						to[i] = x
						x += s
					}
					return
				}
				ints, floats := make([]int64, block), make([]float64, block)
				for lo := int64(lo); lo < int64(hi); lo += block {
					m := min(block, int64(hi)-lo)
					if d.IsInt() {
						for i := range ints {
							ints[i] = a + (lo+int64(i))*s
						}
						tensor.StoreInt(t, lo, 1, ints[:m])
						continue
					}
					for i := range floats {
						floats[i] = sf + float64(lo+int64(i))*pf
					}
					tensor.StoreFloat(t, lo, 1, floats[:m])
				}
			})
		}
		return t, nil
	})
	space := func(names string, log bool) {
		def(names, func(c *Call) (Value, error) {
			n := c.I(2)
			d := c.optDT(tensor.DefaultDType)
			if n < 0 {
				return nil, errf("number of steps must be non-negative")
			}
			for _, i := range []int{0, 1} {
				if t, ok := c.Args[i].(*tensor.Tensor); ok && t.Dim() != 0 {
					return nil, errf("linspace only supports 0-dimensional start and end tensors, but got %s with %d dimension(s).", []string{"start", "end"}[i], t.Dim())
				}
			}
			t := c.newCUnset(d, n)
			if !c.real {
				return t, nil
			}
			a, b := toFloat(c.Args[0]), toFloat(c.Args[1])
			if d.Kind() == tensor.KindInt {
				a, b = math.Trunc(a), math.Trunc(b)
			}
			step := 0.0
			if n > 1 {
				step = (b - a) / float64(n-1)
			}
			if d == tensor.Float32 && n > 1 {
				step = float64(float32(float32(b)-float32(a)) / float32(n-1))
			}
			parallel.For(int(n), 1<<15, func(lo, hi int) {
				var buf [block]float64
				for ; lo < hi; lo += block {
					some := buf[:min(block, hi-lo)]
					left := some[:min(max(int(n/2)-lo, 0), len(some))]
					if n == 1 {
						left = some
					}
					for k := range left {
						left[k] = a + step*float64(lo+k)
					}
					for k := len(left); k < len(some); k++ {
						some[k] = b - step*float64(int(n)-1-lo-k)
					}
					for k := range some {
						if log {
							some[k] = math.Pow(c.F(3), some[k])
						}
					}
					tensor.StoreFloat(t, int64(lo), 1, some)
				}
			})
			return t, nil
		})
	}
	space("linspace linspace.Tensor_Tensor linspace.Tensor_Scalar linspace.Scalar_Tensor", false)
	space("logspace logspace.Tensor_Tensor logspace.Tensor_Scalar logspace.Scalar_Tensor", true)
	def("eye eye.m", func(c *Call) (Value, error) {
		n := c.I(0)
		m := n
		if v := c.opt("m"); v != nil {
			m = toInt(v)
		}
		if n < 0 || m < 0 {
			return nil, errf("n must be greater or equal to 0, got %d", min(n, m))
		}
		t := c.NewC(c.optDT(tensor.Float32), n, m)
		if c.real {
			for i := int64(0); i < min(n, m); i++ {
				t.SetInt(i*m+i, 1)
			}
		}
		return t, nil
	})
	def("randperm randperm.generator", func(c *Call) (Value, error) {
		n := c.I(0)
		if n < 0 {
			return nil, errf("n must be non-negative, got%d", n)
		}
		t := c.newCUnset(c.optDT(tensor.Int64), n)
		if c.real && n > 0 {
			t.SetInts(gen(c).Perm(n))
		}
		return t, nil
	})
	def("range range.step", func(c *Call) (Value, error) {
		var step Value = int64(1)
		if s := c.opt("step"); s != nil {
			step = s
		}
		a, e, s := toFloat(c.Args[0]), toFloat(c.Args[1]), toFloat(step)
		switch {
		case s == 0:
			return nil, errf("step must be nonzero")
		case math.IsInf(a, 0) || math.IsInf(e, 0) || a != a || e != e:
			return nil, errf("unsupported range: %s -> %s", cNumber(a), cNumber(e))
		case s > 0 && a > e || s < 0 && a < e:
			return nil, errf("upper bound and lower bound inconsistent with step sign")
		}
		d := c.optDT(tensor.DefaultDType)
		if d.IsInt() {
			a, s = math.Trunc(a), math.Trunc(s)
		}
		t := c.newCUnset(d, int64((e-a)/s)+1)
		if c.real {
			xs := c.zeros(t.Numel())
			for i := range xs {
				xs[i] = a + float64(i)*s
			}
			t.SetFloats(xs)
		}
		return t, nil
	})
	def("tril_indices triu_indices", func(c *Call) (Value, error) {
		row, col, off := c.I(0), c.I(1), c.I(2)
		col = max(col, 0)
		within := func(i int64) (lo, hi int64) { // the columns of row i
			if c.Op.Sig().Name == "tril_indices" {
				return 0, min(max(i+off+1, 0), col)
			}
			return min(max(i+off, 0), col), col
		}
		n := int64(0)
		for i := range max(row, 0) {
			lo, hi := within(i)
			n += hi - lo
		}
		t := c.newCUnset(c.optDT(tensor.Int64), 2, n)
		if !c.real || n == 0 {
			return t, nil
		}
		both := t.Int64s()
		if both == nil {
			both = make([]int64, 2*n)
		}
		rows, cols := both[:n], both[n:]
		for i := range max(row, 0) {
			lo, hi := within(i)
			for j := lo; j < hi; j++ {
				rows[j-lo], cols[j-lo] = i, j
			}
			rows, cols = rows[hi-lo:], cols[hi-lo:]
		}
		if t.DType != tensor.Int64 {
			t.SetInts(both)
		}
		return t, nil
	})
	copies()
	randomInplace(gen)
}

// cNumber is a number as C++ prints it.
func cNumber(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case x != x:
		return "nan"
	}
	return fmt.Sprintf("%g", x)
}
