package ablate

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"whittle/replay"
	"whittle/tools/whittle/exec"
)

// Status is how a run compares with eager.
type Status string

// What a run may be.
const (
	Same   Status = "same"
	Fails  Status = "fails"  // it raises what eager does not
	Drifts Status = "drifts" // its values are others
	Hangs  Status = "hangs"
	Dies   Status = "dies" // by a signal
)

func (s Status) bad() bool { return s != Same }

// Run is one run of the program.
type Run struct {
	Name    string  `json:"name"`
	Layer   string  `json:"layer,omitempty"`
	Status  Status  `json:"status"`
	Why     string  `json:"why"`
	Largest float64 `json:"largest"` // difference from eager before it parts, as a share of a value's magnitude
	Seconds float64 `json:"seconds"` // of the whole program
	First   float64 `json:"first"`   // seconds of the first calls of all that torch.compile made: what compiles
	Later   float64 `json:"later"`   // of one more call of each; 0 where there is none

	calls []exec.Call
}

// compare says what became of a run beside the eager one.
func (a *ablation) compare(name string, res exec.Result, said string) Run {
	r := Run{Name: name, Status: Same}
	r.times(res.Calls)
	at, largest := exec.Part(a.eager.Calls, res.Calls, a.Tolerance)
	r.Largest = largest
	raised := a.strange(res.Notes)
	ended := last(res.Notes, "ended")
	open := unfinished(res)
	switch {
	case at != nil && (raised == nil || raised.N >= at.Call.N) && !(at.Value == "" && (raised != nil || ended != nil)):
		r.Status, r.Why = Drifts, parting(at)
		if ended != nil {
			r.Why += "; then the program ends by " + oneLine(ended.Type, ended.Message)
		}
	case raised != nil:
		r.Status, r.Why = Fails, oneLine(raised.Type, raised.Message)
	case res.Overdue:
		r.Status, r.Why = Hangs, "it does not end in time"+in(open)
	case killed(res) != "":
		r.Status, r.Why = Dies, "killed by "+killed(res)+in(open)
	case ended != nil && res.Status != a.eager.Status:
		r.Status, r.Why = Fails, oneLine(ended.Type, ended.Message)
	case open != nil && last(res.Notes, "end") == nil:
		r.Status, r.Why = Dies, "the process ends"+in(open)
		if said != "" {
			r.Why += ": " + said
		}
		if strings.Contains(said, "did not end within") { // whoever runs it has lost patience
			r.Status = Hangs
		}
	case res.Status != a.eager.Status:
		r.Status, r.Why = Fails, fmt.Sprintf("exit status %d, not %d", res.Status, a.eager.Status)
	case len(res.Calls) != len(a.eager.Calls):
		r.Status, r.Why = Drifts, fmt.Sprintf("%s, not %d", replay.Count(len(res.Calls), "call"), len(a.eager.Calls))
	case largest > 0:
		r.Why = fmt.Sprintf("off by at most %.1g of a value's magnitude", largest)
	}
	return r
}

// strange is the first exception out of a compiled call that eager does not raise.
func (a *ablation) strange(notes []exec.Note) *exec.Note {
	known := map[string]int{}
	for _, n := range a.eager.Notes {
		if n.Kind == "raised" {
			known[n.Type]++
		}
	}
	at := 0
	for i := range notes {
		switch notes[i].Kind {
		case "begin":
			at = notes[i].N
		case "raised":
			if known[notes[i].Type]--; known[notes[i].Type] < 0 {
				notes[i].N = at
				return &notes[i]
			}
		}
	}
	return nil
}

// unfinished is the call that had begun, and neither returned nor raised, when the program ended.
func unfinished(res exec.Result) *exec.Note {
	var open *exec.Note
	for i, n := range res.Notes {
		switch n.Kind {
		case "begin":
			open = &res.Notes[i]
		case "raised":
			open = nil
		}
	}
	if open != nil && slices.ContainsFunc(res.Calls, func(c exec.Call) bool { return c.N >= open.N }) {
		return nil
	}
	return open
}

func in(n *exec.Note) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf(", in call %d, %s (%s)", n.N, n.What, n.At)
}

// killed is the signal that ended a program, "" for none.
func killed(res exec.Result) string {
	if res.Status <= 128 || last(res.Notes, "end") != nil {
		return ""
	}
	return unix.SignalName(syscall.Signal(res.Status - 128))
}

// last is the last note of a kind, nil for none.
func last(notes []exec.Note, kind string) *exec.Note {
	for i := len(notes) - 1; i >= 0; i-- {
		if notes[i].Kind == kind {
			return &notes[i]
		}
	}
	return nil
}

func parting(at *exec.Parting) string {
	where := fmt.Sprintf("%s %d, %s", at.Call.Kind, at.Call.N, at.Call.What)
	if at.Call.At != "" {
		where += " (" + at.Call.At + ")"
	}
	if at.Value == "" {
		return where + ": " + at.Why
	}
	return at.Value + " of " + where + ": " + at.Why
}

// reRaised matches what Dynamo puts before the error of a backend.
var reRaised = regexp.MustCompile(`^backend=.* raised:$`)

// oneLine is an exception in a line: of what a backend raised, the backend's.
func oneLine(kind, message string) string {
	const most = 300
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if len(lines) > 1 && reRaised.MatchString(lines[0]) {
		kind, lines = "", lines[1:]
	}
	text := strings.TrimSpace(lines[0])
	if kind != "" {
		text = strings.TrimSuffix(kind+": "+text, ": ")
	}
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}

// times are those of the first calls, and of the later ones.
func (r *Run) times(calls []exec.Call) {
	for _, all := range byFunction(calls) {
		r.First += all[0]
		if len(all) > 1 {
			r.Later += median(all[1:])
		}
	}
}

// byFunction are the seconds of the calls of each compiled function.
func byFunction(calls []exec.Call) map[string][]float64 {
	out := map[string][]float64{}
	for _, c := range calls {
		if c.Kind == "call" {
			key := c.What + " " + c.At
			out[key] = append(out[key], c.Seconds)
		}
	}
	return out
}

func median(x []float64) float64 { return quantile(x, 2) }

// quantile is the value that k of 4 parts are below.
func quantile(x []float64, k int) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[min(len(s)*k/4, len(s)-1)]
}

const (
	enoughCalls = 6   // of a function, for a word about its speed
	slower      = 1.1 // times eager's is slow
)

// slow are the layers with which a call takes longer than eagerly: at the median, and clearly.
func slow(eager exec.Result, layers []*Run) []Slow {
	reference := byFunction(eager.Calls)
	var out []Slow
	for i, r := range layers {
		s := Slow{Layer: Layers[i].Name}
		clear := false
		for key, all := range byFunction(r.calls) {
			ref := reference[key]
			if len(all) < enoughCalls || len(ref) < enoughCalls {
				continue
			}
			s.Seconds, s.Eager = s.Seconds+median(all[1:]), s.Eager+median(ref[1:])
			clear = clear || quantile(all[1:], 1) > quantile(ref[1:], 3)
		}
		if !r.Status.bad() && clear && s.Seconds > slower*s.Eager {
			out = append(out, s)
		}
	}
	return out
}

// program is what a program asks torch.compile for.
type program struct {
	known     int    // of Layers, how many the backends that it names are made of
	custom    string // a backend that is none of those
	mode      string // as Python
	options   bool
	dynamic   map[string]bool // the values of dynamic, as Python
	fullgraph bool
	changed   []exec.Setting
}

func programOf(notes []exec.Note) program {
	p := program{dynamic: map[string]bool{}}
	for _, n := range notes {
		switch n.Kind {
		case "settings":
			p.changed = n.Changed
		case "compile":
			p.take(n.Arguments)
		}
	}
	if p.known == 0 {
		p.known = len(Layers)
	}
	return p
}

func (p *program) take(arguments map[string]any) {
	backend, ok := arguments["backend"].(string)
	if !ok {
		backend = "inductor"
	}
	known := false
	for i, l := range Layers {
		if l.Backend == backend {
			p.known, known = max(p.known, i+1), true
		}
	}
	if !known {
		p.custom = backend
	}
	if m, ok := arguments["mode"].(string); ok && m != "default" {
		p.mode = fmt.Sprintf("mode=%q", m)
	}
	p.options = p.options || arguments["options"] != nil
	p.dynamic[literal(arguments["dynamic"])] = true
	p.fullgraph = p.fullgraph || arguments["fullgraph"] == true
}

// layers are how many of Layers are below the program's own backend, or are it. Of a backend that is not known, it is certain of Dynamo alone.
func (p program) layers() int {
	if p.custom != "" {
		return 1
	}
	return p.known
}

// with is what besides the backend the program gives torch.compile.
func (p program) with() string {
	var out []string
	if p.mode != "" {
		out = append(out, p.mode)
	}
	if p.options {
		out = append(out, "its options")
	}
	return strings.Join(out, " and ")
}

// python is an assignment as Python.
func python(name string, v any) string { return name + " = " + literal(v) }

// literal is a value as Python writes it.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		b, _ := json.Marshal(v)
		return string(b)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
