package stack

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"whittle/aot"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/kernels/tensor"
)

// sizeSource is where a graph reads the value of a symbol: in a dimension of an argument, or in the argument itself.
type sizeSource struct{ arg, dim int }

// wholeArgument is the dimension of an integer that is an argument itself.
const wholeArgument = -1

// makeFXForAllSizes is makeFX for arguments whose sizes, and integers, are others in other calls: the graph reads them. Equal ones share a symbol, and
// 0 and 1 are what they are. Where the operators depend on the sizes, the graph is the one for the sizes given.
func (s *Session) makeFXForAllSizes(fn vm.Object, args, names []vm.Object, dec map[string]aot.Decomposition) (*fx.GraphModule, error) {
	given, err := s.fxValues(args)
	if err != nil {
		return nil, err
	}
	env := symbolic.NewEnv()
	sources := map[string]sizeSource{}
	extents := make([][]*symbolic.Expr, len(given))
	extent := func(n int64, from sizeSource) *symbolic.Expr {
		e := env.Size(n, fmt.Sprint(from), symbolic.Duck)
		if _, known := sources[e.Name]; e.Op == symbolic.OpSym && !known {
			sources[e.Name] = from
		}
		return e
	}
	for i, in := range given {
		switch v := in.Value.(type) {
		case int64:
			extents[i] = []*symbolic.Expr{extent(v, sizeSource{i, wholeArgument})}
		case *tensor.Tensor:
			for d, n := range v.Shape {
				extents[i] = append(extents[i], extent(n, sizeSource{i, d}))
			}
		}
	}
	z := aot.Sizes{Env: env}
	for _, y := range env.Symbols() {
		z.Symbols = append(z.Symbols, y.Name)
	}
	if len(z.Symbols) == 0 {
		return s.makeFX(fn, args, names, dec)
	}
	gm, err := aot.TraceForAllSizes(z, func(values map[string]int64) (*fx.GraphModule, error) {
		sized, err := atSizes(given, extents, values)
		if err != nil {
			return nil, err
		}
		numbers := make([]namedNumber, len(z.Symbols))
		for i, name := range z.Symbols {
			numbers[i] = namedNumber{name, values[name]}
		}
		return s.recordFX(fn, numbers, sized, names, dec)
	})
	if each := (*aot.NotOneGraph)(nil); errors.As(err, &each) {
		return s.makeFX(fn, args, names, dec)
	} else if err != nil {
		return nil, err
	}
	readSizes(gm.Graph, z.Symbols, sources)
	return gm, nil
}

// readSizes lets a graph read the values of its first inputs, the symbols, from the others.
func readSizes(g *fx.Graph, symbols []string, sources map[string]sizeSource) {
	places := g.Placeholders()
	numbers, rest := places[:len(symbols)], places[len(symbols):]
	users := g.Users()
	last := places[len(places)-1]
	for i, name := range symbols {
		n, at := numbers[i], sources[name]
		if len(users[n]) > 0 {
			from := rest[at.arg]
			if at.dim == wholeArgument {
				g.ReplaceUses(n, from)
			} else {
				g.InsertAfter(last, func() {
					size := g.CreateNode(fx.CallFunction, "aten.sym_size.int", []fx.Arg{from, int64(at.dim)}, nil, "sym_size_int")
					size.Val = n.Val
					g.ReplaceUses(n, size)
					last = size
				})
			}
		}
		g.Erase(n)
	}
}

// atSizes are inputs at values of the symbols. Tensors that lie densely do so at other sizes, too.
func atSizes(given []aot.Input, extents [][]*symbolic.Expr, values map[string]int64) ([]aot.Input, error) {
	out := slices.Clone(given)
	for i, es := range extents {
		size, err := evaluated(es, values)
		if err != nil {
			return nil, err
		}
		switch v := given[i].Value.(type) {
		case int64:
			out[i].Value = size[0]
		case *tensor.Tensor:
			sized := *v
			sized.Shape, sized.Stride = size, denseLike(v, size)
			sized.Storage = tensor.EmptyFake(v.DType, sized.Shape, sized.Stride).Storage
			out[i].Value = &sized
		}
	}
	return out, nil
}

// denseLike are the strides of a tensor of given sizes whose dimensions lie in memory in the order of those of t; t's own where t is not dense.
func denseLike(t *tensor.Tensor, size []int64) []int64 {
	order := make([]int, len(size))
	for d := range order {
		order[d] = d
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.Stride[a], t.Stride[b]), cmp.Compare(t.Shape[a], t.Shape[b]), cmp.Compare(b, a))
	})
	stride := make([]int64, len(size))
	was, now := int64(1), int64(1)
	for _, d := range order {
		if t.Stride[d] != was && t.Shape[d] > 1 {
			return t.Stride
		}
		stride[d] = now
		was *= t.Shape[d]
		now *= size[d]
	}
	return stride
}
