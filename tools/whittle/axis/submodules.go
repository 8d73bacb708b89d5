package axis

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// checkout puts a commit's files into tree: as a worktree of the repository, or, where the commit has submodules, as a clone that borrows its objects. A worktree
// will not do for these, because git notes the submodules of each worktree in the configuration that all of them share.
func (b *Builds) checkout(ctx context.Context, tree, commit string) error {
	if _, err := git(ctx, b.Repo, "cat-file", "-e", commit+":.gitmodules"); err != nil {
		b.git.Lock()
		defer b.git.Unlock()
		// It is not killed when ctx ends: a worktree that is half made is one that git stumbles over.
		_, err := git(context.WithoutCancel(ctx), b.Repo, "worktree", "add", "--quiet", "--detach", tree, commit)
		return err
	}
	from, err := git(ctx, b.Repo, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	origin, err := git(ctx, b.Repo, "config", "--get", "remote.origin.url") // submodules may be named relative to it
	if err != nil {
		origin = strings.TrimSuffix(from, "/.git")
	}
	if _, err := git(ctx, b.Repo, "clone", "--quiet", "--shared", "--no-checkout", "--config", "submodule.alternateLocation=superproject",
		"--config", "submodule.alternateErrorStrategy=info", from, tree); err != nil {
		return err
	}
	if _, err := git(ctx, tree, "config", "remote.origin.url", origin); err != nil {
		return err
	}
	if err := b.copySubmoduleSettings(ctx, tree); err != nil {
		return err
	}
	if _, err := git(ctx, tree, "checkout", "--quiet", "--detach", commit); err != nil {
		return err
	}
	return b.command(ctx, tree, "submodules: ", "git", "-c", "core.hooksPath=/dev/null", "submodule", "--quiet", "update", "--init", "--recursive")
}

// copySubmoduleSettings gives a clone what the repository says of its submodules, such as where they are fetched from.
func (b *Builds) copySubmoduleSettings(ctx context.Context, tree string) error {
	text, err := git(ctx, b.Repo, "config", "--local", "--null", "--get-regexp", `^submodule\..`)
	if err != nil {
		return ctx.Err() // it says nothing
	}
	for _, entry := range strings.Split(strings.TrimRight(text, "\x00"), "\x00") {
		if name, value, ok := strings.Cut(entry, "\n"); ok {
			if _, err := git(ctx, tree, "config", "--add", name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// cutOff makes of a checkout a folder that the repository knows nothing of, and that holds no repository.
func (b *Builds) cutOff(entry, tree string) error {
	st, err := os.Lstat(filepath.Join(tree, ".git"))
	if err != nil {
		return err
	}
	if st.IsDir() { // a clone
		return errors.Join(os.RemoveAll(filepath.Join(tree, ".git")), removeLinks(tree))
	}
	aside := filepath.Join(entry, "aside")
	if err := os.Rename(tree, aside); err != nil {
		return err
	}
	b.git.Lock()
	_, err = git(context.Background(), b.Repo, "worktree", "remove", "--force", tree) // git forgets one whose folder is elsewhere just then
	b.git.Unlock()
	return errors.Join(err, os.Rename(aside, tree), os.Remove(filepath.Join(tree, ".git")))
}

// removeLinks removes the files by which submodules name their repository, which is gone.
func removeLinks(tree string) error {
	return filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != ".git" || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(text, []byte("gitdir: ")) {
			err = os.Remove(path)
		}
		return err
	})
}
