package minify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	search "whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/tools/whittle/reduce"
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
	cases, err := Cases(shared(t), "i0")
	if err != nil {
		t.Fatal(err)
	}
	done := func(end int, o replay.Outcome) reduce.Report {
		return reduce.Report{Result: search.Result{Start: search.Cost{Calls: 9}, Cost: search.Cost{Calls: end}, Outcome: o, Signature: o.Signature, Complete: true}}
	}
	right := replay.Outcome{Status: replay.Failed, Message: "compile error!", Signature: replay.Signature{Stage: "compile", Type: "CppCompileError"}}
	wrong := replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "compile", Type: "SyntaxError"}}
	r, err := Run(context.Background(), shared(t), Options{Match: "i0", Reduce: func(_ context.Context, c Case, _ *repros.Repro, _ string) (reduce.Report, error) {
		switch c.Name[:3] {
		case "i01":
			return done(1, right), nil
		case "i02":
			return done(8, right), nil
		case "i03":
			return done(1, wrong), nil
		}
		return reduce.Report{}, errors.New("no")
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("launcher read: %d of %[1]d\nright failure kept: 2 of %[1]d\nas small as the known minimum: 1 of %[1]d\n", len(cases))
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Error(diff)
	}
}
