package nightly

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"whittle/repros"
)

//go:embed program.py
var programText string

// ProgramScript is what a Python is given on its standard input to run a program in a mode: the program is __main__, in a file of the name program.py
// that no disk has. At its end a line of standard output begins with nonce: see ProgramOutput.
func ProgramScript(text string, m Mode, nonce string) (string, error) {
	job := map[string]any{"backend": m.Backend, "dynamic": m.Dynamic, "mode": m.Mode, "dtype": m.DType, "nonce": nonce}
	j, err := json.Marshal(job)
	if err != nil {
		return "", err
	}
	// JSON text is a Python literal, but for its names of constants.
	quoted, err := json.Marshal(string(j))
	if err != nil {
		return "", err
	}
	source, err := json.Marshal(text)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("import json\nJOB = json.loads(%s)\nSOURCE = json.loads(%s)\n%s", quoted, pythonText(string(source)), programText), nil
}

// pythonText is a Python literal of a text.
func pythonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string has a JSON text
	}
	return string(b)
}

// ProgramOutput parts what a program printed from the figures behind it. The error says that there are none: the program was ended.
func ProgramOutput(out []byte, nonce string) (printed string, figures map[string][]float64, err error) {
	text := string(out)
	at := strings.LastIndex(text, "\n"+nonce)
	if at < 0 {
		return text, nil, errors.New("the program did not come to its end")
	}
	line, _, _ := strings.Cut(text[at+1+len(nonce):], "\n")
	if err := json.Unmarshal([]byte(line), &figures); err != nil {
		return text[:at], nil, fmt.Errorf("figures that are none: %w", err)
	}
	return text[:at], figures, nil
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`) })

// SameOutput reports whether two programs printed the same, numbers aside that differ by no more than the printed digits of float32
// arithmetic do: a thousandth.
func SameOutput(a, b string) bool {
	if a == b {
		return true
	}
	if number().ReplaceAllString(a, "#") != number().ReplaceAllString(b, "#") {
		return false
	}
	x, y := number().FindAllString(a, -1), number().FindAllString(b, -1)
	for i := range x {
		u, err := strconv.ParseFloat(x[i], 64)
		v, err2 := strconv.ParseFloat(y[i], 64)
		if x[i] == y[i] || errors.Join(err, err2) == nil && math.Abs(u-v) <= 1e-3+1e-3*math.Abs(u) {
			continue
		}
		return false
	}
	return true
}

// Apply changes a repro to a mode, which has to fit it.
func (m Mode) Apply(r *repros.Repro) {
	if m.Backend != "" && r.Stage == repros.AfterDynamo {
		r.Backend = m.Backend
	}
	set := func(name, value string) {
		for i := range r.Config {
			if r.Config[i].Name == name {
				r.Config[i].Value = value
				return
			}
		}
		r.Config = append(r.Config, repros.Setting{Name: name, Value: value})
	}
	if m.Dynamic != nil { // what torch.compile(dynamic=...) sets
		set("torch._dynamo.config.assume_static_by_default", map[bool]string{true: "False", false: "True"}[*m.Dynamic])
		set("torch._dynamo.config.automatic_dynamic_shapes", map[bool]string{true: "True", false: "False"}[*m.Dynamic])
	}
	switch m.Mode { // what torch._inductor.list_mode_options says
	case "reduce-overhead":
		set("torch._inductor.config.triton.cudagraphs", "True")
	case "max-autotune":
		set("torch._inductor.config.triton.cudagraphs", "True")
		fallthrough
	case "max-autotune-no-cudagraphs":
		set("torch._inductor.config.max_autotune", "True")
		set("torch._inductor.config.coordinate_descent_tuning", "True")
	}
}
