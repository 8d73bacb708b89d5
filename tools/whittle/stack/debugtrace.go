package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/lowering"
	"whittle/replay/files"
	"whittle/repros"
)

// debugTrace leaves what lowering made of each graph in files, where torch._inductor.config.trace.enabled
// (TORCH_COMPILE_DEBUG=1) asks for it. Folders are named as PyTorch names them:
// torchinductor/model__FUNCTION_KIND_GRAPH.COUNT below Session.DebugDir.
type debugTrace struct {
	graphs  int // graphs of functions that were traced so far, joint graphs too
	folders int
	told    map[string]bool // what is not supported, of what was asked for
}

// traceSettings are the settings torch._inductor.config.trace as far as they are switches, and its debug_dir, "" for none.
func (s *Session) traceSettings() (on map[string]bool, dir string, err error) {
	m, err := s.In.Import("torch._inductor.config")
	if err != nil {
		return nil, "", err
	}
	trace, err := s.In.GetAttr(m, "trace")
	if err != nil {
		return nil, "", err
	}
	on = map[string]bool{}
	for _, name := range []string{"enabled", "debug_log", "fx_graph", "fx_graph_transformed", "ir_pre_fusion", "ir_post_fusion", "output_code", "graph_diagram", "compile_profile"} {
		v, err := s.In.GetAttr(trace, name)
		if err != nil {
			return nil, "", err
		}
		if on[name], err = s.In.Truth(v); err != nil {
			return nil, "", err
		}
	}
	v, err := s.In.GetAttr(trace, "debug_dir")
	if err != nil {
		return nil, "", err
	}
	dir, _ = vm.AsStr(v)
	return on, dir, nil
}

// unsupportedTraces are what torch._inductor.config.trace can ask for and there is not.
var unsupportedTraces = []string{"compile_profile"}

// traceGraph begins the files of a graph that is about to be lowered; what it returns takes the result. function is the number of
// the function that the graph is part of.
func (s *Session) traceGraph(gm *fx.GraphModule, kind string, function int) (func(c *lowering.Compiled) error, error) {
	on, root, err := s.traceSettings()
	if err != nil || !on["enabled"] {
		return func(*lowering.Compiled) error { return nil }, err
	}
	t := &s.debug
	for _, name := range unsupportedTraces {
		if on[name] && !t.told[name] {
			fmt.Fprintf(s.In.Stderr, "whittle: torch._inductor.config.trace.%s is not supported: no file is written for it\n", name)
			if t.told == nil {
				t.told = map[string]bool{}
			}
			t.told[name] = true
		}
	}
	if root == "" {
		if root, err = s.DebugDir(); err != nil {
			return nil, err
		}
	}
	for _, f := range []string{"torchdynamo/debug.log", fmt.Sprintf("torchinductor/aot_model___%d_debug.log", t.graphs)} {
		if kind == "backward" && f != "torchdynamo/debug.log" {
			continue // belongs to the compilation of its forward
		}
		if err := appendTo(filepath.Join(root, f)); err != nil {
			return nil, err
		}
	}
	if kind == "forward" {
		t.graphs++ // the joint graph
	}
	dir := filepath.Join(root, "torchinductor", fmt.Sprintf("model__%d_%s_%d.%d", function, kind, t.graphs, t.folders))
	t.graphs++
	if kind == "forward" {
		t.graphs++ // its backward counts now, and again when it is compiled
	}
	t.folders++
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	class := "GraphModule"
	if kind == "inference" {
		class = "<lambda>"
	}
	sizes := func(n *fx.Node) string { return fx.DescribedSizes(n.Val) }
	readable := gm.Readable(class, sizes)
	files := map[string]string{}
	if on["fx_graph"] {
		files["fx_graph_readable.py"] = readable
		if files["fx_graph_runnable.py"], err = s.runnable(gm); err != nil {
			return nil, err
		}
	}
	if on["fx_graph_transformed"] {
		files["fx_graph_transformed.py"] = readable
	}
	if err := writeAll(dir, files); err != nil {
		return nil, err
	}
	return func(c *lowering.Compiled) error {
		files := map[string]string{}
		for name, text := range map[string]string{"ir_pre_fusion.txt": strings.Join(c.Loops, "\n") + "\n", "ir_post_fusion.txt": strings.Join(c.Steps, "\n") + "\n", "output_code.py": outputCode(c.Source)} {
			if what, _, _ := strings.Cut(name, "."); on[what] {
				files[name] = text
			}
		}
		if on["graph_diagram"] {
			text, err := diagram(c.Scheduled())
			if err != nil { // a picture is no reason to stop a compilation
				fmt.Fprintf(s.In.Stderr, "whittle: no graph_diagram.svg: %v\n", err)
			} else {
				files["graph_diagram.svg"] = text
			}
		}
		return writeAll(dir, files)
	}, nil
}

// outputCode is generated code as a Python file that holds it.
func outputCode(source string) string {
	if source == "" {
		return "# no loop was left to generate: eager kernels do all of the work\ncpp_source = ''\n"
	}
	return "cpp_source = r'''\n" + strings.ReplaceAll(source, "'''", "''\\'") + "'''\n"
}

// runnable is a graph as a program of its own, with random inputs like those that it was compiled for.
func (s *Session) runnable(gm *fx.GraphModule) (string, error) {
	r := &repros.Repro{Stage: repros.AfterAOT, Command: "run"}
	for _, c := range s.ChangedConfig() {
		r.Config = append(r.Config, repros.Setting{Name: c[0], Value: c[1]})
	}
	var names []string
	var vals []any
	for _, n := range gm.Graph.Placeholders() {
		names, vals = append(names, n.Target), append(vals, n.Val)
	}
	r.Module, _ = gm.Clone()
	r.Module.ClassName = "Repro"
	if err := r.FromTensors(names, vals, nil, nil); err != nil {
		return "", err
	}
	return repros.Write(r), nil
}

func writeAll(dir string, texts map[string]string) error {
	for name, text := range texts {
		if err := files.Exact(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// appendTo makes a file that may be there.
func appendTo(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	return f.Close()
}
