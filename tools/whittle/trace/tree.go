package trace

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A branch of the tree is a call of the program, a frame with its compilations, or a break with the frames that go on behind it.
type branch struct {
	Call     *Call
	Frame    []*Compile // of one frame, in order
	Break    *Break
	Of       *Compile // the compilation that a break is of
	Children []*branch

	below map[Call]*branch
}

var reResume = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^torch_dynamo_resume_in_(.*)_at_(\d+)$`) })

// tree says who compiled what: calls of the program, frames below the line that called them, breaks below the compilation that has them, and below a break the frame that goes
// on behind it.
func (t *Trace) tree(log int) []*branch {
	root := &branch{}
	frames := map[int]*branch{}       // by the number of a frame's latest compilation
	breaks := map[string]*branch{}    // by file and line, the latest
	heads := map[*Compile][]*branch{} // a compilation's breaks
	for _, c := range t.Compiles {
		if c.Log != log {
			continue
		}
		var b *branch
		if before := frames[c.Before]; c.Before >= 0 && before != nil {
			b = before
			b.Frame = append(b.Frame, c)
		} else {
			b = &branch{Frame: []*Compile{c}}
			parent := root
			if m := reResume().FindStringSubmatch(c.Name); m != nil && breaks[c.File+":"+m[2]] != nil {
				parent = breaks[c.File+":"+m[2]]
			} else {
				for _, call := range c.Stack {
					parent = parent.call(call)
				}
			}
			parent.Children = append(parent.Children, b)
		}
		frames[c.Number] = b
		for i := range c.Breaks {
			k := &branch{Break: &c.Breaks[i], Of: c}
			heads[c] = append(heads[c], k)
			breaks[c.Breaks[i].File+":"+strconv.Itoa(c.Breaks[i].Line)] = k
			for _, at := range c.Breaks[i].places {
				breaks[at] = k
			}
		}
	}
	root.settle(heads)
	return root.Children
}

// call is the branch of a call below another one.
func (b *branch) call(c Call) *branch {
	c.Text = ""
	if b.below == nil {
		b.below = map[Call]*branch{}
	}
	if b.below[c] == nil {
		b.below[c] = &branch{Call: &c}
		b.Children = append(b.Children, b.below[c])
	}
	return b.below[c]
}

// settle hangs the breaks below their frames. No branch is below itself, as a break's frames came after it.
func (b *branch) settle(breaks map[*Compile][]*branch) {
	for _, c := range b.Children {
		c.settle(breaks)
	}
	for _, c := range b.Frame {
		for _, k := range breaks[c] {
			k.settle(breaks)
		}
		b.Children = append(b.Children, breaks[c]...)
	}
}

// BreaksOf are the breaks of one compilation of the frame.
func (b *branch) BreaksOf(c *Compile) []*branch {
	var out []*branch
	for _, k := range b.Children {
		if k.Of == c {
			out = append(out, k)
		}
	}
	return out
}

// short is a path without most of its folders.
func short(path string) string {
	dir, file := filepath.Split(path)
	if parent := filepath.Base(dir); file != "" && parent != "." && parent != "/" && len(parent) < 24 {
		return parent + "/" + file
	}
	return cmpOr(file, path)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// place is a line of a file, for people.
func place(file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", short(file), line)
}

// called is the name of a function as its author knows it: what goes on behind a break goes by a name of Dynamo's.
func called(name string) string {
	for i := 0; i < 50; i++ {
		m := reResume().FindStringSubmatch(name)
		if m == nil {
			break
		}
		if !strings.HasPrefix(m[1], "torch_dynamo_resume_in_") {
			return m[1] + ", from line " + m[2] + " on"
		}
		name = m[1]
	}
	return name
}

// sign is a mark, and the word for who does not see it.
type sign struct{ Mark, Word, Class string }

var signs = map[Status]sign{
	Error: {"✗", "failed", "bad"}, Broken: {"✂", "with a graph break", "warn"}, Again: {"↻", "compiled again", "odd"}, Whole: {"✓", "one graph", "good"},
	Empty: {"∅", "no graph", "none"}, Open: {"…", "not ended", "none"},
}
