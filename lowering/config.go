package lowering

import "whittle/capture/fx/choice"

// Config holds the settings of torch._inductor.config that this backend reads.
type Config struct {
	// Choices says which optional steps are taken; nil => all.
	Choices *choice.Matcher
	// InjectRelu and InjectLog1p are cpp.inject_relu_bug_TESTING_ONLY and
	// cpp.inject_log1p_bug_TESTING_ONLY: "", "compile_error", "runtime_error" or "accuracy".
	InjectRelu  string
	InjectLog1p string
	// Threads is cpp.threads: how many threads a kernel may use; 0 => the machine's.
	Threads int
	// CacheDir holds compiled kernels.
	CacheDir string
}
