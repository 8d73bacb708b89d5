package fx

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Calls of torch._numpy have wrappers for targets, which the text of a graph makes where it calls them, so that the text says all:
//
//	torch._dynamo.utils.numpy_method_wrapper('sum')(l_a_)
//
// PyTorch prints the name that the wrapper has among the globals of the generated code, which does not tell what it wraps.

var wrapperCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`torch\._dynamo\.utils\.numpy_(to_tensor|method|operator)_wrapper\(([^()]*)\)\(`)
})

const attrCall = "torch._dynamo.utils.numpy_attr_wrapper("

// functionNames are the names of functions of torch._numpy that are called after the function of torch that they are made of.
var functionNames = map[string]string{"power": "pow", "equal": "eq", "mod": "remainder", "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
	"conj": "conj_physical", "conjugate": "conj_physical", "fabs": "absolute", "abs": "absolute", "fix": "round", "rint": "round", "invert": "bitwise_not",
	"radians": "deg2rad", "degrees": "rad2deg", "alltrue": "all", "sometrue": "any"}

// shownCalls prints the wrappers in the text of a graph as PyTorch does. Each call has a wrapper of its own, so that names are numbered; used
// counts them.
func shownCalls(text string, used map[string]int) string {
	if !strings.Contains(text, "torch._dynamo.utils.numpy_") {
		return text
	}
	text = strings.ReplaceAll(text, attrCall, "torch__dynamo_utils_numpy_attr_wrapper(")
	return wrapperCall().ReplaceAllStringFunc(text, func(call string) string {
		m := wrapperCall().FindStringSubmatch(call)
		name := strings.Trim(m[2], "'")
		name = name[strings.LastIndex(name, ".")+1:]
		if m[1] == "to_tensor" && functionNames[name] != "" {
			name = functionNames[name]
		}
		name = "torch__dynamo_utils_wrapped_" + name
		n := used[name]
		used[name] = n + 1
		if n > 0 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
		return name + "("
	})
}

// ShownCalls is shownCalls for the whole text of one graph.
func ShownCalls(text string) string { return shownCalls(text, map[string]int{}) }
