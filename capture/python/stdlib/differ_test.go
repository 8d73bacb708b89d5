package stdlib

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/python/cpython/real"
)

var (
	fuzzPrograms = flag.Int("programs", 600, "random programs that TestRandomPrograms compares with CPython")
	fuzzScopes   = flag.Int("scopes", 400, "random nests of scopes that TestRandomScopes compares with CPython")
	fuzzFlows    = flag.Int("flows", 300, "random functions that TestRandomFlow compares with CPython")
	fuzzCalls    = flag.Int("calls", 3000, "random calls of built-in methods and functions that TestRandomCalls compares with CPython")
	fuzzClasses  = flag.Int("classes", 300, "random families of classes that TestRandomClasses compares with CPython")
	fuzzSeed     = flag.Uint64("seed", 1, "their first seed")
)

const prelude = `import abc, argparse, ast, datetime, fractions, io, pathlib, traceback
import bisect, collections, collections.abc, contextlib, copy, dataclasses, enum, functools, heapq, inspect, itertools, json, math, operator, pickle, re, statistics, string, textwrap, typing, warnings
warnings.simplefilter("ignore")
modules = dict(globals())
def run(name, source):
    print("#", name)
    ns = dict(modules, __name__="__main__")
    try:
        exec(compile(source, name, "exec"), ns)
    except SyntaxError as e:
        print("!! SyntaxError", e.msg, e.lineno, e.offset, e.end_lineno, e.end_offset)
    except Exception as e:
        print("!!", type(e).__name__, e)
`

var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// realPython is CPython 3.11, whose messages are followed.
func realPython(t *testing.T) string {
	py, err := real.Python()
	if err != nil {
		t.Fatal(err)
	}
	return py
}

// sections splits what a file of programs prints by program.
func sections(out string) map[string]string {
	m := map[string]string{}
	for _, part := range strings.Split("\n"+address.ReplaceAllString(out, "0xADDR"), "\n# ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		m[name] = text
	}
	return m
}

// TestRandomPrograms runs random programs under CPython and here, and compares all that they print. A program that CPython does
// not finish in time, a loop that grows its own list say, is left out.
func TestRandomPrograms(t *testing.T) {
	compareSeeds(t, *fuzzPrograms, func(seed uint64) string {
		return (&programs{r: rand.New(rand.NewPCG(seed, 7))}).program("prog")
	})
}

// TestRandomScopes does the same with programs whose functions, classes, lambdas and comprehensions bind, declare and delete each other's names.
func TestRandomScopes(t *testing.T) {
	compareSeeds(t, *fuzzScopes, func(seed uint64) string {
		return (&scopes{r: rand.New(rand.NewPCG(seed, 9))}).program()
	})
}

// TestRandomFlow does it with statements that decide where to go on, within each other.
func TestRandomFlow(t *testing.T) {
	compareSeeds(t, *fuzzFlows, func(seed uint64) string {
		return (&flow{r: rand.New(rand.NewPCG(seed, 10))}).program()
	})
}

// TestRandomClasses does it with classes whose special methods give anything.
func TestRandomClasses(t *testing.T) {
	compareSeeds(t, *fuzzClasses, func(seed uint64) string {
		return (&classes{r: rand.New(rand.NewPCG(seed, 11))}).program()
	})
}

// TestRandomCalls makes random calls of what CPython has in C, see testdata/random/calls.py, and compares what they give, what they leave behind, and whether they fail.
// Which of several mistakes is told, and how, is not compared.
func TestRandomCalls(t *testing.T) {
	py := realPython(t)
	t.Setenv("PYTHONHASHSEED", "0")
	const script = "testdata/random/calls.py"
	calls, err := exec.Command(py, script, "make", fmt.Sprint(*fuzzSeed), fmt.Sprint(*fuzzCalls)).Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(file, calls, 0o644); err != nil {
		t.Fatal(err)
	}
	want, err := exec.Command(py, script, "run", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := runScript(script, "run", file)
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("(-CPython +ours)\n%s", d)
	}
}

// compareSeeds compares n programs, each made of a seed.
func compareSeeds(t *testing.T, n int, program func(seed uint64) string) {
	py := realPython(t)
	t.Setenv("PYTHONHASHSEED", "0") // both sides walk sets of strings in the order that this gives
	const batch = 200
	for first := 0; first < n; first += batch {
		var seeds []uint64
		for k := first; k < min(first+batch, n); k++ {
			seeds = append(seeds, *fuzzSeed+uint64(k))
		}
		comparePrograms(t, py, seeds, program)
	}
}

// comparePrograms compares the programs of seeds, in one process of each side where CPython finishes them all.
func comparePrograms(t *testing.T, py string, seeds []uint64, program func(seed uint64) string) {
	sources := map[uint64]string{}
	var b strings.Builder
	b.WriteString(prelude)
	for _, seed := range seeds {
		sources[seed] = program(seed)
		fmt.Fprintf(&b, "run(%q, %q)\n", fmt.Sprintf("p%d", seed), sources[seed])
	}
	file := filepath.Join(t.TempDir(), "batch.py")
	if d := os.Getenv("KEEP"); d != "" {
		file = filepath.Join(d, "batch.py")
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second+time.Duration(len(seeds))*100*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(ctx, py, file)
	cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0", "PYTHONIOENCODING=utf-8")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Run(); err != nil && ctx.Err() != nil && len(seeds) > 1 {
		comparePrograms(t, py, seeds[:len(seeds)/2], program)
		comparePrograms(t, py, seeds[len(seeds)/2:], program)
		return
	} else if err != nil && ctx.Err() != nil {
		t.Logf("p%d: CPython does not finish it in time", seeds[0])
		return
	} else if err != nil {
		t.Fatalf("CPython: %v", err)
	}
	want, got := sections(stdout.String()), sections(runScript(file))
	for _, seed := range seeds {
		n := fmt.Sprintf("p%d", seed)
		if d := cmp.Diff(strings.Split(want[n], "\n"), strings.Split(got[n], "\n")); d != "" {
			t.Errorf("program %s (-CPython +ours)\n%s\n%s", n, sources[seed], d)
		}
	}
}
