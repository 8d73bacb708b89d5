package breaks

import (
	"fmt"
	"slices"
	"strings"
)

// Reason says why a trace ends: a row of the table with the values of its slots. Nothing changes it after New.
type Reason struct {
	ID   ID
	Args []string // one for each slot of the row's form, in order
}

// Row is what is known about one reason.
type Row struct {
	// Form is PyTorch's wording. A name in braces is a slot that an argument fills; braces with nothing between them are text.
	Form string
	// Bare says that PyTorch ends the trace without its exception Unsupported: the name of the exception does not stand before
	// the words, and no counter counts the reason.
	Bare bool
	// Before says that PyTorch meets the reason before it begins to trace: it belongs to no line.
	Before bool
	// Missing says that the trace cannot do the instruction itself: the frame cannot go on behind it, though one that calls the frame can go on
	// behind that call.
	Missing bool
	// Frame says that no graph break can help: the whole frame runs as plain Python.
	Frame bool
	// Branch says that the trace ends at a branch of the frame itself: both ways have a resume function, and the place of the
	// break is known without a second attempt.
	Branch bool
	// Silent says that the trace had ended before the reason was found. The frame runs as plain Python, and nothing is reported.
	Silent bool
	// Explain is how torch._dynamo.explain words the reason; "" => as Form does.
	Explain string
	// UserError is what torch._dynamo.exc.UserError says where no break is allowed, before it names Docs; "" => the words of Form
	// alone.
	UserError string
	// UserErrorType is the error's kind, as torch._dynamo.exc.UserErrorType names it; "" => the exception is Unsupported.
	UserErrorType string
	// Class is the class of torch._dynamo.exc that is raised where no break is allowed, one below Unsupported; "" => Unsupported itself.
	Class string
	// Hint is a sentence on what a user can do; "" only where Silent is set.
	Hint string
	// Of are the values of the first slot that the row is for, where rows share a form: Find tells them apart by it; nil => all others.
	Of []string
	// Docs is the address of the page that PyTorch points to; "" => none.
	Docs string
}

// exception is the name under which PyTorch reports most reasons.
const exception = "Unsupported: "

// New is the reason id with args in its slots. It panics where id has no row or another number of slots.
func New(id ID, args ...string) Reason {
	if n := len(id.Row().Slots()); n != len(args) {
		panic(fmt.Sprintf("breaks: reason %q has %d slots, not %d", id.Row().Form, n, len(args)))
	}
	return Reason{id, args}
}

// Row is the row of id. It panics where there is none.
func (id ID) Row() Row {
	if id <= 0 || int(id) >= len(table) || table[id].Form == "" {
		panic(fmt.Sprintf("breaks: no reason has the number %d", id))
	}
	return table[id]
}

// All lists the identifiers of the table, in its order.
func All() []ID {
	ids := make([]ID, 0, len(table)-1)
	for id := range table[1:] {
		ids = append(ids, ID(id+1))
	}
	return ids
}

// Slots are the names of what fills the form, in order.
func (r Row) Slots() []string {
	var names []string
	r.parts(func(string) {}, func(name string) { names = append(names, name) })
	return names
}

// parts walks over the text and the slots of the form.
func (r Row) parts(text, slot func(string)) {
	for rest := r.Form; ; {
		before, after, found := strings.Cut(rest, "{")
		text(before)
		if !found {
			return
		}
		name, behind, _ := strings.Cut(after, "}")
		if name == "" {
			text("{}")
		} else {
			slot(name)
		}
		rest = behind
	}
}

// Message is the reason as the exception that ends the trace says it, and as counters count it.
func (r Reason) Message() string {
	var b strings.Builder
	args := r.Args
	r.ID.Row().parts(func(s string) { b.WriteString(s) }, func(string) {
		b.WriteString(args[0])
		args = args[1:]
	})
	return b.String()
}

// String is the reason as logs and records have it: with the name of the exception, where there is one.
func (r Reason) String() string {
	if r.ID.Row().Bare {
		return r.Message()
	}
	return exception + r.Message()
}

// Explain is the reason as torch._dynamo.explain words it.
func (r Reason) Explain() string {
	if s := r.ID.Row().Explain; s != "" {
		return s
	}
	return r.Message()
}

// Hint is one sentence on what a user can do about the break; "" for reasons that are never reported.
func (r Reason) Hint() string { return r.ID.Row().Hint }

// Find is the reason that a text was written for, by us or by a PyTorch: the row whose words it has, with the most of them where several fit. The name of an
// exception may stand before them. Rows of slots alone fit nothing.
func Find(text string) (ID, bool) {
	text = strings.TrimPrefix(text, exception)
	best, most := ID(0), 0
	for _, id := range All() {
		var words []string
		id.Row().parts(func(s string) { words = append(words, s) }, func(string) { words = append(words, "") })
		if of := id.Row().Of; of != nil && !slices.ContainsFunc(of, func(name string) bool { return strings.HasPrefix(text, words[0]+name+" ") }) {
			continue
		}
		if n := fit(words, text); n > most {
			best, most = id, n
		}
	}
	return best, best > 0
}

// fit is how many letters of a form a text has, with anything where the form has a slot, which "" stands for; 0 where it has another form, or fewer than six.
func fit(words []string, text string) int {
	n, anywhere := 0, false
	for i, w := range words {
		if w == "" {
			anywhere = true
			continue
		}
		at := strings.Index(text, w)
		if i == len(words)-1 && anywhere && strings.HasSuffix(text, w) {
			at = len(text) - len(w)
		}
		if at < 0 || at > 0 && !anywhere {
			return 0
		}
		text, anywhere = text[at+len(w):], false
		n += len(strings.TrimSpace(w))
	}
	if text != "" && !anywhere || n < 6 {
		return 0
	}
	return n
}
