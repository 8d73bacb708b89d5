package numpy

import (
	"crypto/rand"
	"encoding/binary"
	"math/big"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
	"whittle/kernels/ndarray/random"
)

// stream is the native half of RandomState and Generator.
type stream struct {
	s     random.Stream
	class *vm.Type
}

// Type is numpy.random's Stream.
func (s *stream) Type() *vm.Type { return s.class }

// words are the 32-bit words of integers, the lowest first; each integer has at least one.
func (np *NumPy) words(o vm.Object) ([]uint32, error) {
	items := []vm.Object{o}
	if _, ok := o.(*Array); ok || o.Type().Lookup("__iter__") != nil {
		var err error
		if items, err = np.In.IterAll(o); err != nil {
			return nil, err
		}
	}
	var out []uint32
	for _, it := range items {
		b, err := np.In.IndexBig(it)
		if err != nil {
			return nil, err
		}
		if b.Sign() < 0 {
			return nil, np.In.Errorf(np.In.Exc.ValueError, "expected non-negative integer")
		}
		n := new(big.Int).Set(b)
		for first := true; first || n.Sign() > 0; first = false {
			out = append(out, uint32(new(big.Int).And(n, big.NewInt(0xffffffff)).Uint64()))
			n.Rsh(n, 32)
		}
	}
	return out, nil
}

func (np *NumPy) randomTypes(m *vm.Module) {
	var cls *vm.Type
	cls = np.In.NewNativeType(vm.Spec{Name: "Stream", Module: native, NoDict: true,
		New: func(in *vm.Interp, _ *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := in.ParseArgs("Stream", args, kw, "kind, legacy=True")
			if err != nil {
				return nil, err
			}
			s := &stream{class: cls}
			if k, _ := vm.AsStr(a[0]); k == "PCG64" {
				s.s.Source = &random.PCG64{}
			} else {
				s.s.Source = &random.MT19937{}
			}
			s.s.Legacy, err = in.Truth(a[1])
			return s, err
		},
		Methods: np.streamMethods(),
	})
	m.Set("_Stream", cls)
	clinic.Def(m, "_entropy", "", func(c *clinic.Call) (vm.Object, error) {
		var b [16]byte
		if _, err := rand.Read(b[:]); err != nil {
			return nil, c.OSErr(err)
		}
		return vm.MakeBig(new(big.Int).SetBytes(b[:])), nil
	})
	clinic.Def(m, "_seed_pool", "entropy, pool_size:int", func(c *clinic.Call) (vm.Object, error) {
		w, err := np.words(c.Args[0])
		if err != nil {
			return nil, err
		}
		return np.Wrap(ndarray.FromSlice(ndarray.UInt32, random.NewSeedSequence(w, int(c.Int(1))).Pool())), nil
	})
	clinic.Def(m, "_seed_state", "entropy, n_words:int, wide:bool, pool_size:int", func(c *clinic.Call) (vm.Object, error) {
		w, err := np.words(c.Args[0])
		if err != nil {
			return nil, err
		}
		s := random.NewSeedSequence(w, int(c.Int(3)))
		if c.Bool(2) {
			return np.Wrap(ndarray.FromSlice(ndarray.UInt64, s.Uint64s(int(c.Int(1))))), nil
		}
		return np.Wrap(ndarray.FromSlice(ndarray.UInt32, s.Uint32s(int(c.Int(1))))), nil
	})
}

// drawn makes a method that draws float64 numbers of a shape.
func (np *NumPy) drawn(params string, f func(s *random.Stream, c *clinic.Call) func() float64) vm.GoFunc {
	return clinic.Method("draw", params, func(c *clinic.Call) (vm.Object, error) {
		next := f(&c.Self.(*stream).s, c)
		if c.None(0) {
			return vm.Float(next()), nil
		}
		shape, err := np.shapeArg(c.Args[0])
		if err != nil {
			return nil, err
		}
		a := ndarray.New(ndarray.Of(ndarray.Float64), shape...)
		xs := ndarray.Slice[float64](a)
		for i := range xs {
			xs[i] = next()
		}
		return np.Wrap(a), nil
	})
}

func (np *NumPy) streamMethods() map[string]vm.GoFunc {
	return map[string]vm.GoFunc{
		"seed": clinic.Method("seed", "seed, pool_size:int=4", func(c *clinic.Call) (vm.Object, error) {
			s := c.Self.(*stream)
			w, err := np.words(c.Args[0])
			if err != nil {
				return nil, err
			}
			switch src := s.s.Source.(type) {
			case *random.PCG64:
				src.Seed(random.NewSeedSequence(w, int(c.Int(1))))
			case *random.MT19937:
				_, isInt := vm.AsBig(c.Args[0])
				switch {
				case !s.s.Legacy:
					src.SeedArray(w)
				case isInt || c.Args[0].Type().Lookup("__index__") != nil && c.Args[0].Type().Lookup("__iter__") == nil:
					if len(w) > 1 {
						return nil, c.Errorf(c.Exc.ValueError, "Seed must be between 0 and 2**32 - 1")
					}
					src.Seed(w[0])
				default:
					src.SeedArray(w)
				}
			}
			s.s.HasGauss, s.s.Gauss = false, 0
			return vm.None, nil
		}),
		"doubles":      np.drawn("size", func(s *random.Stream, _ *clinic.Call) func() float64 { return s.Float64 }),
		"normals":      np.drawn("size", func(s *random.Stream, _ *clinic.Call) func() float64 { return s.Normal }),
		"exponentials": np.drawn("size", func(s *random.Stream, _ *clinic.Call) func() float64 { return s.Exponential }),
		"gammas": np.drawn("size, shape:float", func(s *random.Stream, c *clinic.Call) func() float64 {
			return func() float64 { return s.Gamma(c.Float(1)) }
		}),
		"betas": np.drawn("size, a:float, b:float", func(s *random.Stream, c *clinic.Call) func() float64 {
			return func() float64 { return s.Beta(c.Float(1), c.Float(2)) }
		}),
		"poissons": np.drawn("size, lam:float", func(s *random.Stream, c *clinic.Call) func() float64 {
			return func() float64 { return float64(s.Poisson(c.Float(1))) }
		}),
		"binomials": np.drawn("size, n:int, p:float", func(s *random.Stream, c *clinic.Call) func() float64 {
			return func() float64 { return float64(s.Binomial(c.Int(1), c.Float(2))) }
		}),
		"floats": clinic.Method("floats", "size", func(c *clinic.Call) (vm.Object, error) {
			s := &c.Self.(*stream).s
			shape, err := np.shapeArg(c.Args[0])
			if err != nil {
				return nil, err
			}
			a := ndarray.New(ndarray.Of(ndarray.Float32), shape...)
			xs := ndarray.Slice[float32](a)
			for i := range xs {
				xs[i] = float32(s.Uint32()>>8) / (1 << 24)
			}
			return np.Wrap(a), nil
		}),
		"bounded":     clinic.Method("bounded", "size, low, top, dtype", np.bounded),
		"permutation": clinic.Method("permutation", "n:int, first:int=1, masked:bool=False", np.permuted),
		"bytes": clinic.Method("bytes", "n:int", func(c *clinic.Call) (vm.Object, error) {
			s := &c.Self.(*stream).s
			n := int(c.Int(0))
			var out []byte
			for len(out) < n {
				out = binary.LittleEndian.AppendUint32(out, s.Uint32())
			}
			return vm.Bytes(out[:n]), nil
		}),
		"get_state": clinic.Method("get_state", "", np.streamState),
		"set_state": clinic.Method("set_state", "state", np.setStreamState),
	}
}

// bounded draws integers of [low, low+top] for a dtype.
func (np *NumPy) bounded(c *clinic.Call) (vm.Object, error) {
	s := &c.Self.(*stream).s
	d, err := np.ToDType(c.Args[3])
	if err != nil {
		return nil, err
	}
	low, err := c.IndexBig(c.Args[1])
	if err != nil {
		return nil, err
	}
	top, err := c.IndexBig(c.Args[2])
	if err != nil {
		return nil, err
	}
	b := random.Bounded{S: s.Source, Top: top.Uint64(), Width: 8 * d.Size, Masked: s.Legacy}
	if d.Kind == 'b' {
		b.Width = 1
	}
	off := low.Int64()
	if low.IsUint64() {
		off = int64(low.Uint64())
	}
	shape := []int{}
	if !c.None(0) {
		if shape, err = np.shapeArg(c.Args[0]); err != nil {
			return nil, err
		}
	}
	a := ndarray.New(d, shape...)
	for i := range a.Len() {
		v := int64(b.Next()) + off
		var x any = v
		if d.Kind == 'u' {
			x = uint64(v)
		}
		if err := a.Set(i*d.Size, x); err != nil {
			return nil, err
		}
	}
	return np.Wrap(a), nil
}

// permuted is an order of n things, shuffled from the last one down to first.
func (np *NumPy) permuted(c *clinic.Call) (vm.Object, error) {
	s := &c.Self.(*stream).s
	n := int(c.Int(0))
	idx := make([]int64, n)
	for i := range idx {
		idx[i] = int64(i)
	}
	draw := func(top uint64) uint64 { return random.Interval(s.Source, top) }
	if !s.Legacy && !c.Bool(2) {
		draw = func(top uint64) uint64 {
			b := random.Bounded{S: s.Source, Top: top, Width: 64}
			return b.Next()
		}
	}
	random.Shuffle(n, int(c.Int(1)), draw, func(i, j int) { idx[i], idx[j] = idx[j], idx[i] })
	return np.Wrap(ndarray.FromSlice(ndarray.Int64, idx)), nil
}

func uint128(hi, lo uint64) vm.Object {
	b := new(big.Int).SetUint64(hi)
	return vm.MakeBig(b.Or(b.Lsh(b, 64), new(big.Int).SetUint64(lo)))
}

// streamState is where a stream stands.
func (np *NumPy) streamState(c *clinic.Call) (vm.Object, error) {
	s := &c.Self.(*stream).s
	switch src := s.Source.(type) {
	case *random.PCG64:
		return vm.NewTuple(uint128(src.Hi, src.Lo), uint128(src.IncHi, src.IncLo), vm.MakeBool(src.Has32), vm.MakeInt(int64(src.Left))), nil
	case *random.MT19937:
		key := append([]uint32{}, src.Key[:]...)
		return vm.NewTuple(np.Wrap(ndarray.FromSlice(ndarray.UInt32, key)), vm.MakeInt(int64(src.Pos)), vm.MakeBool(s.HasGauss), vm.Float(s.Gauss)), nil
	}
	return vm.None, nil
}

func (np *NumPy) setStreamState(c *clinic.Call) (vm.Object, error) {
	s := &c.Self.(*stream).s
	items := mustTuple(c.Args[0])
	if len(items) != 4 {
		return nil, c.Errorf(c.Exc.ValueError, "state is not a legacy MT19937 state")
	}
	switch src := s.Source.(type) {
	case *random.PCG64:
		for i, to := range [][2]*uint64{{&src.Hi, &src.Lo}, {&src.IncHi, &src.IncLo}} {
			b, err := c.IndexBig(items[i])
			if err != nil {
				return nil, err
			}
			*to[1] = new(big.Int).And(b, new(big.Int).SetUint64(1<<64-1)).Uint64()
			*to[0] = new(big.Int).Rsh(b, 64).Uint64()
		}
		has, err := c.Truth(items[2])
		if err != nil {
			return nil, err
		}
		left, err := c.Index(items[3])
		src.Has32, src.Left = has, uint32(left)
		return vm.None, err
	case *random.MT19937:
		a, err := np.FromObject(items[0], nil, false)
		if err != nil {
			return nil, err
		}
		key := a.Ints()
		if len(key) != len(src.Key) {
			return nil, c.Errorf(c.Exc.ValueError, "state must be a dict")
		}
		for i, k := range key {
			src.Key[i] = uint32(k)
		}
		pos, err := c.Index(items[1])
		if err != nil {
			return nil, err
		}
		src.Pos = int(pos)
		if s.HasGauss, err = c.Truth(items[2]); err != nil {
			return nil, err
		}
		s.Gauss, err = c.Interp.Float(items[3])
		return vm.None, err
	}
	return vm.None, nil
}
