package trace

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A Source is a file of the program, as far as it is shown.
type Source struct {
	Name  string       `json:"name"`
	Note  string       `json:"note,omitempty"` // why it is not whole
	Lines []SourceLine `json:"lines"`

	quoted map[int]string // what records say of its lines
}

// A SourceLine is a line of a file.
type SourceLine struct {
	Number int    `json:"n"`
	Text   string `json:"t"`
	Mark   string `json:"m,omitempty"` // captured, break, error or start; "" none
}

const (
	sourceBytes  = 2 << 20 // of a file that is read
	sourceAround = 6       // lines around what was captured
)

// where gives a file of the program a number from 1, and keeps what a graph says of its line.
func (c *Compile) where(o origin) int {
	for i, s := range c.Sources {
		if s.Name == o.file {
			s.quoted[o.line] = o.code
			return i + 1
		}
	}
	c.Sources = append(c.Sources, &Source{Name: o.file, quoted: map[int]string{o.line: o.code}})
	return len(c.Sources)
}

// source finds the lines of the files that the compilation is about. A file is read only if it is Python and has the lines that the trace quotes: a trace may come from
// another machine, and may name any file.
func (c *Compile) source() {
	marks := map[[2]int]string{}
	for _, g := range c.Graphs {
		for _, n := range g.Nodes {
			if n.File > 0 {
				marks[[2]int{n.File, n.At}] = "captured"
			}
		}
	}
	for _, b := range c.Breaks {
		if b.File == "" || b.Line == 0 {
			continue
		}
		quoted := c.quotedBy(b)
		i := c.where(origin{b.File, b.Line, quoted})
		if quoted == "" {
			delete(c.Sources[i-1].quoted, b.Line)
		}
		marks[[2]int{i, b.Line}] = "break"
	}
	own := 0
	for i, s := range c.Sources {
		if s.Name == c.File {
			own = i + 1
		}
	}
	for i, s := range c.Sources {
		var wanted []int
		for m := range marks {
			if m[0] == i+1 {
				wanted = append(wanted, m[1])
			}
		}
		if i+1 == own && c.Line > 0 {
			wanted = append(wanted, c.Line)
		}
		sort.Ints(wanted)
		wanted = slices.Compact(wanted)
		s.Lines = []SourceLine{}
		lines, note := fileLines(s)
		s.Note = note
		if lines == nil {
			for _, n := range wanted {
				if text, ok := s.quoted[n]; ok {
					s.Lines = append(s.Lines, SourceLine{n, text, marks[[2]int{i + 1, n}]})
				}
			}
			continue
		}
		shown := map[int]bool{}
		for _, n := range wanted {
			for k := max(1, n-sourceAround); k <= min(len(lines), n+sourceAround); k++ {
				shown[k] = true
			}
		}
		for n := range shown {
			mark := marks[[2]int{i + 1, n}]
			if mark == "" && i+1 == own && n == c.Line {
				mark = "start"
			}
			s.Lines = append(s.Lines, SourceLine{n, lines[n-1], mark})
		}
		slices.SortFunc(s.Lines, func(a, b SourceLine) int { return a.Number - b.Number })
	}
}

// quotedBy is the line of code that the text of a break has for its place.
func (c *Compile) quotedBy(b Break) string {
	lines := strings.Split(c.Texts[b.Text], "\n")
	for i, l := range lines {
		if strings.Contains(l, `File "`+b.File+`", line `) && i+1 < len(lines) {
			if _, rest, _ := strings.Cut(l, "line "); strings.HasPrefix(rest, strconv.Itoa(b.Line)+",") && strings.HasPrefix(lines[i+1], "    ") {
				return strings.TrimSpace(lines[i+1])
			}
		}
	}
	return ""
}

// fileLines reads a file that still has what records quote of it; else it says why it is not shown.
func fileLines(s *Source) ([]string, string) {
	if len(s.quoted) == 0 || filepath.Ext(s.Name) != ".py" || !filepath.IsAbs(s.Name) {
		return nil, "Only lines that the trace quotes are known."
	}
	st, err := os.Stat(s.Name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > sourceBytes {
		return nil, "The file is not on this machine; these are the lines that the trace quotes."
	}
	text, err := os.ReadFile(s.Name)
	if err != nil {
		return nil, "The file cannot be read; these are the lines that the trace quotes."
	}
	lines := strings.Split(string(text), "\n")
	for n, code := range s.quoted {
		if n < 1 || n > len(lines) || strings.TrimSpace(lines[n-1]) != strings.TrimSpace(code) {
			return nil, "The file on this machine is another one; these are the lines that the trace quotes."
		}
	}
	return lines, ""
}
