package triage

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Near is the largest distance of two failures that are one bug.
const Near = 0.3

// enough is how much evidence it takes: an error text that no other bug has is worth 3, an equal minimal graph 3, a backend of the program's own 2, a needed setting 1.5.
const enough = 1.5

// Part is one feature's share of a distance.
type Part struct {
	Feature  string  `json:"feature"`
	Text     string  `json:"text"`     // what is equal, what differs
	Distance float64 `json:"distance"` // 0 equal, 1 nothing in common
	Weight   float64 `json:"weight"`
	Evidence float64 `json:"evidence"` // how much it says for one bug
	Decides  bool    `json:"decides"`  // the failures are apart, whatever else they have in common
}

// Comparison says how far two failures are apart, and why.
type Comparison struct {
	Distance float64 `json:"distance"` // weighted mean of the parts' distances; 1 where one part decides
	Evidence float64 `json:"evidence"`
	Same     bool    `json:"same"` // one bug, as far as is known
	Parts    []Part  `json:"parts"`
}

// Explain is a line for each feature, and what follows.
func (c Comparison) Explain() []string {
	var out []string
	for _, p := range c.Parts {
		line := fmt.Sprintf("%-9s %s: distance %.2f, weight %.1f", p.Feature, p.Text, p.Distance, p.Weight)
		switch {
		case p.Decides:
			line = fmt.Sprintf("%-9s %s: apart, whatever else is equal", p.Feature, p.Text)
		case p.Evidence > 0:
			line += fmt.Sprintf(", evidence %.1f", p.Evidence)
		}
		out = append(out, line)
	}
	verdict := "one bug"
	switch {
	case c.Same:
	case c.Distance > Near:
		verdict = "two bugs"
	default:
		verdict = "too little is known to say that they are one bug"
	}
	return append(out, fmt.Sprintf("together  distance %.2f (at most %.2f), evidence %.1f (at least %.1f): %s", c.Distance, Near, c.Evidence, enough, verdict))
}

// feature compares one feature; ok is false where it is not known of both.
type feature struct {
	name    string
	compare func(a, b Features) (p Part, ok bool)
}

// features are compared in this order.
var features = []feature{
	{"kind", compareKind},
	{"error", compareError},
	{"graph", compareGraph},
	{"settings", compareSettings},
	{"backend", compareBackend},
	{"layer", compareLayer},
	{"decides", compareDecides},
	{"frame", compareFrame},
	{"outputs", compareDivergence},
}

// Compare says how far two failures are apart. It is symmetric.
func Compare(a, b Features) Comparison { return compare(a, b, features) }

func compare(a, b Features, by []feature) Comparison {
	var c Comparison
	var sum, weights float64
	decided := false
	for _, f := range by {
		p, ok := f.compare(a, b)
		if !ok {
			continue
		}
		p.Feature = f.name
		c.Parts = append(c.Parts, p)
		sum, weights, c.Evidence = sum+p.Weight*p.Distance, weights+p.Weight, c.Evidence+p.Evidence
		decided = decided || p.Decides
	}
	switch {
	case decided:
		c.Distance = 1
	case weights > 0:
		c.Distance = sum / weights
	}
	c.Same = c.Distance <= Near && c.Evidence >= enough
	return c
}

func compareKind(a, b Features) (Part, bool) {
	if a.Kind != b.Kind {
		return Part{Text: fmt.Sprintf("%s and %s", a.Kind, b.Kind), Distance: 1, Weight: 1, Decides: true}, true
	}
	return Part{Text: string(a.Kind), Weight: 1}, true
}

// common are words that say only that something failed.
var common = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`a an the is are was were be been to of in on at for from with without by as and or not no this that it its must should can cannot could has have had do does did
		error errors exception failed fail fails failure failing unhandled unknown internal unexpected invalid bad accuracy detected compile compiled compiler compilation run running assert assertion
		argument arguments value values input inputs output outputs tensor tensors name path file addr c expected got but found raised none true false wrong something went please report bug`) {
		out[w] = true
	}
	return out
}()

func words(msg string) []string {
	all := strings.FieldsFunc(strings.ToLower(msg), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	all = slices.DeleteFunc(all, func(w string) bool { return common[w] || len(w) < 2 })
	slices.Sort(all)
	return slices.Compact(all)
}

// says is how much an error's text tells of the bug: 0 (any bug may say it) to 1.
func (f Features) says() float64 {
	return min(1, (float64(len(words(f.Message)))+1.5*float64(len(f.Names)))/4)
}

func compareError(a, b Features) (Part, bool) {
	if a.Kind == Wrong || a.Type == "" && a.Message == "" || b.Type == "" && b.Message == "" {
		return Part{}, false
	}
	if a.Type != b.Type {
		return Part{Text: fmt.Sprintf("%s and %s", a.Type, b.Type), Distance: 1, Weight: 4}, true
	}
	if !slices.Equal(a.Names, b.Names) && len(a.Names) > 0 && len(b.Names) > 0 {
		left, right := minus(a.Names, b.Names), minus(b.Names, a.Names)
		if len(left) > 0 && len(right) > 0 {
			return Part{Text: fmt.Sprintf("both %s, but one names %s, the other %s", a.Type, strings.Join(left, ", "), strings.Join(right, ", ")), Distance: 1, Weight: 4, Decides: true}, true
		}
	}
	says := min(a.says(), b.says())
	if a.Message == b.Message && slices.Equal(a.Names, b.Names) {
		text := "the same " + a.Type
		if says < 0.5 {
			text += ", which says little"
		}
		return Part{Text: text, Weight: 1 + 3*says, Evidence: 3 * says}, true
	}
	wa, wb := words(a.Message), words(b.Message)
	d := 1.0
	if n := len(union(wa, wb)); n > 0 {
		d = 1 - float64(len(both(wa, wb)))/float64(n)
	}
	p := Part{Text: fmt.Sprintf("both %s, %d of %d words in common", a.Type, len(both(wa, wb)), len(union(wa, wb))), Distance: d, Weight: 1 + 3*max(a.says(), b.says())}
	if d < 0.5 {
		p.Evidence = 3 * says * (1 - d)
	}
	return p, true
}

func compareGraph(a, b Features) (Part, bool) {
	if len(a.Graph) == 0 || len(b.Graph) == 0 {
		return Part{}, false
	}
	// An error that says what it is about needs no graph to be known again.
	says := 0.0
	if a.Kind == b.Kind && a.Kind != Wrong {
		says = min(a.says(), b.says())
	}
	shared, all := both(a.Graph, b.Graph), union(a.Graph, b.Graph)
	switch {
	case a.Minimal && b.Minimal:
		if a.Canonical != "" && a.Canonical == b.Canonical {
			return Part{Text: "the same minimal graph: " + list(a.Graph), Weight: 4, Evidence: 3}, true
		}
		sim := ratio(shared, all)
		if hasRarest(shared, a.Graph) && hasRarest(shared, b.Graph) {
			// One search may end with a call more than the other: what both could not do without counts.
			sim = max(sim, 0.9*max(ratio(shared, a.Graph), ratio(shared, b.Graph)))
		}
		p := Part{Text: fmt.Sprintf("minimal graphs of %s", differ(a.Graph, b.Graph)), Distance: 1 - sim, Weight: 4}
		if sim > 0.5 {
			p.Evidence = 3 * sim
		}
		p.Decides = sim < 0.25 // the same text, of other operators
		return p, true
	case a.Minimal || b.Minimal:
		small, large := a.Graph, b.Graph
		if b.Minimal {
			small, large = large, small
		}
		if says >= 0.5 { // a large graph need not name the dtypes of its values; where the error says little, they have to be there all the same
			small = slices.DeleteFunc(slices.Clone(small), func(t string) bool { return strings.HasPrefix(t, "dtype ") && !slices.Contains(large, t) })
		}
		sim := ratio(both(small, large), small)
		p := Part{Text: fmt.Sprintf("of the minimal %s the other has %s", list(small), list(both(small, large))), Distance: 1 - sim, Weight: 4 - 2.5*says}
		if sim > 0.5 {
			p.Evidence = min(3, 2*rare(shared)) * sim
		}
		p.Decides = sim < 0.5
		return p, true
	}
	// Of large graphs the popular operators are the model's, and the others may be the bug's.
	sim := ratio(rareOf(shared), rareOf(all))
	p := Part{Text: fmt.Sprintf("graphs of %d and %d calls, of rare operators %s", a.Calls, b.Calls, differ(rareOf(a.Graph), rareOf(b.Graph))), Distance: 1 - sim, Weight: 4 - 2.5*says}
	if a.Source != "" && a.Source == b.Source { // the backend fails, whatever the model
		p.Weight = 1.5
	}
	if len(rareOf(all)) == 0 {
		p.Distance, p.Weight, p.Text = 0.5, 1-0.5*says, "graphs of operators that most models have"
	}
	if sim > 0.5 {
		p.Evidence = min(3, rare(shared)) * sim
	}
	return p, true
}

// rareOperator is the weight from which on an operator is not the model's: one model in eight or fewer has it.
const rareOperator = 0.45

func rareOf(tokens []string) []string {
	return slices.DeleteFunc(slices.Clone(tokens), func(t string) bool { return weight(t) < rareOperator })
}

// hasRarest reports whether a part has one of the rarest operators of all.
func hasRarest(part, all []string) bool {
	most := 0.0
	for _, t := range all {
		if !strings.HasPrefix(t, "dtype ") {
			most = max(most, weight(t))
		}
	}
	return slices.ContainsFunc(part, func(t string) bool { return !strings.HasPrefix(t, "dtype ") && weight(t) == most })
}

// rare is the weight of the rare ones together.
func rare(tokens []string) (sum float64) {
	for _, t := range rareOf(tokens) {
		sum += weight(t)
	}
	return sum
}

// ratio is the weight of part in the weight of all, at least a little for each.
func ratio(part, all []string) float64 {
	var p, a float64
	for _, t := range part {
		p += max(weight(t), 0.05)
	}
	for _, t := range all {
		a += max(weight(t), 0.05)
	}
	if a == 0 {
		return 0
	}
	return p / a
}

func compareSettings(a, b Features) (Part, bool) {
	if len(a.Settings) == 0 && len(b.Settings) == 0 {
		return Part{}, false
	}
	shared := both(a.Settings, b.Settings)
	missing := 0 // of what one needs, what the other does not have
	switch {
	case a.Needed && b.Needed:
		missing = len(union(a.Settings, b.Settings)) - len(shared)
	case a.Needed:
		missing = len(minus(a.Settings, b.Settings))
	case b.Needed:
		missing = len(minus(b.Settings, a.Settings))
	default:
		missing = len(union(a.Settings, b.Settings)) - len(shared)
	}
	if missing == 0 && len(shared) == 0 {
		return Part{}, false
	}
	p := Part{Text: fmt.Sprintf("%s in common, %d of one only", plural(len(shared), "setting"), missing), Weight: 1, Distance: float64(missing) / float64(missing+len(shared))}
	if a.Needed || b.Needed {
		p.Weight = 2
	}
	p.Evidence = min(1.5*float64(len(shared)), 3) * (1 - p.Distance)
	return p, true
}

func compareBackend(a, b Features) (Part, bool) {
	switch {
	case a.Backend == "" && b.Backend == "":
		return Part{}, false
	case a.Backend != b.Backend:
	case a.Source != "" && b.Source != "" && a.Source != b.Source:
		return Part{Text: "two backends of the name " + a.Backend, Weight: 4, Distance: 1}, true
	case a.Source != "" && b.Source != "":
		return Part{Text: "the program's own backend " + a.Backend, Weight: 2, Evidence: 2}, true
	default:
		return Part{Text: "a backend of the name " + a.Backend, Weight: 1, Evidence: 1}, true
	}
	return Part{Text: fmt.Sprintf("backends %s and %s", orBuiltin(a.Backend), orBuiltin(b.Backend)), Weight: 4, Distance: 1, Decides: true}, true
}

func orBuiltin(name string) string {
	if name == "" {
		return "of torch"
	}
	return name
}

func compareLayer(a, b Features) (Part, bool) {
	// Who sees a failure from outside knows less of where it was: inductor is any of its parts.
	if a.Layer == "" || b.Layer == "" || a.Layer == "inductor" || b.Layer == "inductor" {
		return Part{}, false
	}
	return equal(a.Layer, b.Layer, 1), true
}

func compareDecides(a, b Features) (Part, bool) {
	along, _, _ := strings.Cut(a.Decides, ":")
	if other, _, _ := strings.Cut(b.Decides, ":"); along == "" || along != other {
		return Part{}, false // what a version decides says nothing about a pass
	}
	p := equal(a.Decides, b.Decides, 4)
	if p.Distance == 0 {
		p.Evidence = 1
	}
	return p, true
}

func compareFrame(a, b Features) (Part, bool) {
	if a.Frame == "" || b.Frame == "" {
		return Part{}, false
	}
	p := equal(a.Frame, b.Frame, 0.5)
	if p.Distance == 0 {
		p.Evidence = 0.25
	}
	return p, true
}

func compareDivergence(a, b Features) (Part, bool) {
	if a.Divergence == "" || b.Divergence == "" {
		return Part{}, false
	}
	return equal(a.Divergence, b.Divergence, 0.5), true
}

func equal(a, b string, weight float64) Part {
	if a == b {
		return Part{Text: "both " + a, Weight: weight}
	}
	return Part{Text: a + " and " + b, Distance: 1, Weight: weight}
}

// decisive reports whether so much is known of a failure that it tells one bug from another.
func (f Features) decisive() bool {
	return f.Minimal || f.Source != "" || f.Kind == Error && f.says() >= 0.5
}

// Keys are what a failure is looked up by: two that are one bug have one in common.
func (f Features) Keys() []string {
	pre := string(f.Kind) + ": "
	var out []string
	if f.says() > 0 {
		out = append(out, pre+"error "+f.Type+": "+f.Message)
		for _, n := range f.Names {
			out = append(out, pre+"name "+n)
		}
		for _, w := range words(f.Message) {
			out = append(out, pre+"word "+f.Type+" "+w)
		}
	}
	for _, t := range f.Graph {
		if weight(t) >= rareOperator || f.Minimal {
			out = append(out, pre+"graph "+t)
		}
	}
	for _, s := range f.Settings {
		out = append(out, pre+"setting "+s)
	}
	if f.Backend != "" {
		out = append(out, pre+"backend "+f.Backend, pre+"backend "+f.Backend+" "+f.Source)
	}
	if f.Canonical != "" {
		out = append(out, pre+"canonical "+f.Canonical)
	}
	return out
}

// Title is the failure in one line.
func (f Features) Title() string {
	what := string(f.Kind)
	switch f.Kind {
	case Error:
		what = f.Type
		if f.Message != "" {
			what += ": " + f.Message
		}
		if what == "" {
			what = string(f.Kind)
		}
	case Crash:
		what = f.Type
		if f.Stage != "" {
			what += " in " + f.Stage
		}
	case Hang, Memory, Exit:
		if f.Stage != "" {
			what += " in " + f.Stage
		}
	}
	if r := []rune(what); len(r) > 100 {
		what = string(r[:97]) + "..."
	}
	if f.Backend != "" {
		what += ", backend " + f.Backend
	}
	if f.Minimal {
		return what + ": " + list(f.Graph)
	}
	return what
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// list is a few of many, those that say most first.
func list(tokens []string) string {
	t := slices.Clone(tokens)
	slices.SortStableFunc(t, func(a, b string) int {
		switch d := weight(b) - weight(a); {
		case d > 0:
			return 1
		case d < 0:
			return -1
		}
		return strings.Compare(a, b)
	})
	more := ""
	if len(t) > 6 {
		t, more = t[:6], fmt.Sprintf(" and %d more", len(t)-6)
	}
	if len(t) == 0 {
		return "nothing"
	}
	return strings.Join(t, ", ") + more
}

func differ(a, b []string) string {
	left, right := minus(a, b), minus(b, a)
	if len(left) == 0 && len(right) == 0 {
		return "the same: " + list(a)
	}
	return fmt.Sprintf("%s in common, %s only here, %s only there", list(both(a, b)), list(left), list(right))
}

func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return !slices.Contains(b, x) })
}
func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return slices.Contains(b, x) })
}
func union(a, b []string) []string { return append(slices.Clone(a), minus(b, a)...) }
