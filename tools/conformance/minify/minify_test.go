package minify

import (
	"context"
	"fmt"
	"os"
	"testing"
)

func shared(t *testing.T) string {
	dir := os.Getenv("WHITTLE_SHARED")
	if dir == "" {
		dir = "../../../../shared"
	}
	if _, err := os.Stat(dir + "/corpus"); err != nil {
		t.Skip("no shared directory")
	}
	return dir
}

func TestLaunchersAreRead(t *testing.T) {
	r, err := Run(context.Background(), shared(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.String())
	for _, x := range r.Measures[0].Reasons {
		t.Errorf("%s: %s", x.Case, x.Why)
	}
}

func TestCounting(t *testing.T) {
	r, err := Run(context.Background(), shared(t), Options{Match: "i0", Workers: 2, Minify: func(_ context.Context, c Case) (Outcome, error) {
		switch c.Name[:3] {
		case "i01":
			return Outcome{Reproduced: true, Confirmed: true, Start: 9, End: 1}, nil
		case "i02":
			return Outcome{Reproduced: true, Confirmed: true, Start: 9, End: 8}, nil
		case "i03":
			return Outcome{}, fmt.Errorf("no: %w", ErrUnsupported)
		}
		return Outcome{}, nil
	}})
	if err != nil || len(r.Measures) < 4 || r.Measures[2].N != 2 || r.Measures[len(r.Measures)-1].N != 1 {
		t.Errorf("%v %s", err, r)
	}
}
