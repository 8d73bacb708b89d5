package stdlib

import (
	"math"
	"math/big"

	"whittle/capture/python/libm"
	"whittle/capture/python/vm"
)

func mathModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("math", "")
	m.Set("pi", vm.Float(math.Pi))
	m.Set("e", vm.Float(math.E))
	m.Set("tau", vm.Float(2*math.Pi))
	m.Set("inf", vm.Float(math.Inf(1)))
	m.Set("nan", vm.Float(math.NaN()))
	f1 := func(name string, f func(x float64) float64) {
		m.FuncN(name, 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
			x, err := in.Float(args[0])
			if err != nil {
				return nil, err
			}
			r := f(x)
			if math.IsNaN(r) && !math.IsNaN(x) {
				return nil, in.Errorf(in.Exc.ValueError, "math domain error")
			}
			if math.IsInf(r, 0) && !math.IsInf(x, 0) {
				switch name {
				case "exp", "sinh", "cosh", "expm1", "exp2":
					return nil, in.Errorf(in.Exc.OverflowError, "math range error")
				}
				return nil, in.Errorf(in.Exc.ValueError, "math domain error")
			}
			return vm.Float(r), nil
		})
	}
	for n, f := range map[string]func(float64) float64{"sqrt": math.Sqrt, "exp": libm.Exp, "exp2": libm.Exp2, "expm1": libm.Expm1, "log1p": libm.Log1p,
		"sin": libm.Sin, "cos": libm.Cos, "tan": libm.Tan, "asin": libm.Asin, "acos": libm.Acos, "atan": libm.Atan, "sinh": libm.Sinh, "cosh": libm.Cosh,
		"tanh": libm.Tanh, "asinh": libm.Asinh, "acosh": libm.Acosh, "atanh": libm.Atanh, "erf": libm.Erf, "erfc": libm.Erfc, "gamma": math.Gamma,
		"fabs": math.Abs, "cbrt": libm.Cbrt, "degrees": func(x float64) float64 { return x * (180 / math.Pi) }, "radians": func(x float64) float64 { return x * (math.Pi / 180) },
		"lgamma": func(x float64) float64 { v, _ := math.Lgamma(x); return v }, "ulp": ulp} {
		f1(n, f)
	}
	bigLog := func(in *vm.Interp, o vm.Object, f func(float64) float64, scale float64) (float64, error) {
		if b, ok := vm.AsBig(o); ok {
			if b.Sign() <= 0 {
				return 0, in.Errorf(in.Exc.ValueError, "math domain error")
			}
			if n := b.BitLen(); n > 1000 {
				shift := uint(n - 64)
				top, _ := new(big.Float).SetInt(new(big.Int).Rsh(b, shift)).Float64()
				return f(top) + float64(shift)*scale, nil
			}
		}
		x, err := in.Float(o)
		if err != nil {
			return 0, err
		}
		if x <= 0 {
			return 0, in.Errorf(in.Exc.ValueError, "math domain error")
		}
		return f(x), nil
	}
	m.FuncN("log", 1, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		x, err := bigLog(in, args[0], libm.Log, math.Ln2)
		if err != nil || len(args) == 1 {
			return vm.Float(x), err
		}
		b, err := bigLog(in, args[1], libm.Log, math.Ln2)
		if err != nil {
			return nil, err
		}
		if b == 0 {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "float division by zero")
		}
		return vm.Float(x / b), nil
	})
	m.FuncN("log2", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		x, err := bigLog(in, args[0], libm.Log2, 1)
		return vm.Float(x), err
	})
	m.FuncN("log10", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		x, err := bigLog(in, args[0], libm.Log10, libm.Log10(2))
		return vm.Float(x), err
	})
	f2 := func(name string, f func(x, y float64) float64) {
		m.FuncN(name, 2, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
			x, err := in.Float(args[0])
			if err != nil {
				return nil, err
			}
			y, err := in.Float(args[1])
			if err != nil {
				return nil, err
			}
			r := f(x, y)
			if math.IsNaN(r) && !math.IsNaN(x) && !math.IsNaN(y) {
				return nil, in.Errorf(in.Exc.ValueError, "math domain error")
			}
			if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) && name == "pow" {
				if x == 0 {
					return nil, in.Errorf(in.Exc.ValueError, "math domain error")
				}
				return nil, in.Errorf(in.Exc.OverflowError, "math range error")
			}
			return vm.Float(r), nil
		})
	}
	for n, f := range map[string]func(x, y float64) float64{"pow": libm.Pow, "atan2": libm.Atan2, "fmod": math.Mod, "copysign": math.Copysign, "remainder": math.Remainder, "nextafter": nextAfter} {
		f2(n, f)
	}
	m.Func("hypot", func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		xs := make([]float64, len(args))
		for i, a := range args {
			x, err := in.Float(a)
			if err != nil {
				return nil, err
			}
			xs[i] = x
		}
		return vm.Float(vectorNorm(xs)), nil
	})
	round := func(name, dunder string, f func(float64) float64) {
		m.FuncN(name, 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
			if d := args[0].Type().Lookup(dunder); d != nil {
				if _, isF := args[0].(vm.Float); !isF {
					return in.CallMethod(args[0], dunder)
				}
			} else if name == "trunc" {
				return nil, in.Errorf(in.Exc.TypeError, "type %s doesn't define __trunc__ method", vm.TypeName(args[0]))
			}
			x, err := in.Float(args[0])
			if err != nil {
				return nil, err
			}
			return in.ToInt(vm.Float(f(x)))
		})
	}
	round("floor", "__floor__", math.Floor)
	round("ceil", "__ceil__", math.Ceil)
	round("trunc", "__trunc__", math.Trunc)
	pred := func(name string, f func(x float64) bool) {
		m.FuncN(name, 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
			x, err := in.Float(args[0])
			return vm.MakeBool(f(x)), err
		})
	}
	pred("isnan", math.IsNaN)
	pred("isinf", func(x float64) bool { return math.IsInf(x, 0) })
	pred("isfinite", func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) })
	m.FuncN("modf", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		x, err := in.Float(args[0])
		i, f := math.Modf(x)
		if math.IsInf(x, 0) {
			f = 0
		}
		return vm.NewTuple(vm.Float(math.Copysign(f, x)), vm.Float(i)), err
	})
	m.FuncN("frexp", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		x, err := in.Float(args[0])
		f, e := math.Frexp(x)
		return vm.NewTuple(vm.Float(f), vm.MakeInt(int64(e))), err
	})
	m.FuncN("ldexp", 2, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		x, err := in.Float(args[0])
		if err != nil {
			return nil, err
		}
		b, err := in.IndexBig(args[1])
		if err != nil {
			return nil, err
		}
		e := 1 << 20 // far beyond what a float can be
		if b.IsInt64() && b.Int64() < int64(e) {
			e = int(max(b.Int64(), -int64(e)))
		} else if b.Sign() < 0 {
			e = -e
		}
		v := math.Ldexp(x, e)
		if math.IsInf(v, 0) && !math.IsInf(x, 0) {
			return nil, in.Errorf(in.Exc.OverflowError, "math range error")
		}
		return vm.Float(v), nil
	})
	m.Func("isclose", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := in.ParseArgs("isclose", args, kw, "a, b, *, rel_tol=1e-09, abs_tol=0.0")
		if err != nil {
			return nil, err
		}
		var v [4]float64
		for i := range v {
			if v[i], err = in.Float(a[i]); err != nil {
				return nil, err
			}
		}
		x, y := v[0], v[1]
		if v[2] < 0 || v[3] < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "tolerances must be non-negative")
		}
		if x == y {
			return vm.True, nil
		}
		if math.IsInf(x, 0) || math.IsInf(y, 0) {
			return vm.False, nil
		}
		d := math.Abs(x - y)
		return vm.MakeBool(d <= math.Abs(v[2]*y) || d <= math.Abs(v[2]*x) || d <= v[3]), nil
	})
	bigs := func(in *vm.Interp, args []vm.Object) ([]*big.Int, error) {
		var out []*big.Int
		for _, a := range args {
			b, err := in.IndexBig(a)
			if err != nil {
				return nil, err
			}
			out = append(out, b)
		}
		return out, nil
	}
	m.FuncN("factorial", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		b, err := in.IndexBig(args[0])
		if err != nil {
			return nil, err
		}
		if b.Sign() < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "factorial() not defined for negative values")
		}
		if !b.IsInt64() {
			return nil, in.Errorf(in.Exc.OverflowError, "factorial() argument should not exceed %d", math.MaxInt64)
		}
		return vm.MakeBig(new(big.Int).MulRange(1, b.Int64())), nil
	})
	m.FuncN("gcd", 0, -1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		bs, err := bigs(in, args)
		g := new(big.Int)
		for _, b := range bs {
			g.GCD(nil, nil, g, new(big.Int).Abs(b))
		}
		return vm.MakeBig(g), err
	})
	m.FuncN("lcm", 0, -1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		bs, err := bigs(in, args)
		l := big.NewInt(1)
		for _, b := range bs {
			if b.Sign() == 0 {
				return vm.MakeInt(0), err
			}
			a := new(big.Int).Abs(b)
			g := new(big.Int).GCD(nil, nil, l, a)
			l = new(big.Int).Mul(l, a.Quo(a, g))
		}
		return vm.MakeBig(l), err
	})
	m.FuncN("isqrt", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		bs, err := bigs(in, args)
		if err != nil {
			return nil, err
		}
		if bs[0].Sign() < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "isqrt() argument must be nonnegative")
		}
		return vm.MakeBig(new(big.Int).Sqrt(bs[0])), nil
	})
	// choose checks the arguments of comb and perm; ok is false where there is no way to choose k of n.
	choose := func(in *vm.Interp, name string, args []vm.Object) (n *big.Int, k int64, ok bool, err error) {
		bs, err := bigs(in, args)
		if err != nil {
			return nil, 0, false, err
		}
		n, b := bs[0], bs[1]
		switch {
		case n.Sign() < 0:
			return nil, 0, false, in.Errorf(in.Exc.ValueError, "n must be a non-negative integer")
		case b.Sign() < 0:
			return nil, 0, false, in.Errorf(in.Exc.ValueError, "k must be a non-negative integer")
		case b.Cmp(n) > 0:
			return nil, 0, false, nil
		}
		if rest := new(big.Int).Sub(n, b); name == "comb" && rest.Cmp(b) < 0 {
			b = rest
		}
		if !b.IsInt64() {
			return nil, 0, false, in.Errorf(in.Exc.OverflowError, "min(n - k, k) must not exceed %d", math.MaxInt64)
		}
		return n, b.Int64(), true, nil
	}
	// falling is n * (n-1) * ... of k factors.
	falling := func(n *big.Int, k int64) *big.Int {
		if n.IsInt64() {
			return new(big.Int).MulRange(n.Int64()-k+1, n.Int64())
		}
		r, f := big.NewInt(1), new(big.Int).Set(n)
		for range k {
			r.Mul(r, f)
			f.Sub(f, big.NewInt(1))
		}
		return r
	}
	m.FuncN("comb", 2, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		n, k, ok, err := choose(in, "comb", args)
		if !ok || err != nil {
			return vm.MakeInt(0), err
		}
		r := falling(n, k)
		return vm.MakeBig(r.Quo(r, new(big.Int).MulRange(1, k))), nil
	})
	m.FuncN("perm", 1, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		if len(args) == 1 || args[1] == vm.None {
			f, _ := m.Dict.GetStr("factorial")
			return in.Call(f, args[:1], nil)
		}
		n, k, ok, err := choose(in, "perm", args)
		if !ok || err != nil {
			return vm.MakeInt(0), err
		}
		return vm.MakeBig(falling(n, k)), nil
	})
	m.FuncN("fsum", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		items, err := in.IterAll(args[0])
		if err != nil {
			return nil, err
		}
		var partials []float64
		for _, it := range items {
			x, err := in.Float(it)
			if err != nil {
				return nil, err
			}
			i := 0
			for _, y := range partials {
				if math.Abs(x) < math.Abs(y) {
					x, y = y, x
				}
				hi := x + y
				lo := y - (hi - x)
				if lo != 0 {
					partials[i] = lo
					i++
				}
				x = hi
			}
			partials = append(partials[:i], x)
		}
		s := new(big.Float).SetPrec(2200)
		for _, p := range partials {
			if math.IsInf(p, 0) || math.IsNaN(p) {
				return vm.Float(p), nil
			}
			s.Add(s, big.NewFloat(p))
		}
		f, _ := s.Float64()
		return vm.Float(f), nil
	})
	m.Func("prod", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := in.ParseArgs("prod", args, kw, "iterable, /, *, start=1")
		if err != nil {
			return nil, err
		}
		items, err := in.IterAll(a[0])
		if err != nil {
			return nil, err
		}
		acc := a[1]
		for _, it := range items {
			if acc, err = in.BinaryOp("*", acc, it); err != nil {
				return nil, err
			}
		}
		return acc, nil
	})
	m.FuncN("dist", 2, 2, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		p, err := in.IterAll(args[0])
		if err != nil {
			return nil, err
		}
		q, err := in.IterAll(args[1])
		if err != nil {
			return nil, err
		}
		if len(p) != len(q) {
			return nil, in.Errorf(in.Exc.ValueError, "both points must have the same number of dimensions")
		}
		xs := make([]float64, len(p))
		for i := range p {
			x, err := in.Float(p[i])
			if err != nil {
				return nil, err
			}
			y, err := in.Float(q[i])
			if err != nil {
				return nil, err
			}
			xs[i] = x - y
		}
		return vm.Float(vectorNorm(xs)), nil
	})
	return m, nil
}

// nextAfter is the next float after x towards y.
func nextAfter(x, y float64) float64 {
	if x == y {
		return y
	}
	return math.Nextafter(x, y)
}

// ulp is what the last bit of x stands for.
func ulp(x float64) float64 {
	x = math.Abs(x)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	if next := math.Nextafter(x, math.Inf(1)); !math.IsInf(next, 0) {
		return next - x
	}
	return x - math.Nextafter(x, math.Inf(-1))
}
