package pyitertools

import (
	"slices"

	"whittle/capture/python/vm"
)

// pool is what the combining iterators choose from, by indices. begun says that there was a first choice, done that there are no more.
type pool struct {
	items       []vm.Object
	indices     []int
	begun, done bool
}

// pick is the choice as a tuple.
func (p *pool) pick(n int) vm.Object {
	out := make([]vm.Object, n)
	for i := range out {
		out[i] = p.items[p.indices[i]]
	}
	return vm.NewTuple(out...)
}

// numbers are indices as Python has them, and readNumbers reads them, each at most as large as its place allows.
func numbers(is []int) vm.Object {
	out := make([]vm.Object, len(is))
	for i, n := range is {
		out[i] = vm.MakeInt(int64(n))
	}
	return vm.NewTuple(out...)
}

func readNumbers(in *vm.Interp, o vm.Object, n int, lo, hi func(i int) int) ([]int, error) {
	t, ok := vm.AsTuple(o)
	if !ok || len(t.Items) != n {
		return nil, in.Errorf(in.Exc.ValueError, "invalid arguments")
	}
	out := make([]int, n)
	for i, v := range t.Items {
		k, err := stateInt(in, v)
		if err != nil {
			return nil, err
		}
		out[i] = int(min(max(k, int64(lo(i))), int64(hi(i))))
	}
	return out, nil
}

func fixed(n int) func(int) int { return func(int) int { return n } }

// product is product(*iterables, repeat=1).
type product struct {
	pools       [][]vm.Object
	indices     []int
	begun, done bool
}

// product makes the class.
func (s *module) product(in *vm.Interp, m *vm.Module) {
	s.define(in, m, "product", func(in *vm.Interp, _ bool, args []vm.Object, kw []vm.KwArg) (iterator, error) {
		n := int64(1)
		for _, k := range kw {
			if k.Name != "repeat" {
				return nil, in.Errorf(in.Exc.TypeError, "'%s' is an invalid keyword argument for product()", k.Name)
			}
			var err error
			if n, err = in.Index(k.Value); err != nil {
				return nil, err
			}
			if n < 0 {
				return nil, in.Errorf(in.Exc.ValueError, "repeat argument cannot be negative")
			}
		}
		if len(args) > 0 && n > mostPools/int64(len(args)) {
			return nil, in.Errorf(in.Exc.MemoryError, "")
		}
		if n == 0 {
			args = nil
		}
		var pools [][]vm.Object
		for _, o := range args {
			items, err := in.IterAll(o)
			if err != nil {
				return nil, err
			}
			pools = append(pools, items)
		}
		if len(pools) > 0 {
			pools = slices.Repeat(pools, int(n))
		}
		return &product{pools: pools, indices: make([]int, len(pools))}, nil
	})
}

const mostPools = 1 << 31

func (x *product) next(*vm.Interp) (vm.Object, error) {
	if x.done {
		return nil, nil
	}
	if !x.begun {
		x.begun = true
		for _, p := range x.pools {
			if len(p) == 0 {
				x.done = true
				return nil, nil
			}
		}
		return x.pick(), nil
	}
	for i := len(x.pools) - 1; i >= 0; i-- {
		if x.indices[i]++; x.indices[i] < len(x.pools[i]) {
			return x.pick(), nil
		}
		x.indices[i] = 0
	}
	x.done = true
	return nil, nil
}

func (x *product) pick() vm.Object {
	out := make([]vm.Object, len(x.pools))
	for i, p := range x.pools {
		out[i] = p[x.indices[i]]
	}
	return vm.NewTuple(out...)
}

func (x *product) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	if x.done {
		return made(cls, vm.NewTuple(vm.NewTuple()))
	}
	args := make([]vm.Object, len(x.pools))
	for i, p := range x.pools {
		args[i] = vm.NewTuple(slices.Clone(p)...)
	}
	if !x.begun {
		return made(cls, vm.NewTuple(args...))
	}
	return made(cls, vm.NewTuple(args...), numbers(x.indices))
}

func (x *product) setState(in *vm.Interp, state vm.Object) error {
	is, err := readNumbers(in, state, len(x.pools), fixed(0), func(i int) int { return len(x.pools[i]) - 1 })
	if err != nil {
		return err
	}
	if slices.Contains(is, -1) { // an empty pool
		x.done = true
		return nil
	}
	x.indices, x.begun = is, true
	return nil
}

// combinations is combinations(iterable, r), and combinations_with_replacement.
type combinations struct {
	pool
	r         int
	replacing bool
}

func newCombinations(c *call) (iterator, error) { return makeCombinations(c, false) }

func newReplacing(c *call) (iterator, error) { return makeCombinations(c, true) }

func makeCombinations(c *call, replacing bool) (iterator, error) {
	if _, ok := vm.AsBig(c.args[1]); !ok && c.args[1].Type().Lookup("__index__") == nil {
		return nil, c.Errorf(c.Exc.TypeError, "'%s' object cannot be interpreted as an integer", vm.TypeName(c.args[1]))
	}
	r, err := c.Index(c.args[1])
	if err != nil {
		return nil, err
	}
	items, err := c.IterAll(c.args[0])
	if err != nil {
		return nil, err
	}
	if r < 0 {
		return nil, c.Errorf(c.Exc.ValueError, "r must be non-negative")
	}
	x := &combinations{pool: pool{items: items}, r: int(r), replacing: replacing}
	if replacing {
		x.done = len(items) == 0 && r > 0
	} else {
		x.done = int(r) > len(items)
	}
	if x.done {
		return x, nil
	}
	if r > mostPools {
		return nil, c.Errorf(c.Exc.MemoryError, "")
	}
	x.indices = make([]int, r)
	if !replacing {
		for i := range x.indices {
			x.indices[i] = i
		}
	}
	return x, nil
}

// most is the last item that an index may be at.
func (x *combinations) most(i int) int {
	if x.replacing {
		return len(x.items) - 1
	}
	return i + len(x.items) - x.r
}

func (x *combinations) next(*vm.Interp) (vm.Object, error) {
	if x.done {
		return nil, nil
	}
	if !x.begun {
		x.begun = true
		return x.pick(x.r), nil
	}
	i := x.r - 1
	for i >= 0 && x.indices[i] == x.most(i) {
		i--
	}
	if i < 0 {
		x.done = true
		return nil, nil
	}
	x.indices[i]++
	for j := i + 1; j < x.r; j++ {
		x.indices[j] = x.indices[j-1]
		if !x.replacing {
			x.indices[j]++
		}
	}
	return x.pick(x.r), nil
}

func (x *combinations) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	r := vm.MakeInt(int64(x.r))
	switch {
	case !x.begun:
		return made(cls, vm.NewTuple(vm.NewTuple(slices.Clone(x.items)...), r))
	case x.done:
		return made(cls, vm.NewTuple(vm.NewTuple(), r))
	}
	return made(cls, vm.NewTuple(vm.NewTuple(slices.Clone(x.items)...), r), numbers(x.indices))
}

func (x *combinations) setState(in *vm.Interp, state vm.Object) error {
	is, err := readNumbers(in, state, x.r, fixed(0), x.most)
	if err == nil && !x.done {
		x.indices, x.begun = is, true
	}
	return err
}

// permutations is permutations(iterable, r).
type permutations struct {
	pool
	r      int
	cycles []int
}

func newPermutations(c *call) (iterator, error) {
	items, err := c.IterAll(c.args[0])
	if err != nil {
		return nil, err
	}
	n := len(items)
	r := int64(n)
	if c.args[1] != vm.None {
		if _, ok := vm.AsBig(c.args[1]); !ok {
			return nil, c.Errorf(c.Exc.TypeError, "Expected int as r")
		}
		if r, err = c.Index(c.args[1]); err != nil {
			return nil, err
		}
		if r < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "r must be non-negative")
		}
	}
	x := &permutations{pool: pool{items: items, done: r > int64(n)}, r: int(r)}
	if x.done {
		return x, nil
	}
	for i := range n {
		x.indices = append(x.indices, i)
	}
	for i := range x.r {
		x.cycles = append(x.cycles, n-i)
	}
	return x, nil
}

func (x *permutations) next(*vm.Interp) (vm.Object, error) {
	if x.done {
		return nil, nil
	}
	if !x.begun {
		x.begun = true
		return x.pick(x.r), nil
	}
	n := len(x.items)
	for i := x.r - 1; i >= 0; i-- {
		if x.cycles[i]--; x.cycles[i] > 0 {
			j := n - x.cycles[i]
			x.indices[i], x.indices[j] = x.indices[j], x.indices[i]
			return x.pick(x.r), nil
		}
		first := x.indices[i]
		copy(x.indices[i:], x.indices[i+1:])
		x.indices[n-1] = first
		x.cycles[i] = n - i
	}
	x.done = true
	return nil, nil
}

func (x *permutations) reduce(_ *vm.Interp, cls *vm.Type) (vm.Object, error) {
	r := vm.MakeInt(int64(x.r))
	switch {
	case !x.begun:
		return made(cls, vm.NewTuple(vm.NewTuple(slices.Clone(x.items)...), r))
	case x.done:
		return made(cls, vm.NewTuple(vm.NewTuple(), r))
	}
	return made(cls, vm.NewTuple(vm.NewTuple(slices.Clone(x.items)...), r), vm.NewTuple(numbers(x.indices), numbers(x.cycles)))
}

func (x *permutations) setState(in *vm.Interp, state vm.Object) error {
	parts, err := tupleState(in, state, 2)
	if err != nil {
		return err
	}
	for i, o := range parts {
		if _, ok := vm.AsTuple(o); !ok {
			return in.Errorf(in.Exc.TypeError, "argument %d must be tuple, not %s", i+1, vm.ArgName(o))
		}
	}
	n := len(x.items)
	is, err := readNumbers(in, parts[0], n, fixed(0), fixed(n-1))
	if err != nil {
		return err
	}
	cycles, err := readNumbers(in, parts[1], x.r, fixed(1), func(i int) int { return n - i })
	if err == nil && !x.done {
		x.indices, x.cycles, x.begun = is, cycles, true
	}
	return err
}
