package kept

import (
	"path/filepath"
	"slices"
	"strings"

	"whittle/replay"
)

// idleNames are the variables that no answer depends on: where a shell stands, what terminal it has, and what only this program reads. A name that
// ends in * is a prefix.
var idleNames = []string{"_", "PWD", "OLDPWD", "SHLVL", "TERM", "TERM_*", "COLORTERM", "COLUMNS", "LINES", "LS_COLORS", "PS1", "PROMPT_COMMAND", "HISTFILE", "HISTSIZE", "WINDOWID", "STY", "WINDOW", "VTE_VERSION",
	"TMUX*", "SSH_*", "XDG_SESSION_*", "XDG_RUNTIME_DIR", "DBUS_*", "DISPLAY", "WAYLAND_*", "GPG_*", "JOURNAL_STREAM", "INVOCATION_ID", "WHITTLE_*"}

// matters reports whether answers may depend on a variable.
func matters(name string) bool {
	return !slices.ContainsFunc(idleNames, func(p string) bool {
		prefix, all := strings.CutSuffix(p, "*")
		return p == name || all && strings.HasPrefix(name, prefix)
	})
}

// Start is how an engine is started: with equal ones, one may take another's place.
type Start struct {
	Command []string
	Env     []string // NAME=value
	Cwd     string
	Machine []string // what else its answers depend on: the version of its program, the processors it may use
}

// Anywhere reports whether the command does the same in all folders: neither it nor Python's path names a file by where it stands.
func (s Start) Anywhere() bool {
	for _, word := range s.Command {
		if strings.Contains(word, "/") && !filepath.IsAbs(word) {
			return false
		}
	}
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		if value == "" || name != "PYTHONPATH" && name != "PATH" && name != "PYTHONHOME" {
			continue
		}
		for _, dir := range filepath.SplitList(value) {
			if !filepath.IsAbs(dir) {
				return false
			}
		}
	}
	return true
}

// Key names the engine.
func (s Start) Key() string {
	var env []string
	for _, v := range s.Env {
		if name, _, _ := strings.Cut(v, "="); matters(name) {
			env = append(env, v)
		}
	}
	slices.Sort(env)
	cwd := ""
	if !s.Anywhere() {
		cwd = s.Cwd
	}
	return replay.HashOf(replay.HashOf(s.Command...), replay.HashOf(env...), replay.HashOf(s.Machine...), cwd)[:16]
}
