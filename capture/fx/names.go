package fx

import (
	"strconv"
	"strings"
)

// namespace hands out node names in torch.fx's manner: a stem, and _1, _2 ... for later uses.
type namespace struct {
	used map[string]bool
	base map[string]int // last number given per stem
}

// init makes the maps, which a zero namespace lacks.
func (ns *namespace) init() {
	if ns.used == nil {
		ns.used, ns.base = map[string]bool{}, map[string]int{}
	}
}

// illegal are the names that a generated forward may not shadow: Python's
// keywords and builtins, and what the generated module binds itself.
var illegal = func() map[string]bool {
	m := map[string]bool{}
	const words = `False None True and as assert async await break class continue def del elif else except finally for
from global if import in is lambda nonlocal not or pass raise return try while with yield
ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError BufferError
BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError
DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception ExceptionGroup FileExistsError
FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError
IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError
NameError NotADirectoryError NotImplemented NotImplementedError OSError OverflowError PendingDeprecationWarning
PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration
StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError
UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning
ZeroDivisionError __build_class__ __debug__ __doc__ __import__ __loader__ __name__ __package__ __spec__ abs aiter all
anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright credits delattr
dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input
int isinstance issubclass iter len license list locals map max memoryview min next object oct open ord pow print
property quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip
inf nan NoneType torch device fx_pytree pytree`
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}()

// builtinFuncs are the builtins that graphs call or pass as values.
var builtinFuncs = map[string]bool{}

func init() {
	for _, w := range strings.Fields("__build_class__ __import__ ascii bin breakpoint chr compile delattr dir eval exec exit format globals help hex input issubclass locals oct open ord quit vars " +
		"abs aiter all anext any bool callable complex dict divmod float getattr hasattr hash id int isinstance iter len list max min next object pow print range repr reversed round set setattr slice sorted str sum tuple type zip") {
		builtinFuncs[w] = true
	}
}

// create makes candidate unique and a legal identifier.
func (ns *namespace) create(candidate string) string {
	ns.init()
	if !nameRE(candidate) {
		candidate = sanitise(candidate)
	}
	stem, num, hasNum := splitName(candidate)
	if hasNum {
		candidate = stem + "_" + strconv.Itoa(num)
	} else {
		num = ns.base[stem]
	}
	if ns.used[candidate] || illegal[candidate] {
		for {
			num++
			candidate = stem + "_" + strconv.Itoa(num)
			if !ns.used[candidate] && !illegal[candidate] {
				break
			}
		}
	}
	ns.used[candidate] = true
	ns.base[stem] = num
	return candidate
}

// claim marks a name read from a text as taken.
func (ns *namespace) claim(name string) {
	ns.init()
	ns.used[name] = true
}

// splitName separates a trailing _123; the stem of _1 is empty.
func splitName(s string) (stem string, num int, ok bool) {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	if i == len(s) || i < 1 || s[i-1] != '_' {
		return s, 0, false
	}
	n, err := strconv.Atoi(s[i:])
	if err != nil {
		return s, 0, false
	}
	return s[:i-1], n, true
}

// nameRE reports whether s may be a name as it stands: an identifier that begins with no digit.
func nameRE(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return isIdent(s)
}

// isIdent reports whether s is an ASCII Python identifier (keywords included).
func isIdent(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9' {
			continue
		}
		return false
	}
	return s != ""
}

// sanitise turns runs of characters that identifiers lack into one underscore.
func sanitise(s string) string {
	var b strings.Builder
	bad := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			b.WriteByte(c)
			bad = false
		} else if !bad {
			b.WriteByte('_')
			bad = true
		}
	}
	s = b.String()
	if s == "" {
		return "_unnamed"
	}
	if s[0] >= '0' && s[0] <= '9' {
		s = "_" + s
	}
	return s
}

// SnakeCase is torch.fx's: an underscore between a lower-case letter and an upper-case one, then lower case.
func SnakeCase(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			if i > 0 && s[i-1] >= 'a' && s[i-1] <= 'z' {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// stemOf is the name that a node of this target is called after.
func stemOf(op Op, target string) string {
	s := target
	if op == CallFunction {
		parts := strings.FieldsFunc(target, func(r rune) bool { return r == '.' || r == ':' })
		if IsOverload(target) {
			s = parts[1] // tracers name nodes after the packet: aten.add.Tensor => add
		} else {
			s = parts[len(parts)-1]
		}
	}
	if len(s) > 4 && strings.HasPrefix(s, "__") && strings.HasSuffix(s, "__") {
		s = s[2 : len(s)-2]
	}
	return SnakeCase(s)
}

// IsOverload reports whether a target is an operator overload (aten.add.Tensor, prims.iota.default). A function of a package whose name
// would have the same form is written with a colon behind its module: einops.einops:rearrange.
func IsOverload(target string) bool {
	i := strings.IndexByte(target, '.')
	if i <= 0 {
		return false
	}
	switch target[:i] {
	case "torch", "operator", "math", "builtins":
		return false
	}
	return strings.Count(target, ".") == 2 && !strings.Contains(target, ":")
}
