package serve

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"whittle/replay/replaytest"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain, with\ta tab\n": "plain, with\ta tab\n", "é ✓ 漢 🙂": "é ✓ 漢 🙂", "\x1b[31m": "⟨U+001B⟩[31m", "a\rb": "a⟨U+000D⟩b", "\x00": "⟨U+0000⟩", "\x7f": "⟨U+007F⟩", "\u0085": "⟨U+0085⟩", "a\u202eb": "a⟨U+202E⟩b", "\u2066\u200f": "⟨U+2066⟩⟨U+200F⟩",
		"\ufeff": "⟨U+FEFF⟩", "\u2028": "⟨U+2028⟩", "\xff\xc3(": "⟨ff⟩⟨c3⟩(", "\ufffd": "\ufffd", "\u3164": "⟨U+3164⟩", "": "",
		"\U000e0041": "⟨U+E0041⟩", "\ufe0f": "⟨U+FE0F⟩",
	} {
		if got := string(visible([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzVisible: what comes out is UTF-8 that can be seen, stays as it is when it is done again, and has no markup that did not come in.
func FuzzVisible(f *testing.F) {
	for _, a := range replaytest.Attacks {
		f.Add([]byte(a))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := visible(in)
		if !utf8.Valid(out) || !bytes.Equal(visible(out), out) {
			t.Fatalf("%q: %q", in, out)
		}
		for _, c := range "<>&\"'`=" {
			if bytes.Count(in, []byte(string(c))) != bytes.Count(out, []byte(string(c))) {
				t.Fatalf("%q: %q has other markup", in, out)
			}
		}
	})
}

// FuzzPage: whatever a text is, the page that shows it has the elements and attributes of one that shows none.
func FuzzPage(f *testing.F) {
	for _, a := range replaytest.Attacks {
		f.Add(a)
	}
	s := server(f, fill(replaytest.Small))
	shape := func(text string) string {
		var b bytes.Buffer
		if err := s.pages["error"].Execute(&b, view{Title: text, Body: "x" + text + "\nx", Store: text}); err != nil {
			panic(err)
		}
		var out strings.Builder
		z := html.NewTokenizer(bytes.NewReader(visible(b.Bytes())))
		for z.Next() != html.ErrorToken {
			tok := z.Token()
			if tok.Type == html.TextToken || tok.Type == html.EndTagToken {
				continue
			}
			out.WriteString(tok.Type.String() + " " + tok.Data)
			for _, a := range tok.Attr {
				out.WriteString(" " + a.Key)
			}
			out.WriteByte('\n')
		}
		return out.String()
	}
	want := shape("plain")
	f.Fuzz(func(t *testing.T, text string) {
		if got := shape(text); got != want {
			t.Errorf("%q changes the page:\n%s\nwant\n%s", text, got, want)
		}
	})
}

// FuzzTree: any JSON is shown, in bounded space.
func FuzzTree(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, `[{"a":1},{"b":[]}]`, `[[[1]]]`, `"x"`, `nul`, `{"a":{"a":{"a":1e999}}} x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := parseTree(text)
		if (err == nil) != json.Valid(text) {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil && tr.size() > 2*treeNodes*treeWide {
			t.Fatalf("%d values are shown", tr.size())
		}
	})
}

func (t *tree) size() int {
	n := 1
	for _, f := range t.Fields {
		n += f.Value.size()
	}
	for _, i := range t.Items {
		n += i.size()
	}
	for _, r := range t.Rows {
		for _, c := range r {
			n += c.size()
		}
	}
	return n
}

func TestShort(t *testing.T) {
	for _, c := range []struct{ in, want string }{{"short", "short"}, {"one\ntwo", "one …"}, {"  one\n", "one"}, {"123456789", "12345678…"}, {"1234567é", "1234567…"}, {"", ""}} {
		if got := short(8, c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		`{"operators":["aten.mm","aten.relu"],"layer":"inductor","signature":{"type":"T","stage":"run"},"none":null}`: "layer: inductor; none: –; operators: aten.mm, aten.relu; signature: (stage: run; type: T)",
		`[{"a":1},{"a":2}]`: "(a: 1), (a: 2)", `[]`: "–", `not JSON`: "not JSON", `"x"`: "x", `1.50`: "1.50",
	} {
		if got := treeOrText(in).words(); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
