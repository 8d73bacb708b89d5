package enginetest

import (
	"context"
	"errors"
	"testing"

	"whittle/capture/fx"
	"whittle/minify"
	"whittle/repros"
	"whittle/repros/engine"
)

// RefusesMissingData: a repro whose data are not there is an error of Load, before anything is asked; no other data stand in for them.
func RefusesMissingData(t *testing.T, load func(ctx context.Context, r *repros.Repro, dir string) (minify.State, error)) {
	g := fx.NewGraph()
	x := &fx.Node{Op: fx.Placeholder, Name: "x", Target: "x"}
	g.Adopt(x)
	g.Output(fx.Tuple{x})
	r := &repros.Repro{Stage: repros.AfterDynamo, Module: &fx.GraphModule{Graph: g, ClassName: "Repro"}, SaveDir: engine.SaveDir, Storages: []repros.Storage{{Hash: "0123", NBytes: 8, DTypeHint: "float32"}},
		Inputs: []repros.Input{{Kind: repros.TensorInput, Name: "x", Shape: []int64{2}, DType: "float32"}}}
	var missing *repros.MissingError
	if _, err := load(context.Background(), r, t.TempDir()); !errors.As(err, &missing) || missing.Hash != "0123" {
		t.Error(err)
	}
}
