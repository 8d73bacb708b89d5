package stack

import (
	"context"
	"errors"
	"fmt"

	"whittle/capture/fx/choice"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/lowering"
	"whittle/replay"
	"whittle/repros"
)

// Code is the C++ that is generated for a repro after aot, by the names of files. choose says what the compiler does; nil: all. Nothing of it is run.
func Code(ctx context.Context, r *repros.Repro, dir, cacheDir string, choose *replay.Choose) (files map[string][]byte, err error) {
	if r.Stage == repros.AfterDynamo {
		return nil, errors.New("the code of a repro after dynamo is generated while it runs")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	inputs, err := r.Tensors(r.Loader(dir))
	if err != nil {
		return nil, err
	}
	aten.DefaultGenerator.ManualSeed(0)
	if err := interp.Propagate(ctx, r.Module, inputs); err != nil {
		return nil, err
	}
	cfg := lowering.Config{CacheDir: cacheDir, InjectRelu: setting(r, "cpp.inject_relu_bug_TESTING_ONLY"), InjectLog1p: setting(r, "cpp.inject_log1p_bug_TESTING_ONLY")}
	if choose != nil {
		cfg.Choices = &choice.Matcher{Kinds: choose.Kinds, Only: choose.Only}
	}
	c, err := lowering.Compile(ctx, r.Module, cfg)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"kernel.cpp": []byte(c.Source)}, nil
}
