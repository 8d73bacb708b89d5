package replay

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"
)

// An Outcome is what running one candidate gave. Nothing is ever just "non-zero".
type Outcome struct {
	Status    Status        `json:"status"`
	Signature Signature     `json:"signature,omitzero"` // set when Status is Failed, Timeout, OOM or Killed
	Message   string        `json:"message,omitempty"`  // the raw message, for people
	Marks     []string      `json:"marks,omitempty"`    // stages proved, in order: loaded, eager, compiled, ran
	Duration  time.Duration `json:"duration,omitempty"`
	Detail    string        `json:"detail,omitempty"` // what else the engine saw: stderr's end, a peak of memory
	// Where the failure is, by the names of the candidate's nodes, as far as the engine can tell: the calls at fault, likeliest first, and
	// those that the failing code was made from.
	Suspects []string `json:"suspects,omitempty"`
	Region   []string `json:"region,omitempty"`
	// Outputs are the positions of the graph's outputs that are wrong, for accuracy; nil where the engine cannot tell.
	Outputs []int `json:"outputs,omitempty"`
	// Before is the first step of the compiler that the run did not come to, of those at which the engine can stop a candidate: a failure came
	// before it, or a pass was stopped there, as was asked for. "" for a run that went through all of them.
	Before string `json:"before,omitempty"`
	// Choices are what the compiler was asked about, in that order, where the question said which of them to take.
	Choices []Choice `json:"choices,omitempty"`
}

// Status is the kind of an outcome.
type Status string

// The kinds. Infrastructure says nothing about the candidate: the engine itself failed.
const (
	Pass           Status = "pass"
	Failed         Status = "fail"
	Invalid        Status = "invalid" // eager itself fails, or the graph is wrong
	Timeout        Status = "timeout"
	OOM            Status = "oom"
	Killed         Status = "killed" // by a signal
	Infrastructure Status = "infrastructure"
)

// A Signature identifies a failure across candidates: what stays equal when numbers, addresses, paths and
// generated names change. Two outcomes are the same failure when their signatures are equal.
type Signature struct {
	Stage   string `json:"stage,omitempty"`   // compile, run, accuracy; for signals and limits: the stage that was under way
	Type    string `json:"type,omitempty"`    // exception type, signal name, "timeout", "oom", "accuracy"
	Message string `json:"message,omitempty"` // normalised, see Normalise
	Frame   string `json:"frame,omitempty"`   // innermost frame inside the stack: function in file, without lines
	Output  string `json:"output,omitempty"`  // for accuracy: which output, and how it differs
}

// IsZero reports whether there is no signature.
func (s Signature) IsZero() bool { return s == Signature{} }

// String is one line for people.
func (s Signature) String() string {
	var parts []string
	for _, p := range []string{s.Stage, s.Type, s.Message, s.Output, s.Frame} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ": ")
}

// Matches reports whether o is the failure that s stands for. The stage is compared where o has one, the frame where both have one,
// and which output differs does not matter: a smaller graph has other outputs.
func (s Signature) Matches(o Signature) bool {
	if o.Stage != "" && s.Stage != o.Stage || s.Type != o.Type || s.Message != o.Message {
		return false
	}
	return s.Frame == "" || o.Frame == "" || s.Frame == o.Frame
}

// Alike reports whether o can be the failure that s stands for as its program saw it, from outside and through other wrappers: the
// exceptions have one type, and where the text of both names the type of the exception that it came from, that is one as well.
func (s Signature) Alike(o Signature) bool {
	base := func(t string) string { return t[strings.LastIndexByte(t, '.')+1:] }
	if s.Type != "" && o.Type != "" && base(s.Type) != base(o.Type) {
		return false
	}
	a, b := reCause().FindString(s.Message), reCause().FindString(o.Message)
	return a == "" || b == "" || base(a) == base(b)
}

// reCause matches the type of an exception at the beginning of a message.
var reCause = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)(?:: |$)`)
})

// A Verdict is what an outcome means for a search that looks for one signature.
type Verdict string

// The verdicts.
const (
	Reproduced        Verdict = "reproduced"
	Passed            Verdict = "passed"
	Different         Verdict = "different" // another failure: a finding
	VerdictInvalid    Verdict = "invalid"
	VerdictTimeout    Verdict = "timeout"
	VerdictOOM        Verdict = "oom"
	VerdictKilled     Verdict = "killed"
	VerdictInfra      Verdict = "infrastructure"
	VerdictUntestable Verdict = "rejected" // the static check refused it; no engine was asked
)

// Judge turns an outcome into a verdict on a search for want.
func Judge(o Outcome, want Signature) Verdict {
	switch o.Status {
	case Pass:
		return Passed
	case Invalid:
		return VerdictInvalid
	case Infrastructure:
		return VerdictInfra
	}
	if !o.Signature.IsZero() && want.Matches(o.Signature) {
		return Reproduced
	}
	switch o.Status {
	case Timeout:
		return VerdictTimeout
	case OOM:
		return VerdictOOM
	case Killed:
		return VerdictKilled
	case Failed:
		return Different
	}
	return VerdictInfra
}

var (
	reAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`0x[0-9a-fA-F]+`) })
	rePath    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:[A-Za-z]:)?(?:/[\w.+\-@~]+)+/?`) })
	reFile    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[\w\-]+\.(?:py|cpp|cc|c|h|so|o|go)\b(?::\d+)?`) })
	reNumber  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+)\b`) })
	reName    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:[a-z]+[a-z0-9_]*?_\d+|(?:arg|primals_|tangents_|buf|tmp|op|s|u|i|x|y|z|l_)\d+|c[a-z0-9]{50,})\b`)
	})
	reRunning = regexp.MustCompile(`(?s)(?:^|\n\n)While executing %\w+ .*$`) // what torch.fx.Interpreter adds: nodes of the graph at hand
	reSpace   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s+`) })
	reMarks   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:#,? ?){2,}`) })
)

// maxMessage bounds a normalised message, in bytes.
const maxMessage = 300

// Normalise takes out of a message what changes between runs and candidates: addresses, paths, generated names, numbers.
func Normalise(msg string) string {
	if i := strings.Index(msg, "\n\nSet TORCH_LOGS"); i >= 0 {
		msg = msg[:i]
	}
	if i := strings.Index(msg, "\nfrom user code"); i >= 0 {
		msg = msg[:i]
	}
	msg = reRunning.ReplaceAllString(msg, "")
	msg = reAddress().ReplaceAllString(msg, "ADDR")
	msg = rePath().ReplaceAllStringFunc(msg, func(p string) string {
		if strings.Count(p, "/") < 2 {
			return p
		}
		return "PATH"
	})
	msg = reFile().ReplaceAllString(msg, "FILE")
	msg = reName().ReplaceAllString(msg, "NAME")
	msg = reNumber().ReplaceAllString(msg, "#")
	msg = reMarks().ReplaceAllString(msg, "#")
	msg = strings.TrimSpace(reSpace().ReplaceAllString(msg, " "))
	if len(msg) > maxMessage {
		msg = strings.ToValidUTF8(msg[:maxMessage], "")
	}
	return msg
}

// reUndeclared matches what a C++ compiler says of an unknown name: how depends on where the name stands.
var reUndeclared = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([‘'][^’']+[’']) (?:was not declared in this scope|has not been declared|does not name a type|is not a type|undeclared.*)$`)
})

// CppError is the message of a C++ compile error for a signature: the compiler's first error, without its guesses.
func CppError(output string) string {
	text := "C++ compile error"
	for _, l := range strings.Split(output, "\n") {
		if _, e, ok := strings.Cut(l, " error: "); ok {
			e, _, _ = strings.Cut(e, "; did you mean")
			return text + ": " + reUndeclared().ReplaceAllString(e, "$1 is not declared")
		}
	}
	return text
}

// NewSignature makes a signature of an exception. frames is the traceback, outermost first, as "function in
// file" or "file:line function"; stack reports whether a frame belongs to the compile stack (nil: any).
func NewSignature(stage, typ, message string, frames []string, stack func(frame string) bool) Signature {
	s := Signature{Stage: stage, Type: typ, Message: Normalise(message)}
	for i := len(frames) - 1; i >= 0; i-- {
		if stack == nil || stack(frames[i]) {
			s.Frame = reNumber().ReplaceAllString(strings.TrimSpace(frames[i]), "#")
			break
		}
	}
	return s
}

// encode and decodeOutcome are the store's form of an outcome.
func (o Outcome) encode() (string, error) {
	b, err := json.Marshal(o)
	return string(b), err
}

func decodeOutcome(s string) (Outcome, error) {
	var o Outcome
	err := json.Unmarshal([]byte(s), &o)
	return o, err
}
