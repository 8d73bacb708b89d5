package stack

import (
	"fmt"
	"strings"
	"time"

	"whittle/capture"
	"whittle/capture/python/vm"
	"whittle/lowering"
)

// isOn reads a switch of a module of settings, or of a part of one.
func (s *Session) isOn(settings vm.Object, name string) (bool, error) {
	v, err := s.In.GetAttr(settings, name)
	if err != nil {
		return false, err
	}
	return s.In.Truth(v)
}

// wantsCUDAGraphs says, of a graph for which CUDA graphs are asked (mode="reduce-overhead" or "max-autotune"), that there are none on a CPU, as PyTorch does: in its
// counters, once for a function; and in words.
func (s *Session) wantsCUDAGraphs(kind string) error {
	m, err := s.In.Import("torch._inductor.config")
	if err != nil {
		return err
	}
	triton, err := s.In.GetAttr(m, "triton")
	if err != nil {
		return err
	}
	on, err := s.isOn(triton, "cudagraphs")
	if err != nil || !on || kind == "backward" {
		return err
	}
	s.Dynamo.Count("inductor", "cudagraph_skips", 1)
	s.noted("skipping cudagraphs: nothing of the graph is on a CUDA device")
	return nil
}

// tuned tells of a kernel whose forms were measured, in the words of PyTorch's tables of choices.
func (s *Session) tuned(t lowering.Tuning) {
	var table strings.Builder
	fmt.Fprintf(&table, "AUTOTUNE %s\n", t.Name)
	for _, f := range t.Forms {
		fmt.Fprintf(&table, "  %s %.4f ms %.1f%% \n", f.Name, float64(f.Time)/1e6, 100*float64(t.Forms[0].Time)/float64(max(f.Time, 1)))
	}
	if t.Known {
		table.WriteString("measured by an earlier compilation")
	} else {
		fmt.Fprintf(&table, "SingleProcess AUTOTUNE benchmarking takes %.4f seconds and %.4f seconds precompiling for %d choices", t.Measured.Seconds(), t.Built.Seconds(), len(t.Forms))
		s.Dynamo.Count("inductor", "select_algorithm_precompile", len(t.Forms))
	}
	s.Dynamo.Count("inductor", "select_algorithm_autotune", len(t.Forms))
	_ = s.In.Flush() // what the program printed stands before it
	fmt.Fprintln(s.In.Stderr, table.String())
	if s.Dynamo.Structured() {
		s.Dynamo.StructuredArtifact("autotune", "string", table.String())
	}
	best, next := t.Forms[0], t.Forms[1]
	s.note("autotuned %s: %s, %s; %s would take %s", t.Name, best.Name, short(best.Time), next.Name, short(next.Time))
}

// short is a time as people read it.
func short(d time.Duration) string { return d.Round(10 * time.Nanosecond).String() }

// noted tells of something that a mode asks for, where somebody listens.
func (s *Session) noted(text string) {
	if s.Dynamo.Logging(capture.LogPerfHints) {
		s.Dynamo.Log(capture.LogPerfHints, text)
	}
	if s.Dynamo.Structured() {
		s.Dynamo.StructuredArtifact("mode", "string", text)
	}
	s.note("%s", text)
}

func (s *Session) note(format string, args ...any) {
	if s.Noted != nil {
		s.Noted(s.Dynamo.CompileID(), fmt.Sprintf(format, args...))
	}
}
