package accuracy

import (
	"context"
	"fmt"
)

// NondeterministicError says that a result cannot be judged: the same execution gives another one each time.
type NondeterministicError struct {
	Where string // which value: "output[0]", "eager[1]"
	Why   string
}

func (e *NondeterministicError) Error() string {
	return fmt.Sprintf("%s cannot be judged: %s", e.Where, e.Why)
}

// NullTest runs one execution twice and compares the results with each other: eager against eager, or compiled
// against compiled. Random or uninitialised results differ, which is no divergence: the error is a *NondeterministicError then, whose
// Where begins with who. Other errors are run's. With fallback_random, run must set the seed first.
func NullTest(ctx context.Context, who string, run func(ctx context.Context) (any, error), o Options) error {
	a, err := run(ctx)
	if err != nil {
		return err
	}
	a = Clone(a)
	b, err := run(ctx)
	if err != nil {
		return err
	}
	rep := compareAlike(a, b, o)
	if rep.Same {
		return nil
	}
	return &NondeterministicError{Where: who + rep.Where, Why: "two runs of it differ: " + rep.Message}
}

// alike reports whether two runs of one execution gave the same.
func alike(a, b any, o Options) bool { return compareAlike(a, b, o).Same }

// compareAlike compares all that is there, NaN in the same place included: sums of another order may differ a little.
func compareAlike(a, b any, o Options) Report {
	tol := o.Tol
	if o.Direct {
		tol = Default().Tol
	}
	return Compare(a, b, nil, Options{Tol: tol, EqualNaN: true, ExactDType: true})
}
