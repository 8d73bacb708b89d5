package fx

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/python"
)

// ParseError says where a text stops being a graph, and which construct is not understood.
type ParseError struct {
	File string
	Line int // 1-based
	Msg  string
}

// Error is "file:line: message", the form that editors jump to.
func (e *ParseError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// Source is a Python file's syntax tree, for the readers of graphs and repros.
type Source struct {
	File string
	Text []byte
	Root *sitter.Node
	tree *sitter.Tree // keeps Root alive

	classes  map[string]*classAt // classes with a forward at the top of the file, and those that only comments hold
	building map[string]bool     // classes under way, to refuse cycles
	used     map[string]bool     // classes that were read
}

// classAt is a class and the text that it is in: its own source where it stands in comments.
type classAt struct {
	src  *Source
	node *sitter.Node
}

// ParseSource parses Python text. A syntax error is an error with its line. What PyTorch prints although it is no Python
// (module reprs over several lines, `<lambda>`) is kept as text: see InitLine.Unread.
func ParseSource(file, text string) (*Source, error) {
	if !utf8.ValidString(text) {
		return nil, &ParseError{file, 1, "the text is not UTF-8"}
	}
	b := []byte(quoteReprs(text))
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(python.GetLanguage())
	tree, err := p.ParseCtx(context.Background(), nil, b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := &Source{File: file, Text: b, Root: tree.RootNode(), tree: tree, building: map[string]bool{}, used: map[string]bool{}}
	if s.Root.HasError() {
		if n := firstError(s.Root); n != nil {
			return nil, s.Errorf(n, "not valid Python here: %s", s.snippet(n))
		}
	}
	return s, nil
}

// The forms of quoteReprs. A repr over several lines opens behind a class name; its children look like "(name): ".
var (
	reprOpens = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\s+self\.\w+ = )((?:<lambda>|[A-Za-z_][\w.]*)\()$`)
	})
	reprChild   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s+\([^()]*\): `) })
	lambdaInit  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s+self\.\w+ = )(<lambda>\(\))$`) })
	lambdaClass = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*class )<lambda>(\()`) })
	gradFn      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s+self\..*tensor\(.*), grad_fn=<\w+>`) })
)

// unreadCall marks text that stands where Python should; lambdaName is the class name that stands for <lambda>.
const (
	unreadCall = "_unread_"
	lambdaName = "_lambda_"
)

// quoteReprs turns what is no Python into strings, so that the rest of the file can be read. Lines keep their numbers.
func quoteReprs(text string) string {
	if !strings.Contains(text, "<lambda>") && !strings.Contains(text, "grad_fn=<") && !strings.Contains(text, "(\n") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case lambdaInit().MatchString(l):
			lines[i] = lambdaInit().ReplaceAllString(l, `${1}`+unreadCall+`("""${2}""")`)
		case lambdaClass().MatchString(l):
			lines[i] = lambdaClass().ReplaceAllString(l, "${1}"+lambdaName+"${2}")
		case gradFn().MatchString(l):
			lines[i] = gradFn().ReplaceAllString(l, "${1}")
		case reprOpens().MatchString(l) && i+1 < len(lines) && reprChild().MatchString(lines[i+1]):
			end := reprEnd(lines, i+1)
			if end < 0 || strings.Contains(strings.Join(lines[i:end+1], "\n"), `"""`) {
				continue
			}
			lines[i] = reprOpens().ReplaceAllString(l, `${1}`+unreadCall+`("""${2}`)
			lines[end] += `""")`
			i = end
		}
	}
	return strings.Join(lines, "\n")
}

// reprEnd is the line that closes a repr whose first child stands at from, -1 for none.
func reprEnd(lines []string, from int) int {
	indent := func(l string) int { return len(l) - len(strings.TrimLeft(l, " ")) }
	inner := indent(lines[from])
	for i := from; i < len(lines); i++ {
		if l := lines[i]; indent(l) < inner {
			if strings.TrimSpace(l) == ")" {
				return i
			}
			return -1
		}
	}
	return -1
}

// firstError is the first node at which the text is no Python, nil for none.
func firstError(n *sitter.Node) *sitter.Node {
	if n.IsError() || n.IsMissing() {
		return n
	}
	for i := 0; i < int(n.ChildCount()); i++ {
		if c := n.Child(i); c.HasError() || c.IsMissing() || c.IsError() {
			if e := firstError(c); e != nil {
				return e
			}
		}
	}
	return nil
}

// Errorf makes a ParseError at a syntax node.
func (s *Source) Errorf(n *sitter.Node, format string, args ...any) error {
	return &ParseError{s.File, int(n.StartPoint().Row) + 1, fmt.Sprintf(format, args...)}
}

// Content is the text of a syntax node.
func (s *Source) Content(n *sitter.Node) string { return n.Content(s.Text) }

// snippet is the text of a syntax node for a message, shortened.
func (s *Source) snippet(n *sitter.Node) string {
	t := s.Content(n)
	if t == "" { // a missing token: show its line
		lines := strings.Split(string(s.Text), "\n")
		if r := int(n.StartPoint().Row); r < len(lines) {
			t = strings.TrimSpace(lines[r])
		}
	}
	if i := strings.IndexByte(t, '\n'); i >= 0 {
		t = t[:i]
	}
	if len(t) > 80 {
		t = t[:80] + "..."
	}
	return strconv.Quote(t)
}
