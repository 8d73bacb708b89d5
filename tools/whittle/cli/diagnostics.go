package cli

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What GCC, clang and the linker print, by line.
var (
	// FILE:LINE:COLUMN: error: ..., or the name of a program in place of the file. In an instantiation GCC has FILE:LINE:COLUMN: in between.
	reDiagnostic = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\S[^|]*?:(?:\d+:){0,2}) (fatal error|error|warning|note|remark|sorry, unimplemented): `)
	})
	// Where the next diagnostic is: these lines come before it, and GCC says them once for all that follow in the same place.
	rePlace = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:In file included from .*[,:]|In module imported at .*|\s+from \S.*[,:]|\S[^|]*?:(?:\d+:){0,2} (?:In .*:|At global scope:|At top level:|\s*(?:recursively )?required (?:from|by) .*|\s*in .constexpr. expansion of .*))$`)
	})
	// How the whole ended.
	reEnd = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:compilation terminated\.|.*being treated as errors|.*returned \d+ exit status|.*\berrors? generated\.)$`)
	})
	reGenerated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+ warnings? generated\.$`) })
)

// withoutWarnings leaves the warnings out of what a C++ compiler printed, wherever that stands in text, with all lines that belong to them,
// and says how many there were. Errors stay with their notes, excerpts and the lines that lead to them. A text without an error stays as it is.
func withoutWarnings(text string) (out string, warnings int) {
	lines := strings.Split(text, "\n")
	var kept, place []string
	file := ""       // of the last diagnostic
	said := true     // place is in kept, or empty
	leading := false // the last diagnostic or place line was one of place
	keep, errs := true, false
	for _, l := range lines {
		kind := ""
		if m := reDiagnostic().FindStringSubmatch(l); m != nil {
			kind = m[1]
			now, _, _ := strings.Cut(l, ":")
			if !leading && now != file { // what led to another file says nothing about this one
				place, said = nil, true
			}
			file = now
		}
		switch {
		case kind == "warning":
			warnings++
			keep, leading = false, false
		case kind == "note" || kind == "remark":
			if keep {
				kept = append(kept, l)
			}
			leading = false
		case kind != "":
			if !said {
				kept, said = append(kept, place...), true
			}
			kept = append(kept, l)
			keep, errs, leading = true, true, false
		case reGenerated().MatchString(l):
		case l == "" || reEnd().MatchString(l):
			if leading && !said { // no diagnostic that we know follows
				kept, said = append(kept, place...), true
			}
			kept = append(kept, l)
			keep, leading = true, false
		case rePlace().MatchString(l):
			if !leading {
				place = nil
			}
			place, said, leading = append(place, l), false, true
		case leading: // an excerpt of where something is required
			place = append(place, l)
		case keep:
			kept = append(kept, l)
		}
	}
	if leading && !said {
		kept = append(kept, place...)
	}
	if !errs || warnings == 0 {
		return text, 0
	}
	return strings.Join(slices.Clip(kept), "\n"), warnings
}
