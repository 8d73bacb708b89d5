package engine

import (
	"context"
	"errors"
	"path/filepath"

	"whittle/kernels/tensor"
	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
)

// Local is what an engine has in common with others that hold the values of a search in this process: it reads the inputs of a repro, and writes
// those of a state. Engines embed it, and add what runs a repro.
type Local struct{ *minify.EagerValues }

// Load implements Engine.
func (l Local) Load(_ context.Context, r *repros.Repro, dir string) (minify.State, error) {
	s := Start(r)
	inputs, err := r.Tensors(r.Loader(dir))
	if err != nil {
		return s, err
	}
	for i, v := range inputs {
		s.Inputs = append(s.Inputs, minify.Input{Value: v, RequiresGrad: r.Inputs[i].RequiresGrad, Made: !r.Inputs[i].Leaf})
	}
	return s, nil
}

// Explore implements minify.Values: it is a question of ctx's clock.
func (l Local) Explore(ctx context.Context, s minify.State, prefix string) (map[string]minify.Held, error) {
	defer ClockOf(ctx).Begin(OnEager).End()
	return l.EagerValues.Explore(ctx, s, prefix)
}

// Together implements Engine: a candidate costs nothing that others could share.
func (l Local) Together(replay.Signature) int { return 1 }

// Yields implements Engine: all run in the order in which they are asked about.
func (l Local) Yields() bool { return false }

// Checks implements Engine: meta functions know aten operators, and not all functions of torch.
func (l Local) Checks(r *repros.Repro) bool { return r.Stage != repros.AfterDynamo }

// Render makes the repro of a state; the bytes of its storages go to files in SaveDir below dir. The error is about writing them, or says why the
// inputs cannot be made.
func (l Local) Render(r *repros.Repro, s minify.State, dir string) (*repros.Repro, error) {
	storage, err := l.storages(s)
	if err != nil {
		return nil, err
	}
	return Render(r, s, func(i int, _ minify.Input) (repros.Storage, error) {
		st, err := storage(i)
		if err != nil {
			return repros.Storage{}, err
		}
		h, err := repros.WriteStorage(filepath.Join(dir, SaveDir), st.Data)
		return repros.Storage{Hash: h, NBytes: st.NBytes}, err
	})
}

// Finish implements Engine.
func (l Local) Finish(_ context.Context, r *repros.Repro, s minify.State) (*repros.Repro, map[string][]byte, error) {
	storage, err := l.storages(s)
	if err != nil {
		return nil, nil, err
	}
	return Finish(r, s, func(i int, _ minify.Input) ([]byte, error) {
		st, err := storage(i)
		if err != nil {
			return nil, err
		}
		return st.Data, nil
	})
}

// storages are those of a state's inputs.
func (l Local) storages(s minify.State) (func(i int) (*tensor.Storage, error), error) {
	real, err := l.MakeAll(s.Inputs)
	return func(i int) (*tensor.Storage, error) {
		if t, ok := real[i].(*tensor.Tensor); ok {
			return t.Storage, nil
		}
		return nil, errors.New("no data")
	}, err
}
