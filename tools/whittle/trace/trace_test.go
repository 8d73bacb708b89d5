package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// recorded are the traces in testdata, by the folder of who wrote them. The programs are beside them.
func recorded(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*/*.log.gz")
	if err != nil || len(names) != 30 {
		t.Fatalf("%d recorded traces, %v", len(names), err)
	}
	for i, n := range names {
		names[i] = strings.TrimPrefix(n, "testdata/")
	}
	return names
}

func readRecorded(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRecorded: what the traces of ten programs tell, by PyTorch 2.6 and 2.14 and by whittle. None has a line that cannot be read.
func TestRecorded(t *testing.T) {
	var got strings.Builder
	for _, name := range recorded(t) {
		tr := parse(readRecorded(t, name))
		text := tr.Summary()
		got.WriteString(name + ": " + text[:strings.LastIndex(text, ", ")] + "\n")
		for _, p := range tr.Problems {
			t.Errorf("%s:%d: %s", name, p.Line, p.What)
		}
		for _, u := range tr.Unknown {
			got.WriteString("  not known: " + u.Name + "\n")
		}
	}
	want, err := os.ReadFile("testdata/summaries.txt")
	if os.Getenv("UPDATE") != "" {
		err = os.WriteFile("testdata/summaries.txt", []byte(got.String()), 0o666)
		want = []byte(got.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the traces tell\n%s\nwant\n%s", got.String(), want)
	}
}

// elements counts the elements of a page, without what its texts are.
func elements(t testing.TB, page []byte) map[string]int {
	t.Helper()
	out := map[string]int{}
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Fatal(z.Err())
			}
			return out
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			out[tok.Data]++
			for _, a := range tok.Attr {
				if strings.HasPrefix(a.Key, "on") || (a.Key == "href" || a.Key == "src") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "data:image/svg+xml,") {
					t.Errorf("an attribute %s=%q", a.Key, a.Val)
				}
			}
		}
	}
}

// TestHostile: names and errors that are HTML, scripts or terminal escapes are texts of the page, and nothing else.
func TestHostile(t *testing.T) {
	for _, writer := range []string{"torch26", "torch214", "whittle"} {
		tr := parse(readRecorded(t, writer+"/p09_names.log.gz"))
		page, err := tr.Report()
		if err != nil {
			t.Fatal(err)
		}
		n := elements(t, page)
		if n["img"]+n["b"] > 0 || n["script"] != len(tr.Compiles)+2 || n["style"] != 1 {
			t.Errorf("%s: elements %v", writer, n)
		}
		for _, c := range "\x1b\x07\u202e\u2028" {
			if bytes.ContainsRune(page, c) {
				t.Errorf("%s: the page has %U as it is", writer, c)
			}
		}
		if !bytes.Contains(page, []byte("⟨U+001B⟩")) || !bytes.Contains(page, []byte("&lt;img src=x onerror=alert(1)&gt;")) {
			t.Errorf("%s: the names are not in the page", writer)
		}
		if !bytes.Contains(page, []byte(script)) || !bytes.Contains(page, []byte(style)) {
			t.Errorf("%s: script or style are not as their hashes say", writer)
		}
	}
}

const oneRecord = "V1129 03:18:10.670000 7 torch/_dynamo/utils.py:1318] "

// TestProblems: what cannot be read is said, with its line, and the rest is read.
func TestProblems(t *testing.T) {
	start := oneRecord + `{"dynamo_start": {"stack": [{"line": 3, "name": "f", "filename": 0}]}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}` + "\n"
	for _, c := range []struct {
		text     string
		compiles int
		problem  string // "" none
		line     int
	}{
		{"", 0, "", 0},
		{start, 1, "", 0},
		{start + "nonsense\n", 1, "no record", 2},
		{start + oneRecord + `{"a": `, 1, "the last line is cut off", 2},
		{start + oneRecord + `{"a": ` + "\n", 1, "no JSON", 2},
		{"\tpayload\n" + start, 1, "a payload without a record", 1},
		{oneRecord + `{"dynamo_output_graph": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "900150983cd24fb0d6963f7d28e17f72"}` + "\n\tabc\n" + start, 1, "", 0},
		{oneRecord + `{"dynamo_output_graph": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "900150983cd24fb0d6963f7d28e17f72"}` + "\n\tab", 1, "cut off, or was changed", 2},
		{"\x00\xff\n" + start, 1, "no record", 1},
	} {
		tr := parse([]byte(c.text))
		if len(tr.Compiles) != c.compiles {
			t.Errorf("%q: %d compilations, want %d", c.text, len(tr.Compiles), c.compiles)
		}
		switch {
		case c.problem == "" && len(tr.Problems) > 0:
			t.Errorf("%q: %v", c.text, tr.Problems)
		case c.problem != "" && (len(tr.Problems) != 1 || !strings.Contains(tr.Problems[0].What, c.problem) || tr.Problems[0].Line != c.line):
			t.Errorf("%q: %v, want %s in line %d", c.text, tr.Problems, c.problem, c.line)
		}
	}
}

// TestUnknown: a kind that has no row is listed, and its text is kept.
func TestUnknown(t *testing.T) {
	tr := parse([]byte(oneRecord + `{"of_tomorrow": {"a": 1}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "900150983cd24fb0d6963f7d28e17f72"}` + "\n\tabc\n" +
		oneRecord + `{"artifact": {"name": "mine", "encoding": "string"}}` + "\n"))
	if len(tr.Unknown) != 2 || tr.Unknown[0].Name != "artifact mine" || tr.Unknown[1].Name != "of_tomorrow" {
		t.Errorf("unknown: %v", tr.Unknown)
	}
	if c := tr.Compiles[0]; len(c.Others) != 1 || c.Texts[c.Others[0].Text] != "{\"a\": 1}\nabc" {
		t.Errorf("kept: %+v", c)
	}
	if len(tr.Loose) != 1 || tr.Loose[0].Title != "mine" {
		t.Errorf("loose: %v", tr.Loose)
	}
}

// FuzzTrace: no text makes the reader or the page fail, and none gets out of its place on the page.
func FuzzTrace(f *testing.F) {
	for _, name := range []string{"torch26/p09_names.log.gz", "whittle/p04_backend.log.gz"} {
		text := readRecorded(f, name)
		for _, n := range []int{len(text), len(text) / 2, 700} {
			f.Add(text[:n])
		}
	}
	f.Add([]byte(oneRecord + `{"artifact": {"name": "recompile_reasons", "encoding": "json"}, "frame_id": 0, "frame_compile_id": 1, "attempt": 0}` + "\n\t[\"0/0: x\"]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tr := parse(text)
		page, err := tr.Report()
		if err != nil {
			t.Fatal(err)
		}
		if n := elements(t, page); n["img"]+n["iframe"] > 0 || n["script"] != len(tr.Compiles)+2 {
			t.Errorf("elements %v", n)
		}
	})
}

// large is a trace of n compilations: those of a recorded one over and over, with numbers of their own, until it has so many bytes.
func large(tb testing.TB, n, size int) []byte {
	tb.Helper()
	one := readRecorded(tb, "torch26/p01_break.log.gz")
	var out bytes.Buffer
	for i := 0; i < n; i += 3 {
		out.Write(regexp.MustCompile(`"frame_id": (\d+)`).ReplaceAllFunc(one, func(m []byte) []byte {
			k, err := strconv.Atoi(string(m[len(`"frame_id": `):]))
			if err != nil {
				tb.Fatal(err)
			}
			return fmt.Appendf(nil, `"frame_id": %d`, i+k)
		}))
		// The rest is what a real one has most of: the parts that the key of a cache is made of, a hash and a few words each.
		noise := rand.New(rand.NewPCG(uint64(i), 7))
		fmt.Fprintf(&out, "%s{\"artifact\": {\"name\": \"fx_graph_cache_miss\", \"encoding\": \"json\"}, \"frame_id\": %d, \"frame_compile_id\": 0, \"attempt\": 0}\n\t{\"key\": \"k\", \"components\": [\"\"", oneRecord, i)
		for end := size * (i + 3) / n; out.Len() < end; {
			fmt.Fprintf(&out, ", \"[%x%x%x] inductor_config[triton.setting_%d]: False\"", noise.Uint64(), noise.Uint64(), noise.Uint64(), noise.IntN(300))
		}
		out.WriteString("]}\n")
	}
	return out.Bytes()
}

// BenchmarkReport makes the page of 1,000 compilations and 100 MB.
func BenchmarkReport(b *testing.B) {
	text := large(b, 1000, 100_000_000)
	file := filepath.Join(b.TempDir(), "trace.log")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		t, err := Read([]string{file})
		if err != nil {
			b.Fatal(err)
		}
		page, err := t.Report()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(page)), "page-bytes")
		if keep := os.Getenv("WHITTLE_LARGE_PAGE"); keep != "" { // to look at, and to time in a browser
			if err := os.WriteFile(keep, page, 0o666); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// draw is a tree as text: a line for each branch.
func draw(b *strings.Builder, list []*branch, indent string) {
	for _, x := range list {
		switch {
		case x.Call != nil:
			fmt.Fprintf(b, "%s%s:%d\n", indent, x.Call.Name, x.Call.Line)
			draw(b, x.Children, indent+"  ")
		case x.Break != nil:
			fmt.Fprintf(b, "%sbreak in line %d\n", indent, x.Break.Line)
			draw(b, x.Children, indent+"  ")
		default:
			for _, c := range x.Frame {
				fmt.Fprintf(b, "%s%s %s, %s\n", indent, c.ID, c.Called, c.Status)
				draw(b, x.BreaksOf(c), indent+"  ")
			}
		}
	}
}

// TestTree: who compiled what, with breaks and what goes on behind them in place.
func TestTree(t *testing.T) {
	for name, want := range map[string]string{
		"torch26/p01_break.log.gz": `<module>:12
  0/0 scale, break
    break in line 5
      1/0 scale, from line 5 on, break
        break in line 7
          2/0 scale, from line 7 on, whole
`,
		"whittle/p05_frames.log.gz": `<module>:19
  0/0 outer, break
    break in line 4
      3/0 outer, from line 10 on, whole
  outer:10
    1/0 helper, break
      break in line 4
        2/0 helper, from line 4 on, whole
<module>:21
  4/0 another, whole
  4/1 another, again
  4/2 another, again
`,
	} {
		var b strings.Builder
		draw(&b, parse(readRecorded(t, name)).tree(0), "")
		if b.String() != want {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// TestKernels: the parts of generated code with the nodes that each computes: from comments in code of whittle and of PyTorch 2.14, and from names of kernels where there is no comment.
func TestKernels(t *testing.T) {
	for name, want := range map[string]string{
		"whittle/p03_train.log.gz": `kernel3: mul, mul_1, erf, add, mul_2; its comment
kernel6: amax, sub, exp, sum_1, log, sub_1; its comment
`,
		"torch26/p03_train.log.gz": `cpp_fused_gelu_0: ; its name
cpp_fused__log_softmax_1: ; its name
extern_kernels.addmm: addmm; its comment
extern_kernels.addmm: addmm_1; its comment
`,
		"torch26/p01_break.log.gz": "cpp_fused_add_sin_0: sin, add; its name\n",
	} {
		c := parse(readRecorded(t, name)).Compiles[0]
		var b strings.Builder
		for _, p := range c.Codes[0].Kernels {
			var names []string
			for _, n := range p.Nodes {
				names = append(names, c.Graphs[c.Codes[0].Graph].Nodes[n].Name)
			}
			fmt.Fprintf(&b, "%s: %s; %s\n", p.Name, strings.Join(names, ", "), map[bool]string{true: "its comment", false: "its name"}[p.Exact])
		}
		if b.String() != want {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}
