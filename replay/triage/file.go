package triage

import (
	"regexp"
	"strings"
	"sync"

	"whittle/replay"
	"whittle/repros"
)

var (
	reMinimalHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^# Minimal repro written by whittle`) })
	reFailureHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^# Failure: (compile|run|accuracy|eager|load)?(?:: )?([\w.]+)(?:: (.*))?$`)
	})
	reFrameTail = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|: )([\w.<>]+ in \S+\.py)$`) })
	reTitleHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^# (?:(SIG[A-Z]+) while the graph was to (\w+)|(a hang) while the graph was to (\w+)|(the compiled graph's results differ) from eager's|([\w.]*\w): (.*)) \((?:after aot|after dynamo, backend .*)\)$`)
	})
	reLastError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Failed|Interrupt|Exit|Unsupported|Warning))(?:: |$)`)
	})
)

// FromFile makes a failure of a repro, its text, and the error as Python printed it; "" where that is not known. Then the head of a file that whittle wrote
// says what failed. A file that says nothing failed by wrong results where it compares results, else by an error that is not known.
func FromFile(r *repros.Repro, text, raw string) replay.Failure {
	f := replay.Failure{Raw: raw, Repro: text, Signature: replay.Signature{Stage: "compile"}}
	if r.Accuracy != "" && r.Accuracy != repros.NoAccuracy {
		f.Signature = replay.Signature{Stage: "accuracy", Type: "AccuracyError"}
	}
	for _, line := range r.Head {
		if m := reFailureHead().FindStringSubmatch(line); m != nil {
			f.Signature = replay.Signature{Stage: m[1], Type: m[2], Message: m[3]}
			if at := reFrameTail().FindStringSubmatchIndex(m[3]); at != nil {
				f.Signature.Message, f.Signature.Frame = m[3][:at[0]], m[3][at[2]:at[3]]
			}
			return f
		}
		m := reTitleHead().FindStringSubmatch(line)
		switch {
		case m == nil:
			continue
		case m[1] != "":
			f.Signature = replay.Signature{Stage: m[2], Type: m[1]}
		case m[3] != "":
			f.Signature = replay.Signature{Stage: m[4], Type: "timeout"}
		case m[5] != "":
			f.Signature = replay.Signature{Stage: "accuracy", Type: "AccuracyError"}
		case raw == "": // the first line of the error: the whole is better
			f.Signature = replay.Signature{Stage: "compile", Type: m[6], Message: replay.Normalise(m[7])}
		default:
			continue
		}
		return f
	}
	// The last exception of a traceback, or of several, is the one that ended the program.
	if all := reLastError().FindAllStringSubmatchIndex(raw, -1); len(all) > 0 && f.Signature.Stage != "accuracy" {
		at := all[len(all)-1]
		f.Signature.Type = raw[at[2]:at[3]]
		for _, a := range all[:len(all)-1] { // of a text that goes over lines its own first one is the exception: what comes after is not indented either
			if !strings.Contains(raw[a[0]:at[0]], "\nTraceback ") && !strings.Contains(raw[a[0]:at[0]], "\n  File ") {
				at = a
				f.Signature.Type = raw[at[2]:at[3]]
				break
			}
		}
		f.Signature.Message = replay.Normalise(strings.TrimSpace(raw[at[1]:]))
		if base := f.Signature.Type[strings.LastIndexByte(f.Signature.Type, '.')+1:]; base == "AccuracyError" {
			f.Signature.Stage = "accuracy"
		}
	}
	return f
}

// isMinimal reports whether a repro says that it is the result of a search.
func isMinimal(r *repros.Repro) bool {
	return len(r.Head) > 0 && reMinimalHead().MatchString(r.Head[0])
}
