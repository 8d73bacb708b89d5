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
	// Tier says what runs the loops.
	Tier Tier
	// CacheDir holds compiled kernels.
	CacheDir string
}

// Tier is one of the ways to run loops.
type Tier uint8

// The tiers: whichever can be had, C++ if there is a compiler; tiles, which need none, and start at once; C++ alone.
const (
	Any Tier = iota
	Tiles
	Cpp
)
