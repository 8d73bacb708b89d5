package serve

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"whittle/replay/replaytest"
	"whittle/tools/whittle/serve/look"
)

// elements are those that pages have, with their attributes beside those that all may have.
var elements = map[string]string{
	"html": "lang", "head": "", "meta": "charset name content", "title": "", "link": "rel href type", "script": "src defer", "body": "", "header": "", "nav": "", "ul": "", "li": "", "main": "", "footer": "",
	"a": "href rel", "p": "", "span": "", "h1": "", "h2": "", "h3": "", "section": "", "div": "data-live", "table": "", "caption": "", "thead": "", "tbody": "", "tr": "", "th": "scope", "td": "", "time": "datetime",
	"dl": "", "dt": "", "dd": "", "figure": "hidden", "figcaption": "", "pre": "data-copy", "details": "open", "summary": "", "form": "method action", "label": "", "input": "name value size type",
	"select": "name", "option": "value selected", "button": "",
	"svg": "viewbox width height", "g": "transform", "path": "d transform stroke-width", "rect": "x y width height rx fill", "text": "x y transform", "defs": "", "pattern": "width height patternunits patterntransform",
}

const everywhere = "class id role tabindex aria-label aria-labelledby aria-current aria-hidden data-field "

// void elements have no end.
var void = []string{"meta", "link", "input"}

// classes of pages are made of these characters, and none has the attack's mark.
func fineClass(c string) bool {
	return !strings.Contains(c, replaytest.Mark) && strings.IndexFunc(c, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '-' || r == ' ' || r == '_') }) < 0
}

// checkPage holds a page to HTML's rules, and to what pages of ours are made of. It gives the links.
func checkPage(t *testing.T, path string, page []byte) (links []string) {
	t.Helper()
	if !utf8.Valid(page) {
		t.Errorf("%s: not UTF-8", path)
	}
	if i := bytes.IndexFunc(page, func(r rune) bool { return look.Symbol(r, nil) != "" }); i >= 0 {
		t.Errorf("%s: a character that cannot be seen: %q", path, page[max(0, i-30):min(len(page), i+10)])
	}
	var open []string
	ids := map[string]bool{}
	h1 := 0
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Errorf("%s: %v", path, z.Err())
			}
			if len(open) > 0 {
				t.Errorf("%s: %v are not closed", path, open)
			}
			if h1 != 1 {
				t.Errorf("%s: %d h1", path, h1)
			}
			return links
		case html.CommentToken:
			t.Errorf("%s: a comment: %s", path, z.Raw())
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			tok := z.Token()
			name := tok.Data
			if name == "h1" {
				h1++
			}
			allowed, known := elements[name]
			if !known {
				t.Fatalf("%s: an element %q: %s", path, name, raw)
			}
			seen := map[string]bool{}
			for _, a := range tok.Attr {
				if seen[a.Key] {
					t.Errorf("%s: %s twice in %s", path, a.Key, raw)
				}
				seen[a.Key] = true
				if !slices.Contains(strings.Fields(everywhere+allowed), a.Key) {
					t.Errorf("%s: an attribute %q: %s", path, a.Key, raw)
				}
				switch a.Key {
				case "class":
					if !fineClass(a.Val) {
						t.Errorf("%s: class %q", path, a.Val)
					}
				case "id":
					if ids[a.Val] {
						t.Errorf("%s: id %q twice", path, a.Val)
					}
					ids[a.Val] = true
				case "href", "src", "action", "data-copy", "data-live":
					u, err := url.Parse(a.Val)
					if err != nil || u.Scheme != "" || u.Host != "" || !(strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "//") || a.Val == "#main") {
						t.Errorf("%s: %s=%q leads elsewhere", path, a.Key, a.Val)
					} else if a.Val != "#main" {
						links = append(links, a.Val)
					}
				}
			}
			if name == "th" && !seen["scope"] {
				t.Errorf("%s: a th without scope", path)
			}
			if parent := last(open); parent != "" {
				checkNest(t, path, parent, name, open)
			}
			if tok.Type == html.StartTagToken && !slices.Contains(void, name) {
				open = append(open, name)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if last(open) != string(name) {
				t.Fatalf("%s: </%s> closes %v", path, name, open)
			}
			open = open[:len(open)-1]
		}
	}
}

func last(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

// checkNest holds some of HTML's rules on what may stand in what.
func checkNest(t *testing.T, path, parent, name string, open []string) {
	t.Helper()
	want := map[string][]string{"tr": {"thead", "tbody"}, "td": {"tr"}, "th": {"tr"}, "li": {"ul"}, "dt": {"div"}, "dd": {"div"}, "caption": {"table"}, "thead": {"table"}, "tbody": {"table"}, "option": {"select"}, "summary": {"details"}, "figcaption": {"figure"}}[name]
	if want != nil && !slices.Contains(want, parent) {
		t.Errorf("%s: %s in %s", path, name, parent)
	}
	phrase := []string{"p", "span", "h1", "h2", "h3", "a", "label", "summary", "time", "pre", "button"}
	blocks := []string{"p", "div", "ul", "dl", "table", "pre", "figure", "section", "details", "form", "h1", "h2", "h3"}
	for _, o := range open {
		if slices.Contains(phrase, o) && slices.Contains(blocks, name) {
			t.Errorf("%s: %s in %s", path, name, o)
		}
		if o == name && slices.Contains([]string{"a", "button", "form", "label"}, name) {
			t.Errorf("%s: %s in %s", path, name, o)
		}
	}
}

// crawl follows every link from the first page, n pages at most, and calls see for each page.
func crawl(t *testing.T, h http.Handler, n int, see func(path string, r *httptest.ResponseRecorder)) (paths []string) {
	t.Helper()
	queue, known := []string{"/"}, map[string]bool{"/": true}
	for len(queue) > 0 && len(paths) < n {
		path := queue[0]
		queue = queue[1:]
		paths = append(paths, path)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %.300s", path, w.Code, w.Body)
			continue
		}
		see(path, w)
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		for _, l := range checkPage(t, path, w.Body.Bytes()) {
			if !known[l] {
				known[l] = true
				queue = append(queue, l)
			}
		}
	}
	return paths
}

// kindsSeen are the paths without their numbers and parameters.
func kindsSeen(paths []string) map[string]int {
	out := map[string]int{}
	for _, p := range paths {
		p, _, _ = strings.Cut(p, "?")
		parts := strings.Split(p, "/")
		for i, x := range parts {
			if _, err := fmt.Sscanf(x, "%d", new(int)); err == nil {
				parts[i] = "N"
			}
		}
		out[strings.Join(parts, "/")]++
	}
	return out
}

var everyKind = []string{"/", "/groups", "/groups/N", "/failures", "/failures/N", "/minifications", "/minifications/N", "/bisections", "/bisections/N", "/matrix", "/cases/N", "/nights", "/nights/N", "/graph",
	"/static/style.css", "/static/whittle.js", "/text/failure/N/raw", "/text/failure/N/repro", "/text/minification/N/repro", "/text/minification/N/start", "/text/night/N/report"}

// TestCrawl: every link of every page of a store that has everything leads to a page, and all are valid.
func TestCrawl(t *testing.T) {
	s := server(t, fill(replaytest.Small))
	paths := crawl(t, s.Handler(), 5000, func(string, *httptest.ResponseRecorder) {})
	seen := kindsSeen(paths)
	for _, k := range everyKind {
		if seen[k] == 0 {
			t.Errorf("no link leads to %s", k)
		}
	}
	if len(paths) == 5000 {
		t.Error("the crawl had to be stopped")
	}
}

// TestAttack: the texts of a store are text on every page, whatever they are. checkPage knows all elements and attributes that pages have.
func TestAttack(t *testing.T) {
	s := server(t, replaytest.Attack)
	shown := map[string]bool{}
	paths := crawl(t, s.Handler(), 5000, func(path string, w *httptest.ResponseRecorder) {
		kind := w.Header().Get("Content-Type")
		switch {
		case strings.HasPrefix(path, "/text/"):
			if kind != "text/plain; charset=utf-8" {
				t.Errorf("%s: a text as %s", path, kind)
			}
			return
		case !strings.HasPrefix(path, "/static/") && kind != "text/html; charset=utf-8":
			t.Errorf("%s: %s", path, kind)
		}
		doc, err := html.Parse(bytes.NewReader(w.Body.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for n := range doc.Descendants() {
			switch n.Type {
			case html.TextNode:
				text.WriteString(n.Data)
			case html.ElementNode:
				if strings.Contains(n.Data, replaytest.Mark) {
					t.Errorf("%s: an element %q", path, n.Data)
				}
				for _, a := range n.Attr {
					if strings.Contains(a.Key, replaytest.Mark) || strings.HasPrefix(a.Key, "on") || a.Key == "style" {
						t.Errorf("%s: an attribute %q", path, a.Key)
					}
				}
			}
		}
		for _, want := range []string{replaytest.Attacks[0], replaytest.Attacks[1], "⟨U+001B⟩[31mred", "abc⟨U+202E⟩gnp.exe⟨U+2066⟩", "invalid ⟨ff⟩⟨fe⟩", "cr ⟨U+000D⟩"} {
			if strings.Contains(text.String(), want) {
				shown[want] = true
			}
		}
	})
	seen := kindsSeen(paths)
	for _, k := range everyKind {
		if seen[k] == 0 {
			t.Errorf("no link leads to %s", k)
		}
	}
	if len(shown) != 6 {
		t.Errorf("shown as text: %v", shown)
	}
	if len(paths) == 5000 {
		t.Error("the crawl had to be stopped")
	}
}
