package stack

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	programCount = flag.Int("programs", 30, "random programs that TestRandomTorchPrograms runs eagerly and compiled")
	stateCount   = flag.Int("states", 40, "random programs that TestRandomStatePrograms calls with changed surroundings")
	programSeed  = flag.Uint64("seed", 1, "their first seed")
	programTorch = flag.String("torch", "", "command of a Python with PyTorch, for TestRandomTorchProgramsOnTorch")
	programKeep  = flag.String("keep", "", "folder for a file per batch of programs, to run by hand")
)

//go:embed testdata/programs.py
var programsHarness string

// torchProgram is a random program and the way it is compiled.
type torchProgram struct{ name, source, backend, dynamic string }

func (p torchProgram) call(extra string) string {
	return fmt.Sprintf("check(%q, %q, %q, %s%s)\n", p.name, p.source, p.backend, p.dynamic, extra)
}

// TestRandomTorchPrograms runs random programs eagerly and compiled, and compares results, gradients, and what they leave behind.
func TestRandomTorchPrograms(t *testing.T) {
	runBatches(t, *programCount, func(seed uint64) torchProgram {
		r := rand.New(rand.NewPCG(seed, 13))
		p := torchProgram{fmt.Sprintf("p%d", seed), newTorchProgram(seed), "", choose(r, "None", "None", "None", "False", "True")}
		p.backend = choose(r, "eager", "eager", "eager", "aot_eager", "aot_eager", "aot_eager_decomp_partition", "aot_eager_decomp_partition", "inductor")
		return p
	})
}

// TestRandomStatePrograms calls one compiled function several times, with changed closures, globals, attributes, containers, methods,
// defaults, classes and modes between the calls: what it gives has to be what the plain function gives.
func TestRandomStatePrograms(t *testing.T) {
	runBatches(t, *stateCount, func(seed uint64) torchProgram {
		r := rand.New(rand.NewPCG(seed, 19))
		return torchProgram{fmt.Sprintf("p%d", seed), newStateProgram(seed), choose(r, "eager", "eager", "eager", "aot_eager"), choose(r, "None", "None", "None", "False", "True")}
	})
}

// runBatches compares what programs do eagerly and compiled.
func runBatches(t *testing.T, count int, make func(seed uint64) torchProgram) {
	const batch = 50
	cache := t.TempDir()
	raised := 0
	for first := 0; first < count; first += batch {
		var ps []torchProgram
		for k := first; k < min(first+batch, count); k++ {
			p := make(*programSeed + uint64(k))
			if testing.Short() && p.backend == "inductor" {
				p.backend = "aot_eager_decomp_partition"
			}
			ps = append(ps, p)
			if *programKeep != "" {
				file := filepath.Join(*programKeep, p.name+".py")
				if err := os.WriteFile(file, []byte(programsHarness+p.call("")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		for len(ps) > 0 { // an error that is no Python exception ends a run: the next one begins behind it
			var b strings.Builder
			b.WriteString(programsHarness)
			for _, p := range ps {
				b.WriteString(p.call(""))
			}
			out, err := runPrograms(cache, b.String())
			parts := strings.Split("\n"+out, "\n# ")[1:]
			for i, text := range parts {
				if strings.Contains(text, "\nraises") {
					raised++
				}
				if !strings.HasSuffix(strings.TrimSpace(text), "\nequal") {
					t.Errorf("program %s %s %s\n%s\n%s", ps[i].name, ps[i].backend, ps[i].dynamic, ps[i].source, text)
				}
			}
			if err != nil && len(parts) == 0 {
				t.Fatal(err)
			}
			if err == nil && len(parts) != len(ps) {
				t.Fatalf("%d of %d programs ran", len(parts), len(ps))
			}
			ps = ps[len(parts):]
		}
	}
	t.Logf("%d programs, %d of them raise", count, raised)
}

// TestRandomTorchProgramsOnTorch compares what random programs compute eagerly here and on a real PyTorch.
func TestRandomTorchProgramsOnTorch(t *testing.T) {
	python := strings.Fields(*programTorch)
	if len(python) == 0 {
		t.Skip("no -torch")
	}
	const batch = 100
	for first := 0; first < *programCount; first += batch {
		var b strings.Builder
		b.WriteString(programsHarness)
		sources := map[string]string{}
		for k := first; k < min(first+batch, *programCount); k++ {
			p := torchProgram{name: fmt.Sprintf("p%d", *programSeed+uint64(k)), source: newTorchProgram(*programSeed + uint64(k)), dynamic: "None"}
			sources[p.name] = p.source
			b.WriteString(p.call(", True"))
		}
		ours, err := runPrograms(t.TempDir(), b.String())
		if err != nil {
			t.Fatal(err, ours)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		cmd := exec.CommandContext(ctx, python[0], append(python[1:], "-")...)
		cmd.Stdin, cmd.Stderr = strings.NewReader(b.String()), os.Stderr
		theirs, err := cmd.Output()
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		got, want := outcomes(t, ours), outcomes(t, string(theirs))
		for name, source := range sources {
			if d := cmp.Diff(want[name], got[name], near); d != "" {
				t.Errorf("program %s (-PyTorch +ours)\n%s\n%s", name, source, d)
			}
		}
	}
}

// near takes numbers as equal that rounding may set apart.
var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-4+2e-4*max(math.Abs(a), math.Abs(b)) })

// outcomes parses what check shows of each program.
func outcomes(t *testing.T, out string) map[string]any {
	m := map[string]any{}
	for _, text := range strings.Split("\n"+out, "\n# ")[1:] {
		head, rest, _ := strings.Cut(text, "\n= ")
		name, _, _ := strings.Cut(head, " ")
		var v any
		if err := json.Unmarshal([]byte(rest), &v); err != nil {
			v = text
		}
		m[name] = v
	}
	return m
}

// runPrograms runs a file in a session of its own and gives what it prints.
func runPrograms(cache, src string) (string, error) {
	s := New(context.Background(), cache)
	var out strings.Builder
	s.In.Stdout = &out
	err := s.In.RunSource("programs.py", src)
	if ferr := s.In.Flush(); err == nil {
		err = ferr
	}
	if err != nil {
		out.WriteString(s.In.FormatException(err))
	}
	return out.String(), err
}
