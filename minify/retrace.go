package minify

import (
	"context"
	"encoding/json"
	"fmt"

	"whittle/replay"
)

// stepText is what a step of the journal did, as data: enough to do it again.
type stepText struct {
	Back bool `json:"back,omitempty"` // the search went back to its start before, as a flaky failure had become rare
	// Learned are the times that the search looked at the values of its best state since then, or since the step before, and how closely: an edit
	// may go by what was seen.
	Learned []knowledge     `json:"learned,omitempty"`
	Edit    json.RawMessage `json:"edit,omitempty"` // of the step's parent, as MarshalEdit writes it
}

// text writes it; "" for one that did nothing.
func (c stepText) text() (string, error) {
	if !c.Back && len(c.Learned) == 0 && len(c.Edit) == 0 {
		return "", nil
	}
	b, err := json.Marshal(c)
	return string(b), err
}

// StepError says which step of a journal cannot be done again.
type StepError struct {
	Step replay.Step
	Err  error
}

func (e *StepError) Error() string {
	return fmt.Sprintf("minify: step %d (%s): %v", e.Step.Seq, e.Step.Edit, e.Err)
}

// Unwrap gives the reason.
func (e *StepError) Unwrap() error { return e.Err }

// Retrace makes the state again that a search had reached after some steps of its journal, by the edits that were taken: no oracle is asked.
// start and v are what the search began with; v explores the graphs anew. The error is ctx's, v's, or a StepError where the journal and the start do
// not belong together.
func Retrace(ctx context.Context, start State, v Values, steps []replay.Step) (State, error) {
	d := newDriver(&Search{Values: v}, start)
	base := d.cur // of the taken step before: a walk asks all its questions of one state
	for _, st := range steps {
		again, err := d.again(ctx, &base, st)
		if ctx.Err() != nil {
			return d.cur, ctx.Err()
		}
		if err != nil {
			return d.cur, &StepError{st, err}
		}
		if again != nil {
			d.cur = *again
			d.few = CostOf(d.cur).Calls <= fewCalls
		}
	}
	return d.cur, nil
}

// again does one step. It gives the state that was taken, nil where none was.
func (d *driver) again(ctx context.Context, base *State, st replay.Step) (*State, error) {
	var c stepText
	if st.Change != "" {
		if err := json.Unmarshal([]byte(st.Change), &c); err != nil {
			return nil, err
		}
	}
	if c.Back {
		d.restart()
	}
	for _, need := range c.Learned {
		if err := d.learn(ctx, need); err != nil {
			return nil, err
		}
	}
	if !st.Taken {
		return nil, nil
	}
	if len(c.Edit) == 0 {
		if st.Candidate != d.hash(d.cur) {
			return nil, fmt.Errorf("the journal began with %s, this is %s", st.Candidate, d.hash(d.cur))
		}
		return nil, nil
	}
	e, err := UnmarshalEdit(c.Edit)
	if err != nil {
		return nil, err
	}
	if st.Parent == d.hash(d.cur) {
		*base = d.cur
	}
	if got := d.hash(*base); st.Parent != got {
		return nil, fmt.Errorf("it changed %s, this is %s", st.Parent, got)
	}
	out, ok := e.apply(d.w, *base)
	if !ok {
		return nil, fmt.Errorf("the edit does not apply")
	}
	if got := d.hash(out); got != st.Candidate {
		return nil, fmt.Errorf("it led to %s, now it leads to %s", st.Candidate, got)
	}
	if reshapes(e) {
		d.w.outdated = true
	}
	return &out, nil
}
