package code

import (
	"strings"
	"testing"
)

// TestWrongListings holds that each mistake in a listing is an error that names its line.
func TestWrongListings(t *testing.T) {
	const head = "code \"f\" qualname \"f\" file \"t.py\" line 1 args 0 posonly 0 kwonly 0 flags 0x0 stack 2\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "code listing: no code object"},
		{"no end", head, "code listing, line 1: the last code object has no end"},
		{"code in code", head + head, "code listing, line 2: a code object begins inside another"},
		{"end alone", "end\n", "code listing, line 1: end without a code object"},
		{"name outside", "\nname 0 = \"x\"\n", "code listing, line 2: name outside a code object"},
		{"handler outside", "handler 0 to 1 -> 1 [0]\n", "code listing, line 1: handler outside a code object"},
		{"instruction outside", "1:0-1:1 0 NOP\n", "code listing, line 1: \"1:0-1:1\" is outside a code object"},
		{"name out of order", head + "name 1 = \"x\"\n", "code listing, line 2: name 1 out of order"},
		{"const out of order", head + "const 1 = None\n", "code listing, line 2: const 1 out of order"},
		{"unknown constant", head + "const 0 = nothing\n", "code listing, line 2: unknown constant \"nothing\""},
		{"no quotes", head + "local 0 = x\n", "code listing, line 2: a quoted string is wanted before \"x\""},
		{"too much", head + "const 0 = None None\n", "code listing, line 2: unexpected \"None\""},
		{"stack", strings.Replace(head, "stack 2", "stack -2", 1), "code listing, line 1: numbers out of range"},
		{"no span", head + "here 0 NOP\n", "code listing, line 2: \"here\" is no source range"},
		{"instruction out of order", head + "1:0-1:1 1 NOP\n", "code listing, line 2: instruction 1 out of order"},
		{"unknown instruction", head + "1:0-1:1 0 FLY\n", "code listing, line 2: unknown instruction \"FLY\""},
		{"jump too far", head + "1:0-1:1 0 JUMP_FORWARD 4\nend\n", "code listing, line 3: instruction 0: argument 4 of JUMP_FORWARD is out of range"},
		{"handler too far", head + "1:0-1:1 0 NOP\nhandler 0 to 2 -> 0 [0]\nend\n", "code listing, line 4: handler 0 to 2 -> 0 is out of range"},
		{"too few locals", strings.Replace(head, "args 0", "args 1", 1) + "end\n", "code listing, line 2: 1 parameters but 0 locals"},
		{"code that is not there", head + "const 0 = code 1\nend\n", "code listing: code 1 does not exist"},
		{"code before its owner", head + "end\n" + head + "end\n" + head + "const 0 = code 1\nend\n", "code listing: code 1 stands before its owner"},
	} {
		_, err := Parse(strings.NewReader(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
