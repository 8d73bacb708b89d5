package testscripts

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// untraced are the records of PyTorch's traces that whittle has none of, by how they begin in the recorded lists, and why.
var untraced = []struct{ record, why string }{
	{"artifact fx_graph_cache_miss", "there is no cache of FX graphs: kernels are kept by their text"},
	{"chromium_event fx_graph_cache_miss", "likewise"},
	{"chromium_event inductor_codecache_torch_key", "likewise: the key of that cache"},
	{"chromium_event inductor_compile E", "what that cache did is among its arguments"},
	{"chromium_event PyCodeCache.load_by_key_path", "the code around kernels is no Python module"},
	{"chromium_event PythonWrapperCodegen.generate", "likewise"},
	{"chromium_event TritonBundler.collect", "there is no Triton to bundle"},
	{"chromium_event async_compile.wait", "the compiler is called at once"},
	{"chromium_event compile_file", "PyTorch also compiles to find out what the machine's vectors are, and its header, once a cache"},
	{"chromium_event _recursive_joint_graph_passes", "they are run over graphs with gradients alone"},
	{"chromium_event _recursive_pre_grad_passes", "there are no passes before AOTAutograd"},
	{"chromium_event _recursive_post_grad_passes", "there are no passes over aten graphs behind it"},
}

// own are records of whittle's that stand for some of those.
var own = []string{"chromium_event inductor_compile E {compile_id,fn_name}", "chromium_event compile_file", "chromium_event _recursive_joint_graph_passes"}

// TestTraces compares the kinds and fields of the records of some programs with those of PyTorch 2.6.
func TestTraces(t *testing.T) {
	a, err := txtar.ParseFile("testdata/traces.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range a.Files {
		files[f.Name] = f.Data
	}
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++: Inductor's loops run without code")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		base, ok := strings.CutSuffix(name, ".py")
		if !ok {
			continue
		}
		t.Run(base, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(self, filepath.Join(dir, "whittle")); err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), filepath.Join(dir, "whittle"), "run", "--no-minify", name)
			c.Dir = dir
			c.Env = append(os.Environ(), "TORCH_TRACE="+filepath.Join(dir, "trace"), "WHITTLE_STORE="+filepath.Join(dir, "store.db"), "WHITTLE_CACHE="+cache)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := traceRecords(t, filepath.Join(dir, "trace"))
			want := map[string]int{}
			for line := range strings.Lines(string(files[base+".txt"])) {
				var n int
				count, record, _ := strings.Cut(strings.TrimSpace(line), " ")
				if _, err := fmt.Sscan(count, &n); err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(untraced, func(u struct{ record, why string }) bool { return strings.HasPrefix(record, u.record) }) {
					want[record] = n
				}
			}
			maps.DeleteFunc(got, func(record string, _ int) bool {
				return slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(record, o) })
			})
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("records (-PyTorch 2.6, +whittle):\n%s", d)
			}
		})
	}
}

var traceHead = regexp.MustCompile(`^[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ [^: ]+:\d+\] (\{.*\})$`)

// traceEnvelope are the fields of a record beside its kind.
var traceEnvelope = []string{"frame_id", "frame_compile_id", "attempt", "has_payload", "stack", "rank", "compiled_autograd_id"}

// traceRecords reads the one file of a trace: each record in a line, by kind and fields, and how often it is there. Hashes of payloads and numbers
// of file names are checked.
func traceRecords(t *testing.T, dir string) map[string]int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d files in the trace: %v", len(found), err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	type record struct {
		fields  map[string]any
		payload []string
	}
	var records []*record
	in := bufio.NewScanner(bytes.NewReader(data))
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		line := in.Text()
		if p, ok := strings.CutPrefix(line, "\t"); ok {
			last := records[len(records)-1]
			last.payload = append(last.payload, p)
			continue
		}
		m := traceHead.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no record: %.200s", line)
		}
		r := &record{}
		if err := json.Unmarshal([]byte(m[1]), &r.fields); err != nil {
			t.Fatalf("%v: %.200s", err, m[1])
		}
		records = append(records, r)
	}
	names := map[float64]bool{}
	var filed func(v any)
	filed = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if n, ok := v["filename"].(float64); ok && !names[n] {
				t.Errorf("file name %v is used before it is said", n)
			}
			for _, x := range v {
				filed(x)
			}
		case []any:
			for _, x := range v {
				filed(x)
			}
		}
	}
	keys := func(v any) string {
		switch v := v.(type) {
		case map[string]any:
			return "{" + strings.Join(slices.Sorted(maps.Keys(v)), ",") + "}"
		case []any:
			return "[]"
		}
		return ""
	}
	out := map[string]int{}
	for _, r := range records {
		kind, beside := "", []string{}
		for _, k := range slices.Sorted(maps.Keys(r.fields)) {
			if !slices.Contains(traceEnvelope, k) {
				kind = k
			} else if k != "stack" {
				beside = append(beside, k)
			}
		}
		text := strings.Join(r.payload, "\n")
		if want, ok := r.fields["has_payload"].(string); ok {
			if sum := md5.Sum([]byte(text)); hex.EncodeToString(sum[:]) != want {
				t.Errorf("%s: the payload has another hash", kind)
			}
		}
		v := r.fields[kind]
		if kind == "str" {
			names[v.([]any)[1].(float64)] = true
			continue
		}
		filed(v)
		said := fmt.Sprintf("%s %s %s", kind, keys(v), strings.Join(beside, "+"))
		switch kind {
		case "artifact":
			m := v.(map[string]any)
			said = fmt.Sprintf("%s %v:%v %s %s", kind, m["name"], m["encoding"], keys(v), strings.Join(beside, "+"))
		case "chromium_event":
			var e map[string]any
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				t.Errorf("%v: %.200s", err, text)
			}
			said = fmt.Sprintf("%s %v %v %s", kind, e["name"], e["ph"], keys(e["args"]))
		}
		out[strings.TrimRight(said, " ")]++
	}
	return out
}
