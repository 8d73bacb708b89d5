package axis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/minify/bisect"
)

var ctx = context.Background()

func TestVersions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(file, []byte("# nightlies\n2.6\n\n 2.7 \n2.8"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		list string
		want []string
		err  string
	}{
		{list: "3..6", want: []string{"3", "4", "5", "6"}},
		{list: "a,b, c", want: []string{"a", "b", "c"}},
		{list: file, want: []string{"2.6", "2.7", "2.8"}},
		{list: "6..3", err: "the oldest version comes first"},
		{list: "0..99999999", err: "too many"},
		{list: "0..99999999999999999999", err: "too many"},
		{list: "3..3", err: "at least two"},
		{list: "nowhere", err: "neither a file"},
		{list: "a,b,a", err: `"a" stands twice`},
		{list: "a,,b", err: `"" stands twice in the list, or is empty`},
	} {
		got, err := Versions(c.list)
		if diff := cmp.Diff(c.want, got); diff != "" || (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v%s", c.list, err, diff)
		}
	}
	got, err := VersionsFrom(ctx, "echo 1; echo 2")
	if diff := cmp.Diff([]string{"1", "2"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := VersionsFrom(ctx, "echo oh no >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "oh no") {
		t.Error(err)
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		script string
		want   bisect.Answer
		abort  string
	}{
		{script: "exit 0", want: bisect.Answer{Verdict: bisect.Good}},
		{script: "echo '{} broke'; exit 1", want: bisect.Answer{Verdict: bisect.Bad, Text: "exit status 1: v7 broke"}},
		{script: "exit 124", want: bisect.Answer{Verdict: bisect.Bad, Text: "exit status 124"}},
		{script: "echo no compiler >&2; exit 125", want: bisect.Answer{Verdict: bisect.Skip, Text: "exit status 125: no compiler"}},
		{script: "exit 127", want: bisect.Answer{Verdict: bisect.Bad, Text: "exit status 127"}},
		{script: `printf 'a\033[31mred\n\n'; exit 1`, want: bisect.Answer{Verdict: bisect.Bad, Text: "exit status 1: a [31mred"}},
		{script: "echo lost; exit 128", abort: "exit status 128"},
		{script: "kill -SEGV $$", abort: "signal: segmentation fault"},
		{script: "sleep 60 & sleep 60", want: bisect.Answer{Verdict: bisect.Skip, Text: "ran longer than 300ms"}},
		{script: "sleep 60 & exit 0", want: bisect.Answer{Verdict: bisect.Good}},
		{script: `test "$SETTING" = yes && test -z "$HOME"`, want: bisect.Answer{Verdict: bisect.Good}},
	} {
		cmd := Command{Args: []string{"sh", "-c", c.script}}
		if strings.Contains(c.script, "sleep 60 & sleep") {
			cmd.Limit = 300 * time.Millisecond
		}
		got, err := cmd.Test(ctx, "v7", "", []string{"SETTING=yes", "HOME"})
		var abort *AbortError
		if errors.As(err, &abort) != (c.abort != "") || abort != nil && !strings.HasPrefix(abort.How, c.abort) {
			t.Errorf("%s: %v", c.script, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.script, diff)
		}
	}
	if _, err := (Command{Args: []string{"./nowhere"}}).Test(ctx, "", "", nil); err == nil {
		t.Error("a program that is not there")
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (Command{Args: []string{"sleep", "60"}}).Test(stopped, "", "", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCommandKey: a script that was edited is another command.
func TestCommandKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.sh")
	c := Command{Args: []string{file, Place}}
	keys := map[string]bool{c.Key(): true, Command{Args: []string{file}}.Key(): true}
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(file, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
		keys[c.Key()] = true
	}
	if len(keys) != 4 {
		t.Errorf("%d keys of 4 commands", len(keys))
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"./test.sh", "{}", "--x=1"}, "./test.sh {} --x=1"},
		{[]string{"sh", "-c", "it's $1", ""}, `sh -c 'it'\''s $1' ''`},
	} {
		if diff := cmp.Diff(c.want, Line(c.words)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, err := ReadSettings(write("good", "# as usual\nA=1\nSAME=x=y\nGONE=\ntorch._inductor.config.cpp.simdlen = None\n"))
	if err != nil {
		t.Fatal(err)
	}
	bad, err := ReadSettings(write("bad", "A=2\nSAME=x=y\nNEW=3\n\n torch._inductor.config.cpp.simdlen=1\ntorch._dynamo.config.suppress_errors = True"))
	if err != nil {
		t.Fatal(err)
	}
	names := Differences(good, bad)
	if diff := cmp.Diff([]string{"A", "GONE", "NEW", "torch._dynamo.config.suppress_errors", "torch._inductor.config.cpp.simdlen"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(bad, Mix(good, bad, names)); diff != "" {
		t.Error(diff)
	}
	mixed := Mix(good, bad, []string{"GONE", "NEW", "torch._inductor.config.cpp.simdlen"})
	if diff := cmp.Diff([]string{"A=1", "GONE", "NEW=3"}, mixed.Environment(names)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("import torch._inductor.config\ntorch._inductor.config.cpp.simdlen = 1\n", mixed.Python()); diff != "" {
		t.Error(diff)
	}
	if got := good.Show("NEW") + "; " + good.Show("A"); got != "NEW not set; A=1" {
		t.Error(got)
	}
	for text, want := range map[string]string{"A=1\nA=2": ":2: A is set twice", "import os": ":1: neither", "torch._inductor.config.x": ":1: neither"} {
		if _, err := ReadSettings(write("wrong", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
