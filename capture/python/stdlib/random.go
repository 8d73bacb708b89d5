package stdlib

import (
	"crypto/rand"
	"encoding/binary"
	"math/big"

	"whittle/capture/python/vm"
)

// twister is the Mersenne Twister MT19937.
type twister struct {
	mt  [624]uint32
	idx int
}

func (t *twister) seed32(s uint32) {
	t.mt[0] = s
	for i := 1; i < 624; i++ {
		t.mt[i] = 1812433253*(t.mt[i-1]^t.mt[i-1]>>30) + uint32(i)
	}
	t.idx = 624
}

func (t *twister) seedArray(key []uint32) {
	t.seed32(19650218)
	i, j := 1, 0
	for k := max(624, len(key)); k > 0; k-- {
		t.mt[i] = (t.mt[i] ^ (t.mt[i-1]^t.mt[i-1]>>30)*1664525) + key[j] + uint32(j)
		i++
		j++
		if i >= 624 {
			t.mt[0] = t.mt[623]
			i = 1
		}
		if j >= len(key) {
			j = 0
		}
	}
	for k := 623; k > 0; k-- {
		t.mt[i] = (t.mt[i] ^ (t.mt[i-1]^t.mt[i-1]>>30)*1566083941) - uint32(i)
		i++
		if i >= 624 {
			t.mt[0] = t.mt[623]
			i = 1
		}
	}
	t.mt[0] = 0x80000000
}

func (t *twister) next() uint32 {
	if t.idx >= 624 {
		for k := range 624 {
			y := t.mt[k]&0x80000000 | t.mt[(k+1)%624]&0x7fffffff
			v := t.mt[(k+397)%624] ^ y>>1
			if y&1 != 0 {
				v ^= 0x9908b0df
			}
			t.mt[k] = v
		}
		t.idx = 0
	}
	y := t.mt[t.idx]
	t.idx++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	y ^= y >> 18
	return y
}

func (t *twister) float() float64 {
	a, b := t.next()>>5, t.next()>>6
	return (float64(a)*67108864 + float64(b)) / 9007199254740992
}

func (t *twister) bits(k int) *big.Int {
	if k <= 32 {
		return big.NewInt(int64(t.next() >> (32 - k)))
	}
	words := (k + 31) / 32
	b := make([]byte, 4*words) // the first word is the lowest one
	for i := range words {
		v := t.next()
		if k -= 32; k < 0 {
			v >>= -k
		}
		binary.BigEndian.PutUint32(b[4*(words-1-i):], v)
	}
	return new(big.Int).SetBytes(b)
}

// randomModule is the core that lib/random.py subclasses: random(), seed(), getrandbits(), getstate(), setstate().
func randomModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_random", "")
	self := func(o vm.Object) *twister { return o.(*vm.Instance).Native.(*twister) }
	m.Set("Random", in.NewNativeType(vm.Spec{Name: "Random", Module: "_random", Strict: true,
		Arity: map[string][2]int{"random": {0, 0}, "seed": {0, 1}, "getrandbits": {1, 1}, "getstate": {0, 0}, "setstate": {1, 1}},
		New: func(_ *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, &twister{}), nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				switch {
				case len(kw) > 0:
					return nil, in.Errorf(in.Exc.TypeError, "Random() takes no keyword arguments")
				case len(args) > 2:
					return nil, in.Errorf(in.Exc.TypeError, "Random() requires 0 or 1 argument")
				}
				return vm.None, self(args[0]).seed(in, args[1:])
			},
			"random": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.Float(self(args[0]).float()), nil
			},
			"seed": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.None, self(args[0]).seed(in, args[1:])
			},
			"getrandbits": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				k, err := in.Index(args[1])
				if err != nil {
					return nil, err
				}
				if k < 0 {
					return nil, in.Errorf(in.Exc.ValueError, "number of bits must be non-negative")
				}
				if k == 0 {
					return vm.MakeInt(0), nil
				}
				return vm.MakeBig(self(args[0]).bits(int(k))), nil
			},
			"getstate": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				t := self(args[0])
				items := make([]vm.Object, 0, 625)
				for _, v := range t.mt {
					items = append(items, vm.MakeInt(int64(v)))
				}
				return vm.NewTuple(append(items, vm.MakeInt(int64(t.idx)))...), nil
			},
			"setstate": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				items, err := in.IterAll(args[1])
				if err != nil {
					return nil, err
				}
				if len(items) != 625 {
					return nil, in.Errorf(in.Exc.ValueError, "state vector is the wrong size")
				}
				t := self(args[0])
				var mt [624]uint32
				for i := range mt {
					n, err := in.IndexBig(items[i])
					if err != nil {
						return nil, err
					}
					if n.Sign() < 0 || n.BitLen() > 32 {
						return nil, in.Errorf(in.Exc.OverflowError, "state vector's items must fit 32 bits")
					}
					mt[i] = uint32(n.Uint64())
				}
				n, err := in.Index(items[624])
				if err != nil {
					return nil, err
				}
				if n < 0 || n > 624 {
					return nil, in.Errorf(in.Exc.ValueError, "invalid state")
				}
				t.mt, t.idx = mt, int(n)
				return vm.None, nil
			},
		}}))
	return m, nil
}

// seed is Random.seed: an integer by its absolute value, anything else by its hash, and without an argument by the system's own numbers.
func (t *twister) seed(in *vm.Interp, args []vm.Object) error {
	var n *big.Int
	if len(args) == 0 || args[0] == vm.None {
		b := make([]byte, 16)
		_, _ = rand.Read(b)
		n = new(big.Int).SetBytes(b)
	} else {
		b, ok := vm.AsBig(args[0])
		if !ok {
			h, err := in.Hash(args[0])
			if err != nil {
				return err
			}
			b = new(big.Int).SetUint64(h)
		}
		n = new(big.Int).Abs(b)
	}
	key := []uint32{}
	for mask := big.NewInt(0xffffffff); n.Sign() > 0; n = new(big.Int).Rsh(n, 32) {
		key = append(key, uint32(new(big.Int).And(n, mask).Uint64()))
	}
	if len(key) == 0 {
		key = []uint32{0}
	}
	t.seedArray(key)
	return nil
}
