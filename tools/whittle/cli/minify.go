package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"whittle/kernels/tensor"
	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/tools/whittle/stack"
)

// failed stores a failure and minifies it.
func (a *app) failed(ctx context.Context, ev *event, o runOptions) error {
	r, err := repros.Read("repro.py", ev.Repro)
	if err != nil {
		return fmt.Errorf("the failing graph cannot be written as a repro: %w", err)
	}
	st, err := replay.Open(ctx, a.storePath())
	if err != nil {
		return err
	}
	defer st.Close()
	if _, err := st.PutFailure(ctx, replay.Failure{Signature: ev.Sig, Raw: ev.Raw, Repro: ev.Repro}); err != nil {
		return err
	}
	dir := os.Getenv("TORCHDYNAMO_REPRO_DIR")
	if dir == "" {
		dir = ev.Dir
	}
	if dir == "" {
		dir = "."
	}
	level := ev.Level
	if level == 1 || o.noMinify {
		if ev.After == "" && o.noMinify {
			return nil
		}
		path := filepath.Join(dir, "repro.py")
		if err := writeRepro(path, r); err != nil {
			return err
		}
		fmt.Fprintf(a.stderr, "whittle: wrote the failing graph, not minified, to %s\n", path)
		return nil
	}
	return a.minify(ctx, st, r, ev.Dir, filepath.Join(dir, "repro.py"), ev.wall())
}

func writeRepro(path string, r *repros.Repro) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return repros.WriteFile(path, r)
}

func (a *app) minifyCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "minify FILE",
		Short: "Shrink a repro, minifier_launcher.py or fx_graph_runnable.py",
		Args:  oneFile("minify"),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := checkFile(args[0])
			if err != nil {
				return err
			}
			r, err := repros.Read(args[0], string(text))
			if err != nil {
				return usageError{err}
			}
			st, err := replay.Open(c.Context(), a.storePath())
			if err != nil {
				return err
			}
			defer st.Close()
			if err := a.minify(c.Context(), st, r, filepath.Dir(args[0]), out, queryLimit); err != nil {
				var nf *minify.NotFailingError
				if errors.As(err, &nf) && nf.Outcome.Status == replay.Invalid {
					return usageError{err}
				}
				if errors.As(err, &nf) {
					fmt.Fprintln(a.stderr, "whittle:", err)
					return exitCode(1)
				}
				return err
			}
			return nil
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "repro.py", "where the minimal repro goes")
	a.jobs(c)
	return c
}

func oneFile(cmd string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one file, got %d arguments", cmd, len(args))
		}
		return nil
	}
}

// queryLimit bounds one query whose failure is not a hang: far above what compiling a large graph takes.
const queryLimit = 30 * time.Second

// hangLimit is after how long a query counts as the hang that is looked for: far above what a candidate takes that does not hang.
const hangLimit = 3 * time.Second

// wall is the time limit of one query for this failure.
func (e *event) wall() time.Duration {
	if e.Hung {
		return hangLimit
	}
	return queryLimit
}

// minify shrinks r and writes the result.
func (a *app) minify(ctx context.Context, st *replay.Store, r *repros.Repro, dir, out string, wall time.Duration) error {
	inputs, err := r.Tensors(repros.DirLoader(filepath.Join(dir, r.SaveDir)))
	if err != nil {
		return usageError{err}
	}
	start := minify.State{Module: r.Module}
	for i, v := range inputs {
		start.Inputs = append(start.Inputs, minify.Input{Value: v, RequiresGrad: r.Inputs[i].RequiresGrad})
	}
	for _, c := range r.Config {
		start.Config = append(start.Config, minify.Setting{Name: c.Name, Value: c.Value})
	}
	work, err := os.MkdirTemp("", "whittle-minify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	eng := &engine.Engine{Print: fingerprint(), Limits: engine.Limits{Wall: wall, CPU: 4 * wall, Memory: 8 << 30}}
	defer eng.Close()
	render := func(s minify.State) (*repros.Repro, error) { return a.render(r, s, work) }
	oracle := minify.OracleFunc(func(ctx context.Context, c minify.Candidate) (replay.Outcome, error) {
		x, err := render(c.State)
		if err != nil {
			return replay.Outcome{Status: replay.Invalid, Message: err.Error()}, nil
		}
		return eng.Run(ctx, engine.Query{Repro: repros.Write(x), Dir: work, Backend: r.Backend, Fresh: c.Fresh})
	})
	live := newProgress(a.stderr)
	s := &minify.Search{Oracle: oracle, Store: st, Fingerprint: replay.HashOf(eng.Fingerprint(), string(r.Stage), r.Backend, string(r.Accuracy), r.Preamble), Workers: max(a.workers, 1), Progress: live.show,
		Render: func(s minify.State) string {
			x, err := render(s)
			if err != nil {
				return s.Module.String()
			}
			return repros.Write(x)
		}}
	if r.Stage == repros.AfterDynamo {
		s.Values, s.Check = stack.Values{CacheDir: cacheDir()}, func(context.Context, minify.State) error { return nil }
	}
	res, err := s.Run(ctx, start)
	live.done()
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		return err
	}
	final, err := render(res.State)
	if err != nil {
		return err
	}
	final.Head = head(r, res)
	final.Command = "run"
	if final.SaveDir != "" {
		if err := copyStorages(final, work, filepath.Dir(out)); err != nil {
			return err
		}
	}
	if err := writeRepro(out, final); err != nil {
		return err
	}
	what := "minimal repro"
	if interrupted {
		what = "interrupted; best repro so far"
	}
	fmt.Fprintf(a.stderr, "whittle: %s: %d of %d calls, %d queries, %d cache hits: %s\n", what, res.Cost.Calls, res.Start.Calls, res.Queries, res.CacheHits, out)
	fmt.Fprintf(a.stderr, "whittle: signature: %s\n", res.Signature)
	for _, f := range res.Findings {
		fmt.Fprintf(a.stderr, "whittle: also found on the way: %s\n", f.Outcome.Signature)
	}
	return nil
}

// render makes the repro of a state. Inputs that came from random data keep to their seed; others are stored by content.
func (a *app) render(r *repros.Repro, s minify.State, work string) (*repros.Repro, error) {
	x := *r
	x.Module = s.Module
	x.Config = nil
	for _, c := range s.Config {
		x.Config = append(x.Config, repros.Setting{Name: c.Name, Value: c.Value})
	}
	names := make([]string, len(s.Inputs))
	for i, n := range s.Module.Graph.Placeholders() {
		names[i] = n.Target
	}
	grads := map[*tensor.Tensor]bool{}
	for _, in := range s.Inputs {
		if t, ok := in.Value.(*tensor.Tensor); ok {
			grads[t] = in.RequiresGrad
		}
	}
	x.SaveDir = "checkpoints"
	err := x.FromTensors(names, s.Values(), func(data []byte) (string, error) {
		return repros.WriteStorage(filepath.Join(work, "checkpoints"), data)
	}, func(t *tensor.Tensor) bool { return grads[t] })
	return &x, err
}

func copyStorages(r *repros.Repro, from, to string) error {
	load := repros.DirLoader(filepath.Join(from, r.SaveDir))
	for _, st := range r.Storages {
		if st.Hash == "" {
			continue
		}
		b, err := load(st.Hash)
		if err != nil {
			return err
		}
		if _, err := repros.WriteStorage(filepath.Join(to, r.SaveDir), b); err != nil {
			return err
		}
	}
	return nil
}

// head is the comment at the top of a repro: what failed, where, and how it was reduced.
func head(r *repros.Repro, res minify.Result) []string {
	h := []string{
		"# Minimal repro written by whittle " + Version + " (follows PyTorch " + PyTorchVersion + ")",
		"# Failure: " + res.Signature.String(),
		fmt.Sprintf("# Reduced from %d calls to %d in %d queries", res.Start.Calls, res.Cost.Calls, res.Queries),
	}
	for _, l := range strings.Split(strings.TrimSpace(machine()), "\n") {
		h = append(h, "# "+l)
	}
	return h
}

// progress is the line that shows a search at work: one that rewrites itself on a terminal, plain lines elsewhere.
type progress struct {
	w    *os.File
	tty  bool
	last time.Time
	any  bool
}

func newProgress(w any) *progress {
	p := &progress{}
	if f, ok := w.(*os.File); ok {
		p.w, p.tty = f, term.IsTerminal(int(f.Fd()))
	}
	return p
}

func (p *progress) show(m minify.Progress) {
	if p.w == nil {
		return
	}
	every := 100 * time.Millisecond
	if !p.tty {
		every = 2 * time.Second
	}
	if time.Since(p.last) < every {
		return
	}
	p.last, p.any = time.Now(), true
	line := fmt.Sprintf("minifying: %d nodes, %d queries, %d cache hits, %s (%s)", m.Nodes, m.Queries, m.CacheHits, m.Elapsed.Round(100*time.Millisecond), m.Reduction)
	if p.tty {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintf(p.w, "whittle: %s\n", line)
	}
}

func (p *progress) done() {
	if p.tty && p.any {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
