package minify

import (
	"context"
	"fmt"
	"testing"
	"time"

	"whittle/replay"
)

// waits makes an oracle that takes a while and no CPU.
func waits(delay time.Duration, pred func(s State) bool) OracleFunc {
	return func(ctx context.Context, c Candidate) (replay.Outcome, error) {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return replay.Outcome{}, ctx.Err()
		}
		if pred(c.State) {
			return replay.Outcome{Status: replay.Failed, Signature: sig, Message: "boom"}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	}
}

// farApart is a graph of n calls with two that fail only together, at a tenth and at nine tenths.
func farApart(tb testing.TB, n int) State {
	text := "def forward(self, x, w):\n"
	prev := "x"
	for i := range n {
		target := "torch.op"
		switch i {
		case n / 10:
			target = "torch.first"
		case n * 9 / 10:
			target = "torch.second"
		}
		text += fmt.Sprintf("    n%d = %s(%s, w)\n", i, target, prev)
		prev = fmt.Sprintf("n%d", i)
	}
	return stateOf(tb, text+"    return ("+prev+",)")
}

// A query that takes 200 ms and no CPU: what more workers gain in wall time.
func BenchmarkTwoFarApart(b *testing.B) {
	for name, pred := range map[string]func(s State) bool{
		"both":  func(s State) bool { return has(s, "torch.first") && has(s, "torch.second") },
		"feeds": func(s State) bool { return dependsOn(s, "torch.first", "torch.second") },
	} {
		for _, j := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/j%d", name, j), func(b *testing.B) {
				start := farApart(b, 400)
				for b.Loop() {
					s := Search{Oracle: waits(200*time.Millisecond, pred), Values: sameValues{}, Workers: j}
					r, err := s.Run(ctx, start)
					if err != nil || r.Cost.Calls != 2 {
						b.Fatal(err, r.Cost)
					}
					b.ReportMetric(float64(r.Queries), "queries")
					b.ReportMetric(float64(r.Ahead), "ahead")
				}
			})
		}
	}
}
