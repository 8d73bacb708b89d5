package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/sourcegraph/conc"

	"whittle/replay"
	"whittle/replay/replaytest"
	"whittle/tools/whittle/serve/browsertest"
)

// start serves a store until the test ends.
func start(t *testing.T, s *Server) (url string) {
	t.Helper()
	l, err := Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(ctx)
	var wg conc.WaitGroup
	wg.Go(func() {
		if err := s.Serve(serving, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); wg.Wait() })
	return "http://" + l.Addr().String()
}

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// TestBrowser: every kind of page, light and dark, wide and narrow, of a store with everything and of one that attacks: no complaint of the browser, none of axe,
// nothing wider than the window. $WHITTLE_SCREENSHOTS names a folder for pictures of them.
func TestBrowser(t *testing.T) {
	tab, wrong := browsertest.Tab(t)
	shots := os.Getenv("WHITTLE_SCREENSHOTS")
	for _, st := range []struct {
		name  string
		store func(context.Context, string) error
		paths []string
	}{
		{"small", fill(replaytest.Small), []string{"/", "/groups", "/groups?q=nothing", "/groups/1", "/groups/2", "/failures", "/failures/1", "/minifications", "/minifications/1", "/bisections", "/bisections/1", "/matrix", "/cases/1", "/cases/1?by=versions",
			"/nights", "/nights/1", "/graph?hash=" + fmt.Sprintf("%064x", 70) + "&page=2", "/groups/999"}},
		{"attack", replaytest.Attack, []string{"/", "/groups", "/groups/4", "/failures/1", "/failures/4", "/minifications/1", "/minifications/4", "/bisections/1", "/matrix", "/cases/1", "/cases/9", "/nights/1", "/nights/2"}},
	} {
		url := start(t, server(t, st.store))
		for _, look := range []struct {
			name, scheme string
			width        int64
		}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 400}, {"narrow-dark", "dark", 400}} {
			for _, path := range st.paths {
				what := st.name + " " + look.name + " " + path
				if err := chromedp.Do(tab, chromedp.EmulateViewport(look.width, 900)); err != nil {
					t.Fatal(err)
				}
				if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}}); err != nil {
					t.Fatal(err)
				}
				if err := chromedp.Do(tab, chromedp.Navigate(url+path)); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				title := browsertest.Eval(t, tab, `[...document.querySelectorAll("details")].forEach(function (d) { d.open = true; }); document.title`)
				wide := browsertest.Wide(t, tab)
				axe := browsertest.Axe(t, tab)
				var png []byte
				if shots != "" {
					var err error
					if png, err = chromedp.Run(tab, chromedp.FullScreenshot(100)); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
				if shots != "" {
					if err := os.WriteFile(filepath.Join(shots, strings.Trim(notName.ReplaceAllString(what, "-"), "-")+".png"), png, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				if wide != "" {
					t.Errorf("%s is wider than the window: %s", what, wide)
				}
				if axe != "[]" {
					t.Errorf("%s: axe: %s", what, axe)
				}
				if title == replaytest.Mark || !strings.HasSuffix(title, "whittle") {
					t.Errorf("%s: the title is %q", what, title)
				}
				for _, w := range wrong() {
					if path == "/groups/999" && strings.Contains(w, "404") {
						continue
					}
					t.Errorf("%s: the browser says %s", what, w)
				}
			}
		}
	}
}

// TestBrowserScript: a page follows a search while it runs, and a button copies.
func TestBrowserScript(t *testing.T) {
	tab, wrong := browsertest.Tab(t)
	path := filepath.Join(t.TempDir(), "store.db")
	st, err := replay.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	id, _, err := st.BeginMinification(ctx, "key", "start", replay.Signature{Type: "T"})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.PutProgress(ctx, id, replay.Signature{}, 40, 40); err != nil {
		t.Fatal(err)
	}
	if _, err := st.PutFailure(ctx, replay.Failure{Raw: "an error", Repro: "import torch"}); err != nil {
		t.Fatal(err)
	}
	if err := st.PutStep(ctx, id, replay.Step{Seq: 1, Reduction: "cut"}); err != nil {
		t.Fatal(err)
	}
	r, err := replay.OpenReadOnly(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	s.every = 10 * time.Millisecond
	url := start(t, s)
	if err := chromedp.Do(tab, chromedp.Navigate(url+"/minifications/1")); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, tab, `document.querySelector("[data-field=hint]").textContent.includes("follows")`)
	if err := st.PutProgress(ctx, id, replay.Signature{}, 40, 3); err != nil {
		t.Fatal(err)
	}
	if err := st.PutStep(ctx, id, replay.Step{Seq: 2, Reduction: "<b>bypass</b>", Taken: true}); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, tab, `document.querySelector("[data-field=calls]").textContent === "3"`)
	browsertest.Until(t, tab, `document.querySelectorAll("[data-field=passes] tr").length === 2`)
	browsertest.Until(t, tab, `document.querySelector("[data-field=plot] path") !== null && !document.querySelector(".live").hidden`)
	rows := browsertest.Eval(t, tab, `document.querySelector("[data-field=passes]").textContent`)
	if !strings.Contains(rows, "<b>bypass</b>") {
		t.Errorf("the reductions: %s", rows)
	}
	if err := st.FinishMinification(ctx, id, "end", "[]"); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, tab, `document.querySelector("[data-field=hint]").textContent.includes("has ended")`)
	if err := chromedp.Do(tab, chromedp.Navigate(url+"/failures/1"), chromedp.Click("button.copy")); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, tab, `/Copied|Selected/.test(document.querySelector("button.copy").textContent)`)
	for _, w := range wrong() {
		t.Errorf("the browser says %s", w)
	}
}
