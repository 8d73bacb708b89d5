package minify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/pool"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/tensor"
	"whittle/replay"
)

// driver does the bookkeeping of a search: checks, asks, caches, merges, journals. Reductions hold only their ideas.
type driver struct {
	s       *Search
	w       *world
	h       hasher
	size    int // of a round
	start   State
	cur     State // the best so far; it fails
	want    replay.Signature
	message string // of the start's failure
	check   func(ctx context.Context, s State) error

	row         string // reduction under way
	certify     string // part of the sweep under way, "" outside of it
	taken       int    // candidates adopted
	steps       []replay.Step
	certificate []Trial
	findings    []Finding
	found       map[replay.Signature]bool
	known       map[string]replay.Outcome // outcomes of this run by query
	queries     int
	hits        int
	rejected    int
	outcome     replay.Outcome // of cur
	complete    bool

	id      int64 // in the store
	resumed bool
	began   time.Time
}

func newDriver(ctx context.Context, s *Search, start State) (*driver, error) {
	d := &driver{s: s, start: start, cur: start, want: s.Want, size: s.Round, found: map[replay.Signature]bool{}, known: map[string]replay.Outcome{}}
	if d.size == 0 {
		d.size = 8
	}
	d.began = d.now()
	d.w = newWorld()
	return d, nil
}

func (d *driver) now() time.Time {
	if d.s.Now != nil {
		return d.s.Now()
	}
	return time.Now()
}

func (d *driver) render(s State) string {
	if d.s.Render != nil {
		return d.s.Render(s)
	}
	return s.Module.String()
}

// run is the whole search: the first proof, the world, the table, the last proof.
func (d *driver) run(ctx context.Context) error {
	key := d.h.key(d.start, d.s.Fingerprint)
	if d.s.Store != nil {
		id := replay.HashOf(key.Graph, key.Inputs, key.Config, key.Fingerprint, d.want.String(), fmt.Sprint(d.size))
		var err error
		if d.id, d.resumed, err = d.s.Store.BeginMinification(ctx, id, d.render(d.start), d.want); err != nil {
			return err
		}
	}
	d.row = "start"
	o, err := d.ask(ctx, Candidate{State: d.start, Reduction: "start", Edit: "the start", Hash: hashOf(key)})
	if err != nil {
		return err
	}
	if d.want.IsZero() && o.Status != replay.Pass && o.Status != replay.Invalid && o.Status != replay.Infrastructure {
		d.want = o.Signature
	}
	if replay.Judge(o, d.want) != replay.Reproduced {
		return &NotFailingError{o}
	}
	d.outcome, d.message = o, o.Message+" "+o.Detail
	if err := d.step(ctx, replay.Step{Parent: "", Reduction: "start", Candidate: hashOf(key), Edit: "the start", Verdict: replay.Reproduced, Taken: true}); err != nil {
		return err
	}
	if err := d.explore(ctx); err != nil {
		return err
	}
	if d.s.Blame != nil {
		for _, n := range d.s.Blame(d.start, o) {
			d.message += " " + n
		}
	}
	for _, r := range reductions {
		d.row = r.name
		d.progress()
		if err := r.run(ctx, d); err != nil {
			return err
		}
	}
	return d.confirm(ctx)
}

// explore learns the start's intermediate values and shapes.
func (d *driver) explore(ctx context.Context) error {
	gm, m := d.start.Module.Clone()
	err := interp.Propagate(ctx, gm, d.start.Values())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	back := map[*fx.Node]*fx.Node{}
	for o, c := range m {
		back[c] = o
	}
	for _, n := range gm.Graph.Nodes {
		if n.Val != nil && n.IsCall() {
			d.w.fakes[n.Name] = n.Val
		}
	}
	d.check = d.s.Check
	if d.check == nil && err == nil {
		d.check = CheckShapes
	}
	vals := d.s.Values
	if vals == nil {
		vals = &EagerValues{}
	}
	d.w.prefix = "0/"
	got, err := vals.Explore(ctx, d.start, d.w.prefix)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_ = err // missing values are made up from shapes, or their nodes stay
	for k, v := range got {
		d.w.held[k] = v
	}
	d.cur = d.held(d.cur)
	phs := d.start.Module.Graph.Placeholders()
	for i, p := range phs {
		d.w.grads[p.Name] = d.start.Inputs[i].RequiresGrad
	}
	for _, n := range d.start.Module.Graph.Nodes {
		if n.IsCall() {
			n.WalkInputs(func(in *fx.Node) {
				if d.w.grads[in.Name] && n.Target != "detach" && n.Target != "aten.detach.default" {
					d.w.grads[n.Name] = true
				}
			})
		}
	}
	return nil
}

// held gives the real inputs of a state the names under which the engine holds them, so that they can be changed.
func (d *driver) held(s State) State {
	out := State{Module: s.Module, Config: s.Config}
	fakes := map[*tensor.Storage]*tensor.Storage{}
	for i, p := range s.Module.Graph.Placeholders() {
		in := s.Inputs[i]
		t, ok := in.Value.(*tensor.Tensor)
		if _, held := d.w.held[p.Name].Value.(*tensor.Tensor); ok && held && t != nil && !t.Fake {
			f := tensor.FakeLike(t)
			if fakes[t.Storage] == nil {
				fakes[t.Storage] = f.Storage
			}
			f.Storage = fakes[t.Storage]
			in.Value, in.Data = f, Data{Of: d.w.prefix + p.Name, Hash: d.h.tensor(t)}
		}
		out.Inputs = append(out.Inputs, in)
	}
	return out
}

func hashOf(k replay.QueryKey) string { return replay.HashOf(k.Graph, k.Inputs, k.Config)[:32] }

// trial is one candidate of a round and what became of it.
type trial struct {
	edit    edit
	c       Candidate
	key     replay.QueryKey
	verdict replay.Verdict
	outcome replay.Outcome
	cached  bool
	same    int // index of an earlier trial of the round that asks the same, -1 for none
	took    time.Duration
	skip    bool // the edit did not apply
}

// round evaluates edits of the current state, all of one base.
func (d *driver) round(ctx context.Context, edits []edit) ([]*trial, error) {
	trials := make([]*trial, len(edits))
	first := map[replay.QueryKey]int{}
	base := hashOf(d.h.key(d.cur, d.s.Fingerprint))
	var ask []int
	for i, e := range edits {
		t := &trial{edit: e, same: -1}
		trials[i] = t
		st, ok := e.apply(d.cur)
		if !ok {
			t.skip = true
			continue
		}
		t.key = d.h.key(st, d.s.Fingerprint)
		t.c = Candidate{State: st, Reduction: d.row, Edit: e.desc, Hash: hashOf(t.key)}
		if t.c.Hash == base {
			t.skip = true
			continue
		}
		if err := d.static(ctx, st); err != nil {
			t.verdict, t.outcome = replay.VerdictUntestable, replay.Outcome{Status: replay.Invalid, Message: err.Error()}
			d.rejected++
			continue
		}
		if j, ok := first[t.key]; ok {
			t.same = j
			continue
		}
		first[t.key] = i
		o, hit, err := d.lookup(ctx, t.key)
		if err != nil {
			return nil, err
		}
		if hit {
			t.outcome, t.cached = o, true
			d.hits++
			continue
		}
		ask = append(ask, i)
	}
	if err := d.askAll(ctx, trials, ask); err != nil {
		return nil, err
	}
	for _, t := range trials {
		if t.same >= 0 {
			t.outcome, t.cached = trials[t.same].outcome, true
			d.hits++
		}
		if !t.skip && t.verdict == "" {
			t.verdict = replay.Judge(t.outcome, d.want)
			if t.verdict == replay.Different {
				if err := d.finding(ctx, t); err != nil {
					return nil, err
				}
			}
		}
	}
	return trials, nil
}

// static is the check that keeps wrong candidates from an engine.
func (d *driver) static(ctx context.Context, s State) error {
	if len(s.Module.Graph.Calls()) == 0 {
		return errors.New("no call is left")
	}
	if err := s.Module.Graph.Lint(); err != nil {
		return err
	}
	if d.check != nil {
		return d.check(ctx, s)
	}
	return nil
}

// askAll asks the oracle about the trials of the given indices, at most Workers at a time. Every answer is in the
// store when its question returns.
func (d *driver) askAll(ctx context.Context, trials []*trial, ask []int) error {
	if d.s.MaxQueries > 0 && d.queries+len(ask) > d.s.MaxQueries {
		return ErrBudget
	}
	p := pool.New().WithErrors().WithFirstError().WithMaxGoroutines(max(1, d.s.Workers))
	for _, i := range ask {
		t := trials[i]
		p.Go(func() error {
			begin := d.now()
			o, err := d.oracle(ctx, t.c)
			t.took = d.now().Sub(begin)
			if err != nil {
				return err
			}
			t.outcome = o
			return d.remember(ctx, t.key, o)
		})
	}
	err := p.Wait()
	d.queries += len(ask)
	for _, i := range ask {
		if t := trials[i]; t.outcome.Status != "" {
			d.known[keyText(t.key)] = t.outcome
		}
	}
	d.progress()
	return err
}

// oracle asks, once more after a fault of the infrastructure. The error is ctx's alone.
func (d *driver) oracle(ctx context.Context, c Candidate) (replay.Outcome, error) {
	for try := 0; ; try++ {
		o, err := d.s.Oracle.Run(ctx, c)
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		if err != nil {
			o = replay.Outcome{Status: replay.Infrastructure, Message: err.Error()}
		}
		if o.Status != replay.Infrastructure || try == 1 {
			return o, nil
		}
	}
}

func keyText(k replay.QueryKey) string {
	return replay.HashOf(k.Graph, k.Inputs, k.Config, k.Fingerprint)
}

func (d *driver) lookup(ctx context.Context, k replay.QueryKey) (replay.Outcome, bool, error) {
	if o, ok := d.known[keyText(k)]; ok {
		return o, true, nil
	}
	if d.s.Store == nil {
		return replay.Outcome{}, false, nil
	}
	return d.s.Store.CachedOutcome(ctx, k)
}

func (d *driver) remember(ctx context.Context, k replay.QueryKey, o replay.Outcome) error {
	if d.s.Store == nil {
		return nil
	}
	return d.s.Store.PutOutcome(ctx, k, o)
}

// ask is one question outside of a round.
func (d *driver) ask(ctx context.Context, c Candidate) (replay.Outcome, error) {
	k := d.h.key(c.State, d.s.Fingerprint)
	if c.Fresh {
		k.Config = replay.HashOf(k.Config, "fresh")
	}
	o, hit, err := d.lookup(ctx, k)
	if err != nil {
		return o, err
	}
	if hit {
		d.hits++
		return o, nil
	}
	if d.s.MaxQueries > 0 && d.queries >= d.s.MaxQueries {
		return o, ErrBudget
	}
	d.queries++
	if o, err = d.oracle(ctx, c); err != nil {
		return o, err
	}
	d.known[keyText(k)] = o
	d.progress()
	return o, d.remember(ctx, k, o)
}

// rounds evaluates edits round by round and adopts what wins together.
func (d *driver) rounds(ctx context.Context, edits []edit) error {
	for len(edits) > 0 {
		k := min(d.size, len(edits))
		trials, err := d.round(ctx, edits[:k])
		if err != nil {
			return err
		}
		edits = edits[k:]
		if err := d.merge(ctx, trials); err != nil {
			return err
		}
	}
	return nil
}

// first evaluates edits round by round and adopts the first that wins: the number of the edit, or -1.
func (d *driver) first(ctx context.Context, edits []edit) (int, error) {
	for lo := 0; lo < len(edits); lo += d.size {
		trials, err := d.round(ctx, edits[lo:min(lo+d.size, len(edits))])
		if err != nil {
			return -1, err
		}
		for i, t := range trials {
			if t.verdict == replay.Reproduced {
				return lo + i, d.adopt(ctx, trials, []int{i}, t)
			}
		}
		if err := d.journal(ctx, trials, nil); err != nil {
			return -1, err
		}
	}
	return -1, nil
}

// merge joins the winners of a round: all together if that fails too, else in halves, else one by one.
func (d *driver) merge(ctx context.Context, trials []*trial) error {
	var wins []int
	for i, t := range trials {
		if t.verdict == replay.Reproduced {
			wins = append(wins, i)
		}
	}
	if len(wins) == 0 {
		return d.journal(ctx, trials, nil)
	}
	best := trials[wins[0]]
	kept := []int{wins[0]}
	var extra []*trial
	var join func(list []int) error
	join = func(list []int) error {
		if len(list) == 0 {
			return nil
		}
		st, changed := best.c.State, false
		desc := best.edit.desc
		for _, i := range list {
			if next, ok := trials[i].edit.apply(st); ok {
				st, changed = next, true
				desc += "; " + trials[i].edit.desc
			}
		}
		if !changed {
			return nil
		}
		e := edit{desc: desc, apply: func(State) (State, bool) { return st, true }}
		ts, err := d.round(ctx, []edit{e})
		if err != nil {
			return err
		}
		extra = append(extra, ts...)
		if ts[0].verdict == replay.Reproduced {
			best = ts[0]
			kept = append(kept, list...)
			return nil
		}
		if len(list) == 1 {
			return nil
		}
		if err := join(list[:len(list)/2]); err != nil {
			return err
		}
		return join(list[len(list)/2:])
	}
	if err := join(wins[1:]); err != nil {
		return err
	}
	all := append(trials, extra...)
	for i, t := range all {
		if t == best && i >= len(trials) {
			kept = append(kept, i)
		}
	}
	return d.adopt(ctx, all, kept, best)
}

// adopt journals a round and makes the winner the current state.
func (d *driver) adopt(ctx context.Context, trials []*trial, kept []int, best *trial) error {
	took := map[int]bool{}
	for _, i := range kept {
		took[i] = true
	}
	if err := d.journal(ctx, trials, took); err != nil {
		return err
	}
	d.cur, d.outcome = best.c.State, best.outcome
	d.taken++
	d.progress()
	return nil
}

func (d *driver) journal(ctx context.Context, trials []*trial, took map[int]bool) error {
	base := hashOf(d.h.key(d.cur, d.s.Fingerprint))
	for i, t := range trials {
		if t.skip {
			continue
		}
		if d.certify != "" {
			d.certificate = append(d.certificate, Trial{d.certify, t.c.Edit, t.verdict})
		}
		if err := d.step(ctx, replay.Step{Parent: base, Reduction: d.row, Candidate: t.c.Hash, Edit: t.c.Edit, Verdict: t.verdict, Cached: t.cached, Taken: took[i], Duration: t.took}); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) step(ctx context.Context, st replay.Step) error {
	st.Seq = len(d.steps) + 1
	d.steps = append(d.steps, st)
	if d.s.Store == nil {
		return nil
	}
	return d.s.Store.PutStep(ctx, d.id, st)
}

func (d *driver) finding(ctx context.Context, t *trial) error {
	sig := t.outcome.Signature
	if d.found[sig] {
		return nil
	}
	d.found[sig] = true
	d.findings = append(d.findings, Finding{t.c.State, t.outcome})
	if d.s.Store == nil {
		return nil
	}
	return d.s.Store.PutFinding(ctx, replay.Finding{Minification: d.id, Signature: sig, Raw: t.outcome.Message, Repro: d.render(t.c.State)})
}

// bisect finds the smallest p whose part of the calls fails, with as many probes at a time as a round holds.
// Known at each step: the whole of hi calls fails; lo calls are taken not to.
func (d *driver) bisect(ctx context.Context, part func(calls []string, p int) []string) error {
	calls := callItems(d)
	lo, hi := 0, len(calls)
	for hi-lo > 1 {
		k := min(d.size, hi-lo-1)
		probes := make([]int, 0, k)
		var edits []edit
		for i := 1; i <= k; i++ {
			p := lo + i*(hi-lo)/(k+1)
			probes = append(probes, p)
			edits = append(edits, d.w.keepOnly(part(calls, p)))
		}
		trials, err := d.round(ctx, edits)
		if err != nil {
			return err
		}
		win := -1
		for i, t := range trials {
			if t.verdict == replay.Reproduced {
				win = i
				break
			}
		}
		if win < 0 {
			lo = probes[len(probes)-1]
			if err := d.journal(ctx, trials, nil); err != nil {
				return err
			}
			continue
		}
		if err := d.adopt(ctx, trials, []int{win}, trials[win]); err != nil {
			return err
		}
		hi = probes[win]
		if win > 0 {
			lo = probes[win-1]
		}
	}
	return nil
}

// confirm proves the result again where nothing ran before.
func (d *driver) confirm(ctx context.Context) error {
	d.row = "confirm"
	key := d.h.key(d.cur, d.s.Fingerprint)
	o, err := d.ask(ctx, Candidate{State: d.cur, Reduction: "confirm", Edit: "the result, in a fresh process", Hash: hashOf(key), Fresh: true})
	if err != nil {
		return err
	}
	v := replay.Judge(o, d.want)
	if err := d.step(ctx, replay.Step{Parent: hashOf(key), Reduction: "confirm", Candidate: hashOf(key), Edit: "the result, in a fresh process", Verdict: v}); err != nil {
		return err
	}
	if v != replay.Reproduced {
		return &UnconfirmedError{o}
	}
	d.outcome, d.complete = o, true
	if d.s.Store == nil {
		return nil
	}
	return d.s.Store.FinishMinification(ctx, d.id, d.render(d.cur), certificateText(d.certificate))
}

func (d *driver) progress() {
	if d.s.Progress != nil {
		d.s.Progress(Progress{Reduction: d.row, Nodes: len(d.cur.Module.Graph.Calls()), Queries: d.queries, CacheHits: d.hits, Elapsed: d.now().Sub(d.began)})
	}
}

func (d *driver) result() Result {
	return Result{State: d.cur, Start: CostOf(d.start), Cost: CostOf(d.cur), Signature: d.want, Outcome: d.outcome, Complete: d.complete,
		Queries: d.queries, CacheHits: d.hits, Rejected: d.rejected, Steps: d.steps, Certificate: d.certificate, Findings: d.findings, ID: d.id, Resumed: d.resumed}
}
