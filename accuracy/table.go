package accuracy

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"whittle/kernels/tensor"
)

// Row is one value of a graph: how far eager and compiled are from float64 arithmetic.
type Row struct {
	Node     string  `json:"node"`     // its name; "output[0]" for an output of the untouched graph
	Target   string  `json:"target"`   // what it calls; for an output, the node that is returned
	Eager    float64 `json:"eager"`    // RMSE against float64, relative to the reference's own root mean square; NaN: not known
	Compiled float64 `json:"compiled"` // likewise
	Same     bool    `json:"same"`     // by PyTorch's rule
	First    bool    `json:"first,omitempty"`
	Skipped  bool    `json:"skipped,omitempty"` // not judged, for the reason that Note says
	Note     string  `json:"note,omitempty"`
}

// NewRow judges one value by Compare: eager's, the compiled one's, and the exact one (nil: none). noise is eager's; it decides where o.Direct is set.
func NewRow(node, target string, eager, compiled, exact, noise any, o Options) Row {
	r := Row{Node: node, Target: target, Eager: relative(eager, exact), Compiled: relative(compiled, exact)}
	third := exact
	if o.Direct {
		third = noise
	}
	rep := Compare(eager, compiled, third, o)
	r.Same = rep.Same
	switch {
	case !rep.Same && (o.Direct || rep.Kind == Shape || rep.Kind == DType || rep.Kind == Type || rep.Kind == Length):
		r.Note = rep.Message
	case exact == nil:
		r.Note = noteNoRef
	}
	return r
}

// figure is a float that JSON can hold: NaN is null, infinities are strings.
type figure float64

// MarshalJSON writes the figure.
func (f figure) MarshalJSON() ([]byte, error) {
	x := float64(f)
	switch {
	case math.IsNaN(x):
		return []byte("null"), nil
	case math.IsInf(x, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(x, -1):
		return []byte(`"-inf"`), nil
	}
	return json.Marshal(x)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *figure) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "null":
		*f = figure(math.NaN())
		return nil
	case `"inf"`:
		*f = figure(math.Inf(1))
		return nil
	case `"-inf"`:
		*f = figure(math.Inf(-1))
		return nil
	}
	var x float64
	err := json.Unmarshal(b, &x)
	*f = figure(x)
	return err
}

// plainRow is Row without its methods.
type plainRow Row

// jsonRow overlays the figures of a row.
type jsonRow struct {
	*plainRow
	Eager    figure `json:"eager"`
	Compiled figure `json:"compiled"`
}

// MarshalJSON writes a row; an error that is not known is null, an infinite one "inf".
func (r Row) MarshalJSON() ([]byte, error) {
	p := plainRow(r)
	return json.Marshal(jsonRow{&p, figure(r.Eager), figure(r.Compiled)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Row) UnmarshalJSON(b []byte) error {
	j := jsonRow{plainRow: (*plainRow)(r), Eager: figure(math.NaN()), Compiled: figure(math.NaN())}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	r.Eager, r.Compiled = float64(j.Eager), float64(j.Compiled)
	return nil
}

// relative is the RMSE of v against the exact value, in units of the latter's root mean square (1 where that is 0).
func relative(v, exact any) float64 {
	a, ok := asTensor(v)
	if !ok || exact == nil {
		return math.NaN()
	}
	f, ok := asTensor(exact)
	if !ok || a.Fake || f.Fake || !a.DType.Computes() || !f.DType.Computes() || !tensor.SameShape(a, f) {
		return math.NaN()
	}
	x, y := a.Floats(), f.Floats()
	if len(x) == 0 {
		return 0
	}
	diff, norm := 0.0, 0.0
	for i := range x {
		d := x[i] - y[i]
		switch {
		case x[i] == y[i] || math.IsNaN(x[i]) && math.IsNaN(y[i]): // equal infinities, and NaN in the same place
		case math.IsNaN(d):
			diff = math.Inf(1)
		default:
			diff += d * d
		}
		if !math.IsInf(y[i], 0) && !math.IsNaN(y[i]) {
			norm += y[i] * y[i]
		}
	}
	if norm == 0 {
		norm = float64(len(x))
	}
	return math.Sqrt(diff / norm)
}

// Differ reports whether any row differs.
func Differ(rows []Row) bool { return differs(rows) }

// Table is rows as text: columns aligned, the first divergence marked with an arrow. At most limit rows are shown (0: all),
// those around the first divergence, or the first ones; lines in brackets count the others.
func Table(rows []Row, limit int) string {
	lo, hi := 0, len(rows)
	if limit > 0 && limit < len(rows) {
		for i, r := range rows {
			if r.First {
				lo = max(0, min(i-limit/2, len(rows)-limit))
			}
		}
		hi = lo + limit
	}
	lines := [][]string{{"", "node", "target", "eager", "compiled", "same", "note"}}
	for _, r := range rows[lo:hi] {
		mark, same := "", "yes"
		if r.First {
			mark = "->"
		}
		switch {
		case r.Skipped:
			same = "-"
		case !r.Same:
			same = "NO"
		}
		lines = append(lines, []string{mark, r.Node, r.Target, errorText(r.Eager), errorText(r.Compiled), same, r.Note})
	}
	width := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, c := range l {
			width[i] = max(width[i], len(c))
		}
	}
	width[0] = 2
	var b strings.Builder
	for k, l := range lines {
		if k == 1 && lo > 0 {
			fmt.Fprintf(&b, "[%s before]\n", count(lo))
		}
		var line strings.Builder
		for i, c := range l {
			if i == 3 || i == 4 { // figures
				fmt.Fprintf(&line, "%*s  ", width[i], c)
			} else {
				fmt.Fprintf(&line, "%-*s  ", width[i], c)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if hi < len(rows) {
		fmt.Fprintf(&b, "[%s after]\n", count(len(rows)-hi))
	}
	return b.String()
}

func count(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// errorText is an error for people: 0, 1.2e-07, nan as "?".
func errorText(x float64) string {
	switch {
	case math.IsNaN(x):
		return "?"
	case math.IsInf(x, 0):
		return "inf"
	case x == 0:
		return "0"
	}
	return fmt.Sprintf("%.1e", x)
}
