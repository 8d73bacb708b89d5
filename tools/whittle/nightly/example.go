package nightly

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed examples
var exampleFiles embed.FS

// examples are the files of the folder, by the name that people type.
var examples = []struct{ name, file string }{
	{"config", "nightly.toml"},
	{"cron", "crontab"},
	{"service", "whittle-nightly.service"},
	{"timer", "whittle-nightly.timer"},
	{"ci", "ci.yml"},
	{"issue", "hook-issue.sh"},
	{"mail", "hook-mail.sh"},
}

// Examples are the names of what Example gives.
func Examples() []string {
	var out []string
	for _, e := range examples {
		out = append(out, e.name)
	}
	return out
}

// Example is a file to begin with.
func Example(name string) (string, error) {
	for _, e := range examples {
		if e.name == name {
			b, err := exampleFiles.ReadFile(path.Join("examples", e.file))
			return string(b), err
		}
	}
	return "", fmt.Errorf("there is no example %q: there are %s", name, strings.Join(Examples(), ", "))
}
