// Package browsertest opens pages of whittle in a headless Chromium, for tests: it hears what the browser complains of, and asks axe-core
// (github.com/dequelabs/axe-core, MPL 2.0, in the folder axe) whether everybody can use them.
package browsertest

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed axe/axe.min.js
var axeJS string

// Tab starts the Chromium that the words of $WHITTLE_CHROMIUM start, and gives a tab of it. Its complaints go to wrong.
func Tab(t *testing.T) (tab context.Context, wrong func() []string) {
	t.Helper()
	words := strings.Fields(os.Getenv("WHITTLE_CHROMIUM"))
	if len(words) == 0 {
		t.Skip("$WHITTLE_CHROMIUM has no command that starts a Chromium, such as: chromium, or chroot ROOT chromium")
	}
	bin, err := exec.LookPath(words[0])
	if err != nil {
		t.Fatal(err)
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(bin), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(filepath.Join(os.TempDir(), fmt.Sprintf("whittle-browser-%d", os.Getpid()))),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) { cmd.Args = append(slices.Clone(words), cmd.Args[1:]...) }))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	tab, end := chromedp.NewContext(alloc)
	t.Cleanup(end)
	if err := chromedp.Do(tab); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var said []string
	if err := chromedp.Listen(tab, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			said = append(said, ev.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			if k := string(ev.Type); k == "error" || k == "warning" {
				said = append(said, fmt.Sprint(k, ev.Args))
			}
		case *cdplog.EventEntryAdded:
			if ev.Entry.Level == cdplog.EntryLevelError || ev.Entry.Level == cdplog.EntryLevelWarning {
				said = append(said, ev.Entry.Text+" "+ev.Entry.URL)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(tab, cdplog.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	tab, limit := context.WithTimeout(tab, 10*time.Minute)
	t.Cleanup(limit)
	return tab, func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := said
		said = nil
		return out
	}
}

// Eval is the text that a script gives, in the tab.
func Eval(t *testing.T, tab context.Context, js string) string {
	t.Helper()
	text, err := chromedp.Run(tab, chromedp.Evaluate[string](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%v in %.80s", err, js)
	}
	return text
}

// Until waits for a script to be true.
func Until(t *testing.T, tab context.Context, js string) {
	t.Helper()
	if _, err := chromedp.Run(tab, chromedp.Poll[bool](js, chromedp.WithPollingTimeout(time.Minute))); err != nil {
		t.Fatalf("%v in %s", err, js)
	}
}

// Axe is what axe-core has against the page of the tab, as JSON: [] for nothing.
func Axe(t *testing.T, tab context.Context) string {
	t.Helper()
	Eval(t, tab, axeJS+`; ""`)
	return Eval(t, tab, `axe.run(document, {resultTypes: ["violations"]}).then(function (r) { return JSON.stringify(r.violations.map(function (v) { return {id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(function (n) { return n.html.slice(0, 200) + " " + n.failureSummary; })}; })); })`)
}

// Wide is what is wider than the window, "" for nothing.
func Wide(t *testing.T, tab context.Context) string {
	t.Helper()
	return Eval(t, tab, `document.documentElement.scrollWidth > document.documentElement.clientWidth ?
						[...document.body.querySelectorAll("*")].filter(function (e) { return e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest(".scroll"); }).slice(0, 3).map(function (e) { return e.outerHTML.slice(0, 100); }).join(" ") || "?" : ""`)
}
