package aten

import (
	"math"

	"whittle/kernels/tensor"
)

// Connectionist temporal classification: the probability of a target over all its alignments, by a forward recursion in logarithms.

type ctcProblem struct {
	frames, batch, classes int64
	inLen, outLen          []int64
	targets                []int64
	starts                 []int64 // per sample, where its targets begin
	stride                 int64
	longest                int64
	blank                  int64
}

// label is the s-th state of sample b: blanks stand between the targets.
func (p ctcProblem) label(b, s int64) int64 {
	if s%2 == 0 {
		return p.blank
	}
	return p.targets[p.starts[b]+p.stride*(s/2)]
}

func (c *Call) ctcProblem(lp, targets *tensor.Tensor, in, out []int64, blank int64) (ctcProblem, error) {
	p := ctcProblem{inLen: in, outLen: out, blank: blank, stride: 1}
	if lp.DType != tensor.Float32 && lp.DType != tensor.Float64 {
		return p, noKernel("ctc_loss_cpu", lp)
	}
	if targets.DType != tensor.Int64 && targets.DType != tensor.Int32 {
		return p, errf("Expected targets to be Int or Long, but got %s", cName(targets.DType))
	}
	if lp.Dim() != 3 {
		return p, errf("log_probs must have 3 dimensions, got %d", lp.Dim())
	}
	p.frames, p.batch, p.classes = lp.Shape[0], lp.Shape[1], lp.Shape[2]
	if blank < 0 || blank >= p.classes {
		return p, errf("blank must be in label range")
	}
	if int64(len(in)) != p.batch {
		return p, errf("input_lengths must be of size batch_size")
	}
	if int64(len(out)) != p.batch {
		return p, errf("target_lengths must be of size batch_size")
	}
	if c.real {
		p.targets = targets.Ints()
	}
	if targets.Dim() != 1 && targets.Dim() != 2 {
		return p, errf("ctc_loss(): Expected targets to have 1 or 2 dimensions, but got size %s", tensor.ShapeText(targets.Shape))
	}
	at := int64(0)
	for i, n := range out {
		if n < 0 {
			return p, errf("Expected target_lengths to have value at least 0, but got value %d", n)
		}
		p.longest = max(p.longest, n)
		if targets.Dim() == 1 {
			p.starts = append(p.starts, at)
			at += n
			continue
		}
		p.starts = append(p.starts, int64(i)*targets.Shape[1])
	}
	switch {
	case targets.Dim() == 1 && at != targets.Shape[0]:
		return p, errf("Expected tensor to have size %d at dimension 0, but got size %d for argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)", at, targets.Shape[0])
	case targets.Dim() == 2 && targets.Shape[0] != p.batch:
		return p, errf("Expected tensor to have size %d at dimension 0, but got size %d for argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)", p.batch, targets.Shape[0])
	case targets.Dim() == 2 && targets.Shape[1] < p.longest:
		return p, errf("Expected tensor to have size at least %d at dimension 1, but got size %d for argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)", p.longest, targets.Shape[1])
	}
	for _, n := range in {
		if n < 0 || n > p.frames {
			return p, errf("Expected input_lengths to have value at most %d, but got value %d (while checking arguments for ctc_loss_allocate_outputs)", p.frames, n)
		}
	}
	return p, nil
}

// logSum is the logarithm of a sum of exponentials; the largest is taken out first, so that none overflows.
func logSum(xs ...float64) float64 {
	most := 0
	for i, x := range xs {
		if x > xs[most] || x != x {
			most = i
		}
	}
	m := xs[most]
	if math.IsInf(m, -1) {
		return m
	}
	s := 1.0
	for i, x := range xs {
		if i != most && !math.IsInf(x, -1) {
			s += math.Exp(x - m)
		}
	}
	return m + math.Log(s)
}

// logSum3 is logSum of three numbers.
func logSum3(x, y, z float64) float64 {
	if y > x || y != y {
		x, y = y, x
	}
	if z > x || z != z {
		x, z = z, x
	}
	if math.IsInf(x, -1) {
		return x
	}
	s := 1.0
	if !math.IsInf(y, -1) {
		s += math.Exp(y - x)
	}
	if !math.IsInf(z, -1) {
		s += math.Exp(z - x)
	}
	if s == 1 {
		return x
	}
	return x + math.Log(s)
}

// forward fills alpha [frames, states] of sample b and gives its negative log likelihood.
func (p ctcProblem) forward(lp []float64, b int64, alpha []float64, states int64) float64 {
	n, own := p.inLen[b], 2*p.outLen[b]+1
	at := func(t, s int64) float64 { return lp[(t*p.batch+b)*p.classes+p.label(b, s)] }
	for i := range alpha {
		alpha[i] = math.Inf(-1)
	}
	if n == 0 {
		if p.outLen[b] == 0 {
			return 0
		}
		return math.Inf(1)
	}
	alpha[0] = at(0, 0)
	if p.outLen[b] > 0 {
		alpha[1] = at(0, 1)
	}
	labels, leaps := make([]int64, own), make([]bool, own) // leaps: from two states before
	for s := range labels {
		labels[s] = p.label(b, int64(s))
		leaps[s] = s > 1 && labels[s-2] != labels[s]
	}
	for t := int64(1); t < n; t++ {
		prev, row, frame := alpha[(t-1)*states:][:own], alpha[t*states:][:own], lp[(t*p.batch+b)*p.classes:]
		before := math.Inf(-1)
		for s, x := range prev {
			leap := math.Inf(-1)
			if leaps[s] {
				leap = prev[s-2]
			}
			row[s] = logSum3(x, before, leap) + frame[labels[s]]
			before = x
		}
	}
	last := alpha[(n-1)*states:]
	if p.outLen[b] == 0 {
		return -last[0]
	}
	return -logSum(last[own-1], last[own-2])
}

// backward gives the gradient of sample b's loss by lp, times g.
func (p ctcProblem) backward(lp, alpha []float64, b, states int64, nll, g float64, out []float64) {
	n, own := p.inLen[b], 2*p.outLen[b]+1
	at := func(t, s int64) float64 { return lp[(t*p.batch+b)*p.classes+p.label(b, s)] }
	beta := make([]float64, p.frames*states)
	for i := range beta {
		beta[i] = math.Inf(-1)
	}
	if n == 0 {
		return
	}
	beta[(n-1)*states+own-1] = at(n-1, own-1)
	if own > 1 {
		beta[(n-1)*states+own-2] = at(n-1, own-2)
	}
	for t := n - 2; t >= 0; t-- {
		for s := own - 1; s >= 0; s-- {
			next := beta[(t+1)*states:]
			x := [3]float64{next[s]}
			n := 1
			if s+1 < own {
				x[n] = next[s+1]
				n++
			}
			if s+2 < own && p.label(b, s+2) != p.label(b, s) {
				x[n] = next[s+2]
				n++
			}
			beta[t*states+s] = logSum(x[:n]...) + at(t, s)
		}
	}
	sum := make([]float64, p.classes)
	for t := int64(0); t < n; t++ {
		for k := range sum {
			sum[k] = math.Inf(-1)
		}
		for s := int64(0); s < own; s++ {
			k := p.label(b, s)
			sum[k] = logSum(sum[k], alpha[t*states+s]+beta[t*states+s])
		}
		for k := range sum {
			i := (t*p.batch+b)*p.classes + int64(k)
			out[i] = (math.Exp(lp[i]) - math.Exp(sum[k]+nll-lp[i])) * g
		}
	}
}

// logs fills to with from, and from there on with what stands for nothing.
func logs[T float32 | float64](to []T, from []float64) {
	for i, x := range from {
		to[i] = T(x)
	}
	if rest := to[len(from):]; len(rest) > 0 {
		rest[0] = T(math.Inf(-1))
		for n := 1; n < len(rest); n *= 2 { // as much as there is, again
			copy(rest[n:], rest[:n])
		}
	}
}

func lengthsOf(v Value) []int64 {
	if t, ok := v.(*tensor.Tensor); ok {
		return t.Ints()
	}
	return toInts(v)
}

func ctcOps() {
	needsData := func(c *Call, vs ...Value) bool {
		return !c.real && AnyFake(vs)
	}
	def("_ctc_loss _ctc_loss.Tensor", func(c *Call) (Value, error) {
		lp := c.T(0)
		if needsData(c, c.Args[2:4]...) {
			return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
		}
		in, out := lengthsOf(c.Args[2]), lengthsOf(c.Args[3])
		p, err := c.ctcProblem(lp, c.T(1), in, out, c.I(4))
		if err != nil {
			return nil, err
		}
		states := 2*p.longest + 1
		nll, alpha := c.NewC(lp.DType, p.batch), c.newCUnset(lp.DType, p.batch, p.frames, states)
		if !c.real {
			return list(nll, alpha), nil
		}
		used := int64(0) // the frames that anybody looks at
		for _, n := range p.inLen {
			used = max(used, n)
		}
		xs, ns, per := c.floats(tensor.NewView(lp, []int64{used, p.batch, p.classes}, lp.Stride, lp.Offset)), c.zeros(p.batch), p.frames*states
		eachPlane(p.batch, 32*used*states, func(b int64) {
			a := make([]float64, used*states)
			ns[b] = p.forward(xs, b, a, states)
			if to := alpha.Float32s(); to != nil {
				logs(to[b*per:(b+1)*per], a)
			} else {
				logs(alpha.Float64s()[b*per:(b+1)*per], a)
			}
		})
		nll.SetFloats(ns)
		return list(nll, alpha), nil
	})
	def("_ctc_loss_backward _ctc_loss_backward.Tensor", func(c *Call) (Value, error) {
		g, lp, nll, alpha := c.T(0), c.T(1), c.T(5), c.T(6)
		o := c.NewC(lp.DType, lp.Shape...)
		if !c.real {
			return o, nil
		}
		p, err := c.ctcProblem(lp, c.T(2), lengthsOf(c.Args[3]), lengthsOf(c.Args[4]), c.I(7))
		if err != nil {
			return nil, err
		}
		states := alpha.Shape[2]
		xs, ns, out := c.floats(lp), c.floats(nll), c.zeros(lp.Numel())
		gs := c.floats(g.Expand([]int64{p.batch}))
		for b := int64(0); b < p.batch; b++ {
			if c.B(8) && math.IsInf(ns[b], 1) {
				continue
			}
			// The recursion is repeated in float64, where alpha was stored in less.
			a := make([]float64, p.frames*states)
			p.forward(xs, b, a, states)
			p.backward(xs, a, b, states, ns[b], gs[b], out)
		}
		o.SetFloats(out)
		return o, nil
	})
	comp("ctc_loss.IntList ctc_loss.Tensor", func(c *Call) (Value, error) {
		lp, targets := c.T(0), c.T(1)
		op, in, out := "_ctc_loss", c.Args[2], c.Args[3]
		if _, ok := in.(*tensor.Tensor); ok {
			op = "_ctc_loss.Tensor"
		}
		batched := lp.Dim() == 3
		x := Value(lp)
		if !batched {
			x = must(c.via("unsqueeze", lp, int64(1)))
			if targets.Dim() == 1 {
				// One sample's targets are the concatenated ones.
				for i, v := range []Value{in, out} {
					if t, ok := v.(*tensor.Tensor); ok && t.Dim() == 0 {
						u := must(c.via("unsqueeze", t, int64(0)))
						if i == 0 {
							in = u
						} else {
							out = u
						}
					}
				}
			}
		}
		v, err := c.via(op, x, targets, in, out, c.Args[4], c.Args[6])
		if err != nil {
			return nil, err
		}
		res := v.([]Value)[0]
		if c.B(6) {
			res = must(c.via("where.ScalarSelf", must(c.via("eq.Scalar", res, math.Inf(1))), 0.0, res))
		}
		switch c.I(5) {
		case 1:
			var n Value
			if t, ok := out.(*tensor.Tensor); ok {
				n = must(c.via("clamp_min", must(c.via("to.dtype", t, lp.DType)), int64(1)))
			} else {
				xs := make([]float64, 0)
				for _, k := range toInts(out) {
					xs = append(xs, float64(max(k, 1)))
				}
				n = tensor.FromFloat64s(xs, int64(len(xs))).To(lp.DType)
			}
			return c.via("mean", must(c.via("div.Tensor", res, n)))
		case 2:
			return c.via("sum", res)
		}
		if !batched {
			return c.via("squeeze.dim", res, int64(0))
		}
		return c.must2(res)
	})
}

// must2 is must as a Value and an error.
func (c *Call) must2(v Value) (Value, error) {
	t, err := c.must(v)
	return c.tv(t, err)
}
