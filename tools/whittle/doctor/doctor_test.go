package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A stage that takes the process down is blamed with what was said last, and the stages behind it get a process of their own.
func TestTry(t *testing.T) {
	var asked [][]string
	run := func(_ context.Context, names ...string) (string, string, error) {
		asked = append(asked, names)
		var out strings.Builder
		for _, n := range names {
			switch n {
			case "breaks":
				return out.String(), "Segmentation fault", errors.New("signal: 11")
			case "inductor":
				out.WriteString("some library says something\n\nwhittle-doctor {\"stage\": \"inductor\", \"answer\": \"CppCompileError: no\", \"seconds\": 2}\n")
			default:
				out.WriteString("whittle-doctor {\"stage\": \"" + n + "\", \"answer\": \"good\", \"seconds\": 1}\n")
			}
		}
		return out.String(), "", nil
	}
	var got []string
	for _, c := range Try(context.Background(), run, nil) {
		got = append(got, strings.TrimSuffix(c.Stage+": "+c.Why, ": "))
	}
	want := []string{"eager", "eager backend", "breaks: Segmentation fault", "aot_eager", "aot_eager_decomp_partition", "inductor: CppCompileError: no", "dynamic"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"aot_eager", "aot_eager_decomp_partition", "inductor", "dynamic"}, asked[1]); d != "" || len(asked) != 2 {
		t.Error(asked)
	}
}

func TestFacts(t *testing.T) {
	f, err := Facts(context.Background(), func(context.Context, ...string) (string, string, error) {
		return "hello\nwhittle-doctor {\"stage\": \"facts\", \"answer\": [[\"torch\", \"2.6.0\"]], \"seconds\": 1}\n", "", nil
	})
	if d := cmp.Diff([]Fact{{"torch", "2.6.0"}}, f); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := Facts(context.Background(), func(context.Context, ...string) (string, string, error) {
		return "", "ModuleNotFoundError: No module named 'torch'", errors.New("exit status 1")
	}); err == nil || err.Error() != "ModuleNotFoundError: No module named 'torch'" {
		t.Error(err)
	}
}
