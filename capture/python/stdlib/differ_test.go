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
)

var (
	fuzzPrograms = flag.Int("programs", 600, "random programs that TestRandomPrograms compares with CPython")
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
    except SyntaxError:
        print("!! SyntaxError")
    except Exception as e:
        print("!!", type(e).__name__, e)
`

var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// cpython finds a Python of version 3.11, whose messages are followed.
func cpython(t *testing.T) string {
	for _, name := range []string{"python3.11", "python3"} {
		py, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		v, err := exec.Command(py, "-c", "import sys; print(*sys.version_info[:2])").Output()
		if err == nil && strings.TrimSpace(string(v)) == "3 11" {
			return py
		}
	}
	t.Skip("no python3 of version 3.11 to compare with")
	return ""
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

// TestRandomPrograms runs random programs under CPython and here, and compares all that they print.
func TestRandomPrograms(t *testing.T) {
	py := cpython(t)
	t.Setenv("PYTHONHASHSEED", "0") // both sides walk sets of strings in the order that this gives
	const batch = 200
	for first := 0; first < *fuzzPrograms; first += batch {
		sources := map[string]string{}
		var b strings.Builder
		b.WriteString(prelude)
		var names []string
		for k := first; k < min(first+batch, *fuzzPrograms); k++ {
			seed := *fuzzSeed + uint64(k)
			g := &programs{r: rand.New(rand.NewPCG(seed, 7))}
			name := fmt.Sprintf("p%d", seed)
			sources[name] = g.program("prog")
			names = append(names, name)
			fmt.Fprintf(&b, "run(%q, %q)\n", name, sources[name])
		}
		file := filepath.Join(t.TempDir(), "batch.py")
		if d := os.Getenv("KEEP"); d != "" {
			file = filepath.Join(d, "batch.py")
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		cmd := exec.CommandContext(ctx, py, file)
		cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0", "PYTHONIOENCODING=utf-8")
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		err := cmd.Run()
		cancel()
		if err != nil {
			t.Fatalf("CPython: %v", err)
		}
		want, got := sections(stdout.String()), sections(runScript(file))
		for _, n := range names {
			if d := cmp.Diff(strings.Split(want[n], "\n"), strings.Split(got[n], "\n")); d != "" {
				t.Errorf("program %s (-CPython +ours)\n%s\n%s", n, sources[n], d)
			}
		}
	}
}
