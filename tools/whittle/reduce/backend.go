package reduce

import (
	"fmt"
	"slices"
	"strings"

	"whittle/repros"
)

// builtin are the backends that PyTorch registers itself.
var builtin = []string{"", "inductor", "eager", "eager_noexcept", "pre_dispatch_eager", "aot_eager", "aot_eager_default_partitioner", "aot_eager_decomp_partition", "aot_ts", "ts", "cudagraphs", "onnxrt", "openxla", "openxla_eval", "tvm",
	"relu_compile_error_TESTING_ONLY", "relu_runtime_error_TESTING_ONLY", "relu_accuracy_error_TESTING_ONLY", "non_leaf_compile_error_TESTING_ONLY"}

// NeedsBackend reports whether r names a backend that neither PyTorch nor its own preamble defines.
func NeedsBackend(r *repros.Repro) bool {
	return r.Stage == repros.AfterDynamo && r.Preamble == "" && !slices.Contains(builtin, r.Backend)
}

// AddBackend takes the definition of r's backend, and what that needs, from the text of the script that defines it. Other statements of
// the script are left behind.
func AddBackend(r *repros.Repro, file, text string) error {
	part, err := repros.SliceSource(file, text, r.Backend)
	if err != nil {
		return fmt.Errorf("backend %s: %w", r.Backend, err)
	}
	if !strings.Contains(part, "register_backend") {
		part += "torch._dynamo.register_backend(" + r.Backend + ")\n"
	}
	r.Preamble = strings.TrimRight("import torch._dynamo\n"+part, "\n")
	return nil
}
