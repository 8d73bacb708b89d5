package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/repros/torch"
	"whittle/tools/whittle/stack"
)

// codeOf is the code that an engine generates for a repro, by the names of files. An error says that it does not compile, or that the engine cannot say.
func codeOf(ctx context.Context, e engine.Engine, r *repros.Repro, dir string, choose *replay.Choose) (map[string][]byte, error) {
	if t, ok := e.(*torch.Engine); ok {
		return t.Code(ctx, r, dir, choose)
	}
	return stack.Code(ctx, r, dir, cacheDir(), choose)
}

// keepCode keeps what both sides of a bisection generate beside the results of a record of the store, where both compile: the page of the record shows how they
// differ. A thing that has no result, as a file, has no place for it.
func keepCode(ctx context.Context, st *replay.Store, thing string, good, bad func(ctx context.Context) (map[string][]byte, error)) error {
	ids, err := resultsOf(ctx, st, thing)
	if err != nil || len(ids) == 0 {
		return err
	}
	files := map[string][]byte{}
	for side, code := range map[string]func(ctx context.Context) (map[string][]byte, error){replay.GoodCode: good, replay.BadCode: bad} {
		texts, err := code(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil // it does not compile, and that is what the bisection was of
		}
		for name, text := range texts {
			files[side+name] = text
		}
	}
	for _, id := range ids {
		var none *replay.NotFoundError
		if err := st.AddResultFiles(ctx, id, files); err != nil && !errors.As(err, &none) {
			return err
		}
	}
	return nil
}

// resultsOf are the minifications of what a record of the store stands for.
func resultsOf(ctx context.Context, st *replay.Store, thing string) ([]int64, error) {
	var id int64
	if n, _ := fmt.Sscanf(thing, "minification/%d", &id); n == 1 {
		return []int64{id}, nil
	}
	failures, err := st.FailuresOf(ctx, thing)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, f := range failures {
		x, err := st.Failure(ctx, f)
		if err != nil {
			return nil, err
		}
		if x.Minification > 0 {
			out = append(out, x.Minification)
		}
	}
	return out, nil
}

// code is what the Python of a version, or of a build, generates for a repro.
func (v *versionEngines) code(ctx context.Context, version string, r *repros.Repro, path string) (map[string][]byte, error) {
	x := v.take(version)
	defer v.release(x)
	x.mu.Lock()
	e, closed, err := x.g.of(ctx, r)
	x.mu.Unlock()
	if err != nil {
		return nil, err
	}
	defer closed()
	return codeOf(ctx, e, r, filepath.Dir(path), nil)
}

// keepCode keeps the code of the points on both sides of what was found.
func (r bisectResult) keepCode(ctx context.Context, st *replay.Store, b *bisection) error {
	if b.code == nil || !r.found.Decided() {
		return nil
	}
	of := func(point int) func(ctx context.Context) (map[string][]byte, error) {
		return func(ctx context.Context) (map[string][]byte, error) { return b.code(ctx, b.points[point]) }
	}
	first := r.found.Suspects[0]
	good, bad := of(first-1), of(first)
	if r.found.Fixed {
		good, bad = bad, good
	}
	return keepCode(ctx, st, b.subject, good, bad)
}
