package lowering

import (
	"whittle/capture/fx"
	"whittle/lowering/ir"
	"whittle/lowering/sched"
	"whittle/lowering/triton"
)

// Triton lowers gm for a CUDA device and gives the Python module that runs there, in the layout of PyTorch's output code. kind is inference,
// forward or backward. Placeholders and nodes must carry fake values in Val. Nothing is compiled, and no device is needed.
func Triton(gm *fx.GraphModule, cfg Config, kind string, device triton.Device) (string, error) {
	cfg.whole = true
	l, err := lower(gm, cfg)
	if err != nil {
		return "", err
	}
	p := triton.Program{Graph: gm.Graph, Attrs: gm.Attrs, Kind: kind, Device: device, Buffer: func(n *fx.Node) *ir.Buffer {
		if v := l.vals[n]; v != nil {
			return v.buf
		}
		return nil
	}}
	for _, s := range sched.Fuse(l.steps, cfg.Choices) {
		switch o := s.Other.(type) {
		case extern:
			p.Steps = append(p.Steps, triton.Step{Call: o.node})
		case viewStep: // what reads it says where
		default:
			p.Steps = append(p.Steps, triton.Step{Loops: s.Loops})
		}
	}
	return triton.Write(p)
}
