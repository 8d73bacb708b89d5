package prompt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// mostLines is how many lines of the history come back; a file of twice as many is shortened to them.
const mostLines = 1000

// history is the lines that were typed, this time and before. It is what golang.org/x/term wants of one.
type history struct {
	file  string // empty for none
	lines []string
}

// openHistory reads the lines that a file keeps. One that is not there, or cannot be read, has none.
func openHistory(file string) *history {
	h := &history{file: file}
	if file == "" {
		return h
	}
	text, err := os.ReadFile(file)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.file = ""
		}
		return h
	}
	h.lines = strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	if n := len(h.lines); n > mostLines {
		h.lines = h.lines[n-mostLines:]
		if n > 2*mostLines {
			_ = renameio.WriteFile(file, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600) // it is only longer if that fails
		}
	}
	return h
}

// Add notes a line. One that is empty, or the same as the last, is not worth it. The file gets it at once, as several prompts may share one.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || strings.ContainsRune(line, '\n') || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if h.file == "" {
		return
	}
	if os.MkdirAll(filepath.Dir(h.file), 0o755) != nil {
		return
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(line + "\n") // the line is there for this prompt
	_ = f.Close()
}

// Len is how many lines there are.
func (h *history) Len() int { return len(h.lines) }

// At is a line, 0 for the latest.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
