package stack

import (
	"fmt"
	"regexp"
	"strings"

	"whittle/capture"
	"whittle/capture/fx"
	"whittle/lowering"
)

// origin is the line of the program that made the captured node which runs now.
func (s *Session) origin() fx.Origin {
	if n := s.Torch.Running; n != nil {
		o, _ := n.Meta[fx.MetaOrigin].(fx.Origin)
		return o
	}
	return fx.Origin{}
}

// A watch is who looks at the graphs of a function on its way through aot.
type watch struct {
	function int                                   // functions are numbered as they come
	made     func(kind string, gm *fx.GraphModule) // sees joint, then forward and backward, or inference, when all are made; nil => nobody
	compiled func(kind string, gm *fx.GraphModule) // sees each but the joint one before it is compiled; nil => nobody
	describe func(n *fx.Node) string               // says what nodes are; nil => fx.Described

	described func(laidOut, line string, train bool) // as aot.Options.Described

	numbers int // as aot.Options.Numbers
}

// watching is the watch over the next function: logs, traces, and the session's own observer.
func (s *Session) watching() *watch {
	w := &watch{function: s.aotCompiles, compiled: func(kind string, gm *fx.GraphModule) {
		if s.AOT != nil {
			s.AOT(kind, gm)
		}
	}}
	s.aotCompiles++
	id := s.Dynamo.CompileID()
	graphs, joint := s.Dynamo.Logging(capture.LogAOTGraphs), s.Dynamo.Logging(capture.LogAOTJoint)
	traced := s.Dynamo.Structured()
	if !graphs && !joint && !traced {
		return w
	}
	w.described = func(laidOut, line string, train bool) {
		defer s.Dynamo.Within(id)()
		switch {
		case graphs && train:
			s.Dynamo.Log(capture.LogAOTMetadata, fmt.Sprintf("aot_config id: %d, fw_metadata=%s, inner_meta=%[2]s", w.function, line))
		case graphs:
			s.Dynamo.Log(capture.LogAOTInference, fmt.Sprintf("aot_config id: %d, fw_metadata=%s,subclass_metadata=None", w.function, line))
		}
		if traced {
			s.Dynamo.StructuredArtifact("aot_forward_graph_fw_metadata", "string", laidOut)
		}
	}
	w.made = func(kind string, gm *fx.GraphModule) {
		defer s.Dynamo.Within(id)()
		if class, ok := map[string]string{"joint": "joint_helper", "inference": "<lambda>", "forward": "GraphModule", "backward": "GraphModule"}[kind]; ok && traced {
			if mode := map[string]string{"joint": "autograd", "inference": "inference"}[kind]; mode != "" {
				s.Dynamo.Dispatched(mode)
			}
			s.Dynamo.StructuredText("aot_"+kind+"_graph", nil, gm.Readable(class, w.describe))
		}
		show := func(p capture.LogPoint, name, class string) {
			s.Dynamo.Log(p, capture.GraphText(fmt.Sprintf("%s graph %d", name, w.function), gm.Readable(class, w.describe)))
		}
		switch {
		case kind == "joint" && joint:
			show(capture.LogAOTJoint, "Joint", "joint_helper")
		case kind == "inference" && graphs:
			show(capture.LogAOTGraphs, "Forward", "<lambda>")
		case kind == "forward" && graphs:
			show(capture.LogAOTGraphs, "Forward", "GraphModule")
		case kind == "backward" && graphs:
			show(capture.LogAOTGraphs, "Backward", "GraphModule")
		}
	}
	return w
}

// logLowering logs what Inductor's place makes of a graph: begin before, the result after.
func (s *Session) logLowering(way string, gm *fx.GraphModule) (done func(c *lowering.Compiled)) {
	d := s.Dynamo
	id := d.CompileID()
	number := s.lowered
	s.lowered++
	if d.Logging(capture.LogInductor) {
		d.Log(capture.LogInductor, fmt.Sprintf("Step 3: torchinductor compiling %s graph %d", way, number))
	}
	if d.Structured() {
		if text, err := s.runnable(gm); err == nil {
			d.StructuredArtifact("fx_graph_runnable", "string", text)
		}
		d.StructuredText("inductor_post_grad_graph", nil, gm.Readable("GraphModule", nil))
	}
	if d.Logging(capture.LogPostGrad) {
		d.Log(capture.LogPostGrad, capture.GraphText("AFTER POST GRAD", gm.Readable("GraphModule", nil)))
	}
	return func(c *lowering.Compiled) {
		defer d.Within(id)()
		if d.Structured() {
			d.StructuredText("inductor_output_code", fx.Fields{{Name: "filename", Value: ""}}, outputCode(c.Source))
		}
		if d.Structured() && s.TraceLoops {
			d.StructuredArtifact("inductor_ir_pre_fusion", "string", strings.Join(c.Loops, "\n")+"\n")
			d.StructuredArtifact("inductor_ir_post_fusion", "string", strings.Join(c.Steps, "\n")+"\n")
		}
		s.logSchedule(c)
		if d.Logging(capture.LogKernelCode) {
			for _, k := range kernels(c.Source) {
				d.Log(capture.LogKernelCode, "CPP Kernel:\n"+k)
			}
		}
		if d.Logging(capture.LogOutputCode) {
			d.Log(capture.LogOutputCode, "Output code: \n"+c.Source)
		}
		if d.Logging(capture.LogInductor) {
			d.Log(capture.LogInductor, fmt.Sprintf("Step 3: torchinductor done compiling %s graph %d", way, number))
		}
	}
}

// logSchedule logs the order of the work, which loops share a kernel, and what runs slower than it might.
func (s *Session) logSchedule(c *lowering.Compiled) {
	d := s.Dynamo
	if d.Logging(capture.LogSchedule) {
		d.Log(capture.LogSchedule, "schedule:\n  "+strings.Join(c.Steps, "\n  "))
	}
	if d.Logging(capture.LogFusion) {
		var groups []string
		of := map[string][]string{}
		for _, step := range c.Steps {
			group, loop, ok := strings.Cut(step, " ")
			if !ok || group == "extern" {
				group, loop = step, step
			}
			if of[group] == nil {
				groups = append(groups, group)
			}
			of[group] = append(of[group], loop)
		}
		text := fmt.Sprintf("===== attempting fusion: %d nodes =====\nfuse_nodes, candidates:\n  %s\n", len(c.Steps), strings.Join(c.Steps, "\n  "))
		for _, g := range groups {
			if n := len(of[g]); n > 1 {
				text += fmt.Sprintf("fused %d nodes into %s\n", n, g)
			}
		}
		d.Log(capture.LogFusion, text+fmt.Sprintf("===== fusion complete: fused %d nodes into %d nodes =====", len(c.Steps), len(groups)))
	}
	if d.Logging(capture.LogPerfHints) {
		for _, step := range c.Steps {
			if op, ok := strings.CutPrefix(step, "extern "); ok {
				d.Log(capture.LogPerfHints, op+" is not part of generated code: its eager kernel runs, and nothing is fused with it")
			}
		}
	}
}

var kernelHead = regexp.MustCompile(`(?m)^(static|extern "C") void kernel`)

// kernels cuts generated code into its kernels; the function that calls them is none.
func kernels(source string) []string {
	var out []string
	at := kernelHead.FindAllStringIndex(source, -1)
	for i, m := range at {
		end := len(source)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		if text := source[m[0]:end]; strings.HasPrefix(text, "static") {
			out = append(out, strings.TrimRight(text, "\n")+"\n")
		}
	}
	return out
}
