package stack

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// torchPrograms writes random PyTorch programs: a function f of tensors and Python values, and inputs(v), its arguments in the
// variant v. It follows shapes and dtypes, so that most programs run; one that raises has to raise compiled as well.
// Sizes are named A, B and C, and differ between variants.
type torchPrograms struct {
	r      *rand.Rand
	b      strings.Builder // body of f
	top    strings.Builder // classes and functions before f
	vars   []tvar
	indent string
	names  int
	grad   bool // some inputs require grad
}

// tvar is a tensor variable.
type tvar struct {
	name  string
	shape []string // sizes as Python expressions of A, B, C; equal text is equal size
	dt    byte     // f float32, d float64, i int64, b bool
	fixed bool     // may not be written in place: an input that requires grad, an expanded view, or what backward may have kept
}

func choose[T any](r *rand.Rand, l ...T) T { return l[r.IntN(len(l))] }

func (g *torchPrograms) fresh(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *torchPrograms) line(format string, args ...any) {
	for _, l := range strings.Split(fmt.Sprintf(format, args...), "\n") {
		g.b.WriteString(g.indent + l + "\n")
	}
}

func (g *torchPrograms) one(n int) bool { return g.r.IntN(n) == 0 }

// pick is a variable that ok accepts, nil if there is none; later ones are likelier.
func (g *torchPrograms) pick(ok func(v tvar) bool) *tvar {
	var l []int
	for i, v := range g.vars {
		if ok(v) {
			l = append(l, i)
			if i >= len(g.vars)-3 {
				l = append(l, i, i)
			}
		}
	}
	if len(l) == 0 {
		return nil
	}
	v := g.vars[choose(g.r, l...)]
	return &v
}

func float(v tvar) bool { return v.dt == 'f' || v.dt == 'd' }

func (g *torchPrograms) float(rank int) *tvar {
	return g.pick(func(v tvar) bool { return float(v) && len(v.shape) >= rank })
}

func promote(a, b byte) byte {
	const order = "bifd"
	return order[max(strings.IndexByte(order, a), strings.IndexByte(order, b))]
}

// broadcast is the shape of a and b together.
func broadcast(a, b []string) ([]string, bool) {
	n := max(len(a), len(b))
	out := make([]string, n)
	for i := range n {
		x, y := "1", "1"
		if k := len(a) - n + i; k >= 0 {
			x = a[k]
		}
		if k := len(b) - n + i; k >= 0 {
			y = b[k]
		}
		switch {
		case x == y || y == "1":
			out[i] = x
		case x == "1":
			out[i] = y
		default:
			return nil, false
		}
	}
	return out, true
}

// unaryFloat are pointwise functions that are defined everywhere, with % as their argument.
var unaryFloat = strings.Split(`torch.sin(%)|%.cos()|torch.tanh(%)|%.sigmoid()|torch.relu(%)|F.gelu(%)|F.silu(%)|%.abs()|-%|%.abs().sqrt()|(%.abs() + 1).rsqrt()|torch.log1p(%.abs())|torch.erf(%)|%.clamp(-1, 1)|%.clamp(min=0.1)|`+
	`% ** 2|%.square()|1 / (%.abs() + 1)|F.leaky_relu(%, 0.1)|F.elu(%)|F.softplus(%)|F.hardtanh(%)|torch.exp(-%.abs())|%.sign() * %|% * 2.5|% + 1|1 - %|3 * % - 2|%.add(1, alpha=2)|torch.sub(%, 0.5)|torch.where(% > 0.1, %, -%)|%.clone()|`+
	`%.contiguous()|torch.nan_to_num(%)|F.relu6(%)|F.logsigmoid(%)|F.softsign(%)|%.atan()|torch.sinh(%.clamp(-2, 2))|%.pow(3)|%.expm1().clamp(max=4)|%.masked_fill(% > 0.3, 0.5)|torch.clip(%, -0.5, 0.5)|%.neg().exp().clamp(max=5)|% / k|% * s|% + k|(% if flag else -%)|`+
	`torch.mul(%, s)|% - %.mean()|%.div(3)|torch.rsub(%, 1)|F.mish(%)|F.hardswish(%)|F.threshold(%, 0.1, 20)|%.detach() * %|torch.addcmul(%, %, %, value=0.5)|torch.lerp(%, -%, 0.3)|%.logit(eps=0.1)|torch.special.expit(%)|% * torch.ones_like(%)|%.new_ones(%.shape) * %|% + torch.zeros(%.shape)|torch.full_like(%, 1.5) - %`, "|")

// unary is a pointwise expression of the shape and dtype of v.
func (g *torchPrograms) unary(v tvar) string {
	if !float(v) {
		switch v.dt {
		case 'i':
			return "(" + strings.ReplaceAll(choose(g.r, "% + 1", "% * 2", "-%", "%.abs()", "% // 3", "torch.remainder(%, 5)", "%.clamp(0, 6)", "% & 3", "% | 8", "% ^ 5", "% << 1", "torch.where(% > 2, %, 0)", "% + k", "%.clone()", "~%", "%.square()", "torch.maximum(%, -%)"), "%", v.name) + ")"
		}
		return "(" + strings.ReplaceAll(choose(g.r, "~%", "% & %.clone()", "%.logical_not()", "% ^ True", "% | %.flip(0) if %.dim() else %"), "%", v.name) + ")"
	}
	e := v.name
	for range 1 + g.r.IntN(3) {
		e = strings.ReplaceAll(choose(g.r, unaryFloat...), "%", "("+e+")")
		if len(e) > 300 {
			break
		}
	}
	return strings.ReplaceAll(e, "("+v.name+")", v.name)
}

func (g *torchPrograms) define(v tvar, expr string) tvar {
	v.name = g.fresh("t")
	g.line("%s = %s", v.name, expr)
	v.fixed = v.fixed || g.grad
	g.vars = append(g.vars, v)
	return v
}

// as is v with another shape.
func (v tvar) as(shape ...string) tvar { v.shape = shape; return v }

func (v tvar) typed(dt byte) tvar { v.dt = dt; return v }

func without(shape []string, d int) []string {
	return slices.Delete(slices.Clone(shape), d, d+1)
}

func replaced(shape []string, d int, size string) []string {
	out := slices.Clone(shape)
	out[d] = size
	return out
}

func product(shape []string) string {
	if len(shape) == 1 {
		return shape[0]
	}
	return "(" + strings.Join(shape, "*") + ")"
}

// negated says dimension d of rank n, at times from the end.
func (g *torchPrograms) dim(d, n int) int {
	if g.one(2) {
		return d - n
	}
	return d
}

func (g *torchPrograms) pointwise() {
	if v := g.pick(func(v tvar) bool { return true }); v != nil {
		g.define(*v, g.unary(*v))
	}
}

func (g *torchPrograms) binary() {
	a := g.pick(func(v tvar) bool { return v.dt != 'b' })
	if a == nil {
		return
	}
	b := g.pick(func(v tvar) bool {
		_, ok := broadcast(a.shape, v.shape)
		return ok && v.dt != 'b'
	})
	shape, _ := broadcast(a.shape, b.shape)
	dt := promote(a.dt, b.dt)
	out := tvar{shape: shape, dt: dt}
	switch g.r.IntN(4) {
	case 0:
		out.dt = 'b'
		g.define(out, fmt.Sprintf("%s %s %s", a.name, choose(g.r, ">", "<", ">=", "<=", "!="), b.name))
	case 1:
		if m := g.pick(func(v tvar) bool {
			s, ok := broadcast(v.shape, shape)
			return ok && v.dt == 'b' && slices.Equal(s, shape)
		}); m != nil {
			g.define(out, fmt.Sprintf("torch.where(%s, %s, %s)", m.name, a.name, b.name))
			return
		}
		fallthrough
	case 2:
		g.define(out, strings.NewReplacer("%", a.name, "$", b.name).Replace(choose(g.r, "torch.maximum(%, $)", "torch.minimum(%, $)", "% + $ * 2", "torch.add(%, $, alpha=2)", "torch.subtract(%, $)", "%.mul($)", "torch.where(% > $, %, $)")))
	default:
		if dt == 'i' {
			g.define(out, fmt.Sprintf("%s %s %s", a.name, choose(g.r, "+", "-", "*", "&", "|", "^"), b.name))
			return
		}
		if g.one(4) {
			g.define(out, fmt.Sprintf("%s / (%s.abs() + 1)", a.name, b.name))
			return
		}
		g.define(out, fmt.Sprintf("%s %s %s", a.name, choose(g.r, "+", "-", "*"), g.unary(*b)))
	}
}

func (g *torchPrograms) reduction() {
	v := g.pick(func(v tvar) bool { return float(v) || g.one(3) })
	if v == nil {
		return
	}
	if v.dt == 'b' {
		g.define(v.as(), v.name+choose(g.r, ".any()", ".all()"))
		return
	}
	if v.dt == 'i' {
		g.define(v.as(), v.name+choose(g.r, ".sum()", ".max()", ".min()", ".sum().clamp(max=50)"))
		return
	}
	if len(v.shape) == 0 || g.one(4) {
		g.define(v.as(), v.name+choose(g.r, ".sum()", ".mean()", ".max()", ".min()", ".square().sum()", ".abs().amax()", ".norm()", ".std(correction=0)", ".var(unbiased=False)"))
		return
	}
	n := len(v.shape)
	d := g.r.IntN(n)
	dim := g.dim(d, n)
	keep := without(v.shape, d)
	k := ""
	if g.one(2) {
		k, keep = ", keepdim=True", replaced(v.shape, d, "1")
	}
	switch g.r.IntN(6) {
	case 0, 1:
		g.define(v.as(keep...), fmt.Sprintf("%s.%s(%d%s)", v.name, choose(g.r, "sum", "mean", "amax", "amin", "logsumexp"), dim, k))
	case 2:
		g.define(v.as(keep...), fmt.Sprintf(choose(g.r, "%s.var(%d, unbiased=False%s)", "torch.linalg.vector_norm(%s, 2, %d%s)", "torch.std(%s, %d, correction=0%s)", "%s.max(%d%s)[0]", "%s.min(%d%s).values", "torch.prod(%s, %d%s)"), v.name, dim, k))
	case 3:
		g.define(*v, fmt.Sprintf(choose(g.r, "torch.softmax(%s, %d)", "%s.log_softmax(%d)", "%s.cumsum(%d)", "F.normalize(%s, dim=%d)", "F.softmin(%s, %d)", "%s.sort(%d)[0]", "torch.cumprod(%s.clamp(-1, 1), %d)"), v.name, dim))
	case 4:
		g.define(v.as(keep...).typed('i'), fmt.Sprintf("%s.%s(%d%s)", v.name, choose(g.r, "argmax", "argmin"), dim, k))
	case 5:
		x, y := g.fresh("t"), g.fresh("t")
		g.line("%s, %s = %s.%s(%d%s)", x, y, v.name, choose(g.r, "max", "min"), dim, k)
		g.vars = append(g.vars, tvar{x, keep, v.dt, g.grad}, tvar{y, keep, 'i', g.grad})
	}
}

func (g *torchPrograms) view() {
	v := g.pick(func(v tvar) bool { return len(v.shape) > 0 })
	if v == nil {
		return
	}
	n := len(v.shape)
	d := g.r.IntN(n)
	dim := g.dim(d, n)
	size := v.shape[d]
	long := size != "1" && !strings.ContainsAny(size, "-/")
	switch c := g.r.IntN(16); {
	case c == 0 && n > 1:
		e := g.r.IntN(n)
		s := slices.Clone(v.shape)
		s[d], s[e] = s[e], s[d]
		g.define(v.as(s...), fmt.Sprintf("%s.transpose(%d, %d)", v.name, dim, e))
	case c == 1:
		p := g.r.Perm(n)
		s := make([]string, n)
		t := make([]string, n)
		for i, k := range p {
			s[i], t[i] = v.shape[k], fmt.Sprint(k)
		}
		g.define(v.as(s...), fmt.Sprintf("%s.permute(%s)", v.name, strings.Join(t, ", ")))
	case c == 2:
		g.define(v.as(product(v.shape)), v.name+choose(g.r, ".reshape(-1)", ".flatten()", ".contiguous().view(-1)"))
	case c == 3:
		s := slices.Insert(slices.Clone(v.shape), d, "1")
		g.define(v.as(s...), fmt.Sprintf(choose(g.r, "%s.unsqueeze(%d)", "%s[(slice(None),) * %d + (None,)]"), v.name, d))
	case c == 4 && size == "1":
		g.define(v.as(without(v.shape, d)...), fmt.Sprintf("%s.squeeze(%d)", v.name, dim))
	case c == 5 && size == "1":
		s := replaced(v.shape, d, "3")
		t := make([]string, n)
		for i := range t {
			t[i] = "-1"
		}
		t[d] = "3"
		w := v.as(s...)
		w.fixed = true
		g.define(w, fmt.Sprintf("%s.expand(%s)", v.name, strings.Join(t, ", ")))
	case c == 6 && long:
		g.define(v.as(replaced(v.shape, d, size+"-1")...), fmt.Sprintf("%s.narrow(%d, 1, %s.shape[%d] - 1)", v.name, dim, v.name, d))
	case c == 7:
		g.define(v.as(without(v.shape, d)...), fmt.Sprintf(choose(g.r, "%s.select(%d, 0)", "%s.unbind(%d)[-1]"), v.name, dim))
	case c == 8:
		g.define(v.as(v.shape[1:]...), v.name+choose(g.r, "[0]", "[-1]", "[min(k, 1) if "+v.name+".shape[0] > 1 else 0]"))
	case c == 9 && v.shape[0] != "1" && !strings.ContainsAny(v.shape[0], "-/"):
		g.define(v.as(replaced(v.shape, 0, v.shape[0]+"-1")...), v.name+choose(g.r, "[1:]", "[:-1]", "[1:, ...]"))
	case c == 10:
		g.define(*v, fmt.Sprintf(choose(g.r, "%s.flip(%d)", "torch.roll(%s, 1, %d)", "torch.cat(%s.split(1, %d), "+fmt.Sprint(dim)+")", "torch.cat(torch.chunk(%s, 2, %d), "+fmt.Sprint(dim)+")", "torch.stack(%s.unbind(%d), "+fmt.Sprint(dim)+")", "torch.movedim(%s, %d, 0).movedim(0, "+fmt.Sprint(dim)+")"), v.name, dim))
	case c == 11:
		g.define(v.as(replaced(v.shape, d, "(2*"+size+")")...), fmt.Sprintf(choose(g.r, "torch.cat([%[1]s, %[1]s], %[2]d)", "%[1]s.repeat_interleave(2, %[2]d)", "torch.cat((%[1]s, %[1]s.clone()), dim=%[2]d)"), v.name, dim))
	case c == 12:
		s := slices.Insert(slices.Clone(v.shape), d, "2")
		g.define(v.as(s...), fmt.Sprintf("torch.stack([%s, %s], %d)", v.name, g.unary(*v), d))
	case c == 13 && n > 1 && v.shape[0] == v.shape[1]:
		g.define(v.as(slices.Concat(v.shape[2:], v.shape[:1])...), v.name+".diagonal()")
	case c == 13 && n == 2:
		g.define(*v, fmt.Sprintf(choose(g.r, "torch.triu(%s)", "%s.tril(-1)", "%s.T.t()", "%s.mT.transpose(0, 1)"), v.name))
	case c == 14 && n > 1:
		g.define(v.as(append([]string{product(v.shape[:2])}, v.shape[2:]...)...), v.name+choose(g.r, ".flatten(0, 1)", ".reshape(-1, *"+v.name+".shape[2:])"))
	case c == 15:
		g.define(v.as(replaced(v.shape, d, "("+size+"+2)")...), fmt.Sprintf("F.pad(%s, (%s1, 1))", v.name, strings.Repeat("0, 0, ", n-1-d)))
	}
}

func (g *torchPrograms) matmul() {
	a := g.float(1)
	if a == nil {
		return
	}
	last := a.shape[len(a.shape)-1]
	b := g.pick(func(v tvar) bool {
		return v.dt == a.dt && len(v.shape) == 2 && (v.shape[0] == last || v.shape[1] == last)
	})
	if b == nil || g.one(4) {
		if len(a.shape) == 2 {
			s := tvar{shape: []string{a.shape[0], a.shape[0]}, dt: a.dt}
			g.define(s, strings.ReplaceAll(choose(g.r, "% @ %.T", "torch.mm(%, %.t())", "torch.einsum('ij,kj->ik', %, %)", "torch.matmul(%, %.transpose(0, 1))", "F.linear(%, %)"), "%", a.name))
		} else if len(a.shape) == 1 {
			g.define(a.as(a.shape[0], a.shape[0]), strings.ReplaceAll(choose(g.r, "torch.outer(%, %)", "%[:, None] * %[None, :]", "torch.einsum('i,j->ij', %, %)"), "%", a.name))
		} else if len(a.shape) == 3 {
			g.define(a.as(a.shape[0], a.shape[1], a.shape[1]), strings.ReplaceAll(choose(g.r, "torch.bmm(%, %.transpose(1, 2))", "% @ %.mT", "torch.einsum('bij,bkj->bik', %, %)", "torch.softmax(% @ %.transpose(-2, -1) / 2, -1)"), "%", a.name))
		}
		return
	}
	lead := a.shape[:len(a.shape)-1]
	if b.shape[0] == last {
		g.define(a.as(append(slices.Clone(lead), b.shape[1])...), fmt.Sprintf(choose(g.r, "%s @ %s", "torch.matmul(%s, %s)", "torch.tensordot(%s, %s, 1)"), a.name, b.name))
		return
	}
	g.define(a.as(append(slices.Clone(lead), b.shape[0])...), fmt.Sprintf(choose(g.r, "F.linear(%s, %s)", "%s @ %s.T"), a.name, b.name))
}

func (g *torchPrograms) indexing() {
	v := g.pick(func(v tvar) bool { return len(v.shape) > 0 && v.dt != 'b' })
	if v == nil {
		return
	}
	rest := v.shape[1:]
	switch g.r.IntN(9) {
	case 0:
		g.define(v.as(append([]string{"3"}, rest...)...), fmt.Sprintf("%s[torch.tensor([0, %s.shape[0] - 1, 0])]", v.name, v.name))
	case 1:
		g.define(v.as(append([]string{"2"}, rest...)...), fmt.Sprintf(choose(g.r, "torch.index_select(%s, 0, torch.tensor([0, 0]))", "%s[[0, -1]]", "%s.index_select(0, torch.zeros(2, dtype=torch.long))"), v.name))
	case 2:
		i := g.pick(func(w tvar) bool { return w.dt == 'i' && len(w.shape) == 1 })
		if i != nil {
			g.define(v.as(append([]string{i.shape[0]}, rest...)...), fmt.Sprintf("%s[%s %% %s.shape[0]]", v.name, i.name, v.name))
		}
	case 3:
		if len(v.shape) >= 2 && float(*v) {
			g.define(v.as(v.shape...), fmt.Sprintf("torch.gather(%[1]s, 0, torch.zeros_like(%[1]s, dtype=torch.long))", v.name))
		}
	case 4:
		m := g.pick(func(w tvar) bool { return w.dt == 'b' && slices.Equal(w.shape, v.shape) })
		if m != nil {
			g.define(*v, fmt.Sprintf(choose(g.r, "%s.masked_fill(%s, 2)", "torch.masked_fill(%s, %s, 0)", "%s * %s", "%s * ~%s"), v.name, m.name))
			if g.one(3) { // a size that depends on data
				g.define(v.as(), fmt.Sprintf(choose(g.r, "%s[%s].sum()", "torch.masked_select(%s, %s).sum()"), v.name, m.name))
			}
		}
	case 5:
		if float(*v) {
			g.define(*v, strings.ReplaceAll(choose(g.r, "torch.zeros_like(%).index_add(0, torch.arange(%.shape[0]), %)", "%.scatter(0, torch.zeros_like(%, dtype=torch.long), 1.5)", "torch.zeros_like(%).scatter_add(0, torch.zeros_like(%, dtype=torch.long), %)", "%.index_fill(0, torch.tensor([0]), 1.0)"), "%", v.name))
		}
	case 6:
		g.define(v.as(append([]string{"1"}, v.shape...)...), v.name+choose(g.r, "[None]", "[None, ...]"))
	case 7:
		if len(v.shape) > 1 {
			s := append(slices.Clone(v.shape[:len(v.shape)-1]), "1")
			g.define(v.as(s...), v.name+choose(g.r, "[..., :1]", "[..., -1:]", "[..., 0, None]"))
		}
	case 8:
		if float(*v) && len(v.shape) == 1 {
			g.define(v.as(v.shape[0]), fmt.Sprintf("%[1]s[torch.argsort(%[1]s)]", v.name))
		}
	}
}

// inplace writes a copy, or any variable where nothing requires grad, through views too.
func (g *torchPrograms) inplace() {
	v := g.pick(func(v tvar) bool { return float(v) && !v.fixed || g.grad && float(v) })
	if v == nil {
		return
	}
	name := v.name
	if v.fixed || g.one(3) {
		name = g.fresh("t")
		g.line("%s = %s%s", name, v.name, choose(g.r, ".clone()", " + 0", " * 1.5"))
		g.vars = append(g.vars, tvar{name, v.shape, v.dt, g.grad})
	}
	n := len(v.shape)
	for range 1 + g.r.IntN(2) {
		switch c := g.r.IntN(9); {
		case c == 0 && n > 0:
			g.line("%s[0] = %s", name, choose(g.r, "1.5", "k", name+"[-1] * 2", "0"))
		case c == 1 && n > 1:
			g.line("%s[:, -1] += %s", name, choose(g.r, "1", "s", name+"[:, 0]"))
		case c == 2 && n > 0:
			w := g.fresh("w")
			g.line("%s = %s%s", w, name, choose(g.r, "[1:]", ".view("+name+".shape)", "[-1]", ".select(0, 0)", "[::2]"))
			g.line("%s%s", w, choose(g.r, ".add_(1)", ".mul_(2)", ".zero_()", ".fill_(0.5)"))
		case c == 3 && n > 0:
			g.line("%s[%s > 0.2] = %s", name, name, choose(g.r, "0.0", "1"))
		case c == 4 && n > 1:
			g.line("%s.transpose(0, 1)%s", name, choose(g.r, "[0].add_(2)", "[-1].mul_(0.5)", ".add_(0.25)"))
		case c == 5:
			g.line("%s %s %s", name, choose(g.r, "+=", "-=", "*="), choose(g.r, "2", "s", "k", "torch.ones(())"))
		case c == 6 && n > 0:
			g.line("%s.copy_(%s)", name, choose(g.r, name+".flip(0)", "torch.ones_like("+name+")", name+"[:1].clone()"))
		default:
			g.line("%s%s", name, choose(g.r, ".add_(1)", ".mul_(0.5)", ".sub_(s)", ".clamp_(-1, 1)", ".neg_()", ".add_(k, alpha=0.5)", ".masked_fill_("+name+" > 1, 1)", ".addcmul_(torch.ones_like("+name+"), torch.full_like("+name+", 2.0))"))
		}
	}
}
