package triage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
)

// repro is a repro file after aot with one line for each call.
func repro(stage, head string, inputs, calls []string) string {
	var names, reads []string
	for i, in := range inputs {
		names = append(names, fmt.Sprintf("arg%d_1", i))
		reads = append(reads, fmt.Sprintf("    buf%d = reader.storage(None, 64, dtype_hint=torch.%s)\n    reader.tensor(buf%d, (2, 2), dtype=torch.%s, is_leaf=True)  # arg%d_1\n", i, in, i, in, i))
	}
	last, body := names[0], ""
	for i, c := range calls {
		body += fmt.Sprintf("        v%d = %s;  %s = None\n", i, strings.ReplaceAll(c, "$", last), last)
		last = fmt.Sprintf("v%d", i)
	}
	return head + `import torch
from torch import tensor, device
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, ` + strings.Join(names, ", ") + `):
` + body + "        return (" + last + `,)

def load_args(reader):
` + strings.Join(reads, "") + `load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_` + stage + ` import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None` + map[string]string{"aot": ", tracing_mode='real', check_str=None", "dynamo": ", autocast=False, backend='inductor'"}[stage] + `)
`
}

// of is a failure that was shrunk to calls.
func of(sig replay.Signature, raw string, inputs []string, calls ...string) Features {
	return Take(replay.Failure{Signature: sig}, &replay.Result{Signature: sig, Error: raw, Repro: repro("aot", "", inputs, calls), Complete: true})
}

var f32 = []string{"float32"}

// wrong is wrong results.
var wrong = replay.Signature{Stage: "accuracy", Type: "AccuracyError", Message: "Bad accuracy detected"}

func decidedBy(f Features, what string) Features { f.Decides = what; return f }

// TestHardPairs holds pairs that look alike and are two bugs, and pairs that look different and are one.
func TestHardPairs(t *testing.T) {
	sizes := replay.Signature{Stage: "run", Type: "RuntimeError", Message: replay.Normalise("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1")}
	unhandled := replay.Signature{Stage: "run", Type: "RuntimeError", Message: "unhandled error"}
	message := "iinfo() needs an integer dtype, got torch.bool"
	lowering := func(target string) replay.Signature {
		return replay.NewSignature("compile", "LoweringException", "AssertionError: target: "+target, nil, nil)
	}
	plain := replay.NewSignature("compile", "TypeError", message, nil, nil)
	wrapped := replay.NewSignature("compile", "LoweringException", "TypeError: "+message+"\n  target: aten.view.dtype\n  args[0]: TensorBox(StorageBox(...))", nil, nil)
	backend := replay.NewSignature("compile", "BackendCompilerFailed", "backend='inductor' raised:\nLoweringException: TypeError: "+message+"\n  target: aten.view.dtype\n  args[0]: TensorBox(...)\n\nSet TORCH_LOGS for more", nil, nil)
	inductor := replay.NewSignature("compile", "InductorError", "LoweringException: TypeError: "+message+"\n  target: aten.view.dtype", nil, nil)
	raised := func(sig replay.Signature, stage string, calls ...string) Features {
		return Take(replay.Failure{Signature: sig, Repro: repro(stage, "", f32, calls)}, nil)
	}
	big := []string{"torch.ops.aten.relu.default($)", "torch.ops.aten.gt.Scalar($, 0)", "torch.ops.aten.view.dtype($, torch.uint8)", "torch.ops.aten.mul.Tensor($, 2)"}
	for _, c := range []struct {
		name string
		a, b Features
		same bool
	}{
		{"one exception and text, another operator", of(sizes, "", f32, "torch.ops.aten.fft_fft.default($)"), of(sizes, "", f32, "torch.ops.aten.cumsum.default($, 0)"), false},
		{"the text that any bug has, another operator", of(unhandled, "", f32, "torch.ops.aten.relu.default($)"), of(unhandled, "", f32, "torch.ops.aten.erfinv.default($)"), false},
		{"the text that any bug has, and no graph", Features{Kind: Error, Type: "RuntimeError", Message: "unhandled error"}, Features{Kind: Error, Type: "RuntimeError", Message: "unhandled error"}, false},
		{"the type alone", Features{Kind: Error, Type: "AssertionError"}, Features{Kind: Error, Type: "AssertionError"}, false},
		{"another target", Take(replay.Failure{Signature: lowering("aten._foobar.default"), Raw: "  target: aten._foobar.default"}, nil), Take(replay.Failure{Signature: lowering("aten.cumsum.default"), Raw: "  target: aten.cumsum.default"}, nil), false},
		{"one operator, another layer", decidedBy(of(wrong, "", f32, "torch.ops.aten.erfinv.default($)"), "layers: inductor, lowering of erfinv"), decidedBy(of(wrong, "", f32, "torch.ops.aten.erfinv.default($)"), "layers: inductor, decomposition of erfinv"), false},
		{"wrong results of two operators", of(wrong, "", f32, "torch.ops.aten.erfinv.default($)"), of(wrong, "", f32, "torch.ops.aten.cumsum.default($, 0)"), false},
		{"wrong results of one operator, on two dtypes", of(wrong, "", []string{"uint8"}, "torch.ops.aten.abs.default($)"), of(wrong, "", []string{"int16"}, "torch.ops.aten.abs.default($)"), false},
		{"wrong results and a crash", of(wrong, "", f32, "torch.ops.aten.erfinv.default($)"), of(replay.Signature{Stage: "run", Type: "SIGSEGV"}, "", f32, "torch.ops.aten.erfinv.default($)"), false},
		{"a hang and a crash", of(replay.Signature{Stage: "run", Type: "timeout"}, "", f32, "torch.ops.aten.roll.default($, 1)"), of(replay.Signature{Stage: "run", Type: "SIGABRT"}, "", f32, "torch.ops.aten.roll.default($, 1)"), false},
		{"another type that the text names", of(replay.Signature{Stage: "compile", Type: "CppCompileError"}, "x.cpp:1:2: error: ‘float8_e4m3fnuz’ was not declared in this scope", f32, "torch.ops.prims.convert_element_type.default($, torch.float16)"),
			of(replay.Signature{Stage: "compile", Type: "CppCompileError"}, "x.cpp:1:2: error: ‘bfloat24’ was not declared in this scope", f32, "torch.ops.prims.convert_element_type.default($, torch.bfloat16)"), false},

		{"plain and wrapped in LoweringException", raised(plain, "aot", big...), raised(wrapped, "aot", big...), true},
		{"wrapped once and twice", raised(wrapped, "aot", big...), raised(backend, "aot", big...), true},
		{"as 2.6 and as later versions wrap it", raised(backend, "aot", big...), raised(inductor, "aot", big...), true},
		{"after aot and after dynamo", raised(wrapped, "aot", big...), raised(backend, "dynamo", "torch.nn.functional.gelu($)", "$ > 0", "$.view(torch.uint8)"), true},
		{"shrunk and not", of(wrapped, "", f32, big[1], big[2]), raised(backend, "dynamo", "torch.nn.functional.gelu($)", "$ > 0", "$.view(torch.uint8)"), true},
		{"shrunk after aot and after dynamo", of(wrong, "", []string{"int64"}, "torch.ops.aten.avg_pool2d.default($, [2, 2])"),
			Take(replay.Failure{}, &replay.Result{Signature: wrong, Repro: repro("dynamo", "", []string{"int64"}, []string{"torch._C._nn.avg_pool2d($, 2)"}), Complete: true}), true},
		{"shrunk, and the whole model with wrong results", of(wrong, "", f32, "torch.ops.aten.erfinv.default($)", "torch.ops.aten.cumsum.default($, 0)"), raised(wrong, "aot", "torch.ops.aten.relu.default($)", "torch.ops.aten.erfinv.default($)", "torch.ops.aten.cumsum.default($, 0)", "torch.ops.aten.mm.default($, $)"), true},
		{"other sizes and lines", of(sizes, "", f32, "torch.ops.aten.fft_fft.default($)"), of(replay.NewSignature("run", "RuntimeError", "The size of tensor a (31) must match the size of tensor b (7) at non-singleton dimension 0", nil, nil), "", f32, "torch.ops.aten.fft_fft.default($)"), true},
		{"compile and run as two engines say it", of(replay.Signature{Stage: "compile", Type: "RuntimeError", Message: "no kernel for erfinv on bfloat16"}, "", f32, "torch.ops.aten.erfinv.default($)"), of(replay.Signature{Stage: "run", Type: "RuntimeError", Message: "no kernel for erfinv on bfloat16"}, "", f32, "torch.ops.aten.erfinv.default($)"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Compare(c.a, c.b)
			if got.Same != c.same {
				t.Errorf("same: %v\n%s\n%s\n%s", got.Same, strings.Join(got.Explain(), "\n"), c.a.Text(), c.b.Text())
			}
			back := Compare(c.b, c.a)
			if back.Same != got.Same || back.Distance != got.Distance || back.Evidence != got.Evidence {
				t.Errorf("not symmetric: %v and %v, %v and %v", got.Distance, back.Distance, got.Evidence, back.Evidence)
			}
			if got.Same && !slices.ContainsFunc(c.a.Keys(), func(k string) bool { return slices.Contains(c.b.Keys(), k) }) {
				t.Errorf("no key in common: %q and %q", c.a.Keys(), c.b.Keys())
			}
		})
	}
}

// TestAblation says what each feature is worth: the recorded failures are grouped by all of them, by one, and by all but one.
func TestAblation(t *testing.T) {
	only := func(names ...string) func(a, b Features) Comparison {
		var by []feature
		for _, f := range features {
			if slices.Contains(names, f.name) {
				by = append(by, f)
			}
		}
		return func(a, b Features) Comparison { return compare(a, b, by) }
	}
	all := make([]string, len(features))
	for i, f := range features {
		all[i] = f.name
	}
	type row struct {
		name string
		same func(a, b Features) bool
	}
	rows := []row{
		{"all", func(a, b Features) bool { return Compare(a, b).Same }},
		{"only signature", func(a, b Features) bool { return a.Kind == b.Kind && a.Type == b.Type && a.Message == b.Message }},
		{"only graph", func(a, b Features) bool { c := only("graph")(a, b); return c.Distance <= Near && c.Evidence >= enough }},
	}
	for _, n := range all {
		rows = append(rows, row{"without " + n, func(a, b Features) bool {
			return only(slices.DeleteFunc(slices.Clone(all), func(x string) bool { return x == n })...)(a, b).Same
		}})
	}
	for _, minimised := range []bool{true, false} {
		items := corpus(t, func(int) bool { return minimised })
		for _, r := range rows {
			p, rec, _ := score(items, connected(items, r.same))
			t.Logf("minimised %-5v %-16s precision %.3f, recall %.3f", minimised, r.name, p, rec)
			if r.name == "all" && (p < 1 || minimised && rec < 0.95) {
				t.Errorf("precision %.3f, recall %.3f", p, rec)
			}
		}
	}
}

// connected are the connected parts of a relation.
func connected(items []item, same func(a, b Features) bool) []int64 {
	in := make([]int64, len(items))
	for i := range in {
		in[i] = int64(i)
		for j := range i {
			if in[i] != in[j] && same(items[i].features, items[j].features) {
				from, to := in[i], in[j]
				for k := range i + 1 {
					if in[k] == from {
						in[k] = to
					}
				}
			}
		}
	}
	return in
}

func TestExplain(t *testing.T) {
	a, b := of(wrong, "", []string{"uint8"}, "torch.ops.aten.abs.default($)"), of(wrong, "", []string{"int16"}, "torch.ops.aten.abs.default($)")
	want := []string{
		"kind      wrong results: distance 0.00, weight 1.0",
		"graph     minimal graphs of abs in common, dtype uint8 only here, dtype int16 only there: distance 0.69, weight 4.0",
		"together  distance 0.55 (at most 0.30), evidence 0.0 (at least 1.5): two bugs",
	}
	if d := cmp.Diff(want, Compare(a, b).Explain()); d != "" {
		t.Error(d)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"plain ‘text’ of täglich 日本":      "plain ‘text’ of täglich 日本",
		"\x1b[31mred\x1b[0m":              `\x1b[31mred\x1b[0m`,
		"a\nb\tc\rd":                      `a\nb\tc\x0dd`,
		"\u202egnp.exe\u2066\u200b\ufeff": `\u{202e}gnp.exe\u{2066}\u{200b}\u{feff}`,
		"\x9b2J\xff":                      `\x9b2J\xff`,
		"\u009b2J\u2028x\u00a0":           `\x9b2J\u{2028}x\xa0`,
	} {
		if got := Quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := QuoteLines("a\n\tb\r\x1b"); got != "a\n\tb\\x0d\\x1b" {
		t.Errorf("%q", got)
	}
}
