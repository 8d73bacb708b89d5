package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/tools/whittle/reduce"
)

// smaller is a repro as small as its failure allows, so that each test of it costs little. Its data lie in a folder of its own, which goes with close. One that
// does not fail, or not every time, comes back as it is; rate is the share of runs that fail of one that fails not every time, and 0 otherwise.
func (t *bisectTests) smaller(ctx context.Context, st *replay.Store, e engine.Engine, r *repros.Repro, dir string) (_ *repros.Repro, where string, rate float64, err error) {
	a := t.a
	live := newProgress(a.stderr)
	rep, err := reduce.Run(ctx, reduce.Options{Engine: e, Repro: r, Dir: dir, Workers: max(a.workers, 1), Confirm: 1, Store: st, Progress: live.show})
	live.done()
	var passes *minify.NotFailingError
	if rep.Rate > 0 && rep.Rate < 1 {
		rate = rep.Rate
	}
	if errors.As(err, &passes) || err == nil && (!rep.Complete || rate > 0) {
		return r, dir, rate, nil
	}
	if err != nil {
		return nil, "", 0, err
	}
	folder, err := t.folder()
	if err != nil {
		return nil, "", 0, err
	}
	file, err := rep.WriteFiles(filepath.Join(folder, "repro.py"))
	if err != nil {
		return nil, "", 0, err
	}
	small, err := readRepro(file)
	if err == nil {
		fmt.Fprintf(a.stderr, "whittle: minified first, from %s to %d: %s\n", replay.Count(rep.Start.Calls, "call"), rep.Cost.Calls, rep.Signature)
	}
	return small, folder, 0, err
}
