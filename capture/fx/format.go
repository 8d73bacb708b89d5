package fx

import (
	"fmt"
	"strings"
)

// FormatNode is a node as a line of str(graph); users is how many nodes use n.
func FormatNode(n *Node, users int) string {
	arg := func(a Arg) string { return formatRef(a) }
	typ := ": "
	if n.Type != "" {
		typ = ": " + n.Type + " "
	}
	switch n.Op {
	case Placeholder:
		def := ""
		if len(n.Args) > 0 {
			def = "(default=" + arg(n.Args[0]) + ")"
		}
		return fmt.Sprintf("%%%s %s[num_users=%d] = placeholder[target=%s]%s", n.Name, typ, users, n.Target, def)
	case GetAttr:
		return fmt.Sprintf("%%%s %s[num_users=%d] = get_attr[target=%s]", n.Name, typ, users, n.Target)
	case Output:
		return "return " + FormatArg(n.Args[0])
	}
	args := make([]string, len(n.Args))
	for i, a := range n.Args {
		args[i] = arg(a)
	}
	kw := make([]string, len(n.Kwargs))
	for i, k := range n.Kwargs {
		kw[i] = k.Name + ": " + arg(k.Val)
	}
	tup := "(" + strings.Join(args, ", ")
	if len(args) == 1 {
		tup += ","
	}
	target := n.Target
	if n.Op == CallFunction {
		target = shownFunction(target)
	}
	return fmt.Sprintf("%%%s %s[num_users=%d] = %s[target=%s](args = %s), kwargs = {%s})", n.Name, typ, users, n.Op, target, tup, strings.Join(kw, ", "))
}

// shownFunction is a function as str(graph) names it: after its module and its own name.
func shownFunction(target string) string {
	if IsOverload(target) {
		return "torch.ops." + target
	}
	if module, name, ok := strings.Cut(target, ":"); ok {
		return module + "." + name[strings.LastIndexByte(name, '.')+1:]
	}
	if !strings.Contains(target, ".") {
		return "builtins." + target
	}
	return target
}

// formatRef is an argument with a % before the names of nodes.
func formatRef(a Arg) string {
	list := func(as []Arg) string {
		p := make([]string, len(as))
		for i, x := range as {
			p[i] = formatRef(x)
		}
		return strings.Join(p, ", ")
	}
	switch a := a.(type) {
	case *Node:
		return "%" + a.Name
	case Tuple:
		if len(a) == 1 {
			return "(" + list(a) + ",)"
		}
		return "(" + list(a) + ")"
	case List:
		return "[" + list(a) + "]"
	case string:
		return a
	}
	return FormatArg(a)
}
