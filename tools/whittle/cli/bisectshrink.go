package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/tools/whittle/reduce"
)

// smaller is a repro as small as its failure allows, so that each test of it costs little. Its data lie in a folder of its own, which goes with done. One that
// does not fail, or whose search was stopped by its own end, comes back as it is.
func (a *app) smaller(ctx context.Context, st *replay.Store, e engine.Engine, r *repros.Repro, dir string) (_ *repros.Repro, where string, done func(), err error) {
	live := newProgress(a.stderr)
	rep, err := reduce.Run(ctx, reduce.Options{Engine: e, Repro: r, Dir: dir, Workers: max(a.workers, 1), Confirm: 1, Store: st, Progress: live.show})
	live.done()
	var passes *minify.NotFailingError
	if errors.As(err, &passes) || err == nil && !rep.Complete {
		return r, dir, func() {}, nil
	}
	if err != nil {
		return nil, "", nil, err
	}
	folder, err := os.MkdirTemp("", "whittle-bisect-")
	if err != nil {
		return nil, "", nil, err
	}
	done = func() { os.RemoveAll(folder) }
	file, err := rep.WriteFiles(filepath.Join(folder, "repro.py"))
	if err != nil {
		done()
		return nil, "", nil, err
	}
	small, err := readRepro(file)
	if err != nil {
		done()
		return nil, "", nil, err
	}
	fmt.Fprintf(a.stderr, "whittle: minified first, from %s to %d: %s\n", replay.Count(rep.Start.Calls, "call"), rep.Cost.Calls, rep.Signature)
	return small, folder, done, nil
}
