package lowering

import (
	"fmt"
	"os"

	"github.com/sourcegraph/conc"

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
	// Background is where kernels that the cache does not have are compiled while the first run is on tiles: the second one waits for them, so that
	// what runs where depends on no clock. It is for Any. Whoever waits for it may cancel the context that was given to Compile before.
	// nil => there is nothing to run before they are compiled.
	Background *conc.WaitGroup
	// CacheDir holds compiled kernels.
	CacheDir string
	// Phase is told when a part of the work begins, by PyTorch's name for it; what it gives, when that ends. nil => nobody.
	Phase func(name string) (end func())

	// Tuned asks for the forms of each kernel to be measured, the fastest of which is taken, and is told what was found; nil => no kernel is measured. It is for
	// generated code, and needs a compiler at once: nothing runs in the background.
	Tuned func(Tuning)

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

// wanted is the tier that Any comes to, and whether somebody insists on it.
func wanted() (tier Tier, insists bool, err error) {
	switch name := os.Getenv("WHITTLE_TIER"); name {
	case "tiles":
		return Tiles, true, nil
	case "cpp":
		return Cpp, true, nil
	case "":
		if _, err := native.FindCompiler(); err != nil {
			return Tiles, false, nil
		}
		return Cpp, false, nil
	default:
		return Any, false, fmt.Errorf("WHITTLE_TIER is %q: it may be tiles, cpp, or empty for cpp where there is a compiler", name)
	}
}
