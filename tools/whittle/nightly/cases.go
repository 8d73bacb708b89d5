package nightly

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"whittle/replay"
	"whittle/replay/files"
	"whittle/repros"
)

// Case is what is tested.
type Case struct {
	Name    string // corpus/path without .py, or failure/ID
	Path    string // of its file, absolute; "" for a failure of the store
	Text    string // of its file
	Repro   bool   // the text is a repro, else a program
	Problem string // why it cannot be tested; "" for nothing
}

// reproMark is what every repro has, and programs have not.
var reproMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\brun_repro\(|^class Repro\(|^class ExampleModel\(`)
})

// Cases finds the cases of the corpora, by name: each Python file that matches. What cannot be read is a case with a Problem.
func (c *Config) Cases(ctx context.Context, st *replay.Store) ([]Case, error) {
	var out []Case
	for _, k := range c.Corpora {
		for _, folder := range k.Folders {
			found, err := k.below(c.At(folder), k.base(folder))
			if err != nil {
				return nil, &ConfigError{Path: c.Path, Msg: err.Error()}
			}
			out = append(out, found...)
		}
		if k.Store {
			ids, err := st.OpenFailures(ctx)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				x := Case{Name: fmt.Sprintf("failure/%d", id), Repro: true}
				f, err := st.Failure(ctx, id)
				if x.Text = f.Repro; err != nil {
					x.Problem = err.Error()
				}
				out = append(out, x)
			}
		}
	}
	slices.SortFunc(out, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// below finds the cases of one folder.
func (k Corpus) below(dir, base string) ([]Case, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	match := regexp.MustCompile(k.Match)
	var out []Case
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil && path == dir:
			return fmt.Errorf("corpus %s: %s", path, reason(err))
		case err != nil:
			out = append(out, Case{Name: base + "/" + filepath.ToSlash(rel), Path: path, Problem: reason(err)})
			return fs.SkipDir
		case d.IsDir() && path != dir && (d.Name() == files.Root || d.Name() == "checkpoints" || strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".py") || !match.MatchString(filepath.ToSlash(rel)):
			return nil
		}
		x := Case{Name: base + "/" + filepath.ToSlash(strings.TrimSuffix(rel, ".py")), Path: path}
		b, err := os.ReadFile(path)
		switch {
		case err != nil:
			x.Problem = "cannot be read: " + reason(err)
		case slices.Contains(b, 0):
			x.Problem = "cannot be read: it is a binary file, not Python"
		default:
			x.Text = string(b)
			if x.Repro = reproMark().Match(b); x.Repro {
				if r, err := repros.Read(filepath.Base(path), x.Text); err != nil {
					x.Problem = "cannot be read: " + err.Error()
				} else if err := r.Complete(); err != nil {
					x.Problem = "cannot be run: " + err.Error()
				}
			}
		}
		out = append(out, x)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// fits reports whether a case can be tested in a mode: a repro has its own dtypes, and one after aot has no backend to choose.
func (m Mode) fits(x Case) bool {
	if !x.Repro || x.Problem != "" {
		return true
	}
	if m.DType != "" {
		return false
	}
	if m.Backend == "" {
		return true
	}
	r, err := repros.Read("repro.py", x.Text)
	return err == nil && (r.Stage == repros.AfterDynamo || m.Backend == "inductor")
}
