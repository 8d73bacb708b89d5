package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"whittle/tools/conformance/suite"
)

// runPyTorch runs PyTorch's own tests under whittle, each in an interpreter of its own. DIR has the files, in test/FOLDER, and what became
// of their tests in a real PyTorch, in results/.
func runPyTorch(ctx context.Context, dir string, o options) (any, error) {
	lists, err := filepath.Glob(filepath.Join(dir, "results", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var records []suite.Record
	for _, list := range lists {
		rs, err := suite.Read(list)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			if r.Result == "pass" {
				r.Result = "ok"
			}
			r.Test = moduleOf(r.File) + "." + r.Test
			records = append(records, r)
		}
	}
	whittle, err := filepath.Abs(o.whittle)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "test")); err != nil {
		return nil, err
	}
	return runSuite(ctx, "pytorch", records, suite.Config{
		Command: []string{whittle, "run", "--no-minify"}, Module: fromFolder, Dir: filepath.Join(dir, "test"), Alone: true,
		Workers: o.workers, Limit: o.timeout, Match: o.match,
	}, o)
}

// moduleOf is what a file is imported as: test_misc for dynamo/test_misc.py.
func moduleOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".py") }

// fromFolder imports a file as running it would: its folder comes first on the path, then that of all tests.
func fromFolder(file, dir string) (module string, env []string) {
	path := slices.Compact([]string{filepath.Join(dir, filepath.Dir(file)), dir})
	return moduleOf(file), []string{"PYTHONPATH=" + strings.Join(path, string(filepath.ListSeparator))}
}
