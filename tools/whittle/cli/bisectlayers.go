package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"whittle/minify"
	"whittle/minify/bisect"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
)

// ladder are PyTorch's backends, each of which does what the one before does and one thing more.
var ladder = []string{"eager", "aot_eager", "aot_eager_decomp_partition", "inductor"}

// kindSet are kinds of choices: a set of them is taken, and of the others none is.
type kindSet []string

// choiceSet are choices of some kinds.
type choiceSet []replay.Choice

func (s kindSet) count() int { return len(s) }
func (s kindSet) point(set []int) string {
	return setName(len(s), set, func(i int) string { return s[i] })
}
func (s kindSet) show(_ bool, set []int) []string { return pick(s, set) }
func (s choiceSet) count() int                    { return len(s) }
func (s choiceSet) point(set []int) string {
	return setName(len(s), set, func(i int) string { return s[i].ID })
}
func (s choiceSet) show(_ bool, set []int) []string { return pick(s.lines(), set) }

func (s kindSet) said(point string) string { return short(point, len(s), "kinds of choices") }

func (s choiceSet) said(point string) string {
	if point == none || point == all {
		return point
	}
	ids := strings.Split(point, ", ")
	if len(ids) > 3 {
		return short(point, len(s), "choices")
	}
	var out []string
	for _, c := range s {
		if slices.Contains(ids, c.ID) {
			out = append(out, c.Text)
		}
	}
	return strings.Join(out, ", ")
}

// lines are the choices as people read them.
func (s choiceSet) lines() []string {
	out := make([]string, len(s))
	for i, c := range s {
		out[i] = choiceLine(c)
	}
	return out
}

func choiceLine(c replay.Choice) string {
	if c.Where == "" {
		return c.Kind + ": " + c.Text
	}
	return fmt.Sprintf("%s: %s (%s)", c.Kind, c.Text, c.Where)
}

func pick[T any](list []T, set []int) []T {
	out := []T{}
	for _, i := range set {
		out = append(out, list[i])
	}
	return out
}

// layerSearch finds the layer that decides whether a repro fails, and in it the choices: passes, decompositions, lowerings, fusions.
type layerSearch struct {
	a    *app
	t    *bisectTests
	st   *replay.Store
	p    *bisectPrinter
	o    bisectOptions
	file string
	dir  string // of the repro's data
	r    *repros.Repro
	g    *engines
	sure *sure // it fails now and then; nil: every time

	mu     sync.Mutex
	loaded map[string]*loadedRepro // by layer
}

// loadedRepro is a repro that an engine has read, for one backend.
type loadedRepro struct {
	r      *repros.Repro
	e      engine.Engine
	state  minify.State
	closed func() error
}

// layersFound is what a search among layers came to.
type layersFound struct {
	layer   string          // the first that fails; "" where there is none, and ends says why
	choices []replay.Choice // which decide, together; none: it fails without any
	asked   int             // choices that the layer made
	all     []replay.Choice // these
	ends    *bisect.EndsError
	note    string // why the search went no further; ""
	sure    *sure  // of one that fails now and then
	cost    bisect.Cost
	id      int64 // of the last bisection
}

// bisectLayers finds the layers of repros.
func (a *app) bisectLayers(ctx context.Context, st *replay.Store, t *bisectTests, files []string, p *bisectPrinter) error {
	g := &engines{o: minifyOptions{engine: "auto", torch: t.o.torch, timeout: t.o.limit, memory: t.o.memory}, workers: max(a.workers, 1)}
	defer g.close()
	worst := exitCode(0)
	err := eachRepro(files, func(file string, r *repros.Repro) error {
		r, path, err := t.withBackend(file, r)
		if err != nil {
			return err
		}
		if p.many {
			fmt.Fprintf(a.stderr, "whittle: %s\n", t.name(file))
		}
		s := &layerSearch{a: a, t: t, st: st, p: p, o: t.o, file: t.name(file), dir: filepath.Dir(path), r: r, g: g, loaded: map[string]*loadedRepro{}}
		defer s.close()
		if s.o.noisy() {
			s.sure = &sure{noise: s.o.noise()}
		}
		err = s.shrink(ctx)
		var found layersFound
		if err == nil {
			found, err = s.run(ctx)
		}
		if err != nil {
			p.failed(&bisection{subject: t.name(file)}, err)
			return err
		}
		if found.layer == "" {
			worst = 1
		}
		if found.layer != "" {
			if err := decides(ctx, st, t.name(file), found.id, "layers", found.key()); err != nil {
				return err
			}
			if err := s.keepCode(ctx, found); err != nil {
				return err
			}
		}
		return p.layers(t.name(file), found)
	})
	if ctx.Err() != nil {
		fmt.Fprintln(a.stderr, "whittle: stopped; given again, the command goes on from here")
		return exitCode(1)
	}
	if err != nil {
		return err
	}
	p.end()
	if worst > 0 {
		return worst
	}
	return nil
}

func (s *layerSearch) close() {
	for _, l := range s.loaded {
		_ = l.closed() // it has been asked all that there is to ask
	}
}

// shrink puts the smallest repro with the same failure in the place of the one that was given.
func (s *layerSearch) shrink(ctx context.Context) error {
	if s.o.noMinify {
		return nil
	}
	e, closed, err := s.g.of(ctx, s.r)
	if err != nil {
		return err
	}
	defer closed()
	small, dir, rate, err := s.t.smaller(ctx, s.st, e, s.r, s.dir)
	if err == nil {
		s.r, s.dir = small, dir
	}
	if rate > 0 && s.sure == nil {
		fmt.Fprintf(s.a.stderr, "whittle: it fails in %.0f %% of runs: each question is asked until its answer is sure\n", 100*rate)
		s.sure = &sure{noise: s.o.noise()}
	}
	return err
}

// run looks among the layers, then among kinds of choices, then among those of the kinds that decide.
func (s *layerSearch) run(ctx context.Context) (f layersFound, err error) {
	if s.r.Stage != repros.AfterDynamo {
		f.layer = "inductor"
		if s.sure != nil {
			f.sure = s.sure
			err = s.measure(ctx, s.bisection("layers", []string{"inductor"}, s.withLayer), "", "inductor")
			if errors.As(err, &f.ends) {
				f.layer, err = "", nil
			}
		}
	} else {
		f, err = s.findLayer(ctx)
	}
	if err != nil || f.layer == "" {
		return f, err
	}
	if !slices.Contains(ladder[2:], f.layer) {
		return f, nil
	}
	return f, s.findChoices(ctx, &f)
}

// measure finds out how often it fails with two layers; "" for one that there is not.
func (s *layerSearch) measure(ctx context.Context, b *bisection, good, bad string) error {
	id, err := s.st.BeginBisection(ctx, b.row())
	if err == nil && s.o.again {
		err = s.st.DropTrials(ctx, id)
	}
	if err != nil {
		return err
	}
	j := &bisectJournal{b: b, st: s.st, id: id, points: b.points, replies: map[asked]reply{}}
	return s.sure.measure(ctx, j, good, bad)
}

// withLayer tests a layer with all that it does.
func (s *layerSearch) withLayer(ctx context.Context, point string, attempt int) (reply, error) {
	return s.test(ctx, point, nil, attempt)
}

// test asks one question: does it fail with this backend, when these choices are taken?
func (s *layerSearch) test(ctx context.Context, layer string, choose *replay.Choose, attempt int) (reply, error) {
	l, err := s.load(ctx, layer)
	if err != nil {
		return reply{}, err
	}
	o, err := l.e.Run(ctx, l.r, minify.Candidate{State: l.state, Reduction: "bisect", Attempt: attempt, Choose: choose})
	if err != nil {
		return reply{}, err
	}
	if fault := replay.MachineFault(o.Signature.Type, o.Message); fault != nil {
		return reply{}, fault
	}
	return reply{outcome: &o, fleeting: o.Status == replay.Infrastructure}, nil
}

func (s *layerSearch) load(ctx context.Context, layer string) (*loadedRepro, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.loaded[layer]; l != nil {
		return l, nil
	}
	x := *s.r
	if x.Stage == repros.AfterDynamo {
		x.Backend = layer
	}
	e, closed, err := s.g.of(ctx, &x)
	if err != nil {
		return nil, err
	}
	state, err := e.Load(ctx, &x, s.dir)
	if err != nil {
		return nil, errors.Join(err, closed())
	}
	s.loaded[layer] = &loadedRepro{&x, e, state, closed}
	return s.loaded[layer], nil
}

// bisection is one phase. Its points are tested by test.
func (s *layerSearch) bisection(kind string, points []string, test func(ctx context.Context, point string, attempt int) (reply, error), more ...string) *bisection {
	key := append([]string{"layers", kind, repros.Write(s.r), s.o.torch, s.o.limit.String(), s.o.memory, fingerprint()}, more...)
	if s.sure != nil {
		n := s.sure.noise
		key = append(key, fmt.Sprintf("sure %v %d %v", n.Confidence, n.MaxTests, n.Rates != nil))
		if n.Rates != nil {
			key = append(key, fmt.Sprint(*n.Rates))
		}
	}
	return &bisection{kind: kind, subject: s.file, engine: true, sure: s.sure, key: replay.HashOf(key...), points: points, test: test}
}

// findLayer finds the first backend of the ladder that fails. A backend that is not PyTorch's is the only one above eager.
func (s *layerSearch) findLayer(ctx context.Context) (f layersFound, err error) {
	points := ladder[:slices.Index(ladder, s.r.Backend)+1]
	if len(points) < 2 {
		points = []string{"eager", s.r.Backend}
	}
	b := s.bisection("layers", points, s.withLayer)
	o := s.o
	if f.sure = s.sure; s.sure != nil {
		if err := s.measure(ctx, b, points[0], points[len(points)-1]); err != nil {
			if errors.As(err, &f.ends) {
				err = nil
			}
			return f, err
		}
		o.again = false // measure has dropped what there was
	}
	r, err := s.a.bisect(ctx, s.st, b, o, s.p)
	if err != nil {
		return f, err
	}
	s.p.pointTable(b, r)
	f.cost, f.id, f.ends = r.found.Cost, r.id, r.ends
	switch {
	case r.ends != nil:
	case r.found.Decided():
		f.layer = points[r.found.Suspects[0]]
	default:
		f.note = r.text(b)
	}
	return f, nil
}

// findChoices finds which of a layer's choices decide.
func (s *layerSearch) findChoices(ctx context.Context, f *layersFound) error {
	along := func(kind string, points []string, choose func(point string) replay.Choose, more ...string) *bisection {
		return s.bisection(kind, points, func(ctx context.Context, point string, attempt int) (reply, error) {
			c := choose(point)
			return s.test(ctx, f.layer, &c, attempt)
		}, append([]string{f.layer}, more...)...)
	}
	kinds := along("kinds", []string{none, all}, func(point string) replay.Choose {
		switch point {
		case none:
			return replay.Choose{Kinds: []string{}}
		case all:
			return replay.Choose{}
		}
		return replay.Choose{Kinds: strings.Split(point, ", ")}
	})
	asked, err := s.asked(ctx, kinds)
	if err != nil {
		return err
	}
	f.asked, f.all = len(asked), asked
	var names kindSet
	for _, c := range asked {
		if !slices.Contains(names, c.Kind) {
			names = append(names, c.Kind)
		}
	}
	if len(names) == 0 {
		f.note = fmt.Sprintf("%s makes no choice that can be left out", f.layer)
		return nil
	}
	kinds.settings, kinds.plain = names, true
	o := s.o
	o.again = false // asked has dropped what there was
	r, err := s.a.bisect(ctx, s.st, kinds, o, s.p)
	f.add(r)
	switch {
	case err != nil:
		return err
	case r.ends != nil && r.ends.Last.Verdict != bisect.Bad:
		f.note, f.layer = fmt.Sprintf("not decided: with %s it does not fail", f.layer), ""
		return nil
	case r.ends != nil && r.ends.First.Verdict == bisect.Bad:
		f.note = fmt.Sprintf("it fails when every choice of %s that can be left out is", f.layer)
		return nil
	case r.ends != nil:
		f.note = fmt.Sprintf("what decides in %s is not known: %v", f.layer, r.ends)
		return nil
	}
	deciding := pick(names, r.deciding.Set)
	single := along("choices", []string{none, all}, func(point string) replay.Choose {
		switch point {
		case none:
			return replay.Choose{Kinds: deciding, Only: []string{}}
		case all:
			return replay.Choose{Kinds: deciding}
		}
		return replay.Choose{Kinds: deciding, Only: strings.Split(point, ", ")}
	}, deciding...)
	list, err := s.asked(ctx, single)
	if err != nil {
		return err
	}
	single.settings, single.plain = choiceSet(list), true
	r, err = s.a.bisect(ctx, s.st, single, o, s.p)
	f.add(r)
	if err == nil && r.ends == nil {
		f.choices = pick(list, r.deciding.Set)
	} else if err == nil {
		f.note = fmt.Sprintf("%s decide, and no single one of them: %v", strings.Join(deciding, " and "), r.ends)
	}
	return err
}

func (f *layersFound) add(r bisectResult) {
	c := r.found.Cost
	f.cost = bisect.Cost{Tests: f.cost.Tests + c.Tests, Known: f.cost.Known + c.Known, Rounds: f.cost.Rounds + c.Rounds}
	f.id = r.id
}

// asked are the choices that the compiler asks about when all of a bisection are taken. The answer is that of its last point.
func (s *layerSearch) asked(ctx context.Context, b *bisection) ([]replay.Choice, error) {
	id, err := s.st.BeginBisection(ctx, b.row())
	if err == nil && s.o.again {
		err = s.st.DropTrials(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	j := &bisectJournal{b: b, st: s.st, id: id, points: b.points, replies: map[asked]reply{}}
	q := asked{point: all}
	if b.sure != nil {
		q.attempt = 1 // one of those that make the answer
	}
	r, err := j.single(ctx, q)
	if err != nil || r.outcome == nil {
		return nil, err
	}
	return r.outcome.Choices, nil
}

// keepCode keeps what a layer generates as it is, and without the choices that decide.
func (s *layerSearch) keepCode(ctx context.Context, f layersFound) error {
	if len(f.choices) == 0 {
		return nil
	}
	without := &replay.Choose{Only: []string{}}
	for _, c := range f.all {
		if !slices.ContainsFunc(f.choices, func(x replay.Choice) bool { return x.ID == c.ID }) {
			without.Only = append(without.Only, c.ID)
		}
	}
	side := func(choose *replay.Choose) func(ctx context.Context) (map[string][]byte, error) {
		return func(ctx context.Context) (map[string][]byte, error) {
			l, err := s.load(ctx, f.layer)
			if err != nil {
				return nil, err
			}
			return codeOf(ctx, l.e, l.r, s.dir, choose)
		}
	}
	return keepCode(ctx, s.st, s.file, side(without), side(&replay.Choose{}))
}

// layers tells what was found for one repro.
func (p *bisectPrinter) layers(file string, f layersFound) error {
	text := f.text()
	if p.many {
		p.table = append(p.table, []string{file, text})
	}
	fmt.Fprintln(p.out, text)
	if f.sure != nil && f.sure.bad.Bad > 0 {
		fmt.Fprintln(p.out, f.sure.text(ladder[0]))
	}
	fmt.Fprintf(p.a.stderr, "whittle: bisection/%d: %s, %s from the store; %s\n", f.id, replay.Count(f.cost.Tests, "test"), replay.Count(f.cost.Known, "answer"), replay.Count(f.asked, "choice"))
	if p.events == nil {
		return nil
	}
	d := bisectDone{ID: f.id, Subject: file, Status: "found", Layer: f.layer, Choices: f.choices, Suspects: []string{}, Doubts: [][2]string{}, Set: choiceSet(f.choices).lines(), Workaround: []string{},
		Error: f.note, Tests: f.cost.Tests, Known: f.cost.Known, Rounds: f.cost.Rounds}
	if f.sure != nil {
		d.Probability, d.Rate, d.FalseRate = f.sure.noise.Confidence, share(f.sure.bad), share(f.sure.good)
	}
	if f.layer == "" {
		d.Status = "range"
		if f.ends != nil {
			d.Status, d.Error = "same", f.ends.Error()
		}
	}
	p.events.write("done", d)
	return p.events.Err()
}

// key is what was found without the names that the nodes of a graph have: equal for the same bug in another one.
func (f layersFound) key() string {
	parts := []string{f.layer}
	for _, c := range f.choices {
		what := c.Text
		if _, target, ok := strings.Cut(what, " = "); ok {
			what = target
		}
		parts = append(parts, c.Kind+" "+what)
	}
	return strings.Join(parts, ", ")
}

// text is what was found, in a line.
func (f layersFound) text() string {
	switch {
	case f.ends != nil:
		return "not decided: " + f.ends.Error()
	case f.layer == "":
		return f.note
	case len(f.choices) > 0:
		return fmt.Sprintf("%s: decided by %s", f.layer, strings.Join(choiceSet(f.choices).lines(), " together with "))
	case f.note != "":
		return fmt.Sprintf("%s: %s", f.layer, f.note)
	}
	return f.layer
}
