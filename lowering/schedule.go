package lowering

import (
	"fmt"
	"slices"

	"whittle/capture/fx"
	"whittle/lowering/ir"
)

// Scheduled is one unit of a compiled graph's work: a kernel, or a call of an operator's eager kernel.
type Scheduled struct {
	Name   string   // op0, op1, by its place
	Buffer []string // what it makes
	Nodes  []string // of the graph, that a kernel computes
	Call   string   // the operator; "" of a kernel
	Kind   string   // of a kernel: pointwise, reduction
	Reads  []string // buffers and inputs that other units, or nobody, make
}

// Scheduled is the work of the program in order. Views are no work.
func (c *Compiled) Scheduled() []Scheduled {
	var out []Scheduled
	for _, s := range c.steps {
		var u Scheduled
		read := func(b *ir.Buffer) {
			if name := b.Owner().Name; !slices.Contains(u.Reads, name) && !slices.Contains(u.Buffer, name) {
				u.Reads = append(u.Reads, name)
			}
		}
		switch o := s.Other.(type) {
		case extern:
			u = Scheduled{Name: fmt.Sprintf("op%d", len(out)), Buffer: []string{o.node.Name}, Call: o.node.Target}
			o.node.WalkInputs(func(n *fx.Node) {
				if v := c.l.vals[n]; v != nil && v.buf != nil {
					read(v.buf)
				} else if !slices.Contains(u.Reads, n.Name) {
					u.Reads = append(u.Reads, n.Name)
				}
			})
		case viewStep:
			continue
		default:
			u = Scheduled{Name: fmt.Sprintf("op%d", len(out)), Kind: "pointwise"}
			for _, l := range s.Loops {
				l.Value.Reads(func(e *ir.Expr) { read(e.Buf) })
				if name := l.Out.Owner().Name; !slices.Contains(u.Buffer, name) {
					u.Buffer = append(u.Buffer, name)
				}
				for _, o := range l.Origins {
					if !slices.Contains(u.Nodes, o) {
						u.Nodes = append(u.Nodes, o)
					}
				}
				if l.Reduce != "" {
					u.Kind = "reduction"
				}
			}
		}
		out = append(out, u)
	}
	return out
}
