package ablate

import (
	"fmt"
	"strings"
)

// Advice knows the commands that go on from here.
type Advice struct {
	Again    string // runs the program: whittle run x.py, python3 x.py
	Minify   string // runs it and shrinks what fails
	Accuracy string // likewise, for wrong values
	Bisect   string // finds the part of a layer that decides, given a repro
}

// tools are the settings of PyTorch's guides that look into a layer.
var tools = map[string]string{
	"dynamo":         `TORCH_LOGS="+dynamo" TORCHDYNAMO_VERBOSE=1`,
	"aot":            `TORCH_LOGS="aot_joint_graph,aot_graphs"`,
	"decompositions": `TORCH_LOGS="aot_joint_graph,aot_graphs"`,
	"inductor":       `TORCH_COMPILE_DEBUG=1 TORCH_LOGS="+inductor,output_code"`,
	"backend":        `TORCH_LOGS="graph_code"`,
}

// next is what to do about what was found.
func (v Advice) next(r *Report, own program) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	g := r.Guilty
	if g != nil {
		v.blame(g, own, say)
		if len(r.Helps) > 0 {
			say("until it is mended, each of these alone is a way round: %s", strings.Join(r.Helps, "; "))
		}
		if g.Layer == "dynamo" || g.Status == Fails {
			say("or keep the function that fails out of it, with @torch.compiler.disable")
		}
	}
	if len(r.Slow) > 0 && g == nil {
		say("look for graph breaks and recompilations, which cost the most: TORCH_LOGS=\"graph_breaks,recompiles\" %s", v.Again)
	}
	if g == nil && len(r.Slow) == 0 && len(r.Also) == 0 {
		say("nothing: the program does with every layer what it does without")
	}
	return out
}

func (v Advice) blame(g *Guilty, own program, say func(string, ...any)) {
	switch {
	case g.Status == Drifts && v.Accuracy != "":
		say("shrink it to a minimal repro: %s", v.Accuracy)
	case v.Minify != "" && g.Layer != "dynamo":
		say("shrink it to a minimal repro: %s", v.Minify)
	}
	switch g.Layer {
	case "dynamo":
		say("see the instructions that are traced, and the last one before it fails: %s %s", tools[g.Layer], v.Again)
		say("record the frame, so that it can be captured without the program: torch._dynamo.config.replay_record_enabled = True")
	case "inductor":
		after := "aot"
		say("PyTorch's own minifier for this stage: %s", minifier(after, g.Status))
		say("see graph, code and times of the stage: %s %s", tools[g.Layer], v.Again)
		if v.Bisect != "" {
			say("find the pass, lowering or fusion that decides: %s", v.Bisect)
		}
	default:
		say("PyTorch's own minifier for this stage: %s", minifier("dynamo", g.Status))
		say("see the graphs that it gets: %s %s", tools[g.Layer], v.Again)
	}
	if len(own.changed) > 0 {
		say("the program changes settings, of which one may be what decides: %s", settings(own))
	}
}

func minifier(after string, s Status) string {
	text := fmt.Sprintf("TORCHDYNAMO_REPRO_AFTER=%q", after)
	if s == Drifts {
		text += " TORCHDYNAMO_REPRO_LEVEL=4"
	}
	return text
}

func settings(p program) string {
	var out []string
	for _, s := range p.changed {
		out = append(out, python(s.Name, s.Value))
	}
	return strings.Join(out, "; ")
}
