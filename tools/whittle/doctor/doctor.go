package doctor

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"
)

// Program is what the Python runs; its arguments are stages, or "facts".
//
//go:embed check.py
var Program string

// Runner has a Python run Program with some arguments. out is its standard output; said the last line of its standard error, for a Python that dies.
type Runner func(ctx context.Context, arguments ...string) (out, said string, err error)

// Fact is one that a report of a bug should have.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Check is the trial of one stage.
type Check struct {
	Stage   string  `json:"stage"`
	What    string  `json:"what"` // for people
	Good    bool    `json:"good"`
	Why     string  `json:"why,omitempty"` // it is not
	Seconds float64 `json:"seconds"`
}

// Stages are tried in this order: each needs those before it.
var Stages = []struct{ Name, What string }{
	{"eager", "operators and gradients, without a compiler"},
	{"eager backend", "TorchDynamo: a program becomes a graph"},
	{"breaks", "TorchDynamo: a program is broken into two graphs"},
	{"aot_eager", "AOTAutograd: forward and backward as aten graphs"},
	{"aot_eager_decomp_partition", "decompositions and the partitioner"},
	{"inductor", "TorchInductor: code is generated, compiled and run"},
	{"dynamic", "symbolic sizes"},
}

// Facts asks a Python what it is.
func Facts(ctx context.Context, run Runner) ([]Fact, error) {
	out, said, err := run(ctx, "facts")
	if all := answers(out); len(all) > 0 {
		var pairs [][2]string
		if err := json.Unmarshal(all[0].Answer, &pairs); err != nil {
			return nil, err
		}
		facts := make([]Fact, len(pairs))
		for i, p := range pairs {
			facts[i] = Fact{p[0], p[1]}
		}
		return facts, nil
	}
	return nil, errors.New(why(said, err))
}

// Try tries all stages, in one process as long as that lives: where it dies, the stage that it was at is to blame, and the others get another one. done
// is told of each as it is known.
func Try(ctx context.Context, run Runner, done func(Check)) []Check {
	var out []Check
	tell := func(c Check) {
		out = append(out, c)
		if done != nil {
			done(c)
		}
	}
	for len(out) < len(Stages) {
		var names []string
		for _, s := range Stages[len(out):] {
			names = append(names, s.Name)
		}
		text, said, err := run(ctx, names...)
		for _, a := range answers(text) {
			var answer string
			if json.Unmarshal(a.Answer, &answer) != nil || len(out) == len(Stages) || a.Stage != Stages[len(out)].Name {
				continue
			}
			c := Check{Stage: a.Stage, What: Stages[len(out)].What, Good: answer == "good", Seconds: a.Seconds}
			if !c.Good {
				c.Why = answer
			}
			tell(c)
		}
		if ctx.Err() != nil {
			return out
		}
		if len(out) < len(Stages) {
			s := Stages[len(out)]
			tell(Check{Stage: s.Name, What: s.What, Why: why(said, err)})
		}
	}
	return out
}

// why says in a line why there is no answer.
func why(said string, err error) string {
	switch {
	case said != "":
		return said
	case err != nil:
		return err.Error()
	}
	return "it gives no answer"
}

// answer is a line of the program's.
type answer struct {
	Stage   string          `json:"stage"`
	Answer  json.RawMessage `json:"answer"`
	Seconds float64         `json:"seconds"`
}

// answers are the program's lines in what was printed: libraries may print, too.
func answers(text string) []answer {
	var out []answer
	for _, l := range strings.Split(text, "\n") {
		l, ok := strings.CutPrefix(l, "whittle-doctor ")
		var a answer
		if ok && json.Unmarshal([]byte(l), &a) == nil {
			out = append(out, a)
		}
	}
	return out
}
