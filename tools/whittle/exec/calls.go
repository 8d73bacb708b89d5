package exec

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"whittle/accuracy"
)

// Calls say which calls of compiled functions and steps of optimizers are recorded. They are counted together, from 0.
type Calls struct {
	Eager bool `json:"eager"` // what torch.compile made runs as it was before
	Every int  `json:"every"` // of From on: each so many; at least 1
	From  int  `json:"from"`
	To    *int `json:"to"` // before this; nil => to the end
	// Compile are arguments of torch.compile in the place of the program's own; nil => none are.
	Compile map[string]any `json:"compile,omitempty"`
	// Settings are put in place before each call, whatever the program has set.
	Settings []Setting `json:"settings,omitempty"`
	// Notes asks for what else became of the calls: see Note.
	Notes bool `json:"notes,omitempty"`
}

// Call is one that was recorded.
type Call struct {
	N       int                 `json:"n"`
	Kind    string              `json:"kind"`              // call, of a compiled function; step, of an optimizer, before it changes anything; end, of the program, with the gradients of what calls were given
	What    string              `json:"what"`              // the function, the module's class, the optimizer's
	At      string              `json:"at"`                // file:line of the program
	Values  []accuracy.Checksum `json:"values"`            // what it returned; of a step gradients and parameters
	Seconds float64             `json:"seconds,omitempty"` // that it took, compilation included
}

// longestCall bounds a line of the record: a step of a model with a million parameters has less.
const longestCall = 256 << 20

// calls reads what was recorded, up to the first line that a program which was ended left half written.
func (p *private) calls() ([]Call, error) {
	f, err := os.Open(filepath.Join(p.dir, "calls.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Call
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longestCall)
	for lines.Scan() {
		var c Call
		if json.Unmarshal(lines.Bytes(), &c) != nil {
			return out, nil
		}
		out = append(out, c)
	}
	return out, lines.Err()
}

// Parting is where two records part.
type Parting struct {
	Before *Call  // the last one that was the same; nil => none was
	Call   Call   // the first that differs, as the second run has it
	Value  string // which of its values: output 0, gradient of fc1.weight; "" where the runs do something else
	Why    string
	Share  float64 // of its magnitude that the value is off; +Inf where it cannot be compared
}

// Part compares two records of one program, call by call, and gives the first that differs by more than tolerance, as a share of a value's magnitude: of its
// values the first. nil: none does, as far as both go. largest is the largest difference before that.
func Part(a, b []Call, tolerance float64) (at *Parting, largest float64) {
	for i := range min(len(a), len(b)) {
		p := &Parting{Call: b[i]}
		if i > 0 {
			p.Before = &a[i-1]
		}
		theirs, ours := a[i].Values, b[i].Values
		if a[i].Kind == "end" && b[i].Kind == "end" {
			theirs, ours = both(theirs, ours)
		}
		if a[i].N != b[i].N || a[i].Kind != b[i].Kind || a[i].What != b[i].What || len(theirs) != len(ours) {
			p.Why = fmt.Sprintf("%s of %s with %d values, not %s of %s with %d", b[i].Kind, b[i].What, len(ours), a[i].Kind, a[i].What, len(theirs))
			return p, largest
		}
		for k, v := range theirs {
			share, why := v.Difference(ours[k])
			if share > tolerance {
				p.Value, p.Why, p.Share = v.Name, why, share
				return p, largest
			}
			largest = max(largest, share)
		}
	}
	return nil, largest
}

// both are the values that two ends of the program have in common, by name: a tensor that one run has let go of by then says nothing about the other's.
func both(a, b []accuracy.Checksum) (ours, theirs []accuracy.Checksum) {
	at := map[string]accuracy.Checksum{}
	for _, v := range b {
		at[v.Name] = v
	}
	for _, v := range a {
		if w, ok := at[v.Name]; ok {
			ours, theirs = append(ours, v), append(theirs, w)
		}
	}
	return ours, theirs
}
