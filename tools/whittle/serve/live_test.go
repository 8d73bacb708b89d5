package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/replay"
)

// TestLive: a page that follows a search is told what it comes to, step by step, and of its end.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	st, err := replay.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id, _, err := st.BeginMinification(ctx, "key", "start", replay.Signature{Type: "T"})
	must(err)
	must(st.PutProgress(ctx, id, replay.Signature{}, 40, 40))
	r, err := replay.OpenReadOnly(ctx, path)
	must(err)
	defer r.Close()
	s, err := New(r)
	must(err)
	s.every = time.Millisecond
	l, err := Listen(ctx, "127.0.0.1:0")
	must(err)
	serving, stop := context.WithCancel(ctx)
	var wg conc.WaitGroup
	wg.Go(func() {
		if err := s.Serve(serving, l); err != nil {
			t.Error(err)
		}
	})
	defer wg.Wait()
	defer stop()
	follow := func() *bufio.Scanner {
		resp, err := http.Get("http://" + l.Addr().String() + "/minifications/1/live")
		must(err)
		t.Cleanup(func() { resp.Body.Close() })
		if k := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || k != "text/event-stream" {
			t.Fatalf("status %d, %s", resp.StatusCode, k)
		}
		return bufio.NewScanner(resp.Body)
	}
	next := func(sc *bufio.Scanner) (kind string, p progress) {
		t.Helper()
		for sc.Scan() {
			if v, ok := strings.CutPrefix(sc.Text(), "event: "); ok {
				kind = v
			}
			if v, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
				must(json.Unmarshal([]byte(v), &p))
				return kind, p
			}
		}
		t.Fatal("the stream has ended: ", sc.Err())
		return kind, p
	}
	a, b := follow(), follow()
	for _, sc := range []*bufio.Scanner{a, b} {
		if kind, p := next(sc); kind != "progress" || p.Calls != 40 || p.Start != 40 || p.State != replay.Running || p.Steps != 0 {
			t.Errorf("%s: %+v", kind, p)
		}
	}
	must(st.PutStep(ctx, id, replay.Step{Seq: 1, Reduction: "cut\x1b", Verdict: replay.Reproduced, Taken: true, Duration: time.Second}))
	must(st.PutProgress(ctx, id, replay.Signature{}, 40, 7))
	for calls := 40; calls != 7; { // what is sent between the two writes is true as well
		kind, p := next(a)
		calls = p.Calls
		if kind != "progress" || p.Steps != 1 || len(p.Passes) != 1 || p.Passes[0] != (passLine{"cut⟨U+001B⟩", 1, 1, "1s"}) {
			t.Errorf("%s: %+v", kind, p)
		}
	}
	must(st.FinishMinification(ctx, id, "end", "[]"))
	if kind, p := next(a); kind != "done" || p.State != replay.Done || p.Calls != 7 {
		t.Errorf("%s: %+v", kind, p)
	}
	for a.Scan() {
		if a.Text() != "" {
			t.Errorf("after the end: %s", a.Text())
		}
	}
	// A page that follows a search does not keep the server from ending.
	stop()
	for b.Scan() {
	}
	wg.Wait()
}
