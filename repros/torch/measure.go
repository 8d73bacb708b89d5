package torch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"whittle/repros"
)

// Measure runs a repro that does not fail, eagerly, in float64 and compiled, and gives samples by name:
//
//	compile_s     seconds that the compiler took
//	speedup       time of eager by that of the compiled graph, repeats times, one after the other
//	rmse          root of the mean squared error against float64, as a share of what PyTorch's rule for accuracy allows; of the worst output
//	worst         largest difference of an element from eager, as a share of the tolerance
//	cosine_gap    1 less the cosine of the results with float64's; of the worst output
//	peak_memory   bytes that compiling and running took beyond what was there
//	graph_breaks  after dynamo
//	recompiles    after dynamo
//
// Outputs that are no floating-point numbers have no errors. dir is the folder of its file. The error says why there is no answer.
func (e *Engine) Measure(ctx context.Context, r *repros.Repro, dir string, repeats int) (map[string][]float64, error) {
	q, err := e.asked(ctx, r, dir)
	if err != nil {
		return nil, err
	}
	j := e.Client.job("measure", q)
	j.Repeats = repeats
	b, err := e.Client.ask(ctx, j, q.Give)
	if err != nil {
		return nil, err
	}
	return readFigures(b)
}

// readFigures decodes what the far side measured.
func readFigures(b json.RawMessage) (map[string][]float64, error) {
	var f struct {
		Figures map[string][]float64 `json:"figures"`
	}
	var o reply
	if err := read(b, &f, &o); err != nil {
		return nil, fmt.Errorf("torch: measuring: %w", err)
	}
	if f.Figures == nil {
		if err := read(b, &o, &o); err != nil {
			return nil, fmt.Errorf("torch: measuring: %w", err)
		}
		return nil, errors.New("torch: measuring: an answer without figures")
	}
	return f.Figures, nil
}
