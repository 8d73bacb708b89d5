package minify

import (
	"context"

	"whittle/replay"
)

// A journal is what a search did: every question whose answer was used, in order, with what it said; other failures that were met; and at the end
// the certificate that nothing more goes. It is written before it counts.
type journal struct {
	s           *Search
	id          int64 // in the store; 0 => nothing is written
	steps       []replay.Step
	certificate []Trial
	short       []*trial // of the certificate: for each call that goes in none, one that was stopped before its end
	findings    []Finding
	found       map[replay.Signature]bool
	timeouts    map[string]int // by row
	rejected    int            // by the static check
	back        bool           // since the last step: the search went back to its start
	learned     []knowledge    // since then
}

// step writes what was asked, with the edit that it was asked about, nil for none.
func (j *journal) step(ctx context.Context, st replay.Step, e Edit) error {
	c := stepText{Back: j.back, Learned: j.learned}
	j.back, j.learned = false, nil
	var err error
	if e != nil {
		if c.Edit, err = MarshalEdit(e); err != nil {
			return err
		}
	}
	if st.Change, err = c.text(); err != nil {
		return err
	}
	st.Seq = len(j.steps) + 1
	j.steps = append(j.steps, st)
	if j.s.Store == nil || j.id == 0 {
		return nil
	}
	return j.s.Store.PutStep(ctx, j.id, st)
}

func (j *journal) putFinding(ctx context.Context, f Finding) error {
	if j.s.Store == nil || j.id == 0 {
		return nil
	}
	return j.s.Store.PutFinding(ctx, replay.Finding{Minification: j.id, Signature: f.Outcome.Signature, Raw: f.Outcome.Message, Repro: j.s.render(f.State)})
}
