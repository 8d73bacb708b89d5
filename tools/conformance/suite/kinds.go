package suite

import (
	"regexp"
	"slices"
	"strings"
)

// A Kind is what sort of thing stops a test.
type Kind string

// The kinds, in the order in which they are told apart.
const (
	Crash   Kind = "crash"          // the interpreter ended, or the file could not be begun with
	Time    Kind = "time"           // longer than the limit
	Skipped Kind = "skipped"        // here, and not elsewhere
	Module  Kind = "missing module" // or a name that a module should have
	Name    Kind = "missing name"   // an attribute, an argument, a thing said to be unsupported
	Break   Kind = "break"          // torch.compile refuses, or its counts of graphs, breaks or recompiles differ
	Text    Kind = "wrong text"
	Value   Kind = "wrong value"
	Raised  Kind = "exception" // any other
)

// Kinds are all kinds, in that order.
var Kinds = []Kind{Crash, Time, Skipped, Module, Name, Break, Text, Value, Raised}

// rules say which causes, told by their text, are of a kind.
var rules = []struct {
	kind Kind
	re   *regexp.Regexp
}{
	{Module, regexp.MustCompile(`(ModuleNotFoundError|ImportError)\b`)},
	{Name, regexp.MustCompile(`^(AttributeError|NameError|NotImplementedError)\b|unexpected keyword argument|positional argument`)},
	{Break, regexp.MustCompile(`^(Unsupported|InternalTorchDynamoError|BackendCompilerFailed|FailOnRecompileLimitHit|RecompileError|UserError|UncapturedHigherOrderOpError)\b|^AssertionError: (Scalars are not equal|\d+ != \d+)`)},
	{Text, regexp.MustCompile(`^AssertionError: (['"].*!=|Regex didn't match|String comparison failed|.*not found in ['"]|.*does not match)`)},
	{Value, regexp.MustCompile(`^AssertionError\b`)},
}

// kindOf sorts a test that did not pass.
func kindOf(r Record) Kind {
	if k := Kind(r.Result); slices.Contains([]Kind{Crash, Time, Skipped}, k) {
		return k
	}
	cause := r.Cause
	if r.Result == "missing" { // the file could not be imported: its own result comes first
		result, rest, _ := strings.Cut(cause, ": ")
		if result == "crash" || cause == "" {
			return Crash
		}
		if result == "time" {
			return Time
		}
		cause = rest
	}
	for _, rule := range rules {
		if rule.re.MatchString(cause) {
			return rule.kind
		}
	}
	return Raised
}
