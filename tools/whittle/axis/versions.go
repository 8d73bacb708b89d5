package axis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// mostVersions bounds a range of numbers.
const mostVersions = 1_000_000

var reRange = regexp.MustCompile(`^(\d+)\.\.(\d+)$`)

// Versions reads a list of versions, oldest first: numbers from a to b for "a..b", the lines of the file that it names, or the names between its
// commas. In a file, empty lines and those that begin with # say nothing.
func Versions(list string) ([]string, error) {
	if m := reRange.FindStringSubmatch(list); m != nil {
		a, errA := strconv.Atoi(m[1])
		b, errB := strconv.Atoi(m[2])
		switch {
		case errA != nil || errB != nil || b-a >= mostVersions:
			return nil, fmt.Errorf("%s: too many versions", list)
		case b < a:
			return nil, fmt.Errorf("%s: the oldest version comes first", list)
		}
		var out []string
		for i := a; i <= b; i++ {
			out = append(out, strconv.Itoa(i))
		}
		return distinct(out)
	}
	if b, err := os.ReadFile(list); err == nil {
		return distinct(lines(b))
	} else if !strings.Contains(list, ",") {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: neither a file, nor a range a..b, nor a list a,b,c", list)
		}
		return nil, err
	}
	var out []string
	for _, v := range strings.Split(list, ",") {
		out = append(out, strings.TrimSpace(v))
	}
	return distinct(out)
}

// VersionsFrom runs a command, by the shell, and takes the lines that it prints for versions, oldest first.
func VersionsFrom(ctx context.Context, command string) ([]string, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(stderr.String()))
	}
	return distinct(lines(b))
}

func lines(b []byte) []string {
	var out []string
	for _, l := range strings.Split(string(b), "\n") {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			out = append(out, l)
		}
	}
	return out
}

// distinct refuses a list that is no axis: answers are kept by name.
func distinct(list []string) ([]string, error) {
	seen := map[string]bool{}
	for _, v := range list {
		if v == "" || seen[v] {
			return nil, fmt.Errorf("version %q stands twice in the list, or is empty", v)
		}
		seen[v] = true
	}
	if len(list) < 2 {
		return nil, fmt.Errorf("a bisection needs at least two versions, got %d", len(list))
	}
	return list, nil
}
