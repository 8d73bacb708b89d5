package aten_test

import (
	"errors"
	"flag"
	"maps"
	"regexp"
	"slices"
	"testing"

	"whittle/kernels/aten"
	"whittle/kernels/aten/atentest"
)

var (
	calls = flag.Int("calls", 0, "random calls in all; 0: some per operator")
	seed  = flag.Uint64("seed", 1, "of random calls")
)

// layoutDiffers holds the operators whose metadata is that of another computation, and why.
var layoutDiffers = map[string]string{
	"aten.one_hot.default": "a trace compares with a range, as data may not be read; eager scatters into zeros",
}

// missing is said of an overload that a row names, and that no row is.
var missing = regexp.MustCompile(`(aten|prims)\.\S+ is not implemented$`)

// TestRandomCalls runs every operator on random arguments: no kernel may fail from within, errors are clear, and metadata must agree with what the
// kernel computes.
func TestRandomCalls(t *testing.T) {
	ops := atentest.Operators()
	each := 20
	if testing.Short() {
		each = 3
	}
	if *calls > 0 {
		each = *calls/len(ops) + 1
	}
	ran, good, wrong := 0, 0, map[string]string{}
	for _, op := range ops {
		g := atentest.New(*seed, uint64(len(op.Schema)))
		for range each {
			args := g.Args(op.Sig())
			fakes := atentest.Fake(args)
			desc := atentest.Describe(args)
			real, rerr := aten.Eager.Dispatch(op, args)
			fake, ferr := aten.Fake.Dispatch(op, fakes)
			ran++
			complain := func(what string) {
				if wrong[op.Name()] == "" {
					wrong[op.Name()] = what + " of " + desc
				}
			}
			for _, err := range []error{rerr, ferr} {
				if err == nil {
					continue
				}
				if err == rerr && real != nil || err == ferr && fake != nil {
					complain("an error comes with a value")
				}
				if s := atentest.Clear(err); s != "" {
					complain(s)
				}
				if missing.MatchString(err.Error()) {
					complain("it calls what there is not: " + err.Error())
				}
			}
			var fe *aten.Error
			switch {
			case errors.As(ferr, &fe) && fe.Kind == aten.DataDependentError:
			case rerr == nil && ferr != nil:
				complain("fake fails: " + ferr.Error())
			case rerr == nil:
				good++
				if a, b := atentest.Describe(real), atentest.Describe(fake); a != b && layoutDiffers[op.Name()] == "" {
					complain("eager " + a + ", fake " + b)
				}
			}
		}
	}
	t.Logf("%d calls, %d of them right", ran, good)
	for _, n := range slices.Sorted(maps.Keys(wrong)) {
		t.Errorf("%s: %s", n, wrong[n])
	}
}
