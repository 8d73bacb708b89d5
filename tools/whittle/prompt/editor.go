package prompt

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrInterrupt says that Ctrl-C was pressed in place of the end of a line.
var ErrInterrupt = errors.New("interrupted")

// Editor reads lines from a terminal, which a person may edit, and take again from those before.
type Editor struct {
	// Complete gives what may stand for the word that ends at pos of line, and where that word begins; nil => a tab is four spaces.
	Complete func(line string, pos int) (start int, words []string)

	in, out *os.File
	keys    *keys
	term    *term.Terminal
	history *history
}

// New makes an editor over in and out; ok is false where one of them is no terminal. The lines are kept in the file history, unless that is empty.
func New(in, out *os.File, history string) (e *Editor, ok bool) {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, false
	}
	e = &Editor{in: in, out: out, keys: &keys{from: in}, history: openHistory(history)}
	e.begin()
	return e, true
}

// begin makes a terminal with an empty line. One that has told of an end of the input would tell of it again.
func (e *Editor) begin() {
	e.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, e.out}, "")
	e.term.History = e.history
	e.term.AutoCompleteCallback = e.tab
}

// ReadLine shows a prompt and reads a line, which is returned without its end: io.EOF for Ctrl-D on an empty line, ErrInterrupt for Ctrl-C. The
// terminal is as it was when ReadLine returns.
func (e *Editor) ReadLine(prompt string) (string, error) {
	fd := int(e.in.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, state) }()
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		_ = e.term.SetSize(width, height) // it always works for a terminal that has not begun to read
	}
	e.term.SetPrompt(prompt)
	e.keys.interrupted = false
	line, err := e.term.ReadLine()
	if err == nil || errors.Is(err, term.ErrPasteIndicator) {
		return line, nil
	}
	e.begin()
	if err == io.EOF && e.keys.interrupted {
		return "", ErrInterrupt
	}
	return "", err
}

// tab is what a key does to a line: for a tab it completes the word before it, as far as all that may stand there agree, and lists them where
// they do not go on alike.
func (e *Editor) tab(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	insert := func(start int, text string) (string, int, bool) {
		return line[:start] + text + line[pos:], start + len(text), true
	}
	if e.Complete == nil || strings.TrimSpace(line[:pos]) == "" {
		return insert(pos, "    ")
	}
	start, words := e.Complete(line, pos)
	if len(words) == 0 {
		return line, pos, true
	}
	common := words[0]
	for _, w := range words[1:] {
		n := 0
		for n < len(common) && n < len(w) && common[n] == w[n] {
			n++
		}
		common = common[:n]
	}
	if len(common) > pos-start {
		return insert(start, common)
	}
	if len(words) > 1 {
		_, _ = e.term.Write(columns(words))
	}
	return line, pos, true
}

// columns are words as lines of at most 80 characters.
func columns(words []string) []byte {
	width := 0
	for _, w := range words {
		width = max(width, len(w)+2)
	}
	var b bytes.Buffer
	for i, w := range words {
		b.WriteString(w)
		if i == len(words)-1 || (i+1)%max(80/width, 1) == 0 {
			b.WriteString("\n")
		} else {
			b.Write(bytes.Repeat([]byte(" "), width-len(w)))
		}
	}
	return b.Bytes()
}

// keys are what a person types. The terminal takes Ctrl-C for the end of the input; keys remember that it was one.
type keys struct {
	from        io.Reader
	interrupted bool
}

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.from.Read(p)
	k.interrupted = k.interrupted || bytes.IndexByte(p[:n], 3) >= 0
	return n, err
}
