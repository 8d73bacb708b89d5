package axis

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"whittle/minify/bisect"
	"whittle/replay"
	"whittle/repros/engine"
)

// Place stands in a command for the point that is tested.
const Place = "{}"

// Fill puts a point into a command's words.
func Fill(words []string, point string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(w, Place, point)
	}
	return out
}

// rePlain matches a word that a shell takes as it is.
var rePlain = regexp.MustCompile(`^[\w@%+=:,./{}-]+$`)

// Line is a command as one types it into a shell.
func Line(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !rePlain.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// Command is a program whose exit status says whether a point is good.
type Command struct {
	Args  []string      // with Place where the point goes
	Limit time.Duration // of one run; 0 => none
}

// AbortError says that a command ended in a way that is no answer, so that the bisection cannot go on.
type AbortError struct {
	Args []string
	How  string // exit status 128, signal: killed
	Said string // the last line that it printed
}

func (e *AbortError) Error() string {
	s := fmt.Sprintf("%s: %s, which is no answer: 0 is good, 125 cannot be tested, 1 to 127 is bad otherwise", Line(e.Args), e.How)
	if e.Said != "" {
		s += " (it said: " + e.Said + ")"
	}
	return s
}

// Test runs the command for a point, in a folder ("" for the current one) and with variables of the environment: NAME=VALUE, or NAME alone for one that is not
// set. Exit status 0 is good, 125 is skip, 1
// to 127 otherwise is bad; anything else is an *AbortError, as in `git bisect run`. A run that takes longer than the limit cannot be
// told: it is skip. What the command started and left behind is ended with it.
func (c Command) Test(ctx context.Context, point, dir string, env []string) (bisect.Answer, error) {
	return c.run(ctx, Fill(c.Args, point), dir, env)
}

func (c Command) run(ctx context.Context, words []string, dir string, env []string) (bisect.Answer, error) {
	out := &tail{}
	state, late, err := run(ctx, words, dir, env, c.Limit, out)
	switch {
	case err != nil:
		return bisect.Answer{}, err
	case late:
		return bisect.Answer{Verdict: bisect.Skip, Text: fmt.Sprintf("ran longer than %v", c.Limit)}, nil
	}
	code, said := state.ExitCode(), out.last()
	text := fmt.Sprintf("exit status %d", code)
	if said != "" {
		text += ": " + said
	}
	switch {
	case code == 0:
		return bisect.Answer{Verdict: bisect.Good}, nil
	case code == 125:
		return bisect.Answer{Verdict: bisect.Skip, Text: text}, nil
	case code > 0 && code < 128:
		return bisect.Answer{Verdict: bisect.Bad, Text: text}, nil
	}
	return bisect.Answer{}, &AbortError{words, state.String(), said}
}

// run runs a program to its end, or to that of its time, and ends what it started.
func run(ctx context.Context, words []string, dir string, env []string, limit time.Duration, out *tail) (state *os.ProcessState, late bool, err error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(env, name)
	})
	for _, v := range env {
		if strings.Contains(v, "=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	g, err := engine.StartGroup(cmd)
	if err != nil {
		return nil, false, err
	}
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	for !g.Ends(20 * time.Millisecond) {
		if late = limit > 0 && time.Now().After(until); late || ctx.Err() != nil {
			break
		}
	}
	state = g.Reap()
	return state, late, ctx.Err()
}

// Key says what a command is, so that answers of another one are not taken for its own: its words, and the content of those that name a file.
func (c Command) Key() string {
	parts := append([]string{}, c.Args...)
	for _, w := range c.Args {
		if st, err := os.Stat(w); err == nil && st.Mode().IsRegular() && st.Size() < 16<<20 {
			if b, err := os.ReadFile(w); err == nil {
				parts = append(parts, replay.Key(b))
			}
		}
	}
	return replay.HashOf(parts...)
}

// mostKept is how much of a command's output is kept, in bytes, and how long a line of it may be that is shown.
const mostKept, longest = 4096, 160

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > mostKept {
		t.b = bytes.Clone(t.b[len(t.b)-mostKept:])
	}
	return len(p), nil
}

// last is the last line with text in it, without what a terminal would obey.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(t.b), "?"), " \t\r\n"), "\n")
	line := strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, lines[len(lines)-1]))
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "") + "..."
	}
	return line
}
