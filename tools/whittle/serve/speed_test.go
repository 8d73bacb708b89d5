package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"whittle/replay"
	"whittle/replay/replaytest"
)

// slowPages are those of each kind that cost most in a store of replaytest.Large, and some in the middle.
func slowPages(size replaytest.Size) []string {
	hash := fmt.Sprintf("%064x", size.GraphNodes)
	return []string{"/", "/groups", "/groups?sort=age", "/groups?sort=cases", "/groups?state=new&q=accuracy", "/groups?sort=severity&value=60&after=600", "/groups/1", "/groups/600", "/failures", "/failures?before=5000",
		"/failures?q=nothing+has+this", "/failures?stage=accuracy", "/failures/1", "/failures/5000", "/minifications", "/minifications?before=500", "/minifications/1", "/minifications/1?after=50000", "/minifications/1?taken=1", "/minifications/500",
		"/bisections", "/bisections/250", "/matrix", "/matrix?skip=60", "/matrix?status=fail", "/matrix?q=model09", "/cases/1", "/cases/1?by=versions", "/cases/150?before=200", "/nights", "/nights?bot=nightly&before=200", "/nights/1", "/nights/399",
		"/graph?hash=" + hash, "/graph?hash=" + hash + "&page=50", "/graph?hash=" + hash + "&page=99", "/text/failure/1/repro", "/static/style.css"}
}

// BenchmarkPages makes each page of a large store. With $WHITTLE_SERVE_STORE the store is a file, which is filled if it is not there.
func BenchmarkPages(b *testing.B) {
	size := replaytest.Large
	path := os.Getenv("WHITTLE_SERVE_STORE")
	if path == "" {
		b.Skip("$WHITTLE_SERVE_STORE names no file for the large store, of about a gigabyte")
	}
	if _, err := os.Stat(path); err != nil {
		if err := replaytest.Fill(ctx, path, size); err != nil {
			b.Fatal(err)
		}
	}
	r, err := replay.OpenReadOnly(context.Background(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for _, p := range slowPages(size) {
		b.Run(strings.ReplaceAll(strings.ReplaceAll(p, "/", "_"), strings.Repeat("0", 60), ""), func(b *testing.B) {
			s, err := New(r) // nothing of the page before is kept
			if err != nil {
				b.Fatal(err)
			}
			h := s.Handler()
			var took, busy []time.Duration
			for b.Loop() {
				began, cpu := time.Now(), processor(b)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, p, nil))
				took, busy = append(took, time.Since(began)), append(busy, processor(b)-cpu)
				if w.Code != http.StatusOK {
					b.Fatalf("status %d: %.300s", w.Code, w.Body)
				}
			}
			b.ReportMetric(took[0].Seconds()*1e3, "first-ms")
			b.ReportMetric(busy[0].Seconds()*1e3, "first-cpu-ms") // what a machine that does nothing else would take, about
			slices.Sort(busy)
			b.ReportMetric(busy[len(busy)/2].Seconds()*1e3, "median-cpu-ms")
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1e3, "median-ms")
			b.ReportMetric(took[len(took)-1].Seconds()*1e3, "worst-ms")
		})
	}
}

// processor is the time that this process has had of the processors: of all its goroutines, the collector's among them.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
