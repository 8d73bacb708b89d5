package torch

import (
	"fmt"
	"regexp"
	"strings"

	"whittle/capture/python/vm"
)

// A fileCheck is PyTorch's FileCheck: what a text has to contain, in order.
type fileCheck struct {
	checks []textCheck
	class  *vm.Type
}

func (f *fileCheck) Type() *vm.Type { return f.class }

// A textCheck is one row of a FileCheck.
type textCheck struct {
	kind  checkKind
	text  string
	count int // of checkCount; checkCountExactly says that there are no more
}

// A checkKind says how a text is looked for.
type checkKind int

const (
	checkAfter       checkKind = iota // somewhere after the match before
	checkNext                         // on the line after that match
	checkSame                         // on the line of that match
	checkNot                          // not before the match after it
	checkCount                        // so many times, each after the one before
	checkDAG                          // like its neighbours of this kind, in any order
	checkRegex                        // an expression
	checkHighlighted                  // with ~ below it, on the next line
)

// label is the name by which a message calls the check.
func (c textCheck) label() string {
	switch c.kind {
	case checkNext:
		return "CHECK-NEXT"
	case checkSame:
		return "CHECK-SAME"
	case checkNot:
		return "CHECK-NOT"
	case checkCount:
		return fmt.Sprintf("CHECK-COUNT-%d", c.count)
	case checkDAG:
		return "CHECK-DAG"
	case checkRegex:
		return "CHECK-REGEX"
	case checkHighlighted:
		return "CHECK-SOURCE-HIGHLIGHTED"
	}
	return "CHECK"
}

// find is where the check's text stands in s from a position on.
func (c textCheck) find(s string, from int) (begin, end int, err error) {
	if c.kind == checkRegex {
		re, err := regexp.Compile(c.text)
		if err != nil {
			return 0, 0, err
		}
		if at := re.FindStringIndex(s[from:]); at != nil {
			return from + at[0], from + at[1], nil
		}
		return 0, 0, fmt.Errorf("Expected to find regex %q but did not find it\nSearched string:\n%s\nFrom %s: %s\n", c.text, s[from:], c.label(), c.text)
	}
	if i := strings.Index(s[from:], c.text); i >= 0 {
		return from + i, from + i + len(c.text), nil
	}
	line := strings.LastIndexByte(s[:from], '\n') + 1
	return 0, 0, fmt.Errorf("Expected to find %s but did not find it\nSearched string:\n%s\nFrom %s: %s\n", quoted(c.text), s[line:], c.label(), c.text)
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"` }

// absent fails if text stands in s[from:to].
func (c textCheck) absent(s, text string, from, to int) error {
	i := strings.Index(s[from:to], text)
	if i < 0 {
		return nil
	}
	return fmt.Errorf("Expected to not find %s but found it\n%sFrom %s: %s\n", quoted(text), highlight(s, from+i, from+i+len(text)), c.label(), c.text)
}

// highlight is the text with a mark below s[begin:end].
func highlight(s string, begin, end int) string {
	lineStart := strings.LastIndexByte(s[:begin], '\n') + 1
	lineEnd := len(s)
	if i := strings.IndexByte(s[begin:], '\n'); i >= 0 {
		lineEnd = begin + i
	}
	mark := strings.Repeat(" ", begin-lineStart) + strings.Repeat("~", max(1, min(end, lineEnd)-begin)) + " <--- HERE"
	return s[:lineEnd] + "\n" + mark + strings.TrimSuffix(s[lineEnd:], "\n") + "\n"
}

// run checks a text; the error says what was wanted and where it was looked for.
func (f *fileCheck) run(s string) error {
	if len(f.checks) == 0 {
		return fmt.Errorf("No checks have been added to this instance ofFilecheck! Check for bad input.")
	}
	end := 0 // of the last match
	var not []textCheck
	// What must not come before a match is looked for once the match is known.
	between := func(begin int) error {
		for _, n := range not {
			if err := n.absent(s, n.text, end, begin); err != nil {
				return err
			}
		}
		not = nil
		return nil
	}
	for i := 0; i < len(f.checks); i++ {
		c := f.checks[i]
		switch c.kind {
		case checkNot:
			not = append(not, c)
		case checkDAG:
			first, last := len(s), end
			for ; i < len(f.checks) && f.checks[i].kind == checkDAG; i++ {
				b, e, err := f.checks[i].find(s, end)
				if err != nil {
					return err
				}
				first, last = min(first, b), max(last, e)
			}
			i--
			if err := between(first); err != nil {
				return err
			}
			end = last
		case checkCount:
			first := -1
			at := end
			for range c.count {
				b, e, err := c.find(s, at)
				if err != nil {
					return err
				}
				if first < 0 {
					first = b
				}
				at = e
			}
			if err := between(max(first, end)); err != nil {
				return err
			}
			end = at
		default:
			b, e, err := c.find(s, end)
			if err != nil {
				return err
			}
			if err := between(b); err != nil {
				return err
			}
			lines := strings.Count(s[end:b], "\n")
			switch {
			case c.kind == checkSame && lines > 0:
				return c.absent(s, "\n", end, b)
			case c.kind == checkNext && lines == 0:
				return fmt.Errorf("Expected to find \"\\n\" but did not find it\nSearched string:\n%s\nFrom %s: %s\n", s[end:b], c.label(), c.text)
			case c.kind == checkNext && lines > 1:
				newline := end + strings.IndexByte(s[end:], '\n')
				return c.absent(s, "\n", newline+1, b)
			case c.kind == checkHighlighted && !marked(s, b, e):
				return fmt.Errorf("Expected to find highlighted %s but it is not\n%sFrom %s: %s\n", quoted(c.text), highlight(s, b, e), c.label(), c.text)
			}
			end = e
		}
	}
	return between(len(s))
}

// marked says whether the line below s[begin:end] has ~ below all of it.
func marked(s string, begin, end int) bool {
	lineStart := strings.LastIndexByte(s[:begin], '\n') + 1
	i := strings.IndexByte(s[begin:], '\n')
	if i < 0 {
		return false
	}
	below := s[begin+i+1:]
	from, to := begin-lineStart, end-lineStart
	return len(below) >= to && below[from:to] == strings.Repeat("~", to-from) &&
		(from == 0 || below[from-1] != '~') && (len(below) == to || below[to] != '~')
}

// registerFileCheck binds torch._C.FileCheck.
func (t *Torch) registerFileCheck() {
	add := func(name string, kind checkKind) vm.GoFunc {
		return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if len(a) != 2 {
				return nil, in.Errorf(in.Exc.TypeError, "%s() takes one text", name)
			}
			text, ok := vm.AsStr(a[1])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "%s(): argument must be str, not %s", name, a[1].Type().Name)
			}
			f := a[0].(*fileCheck)
			f.checks = append(f.checks, textCheck{kind: kind, text: text})
			return f, nil
		}
	}
	var class *vm.Type
	class = t.In.NewNativeType(vm.Spec{Name: "FileCheck", Module: "torch._C", NoDict: true,
		New: func(*vm.Interp, *vm.Type, []vm.Object, []vm.KwArg) (vm.Object, error) {
			return &fileCheck{class: class}, nil
		},
		Methods: map[string]vm.GoFunc{
			"check": add("check", checkAfter), "check_next": add("check_next", checkNext), "check_same": add("check_same", checkSame), "check_not": add("check_not", checkNot),
			"check_dag": add("check_dag", checkDAG), "check_regex": add("check_regex", checkRegex), "check_source_highlighted": add("check_source_highlighted", checkHighlighted),
			"check_count": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				for _, k := range kw {
					if k.Name != "exactly" || len(a) > 3 {
						return nil, in.Errorf(in.Exc.TypeError, "check_count() got an unexpected keyword argument '%s'", k.Name)
					}
					a = append(a[:len(a):len(a)], k.Value)
				}
				if len(a) < 3 {
					return nil, in.Errorf(in.Exc.TypeError, "check_count() takes a text and a number")
				}
				text, isText := vm.AsStr(a[1])
				n, isInt := vm.AsInt(a[2])
				if !isText || !isInt {
					return nil, in.Errorf(in.Exc.TypeError, "check_count(): incompatible function arguments")
				}
				f := a[0].(*fileCheck)
				if n > 0 {
					f.checks = append(f.checks, textCheck{kind: checkCount, text: text, count: int(n)})
				}
				if len(a) > 3 {
					exactly, err := in.Truth(a[3])
					if err != nil {
						return nil, err
					}
					if exactly {
						f.checks = append(f.checks, textCheck{kind: checkNot, text: text})
					}
				}
				return f, nil
			},
			"run": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				if len(a) != 2 {
					return nil, in.Errorf(in.Exc.TypeError, "run() takes one text")
				}
				text, ok := vm.AsStr(a[1])
				if !ok { // a graph checks the text of itself
					s, err := in.Str(a[1])
					if err != nil {
						return nil, err
					}
					text = s
				}
				if err := a[0].(*fileCheck).run(text); err != nil {
					return nil, in.Errorf(in.Exc.RuntimeError, "%s", err.Error())
				}
				return vm.None, nil
			},
		}})
	t.c.Set("FileCheck", class)
}
