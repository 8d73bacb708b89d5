package replaytest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"whittle/replay"
)

// Size says how much Fill writes.
type Size struct {
	Failures, Groups, Queries int
	Minifications, Steps      int // Steps of all; the first search has a fifth of them
	Bisections                int // each of 64 versions
	Nights, Cases, News       int // News of all nights
	GraphNodes                int // calls of the largest graph
	Seed                      uint64
}

// Small is a store that has everything, for tests of what is shown.
var Small = Size{Failures: 120, Groups: 12, Queries: 50, Minifications: 9, Steps: 900, Bisections: 4, Nights: 30, Cases: 8, News: 40, GraphNodes: 70, Seed: 1}

// Large is what a team has after years.
var Large = Size{Failures: 10_000, Groups: 1_200, Queries: 1_000_000, Minifications: 1_000, Steps: 300_000, Bisections: 500, Nights: 400, Cases: 200, News: 4_000, GraphNodes: 2_000, Seed: 1}

// epoch is the time of the first row.
var epoch = time.Date(2026, 1, 5, 2, 0, 0, 0, time.UTC)

// raw opens the file of a store for SQL of our own.
func raw(path string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Path: abs, RawQuery: "_foreign_keys=on&_synchronous=OFF"}).String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// A writer inserts rows in one transaction. Its first error stays.
type writer struct {
	ctx   context.Context
	tx    *sql.Tx
	stmts map[string]*sql.Stmt
	err   error
}

func (w *writer) put(query string, args ...any) {
	if w.err != nil {
		return
	}
	st := w.stmts[query]
	if st == nil {
		if st, w.err = w.tx.PrepareContext(w.ctx, query); w.err != nil {
			return
		}
		w.stmts[query] = st
	}
	_, w.err = st.ExecContext(w.ctx, args...)
}

// write runs f in a transaction on the store at path.
func write(ctx context.Context, path string, f func(w *writer)) error {
	db, err := raw(path)
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	w := &writer{ctx: ctx, tx: tx, stmts: map[string]*sql.Stmt{}}
	f(w)
	return errors.Join(w.err, tx.Commit())
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only what is written here comes
	}
	return string(b)
}

// Graph is the text of a graph of so many calls, with some edges that skip.
func Graph(calls int) string {
	var b strings.Builder
	b.WriteString("class Repro(torch.nn.Module):\n    def __init__(self) -> None:\n        super().__init__()\n\n    def forward(self, x, y):\n")
	ops := []string{"add.Tensor", "mul.Tensor", "sub.Tensor"}
	last, before := "x", "y"
	for i := range calls {
		name := fmt.Sprintf("n%d", i)
		if i%7 == 3 {
			fmt.Fprintf(&b, "        %s = torch.ops.aten.relu.default(%s)\n", name, last)
		} else {
			fmt.Fprintf(&b, "        %s = torch.ops.aten.%s(%s, %s)\n", name, ops[i%3], last, before)
		}
		if i%4 != 1 {
			before = last
		}
		last = name
	}
	fmt.Fprintf(&b, "        return (%s,)\n", last)
	return b.String()
}

var kinds = []replay.Signature{
	{Stage: "accuracy", Type: "accuracy", Message: "output differs from eager", Output: "0: 12 % of the elements"},
	{Stage: "compile", Type: "LoweringException", Message: "AssertionError: aten._foobar.default", Frame: "lower in torch/_inductor/graph.py"},
	{Stage: "compile", Type: "CppCompileError", Message: "C++ compile error: no match for operator"},
	{Stage: "run", Type: "SIGSEGV", Message: "segmentation fault"},
	{Stage: "compile", Type: "timeout", Message: "ran longer than the limit"},
	{Stage: "run", Type: "RuntimeError", Message: "expected scalar type Float but found Double"},
}

var states = []string{"new", "confirmed", "minimised", "bisected", "fixed", "flaky", "closed"}

// figures are what a night measures, with a start and the noise.
var figures = []struct {
	name         string
	start, noise float64
}{{"compile_s", 2.4, 0.05}, {"speedup", 1.6, 0.02}, {"rmse", 1e-6, 2e-8}, {"peak_memory", 3e8, 1e6}, {"graph_breaks", 2, 0}}

// Version is the name of the engine of a night of Fill, from 0: a release for about thirteen nights.
func Version(night int) string { return fmt.Sprintf("2.%d.%d", 6+night/13, night%13/5) }

// Fill makes a store at path, which must not be there.
func Fill(ctx context.Context, path string, size Size) error {
	s, err := replay.Open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Now = func() time.Time { return epoch }
	var blobs struct{ repro, large, report, good, bad, cert, env, errText string }
	large := Graph(size.GraphNodes)
	for _, b := range []struct {
		key  *string
		text string
	}{
		{&blobs.repro, "import torch\n\n" + Graph(2) + "\nmod = Repro()\n"}, {&blobs.large, large}, {&blobs.good, "float tmp0 = in_ptr0[x0];\nfloat tmp1 = tmp0 + tmp0;\nout_ptr0[x0] = tmp1;\n"},
		{&blobs.bad, "float tmp0 = in_ptr0[x0];\nfloat tmp1 = tmp0 * tmp0;\nout_ptr0[x0] = tmp1;\n"},
		{&blobs.report, text(map[string]any{"bot": "nightly", "new": []any{map[string]any{"case": "corpus/model0", "kind": "new", "signature": kinds[0].String()}}, "counts": map[string]any{"pass": size.Cases - 1, "fail": 1}, "seconds": 812.5})},
		{&blobs.cert, text([]replay.Trial{{Reduction: "cut", Edit: "cut n0 into an input", Verdict: "passes"}, {Reduction: "shrink", Edit: "dimension 0 from 2 to 1", Verdict: "passes"}})},
		{&blobs.env, "torch 2.6.0\nLinux x86_64\n"}, {&blobs.errText, "LoweringException: AssertionError:\n  target: aten._foobar.default\n"},
	} {
		if *b.key, err = s.PutBlob(ctx, []byte(b.text)); err != nil {
			return err
		}
	}
	for _, n := range []int{2, size.GraphNodes} {
		if err := s.PutGraph(ctx, fmt.Sprintf("%064x", n), Graph(n), n+3); err != nil {
			return err
		}
	}
	rng := rand.New(rand.NewPCG(size.Seed, 15))
	day := func(i, of, days int) int64 {
		return epoch.Add(time.Duration(float64(i) / float64(max(of, 1)) * float64(days) * 24 * float64(time.Hour))).UnixMilli()
	}
	return write(ctx, path, func(w *writer) {
		for i := range size.Queries {
			w.put(`INSERT INTO queries(graph, inputs, config, fingerprint, outcome, ms, created) VALUES (?,?,?,?,?,?,?)`, fmt.Sprintf("%064x", i), "i", "c", "f", `{"status":"pass"}`, i%900, day(i, size.Queries, 400))
		}
		w.minifications(size, rng, day, blobs.repro, blobs.errText, blobs.env, blobs.cert)
		w.put(`INSERT INTO result_files(minification, path, blob) VALUES (1, 'generated/good/kernel.cpp', ?), (1, 'generated/bad/kernel.cpp', ?)`, blobs.good, blobs.bad)
		w.bisections(size, day)
		w.groups(size, rng, day, blobs.repro)
		w.nights(size, rng, blobs.report)
	})
}

func (w *writer) minifications(size Size, rng *rand.Rand, day func(i, of, days int) int64, repro, errText, env, cert string) {
	reductions := []string{"localise", "bisect", "cut", "bypass", "simplify", "shrink", "values", "settings"}
	left := size.Steps
	for i := range size.Minifications {
		steps := (size.Steps - size.Steps/5) / max(size.Minifications-1, 1)
		if i == 0 {
			steps = size.Steps / 5
		}
		steps = min(steps, left)
		left -= steps
		sig := kinds[i%len(kinds)]
		var finished, result, certificate any
		if i%9 != 8 {
			finished, result, certificate = day(i, size.Minifications, 400)+60_000, repro, `[]`
		}
		id := i + 1
		w.put(`INSERT INTO minifications(id, key, start, result, signature, certificate, created, finished, start_calls, calls) VALUES (?,?,?,?,?,?,?,?,?,?)`,
			id, fmt.Sprint("key", i), repro, result, text(sig), certificate, day(i, size.Minifications, 400), finished, 40+i%200, 1+i%5)
		if result != nil {
			w.put(`INSERT INTO results(minification, repro, error, environment, certificate, engine, launcher, config, workaround, free, start_cost, end_cost, complete, queries, cache_hits, rejected, seconds, confirmed,
				runs, rate, false_runs, false_rate, stopped, off, created) VALUES (?,?,?,?,?,'torch','repro.py','[]',?,?,?,?,1,?,3,5,12.5,2,8,1,0,0,'','[]',?)`,
				id, repro, errText, env, cert, text([]replay.Setting{{Name: "torch._inductor.config.cpp.simdlen", Value: "0"}}), text([]string{"dtype of x"}),
				text(replay.Cost{Calls: 40 + i%200}), text(replay.Cost{Calls: 1 + i%5}), steps, day(i, size.Minifications, 400))
		}
		for seq := 1; seq <= steps; seq++ {
			verdict, taken := "passes", rng.IntN(12) == 0
			if taken {
				verdict = string(replay.Reproduced)
			}
			w.put(`INSERT INTO steps(minification, seq, parent, reduction, candidate, edit, verdict, cached, taken, ms, change, calls) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`, id, seq, fmt.Sprintf("%032x", seq-1),
				reductions[seq*len(reductions)/(steps+1)], fmt.Sprintf("%032x", seq), fmt.Sprintf("cut n%d to n%d out of the graph", seq, seq+3), verdict, seq%5 == 0, taken, rng.IntN(400),
				`{"edit":{"kind":"cut","nodes":["`+strings.Repeat("n1,", 20)+`"]}}`, 1+(steps-seq)/4)
		}
	}
}

func (w *writer) bisections(size Size, day func(i, of, days int) int64) {
	for i := range size.Bisections {
		id, guilty := i+1, 2+i*7%60
		w.put(`INSERT INTO bisections(id, key, kind, subject, result, created, finished) VALUES (?,?,'versions','repro.py',?,?,?)`, id, fmt.Sprint("key", i), fmt.Sprintf("first bad: %s", Version(guilty*6)), day(i, size.Bisections, 400), day(i, size.Bisections, 400)+1000)
		attempt := 0
		for lo, hi := 0, 63; ; attempt++ { // both ends, then between
			p := (lo + hi) / 2
			switch attempt {
			case 0:
				p = 0
			case 1:
				p = 63
			}
			verdict := "good"
			if p >= guilty {
				verdict = "bad"
			}
			if attempt > 1 {
				if verdict == "bad" {
					hi = p
				} else {
					lo = p
				}
			}
			w.put(`INSERT OR IGNORE INTO trials(bisection, point, attempt, verdict, text, outcome, ms, created) VALUES (?,?,0,?,?,'',?,?)`, id, Version(p*6), verdict, map[string]string{"good": "exit status 0", "bad": "exit status 1"}[verdict], 800, day(i, size.Bisections, 400)+int64(attempt))
			if hi-lo <= 1 && attempt > 1 {
				break
			}
		}
		w.put(`INSERT OR IGNORE INTO trials(bisection, point, attempt, verdict, text, outcome, ms, created) VALUES (?,?,0,'skip','cannot be built','',9,?)`, id, Version(61*6), day(i, size.Bisections, 400)+99)
	}
}

func (w *writer) groups(size Size, rng *rand.Rand, day func(i, of, days int) int64, repro string) {
	for g := range size.Groups {
		var until any
		muted := ""
		if g%11 == 5 {
			muted, until = "known upstream", day(g, size.Groups, 400)+30*24*3_600_000
		}
		sig := kinds[g%len(kinds)]
		w.put(`INSERT INTO groups(id, title, state, assignee, muted, until, created, updated) VALUES (?,?,?,?,?,?,?,?)`, g+1, fmt.Sprintf("%s of model %d", sig.Type, g), states[g%len(states)],
			[]string{"", "ann", "bo"}[g%3], muted, until, day(g, size.Groups, 400), day(g, size.Groups, 400)+1000)
		for _, kind := range []string{"created", "member", "state"} {
			w.put(`INSERT INTO events("group", actor, kind, text, created) VALUES (?,?,?,?,?)`, g+1, "nightly", kind, kind+": "+sig.String(), day(g, size.Groups, 400))
		}
	}
	for f := range size.Failures {
		g := f % max(size.Groups, 1)
		if f%2 == 0 {
			g = int(float64(size.Groups) * math.Pow(rng.Float64(), 3)) // some groups are large
		}
		sig := kinds[g%len(kinds)]
		graph := any(fmt.Sprintf("%064x", 2))
		if f == 0 {
			graph = fmt.Sprintf("%064x", size.GraphNodes)
		}
		var minification, bisection any
		if f < size.Minifications {
			minification = f + 1
		}
		if f < size.Bisections {
			bisection = f + 1
		}
		w.put(`INSERT INTO failures(id, graph, stage, type, message, frame, output, raw, config, inputs, repro, created, minification, bisection, origin, decides) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`, f+1, graph,
			sig.Stage, sig.Type, fmt.Sprintf("%s in model %d", sig.Message, g), sig.Frame, sig.Output, strings.Repeat(sig.String()+"\n  File \"model.py\", line 3, in forward\n", 20), `{"torch._inductor.config.max_autotune":"True"}`, `[]`, repro,
			day(f, size.Failures, 400), minification, bisection, fmt.Sprintf("corpus/model%d.py", g), []string{"", "inductor"}[f%2])
		w.put(`INSERT INTO members(failure, "group", features, distance, pinned, placed) VALUES (?,?,?,?,?,1)`, f+1, g+1, text(map[string]any{"kind": whatItDoes(sig), "stage": sig.Stage, "type": sig.Type, "graph": []string{"aten.mm", "aten.relu"}, "layer": "inductor"}), float64(f%10)/10, f%50 == 0)
	}
}

func (w *writer) nights(size Size, rng *rand.Rand, report string) {
	for c := range size.Cases {
		w.put(`INSERT INTO cases(id, bot, name, mode) VALUES (?,'nightly',?,?)`, c+1, fmt.Sprintf("corpus/model%03d.py", c/2), []string{"inductor", "inductor dynamic"}[c%2])
	}
	kinds := []string{"new", "fixed", "flaky", "slower", "less_accurate", "drifting"}
	for n := range size.Nights {
		created := epoch.Add(time.Duration(n) * 24 * time.Hour).UnixMilli()
		w.put(`INSERT INTO nights(id, bot, key, version, fingerprint, report, hook, created, finished) VALUES (?,'nightly',?,?,?,?,'',?,?)`, n+1, fmt.Sprint("night", n), Version(n), "torch "+Version(n)+" Linux", report, created, created+3_600_000)
		for c := range size.Cases {
			status, failure := replay.Pass, any(nil)
			if (c*7+n/40)%23 == 0 {
				status = []replay.Status{replay.Failed, replay.Timeout, replay.Killed, replay.OOM, replay.Invalid}[c%5]
				failure = 1 + c%max(size.Failures, 1)
			}
			w.put(`INSERT INTO runs(night, "case", version, attempt, status, outcome, figures, failure, ms, created) VALUES (?,?,?,0,?,?,'{}',?,?,?)`, n+1, c+1, Version(n), string(status), text(replay.Outcome{Status: status}), failure, 900+c, created)
			if status != replay.Pass && c%3 == 0 { // confirmed, or flaky
				w.put(`INSERT INTO runs(night, "case", version, attempt, status, outcome, figures, failure, ms, created) VALUES (?,?,?,1,?,'{"status":"pass"}','{}',NULL,?,?)`, n+1, c+1, Version(n), string(replay.Pass), 900+c, created)
			}
			for _, f := range figures {
				v := f.start + rng.NormFloat64()*f.noise
				if n > size.Nights*2/3 && f.name == "compile_s" {
					v *= 1.08
				}
				w.put(`INSERT INTO figures("case", name, night, value, spread, samples) VALUES (?,?,?,?,?,?)`, c+1, f.name, n+1, v, f.noise, text([]float64{v, v + f.noise, v - f.noise}))
			}
		}
	}
	for i := range size.News {
		kind, subject := kinds[i%len(kinds)], "compile: LoweringException"
		if i%len(kinds) > 2 {
			subject = []string{"compile_s", "rmse", "rmse"}[i%len(kinds)-3]
		}
		var group any
		if size.Groups > 0 {
			group = 1 + i%size.Groups
		}
		w.put(`INSERT OR IGNORE INTO news(night, "case", kind, subject, "group", text, detail) VALUES (?,?,?,?,?,?,'{}')`, 1+i*7%max(size.Nights, 1), 1+i%max(size.Cases, 1), kind, subject, group, kind+": "+subject+", as measured over ten nights")
	}
}

// whatItDoes is a failure's kind in the words of package triage.
func whatItDoes(s replay.Signature) string {
	switch {
	case s.Stage == "accuracy":
		return "wrong results"
	case strings.HasPrefix(s.Type, "SIG"):
		return "crash"
	case s.Type == "timeout":
		return "hang"
	case s.Type == "oom":
		return "out of memory"
	}
	return "error"
}
