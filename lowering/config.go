package lowering

import (
	"fmt"
	"os"

	"whittle/capture/fx/choice"
	"whittle/kernels/native"
)

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
	// Phase is told when a part of the work begins, by PyTorch's name for it; what it gives, when that ends. nil => nobody.
	Phase func(name string) (end func())

	whole bool // operators that read by an index stay calls
}

// phase is Phase where there is none, too.
func (c *Config) phase(name string) (end func()) {
	if c.Phase == nil {
		return func() {}
	}
	return c.Phase(name)
}

// Tier is one of the ways to run loops.
type Tier uint8

// The tiers: what $WHITTLE_TIER says, tiles or cpp, or whichever can be had, C++ if there is a compiler; tiles, which need none, and start at
// once; C++ alone.
const (
	Any Tier = iota
	Tiles
	Cpp
)

// wanted is the tier that Any comes to.
func wanted() (Tier, error) {
	switch tier := os.Getenv("WHITTLE_TIER"); tier {
	case "tiles":
		return Tiles, nil
	case "cpp":
		return Cpp, nil
	case "":
		if _, err := native.FindCompiler(); err != nil {
			return Tiles, nil
		}
		return Cpp, nil
	default:
		return Any, fmt.Errorf("WHITTLE_TIER is %q: it may be tiles, cpp, or empty for cpp where there is a compiler", tier)
	}
}
