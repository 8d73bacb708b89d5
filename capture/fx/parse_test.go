package fx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sharedDir is the folder of corpora that is handed to the project, if this machine has it.
func sharedDir(t testing.TB) string {
	dir := os.Getenv("WHITTLE_SHARED")
	if dir == "" {
		dir = "../../../shared"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no shared directory")
	}
	return dir
}

func corpusFiles(t testing.TB) []string {
	dir := sharedDir(t)
	a, _ := filepath.Glob(filepath.Join(dir, "corpus/graphs/*.py"))
	b, _ := filepath.Glob(filepath.Join(dir, "corpus/failing/*/minifier_launcher.py"))
	return append(a, b...)
}

// forwardText cuts `def forward` and its body out of a repro file.
func forwardText(text string) string {
	i := strings.Index(text, "    def forward(self")
	lines := strings.Split(text[i:], "\n")
	for k, l := range lines {
		if strings.HasPrefix(l, "        return ") {
			return strings.Join(lines[:k+1], "\n")
		}
	}
	return ""
}

func TestCorpusRoundTrip(t *testing.T) {
	files := corpusFiles(t)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		gm, err := Parse(f, string(b))
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if err := gm.Lint(); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		want := forwardText(string(b))
		got := gm.Graph.Forward("    ")
		if got != want {
			t.Errorf("%s: %s", filepath.Base(f), cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n"))[:1000])
		}
		again, err := Parse(f, gm.String())
		if err != nil {
			t.Errorf("again: %v", err)
			continue
		}
		if again.String() != gm.String() || again.Hash() != gm.Hash() {
			t.Errorf("%s: changes when printed and parsed", f)
		}
	}
	t.Logf("%d files", len(files))
}
