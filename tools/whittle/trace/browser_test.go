package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"whittle/tools/whittle/serve/browsertest"
)

// everyLink follows the links of the page from the start on, each once, and gives those that lead nowhere. A part of a compilation is there when its links, or its words, are.
const everyLink = `(async function () {
  var seen = new Set(), todo = ["#top"], wrong = [], n = 0;
  function wait(ms) { return new Promise(function (r) { setTimeout(r, ms); }); }
  function add() { document.querySelectorAll("a[href]").forEach(function (a) { var h = a.getAttribute("href"); if (h.startsWith("#") && !seen.has(h) && !todo.includes(h)) { todo.push(h); } else if (!h.startsWith("#") && !h.startsWith("https://")) { wrong.push("leads out: " + h); } }); }
  while (todo.length && n < 1500) {
    var h = todo.shift();
    seen.add(h); n++;
    location.hash = h;
    await wait(0);
    var m = /^#c(\d+)(?:-(\w+))?(?:-(\d+)(?:-(n|L)(\d+))?)?$/.exec(h);
    if (!m) { if (!document.getElementById(h.slice(1))) { wrong.push(h); } add(); continue; }
    for (var i = 0; i < 200; i++) {
      var at = document.querySelector('nav[aria-label=Parts] a[aria-current]');
      if (at && at.getAttribute("href") === "#c" + m[1] + "-" + (m[2] || "summary") && (m[4] !== "n" || document.querySelector('.graph a[data-n="' + m[5] + '"][aria-current]')) && (m[4] !== "L" || document.getElementById(h.slice(1)))) { break; }
      await wait(5);
    }
    if (i === 200 || document.querySelector("#view > .note")) { wrong.push(h); }
    add();
  }
  return JSON.stringify({followed: n, wrong: wrong});
})()`

// TestBrowser: the pages of ten programs, of each of three writers of traces: no complaint of the browser, every link leads somewhere, axe has nothing against any part, nothing is wider
// than the window. $WHITTLE_SCREENSHOTS names a folder for pictures.
func TestBrowser(t *testing.T) {
	tab, wrong := browsertest.Tab(t)
	shots := os.Getenv("WHITTLE_SCREENSHOTS")
	notName := regexp.MustCompile(`[^a-z0-9]+`)
	for _, name := range recorded(t) {
		page, err := parse(readRecorded(t, name)).Report()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "index.html")
		if err := os.WriteFile(file, page, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate("file://"+file)); err != nil {
			t.Fatal(err)
		}
		browsertest.Until(t, tab, `document.readyState === "complete"`)
		if got := browsertest.Eval(t, tab, everyLink); !strings.Contains(got, `"wrong":[]`) {
			t.Errorf("%s: links: %s", name, got)
		}
		if !strings.HasSuffix(name, map[string]string{"torch214": "p01_break.log.gz", "torch26": "p03_train.log.gz", "whittle": "p09_names.log.gz"}[filepath.Dir(name)]) { // axe takes its time
			for _, w := range wrong() {
				t.Errorf("%s: the browser says %s", name, w)
			}
			continue
		}
		for _, look := range []struct {
			name, scheme string
			width        int64
		}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 400}} {
			if err := chromedp.Do(tab, chromedp.EmulateViewport(look.width, 900)); err != nil {
				t.Fatal(err)
			}
			if _, err := chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}}); err != nil {
				t.Fatal(err)
			}
			for _, at := range []string{"#top", "#c0", "#c0-source", "#c0-breaks", "#c0-graph", "#c0-graph-0-n2", "#c0-guards", "#c0-code", "#c0-time", "#c0-figures", "#c0-texts", "#c1-guards"} {
				what := fmt.Sprint(name, " ", look.name, " ", at)
				browsertest.Eval(t, tab, fmt.Sprintf(`location.hash = ""; location.hash = %q; new Promise(function (r) { setTimeout(function () { document.querySelectorAll("details").forEach(function (d) { d.open = true; }); setTimeout(function () { r(""); }, 60); }, 120); })`, at))
				if w := browsertest.Wide(t, tab); w != "" {
					t.Errorf("%s is wider than the window: %s", what, w)
				}
				if look.width < 1280 {
					continue
				}
				if axe := browsertest.Axe(t, tab); axe != "[]" {
					t.Errorf("%s: axe: %.1500s", what, axe)
				}
				if shots != "" {
					png, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
					if err == nil {
						err = os.WriteFile(filepath.Join(shots, strings.Trim(notName.ReplaceAllString(what, "-"), "-")+".png"), png, 0o666)
					}
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
				for _, w := range wrong() {
					t.Errorf("%s: the browser says %s", what, w)
				}
			}
		}
	}
}

// TestBrowserSearch: the search finds what a compilation says, as text, and says so where there is nothing.
func TestBrowserSearch(t *testing.T) {
	tab, wrong := browsertest.Tab(t)
	page, err := parse(readRecorded(t, "torch26/p09_names.log.gz")).Report()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(file, page, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(tab, chromedp.Navigate("file://"+file)); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, tab, `document.readyState === "complete"`)
	find := func(words string) string {
		return browsertest.Eval(t, tab, fmt.Sprintf(`document.getElementById("words").value = %q; document.getElementById("search").requestSubmit(); new Promise(function (r) { (function wait() { var t = document.getElementById("view").innerText; if (/nowhere|at most three/.test(t)) { r(t); } else { setTimeout(wait, 20); } })(); })`, words))
	}
	if got := find("<SVG ONLOAD"); !strings.Contains(got, "<svg onload=alert(3)>") || !strings.Contains(got, "⟨U+001B⟩") {
		t.Errorf("the search gives %.600s", got)
	}
	if got := find("skip_code_recursive"); !strings.Contains(got, "Settings") {
		t.Errorf("the search of settings gives %.600s", got)
	}
	if got := find("not in it at all"); !strings.Contains(got, "It is nowhere.") {
		t.Errorf("the search gives %.600s", got)
	}
	if got := browsertest.Eval(t, tab, `String(document.querySelectorAll("img, svg[onload], #view script").length)`); got != "0" {
		t.Errorf("%s elements came out of texts", got)
	}
	for _, w := range wrong() {
		t.Errorf("the browser says %s", w)
	}
}
