package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"whittle/replay"
	"whittle/repros"
	"whittle/tools/whittle/axis"
	"whittle/tools/whittle/exec"
)

// reRecord matches a record of the store that has a repro.
var reRecord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(failure|finding|minification)/\d+$`) })

// things are the repro files of what was given: records of the store and programs get one each, in a folder that goes with close. Files and folders of repros stay.
func (t *bisectTests) things(ctx context.Context, st *replay.Store, args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		file := arg
		switch {
		case reRecord().MatchString(arg):
			dir, err := t.folder()
			if err != nil {
				return nil, err
			}
			if file, err = st.Export(ctx, arg, dir); err != nil {
				return nil, usageError{err}
			}
		case isProgram(arg):
			var err error
			if file, err = t.failureOf(ctx, arg); err != nil {
				return nil, err
			}
		}
		t.names[file] = arg
		out = append(out, file)
	}
	return out, nil
}

// decides notes of the failures that a record of the store stands for what was found to decide.
func decides(ctx context.Context, st *replay.Store, thing string, bisection int64, along, text string) error {
	ids, err := st.FailuresOf(ctx, thing)
	for _, id := range ids {
		if err == nil {
			err = st.SetDecides(ctx, id, bisection, along+": "+text)
		}
	}
	return err
}

// name is what the user calls the subject of a file.
func (t *bisectTests) name(file string) string {
	if n, ok := t.names[file]; ok {
		return n
	}
	return file
}

// folder is a new one, which goes with close.
func (t *bisectTests) folder() (string, error) {
	dir, err := os.MkdirTemp("", "whittle-bisect-")
	t.made = append(t.made, dir)
	return dir, err
}

// isProgram reports whether a file is a script that is no repro.
func isProgram(path string) bool {
	if !strings.HasSuffix(path, ".py") || isFolder(path) {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && !repros.IsRepro(string(text))
}

// failureOf runs a program by the Python of the last version, or else of the first, and gives the repro of the torch.compile failure that it has.
func (t *bisectTests) failureOf(ctx context.Context, program string) (string, error) {
	if t.o.torch == "" {
		return "", usagef("%s: is no repro; whittle run %s, and then the repro.py that it leaves, or --torch with a Python that runs it", program, program)
	}
	if t.builds != nil {
		return "", usagef("%s: is no repro; commits are tested by a repro, or a command after --", program)
	}
	versions := []string{""}
	if n := len(t.points); n > 0 {
		versions = []string{t.points[n-1], t.points[0]}
	}
	for _, v := range versions {
		command := axis.Fill(strings.Fields(t.o.torch), v)
		seen, done, err := visible(command, program)
		if err != nil {
			return "", err
		}
		dir, err := t.folder()
		if err != nil {
			done()
			return "", err
		}
		res, err := exec.Run(ctx, exec.Options{Args: append(command, seen), Stdout: io.Discard, Stderr: io.Discard, Hang: t.o.limit, Out: func(exec.Found) string { return dir }})
		done()
		if err != nil {
			return "", fmt.Errorf("%s: %w", program, err)
		}
		if !res.Heard {
			return "", usagef("%s: no Python that could be watched ran it: %s", program, axis.Line(command))
		}
		for _, f := range res.Found {
			if fault := f.Machine(); fault != nil {
				return "", fault
			}
			if f.Problem == "" {
				fmt.Fprintf(t.a.stderr, "whittle: %s, by %s: %s\n", program, axis.Line(command), f.Title())
				return f.Path, nil
			}
		}
	}
	return "", usagef("%s: torch.compile does not fail in it; results that are wrong show with whittle exec --level 4", program)
}

// visible is the path by which a command sees a file, which is copied into a new root's temporary folder where it lies outside of it. done removes the copy.
func visible(command []string, file string) (path string, done func(), err error) {
	if path, err = filepath.Abs(file); err != nil {
		return "", nil, err
	}
	root := exec.NewRoot(command)
	if root == "" {
		return path, func() {}, nil
	}
	if root, err = filepath.Abs(root); err != nil {
		return "", nil, err
	}
	if in, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(in) {
		return "/" + in, func() {}, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp(filepath.Join(root, "tmp"), "whittle-bisect-")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(dir) }
	copied := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(copied, text, 0o644); err != nil {
		done()
		return "", nil, err
	}
	return strings.TrimPrefix(copied, root), done, os.Chmod(dir, 0o755)
}
