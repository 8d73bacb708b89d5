package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"whittle/tools/conformance/suite"
	"whittle/tools/whittle/stack"
)

// runCPython runs CPython's own tests under whittle. DIR has results.jsonl; -lib is the library folder with the package test.
func runCPython(ctx context.Context, dir string, o options) (any, error) {
	records, err := suite.Read(filepath.Join(dir, "results.jsonl"))
	if err != nil {
		return nil, err
	}
	// The tests alone go onto the path: the library around them is what is tested. The interpreters that tests start find them, too, whatever
	// they are told about PYTHONPATH, as the tests of a CPython lie in its library.
	path, err := os.MkdirTemp("", "whittle-cpython-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(path)
	tests, err := filepath.Abs(filepath.Join(o.lib, "test"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(tests); err != nil {
		return nil, fmt.Errorf("-lib: %w", err)
	}
	if err := os.Symlink(tests, filepath.Join(path, "test")); err != nil {
		return nil, err
	}
	whittle, err := filepath.Abs(o.whittle)
	if err != nil {
		return nil, err
	}
	return runSuite(ctx, "cpython", records, suite.Config{
		Command: []string{whittle, "run"}, Module: suite.InPackage("test", stack.PathVariable, path), Workers: o.workers, Limit: o.timeout, Match: o.match,
	}, o)
}

// runSuite runs a suite's tests, but those that the report -resume has, and prints its figures. A line is printed and -o is written when a file
// is done: a run that is stopped can be gone on with, and what it has is printed.
func runSuite(ctx context.Context, name string, records []suite.Record, c suite.Config, o options) (any, error) {
	c.Earlier = map[string]suite.Record{}
	if o.resume != "" {
		b, err := os.ReadFile(o.resume)
		if err != nil {
			return nil, err
		}
		var earlier suite.Report
		if err := json.Unmarshal(b, &earlier); err != nil {
			return nil, fmt.Errorf("-resume: %s: %w", o.resume, err)
		}
		for _, f := range earlier.Files {
			for _, t := range f.Tests {
				c.Earlier[t.Test] = t
			}
		}
	}
	c.Each = func(f suite.File, far suite.Report) error {
		fmt.Printf("%-28s %d of %d\n", f.Name, f.OK, f.Of)
		return write(o.out, name, far)
	}
	rep, err := suite.Run(ctx, records, c)
	if rep.Of > 0 {
		printSuite(name, rep, o)
	}
	if err != nil {
		return nil, errors.Join(err, write(o.out, name, rep))
	}
	return rep, nil
}

// printSuite prints a suite's figures: with -v each test that does not pass; the causes and their kinds, and the mean over files.
func printSuite(name string, rep suite.Report, o options) {
	if o.verbose {
		for _, f := range rep.Files {
			for _, t := range f.Tests {
				if t.Result != "ok" {
					fmt.Printf("%s: %s: %s\n", t.Test, t.Result, t.Cause)
				}
			}
		}
	}
	for i, c := range rep.Causes {
		if i == 40 {
			fmt.Printf("%6s and %d more causes\n", "", len(rep.Causes)-i)
			break
		}
		fmt.Printf("%6d %.120s (%s)\n", c.Tests, c.Text, c.First)
	}
	for _, k := range suite.Kinds {
		if n := rep.Kinds[k]; n > 0 {
			fmt.Printf("%6d %s\n", n, k)
		}
	}
	fmt.Printf("%s: %d of %d\n%s-mean: %.1f of 100\n", name, rep.OK, rep.Of, name, rep.Mean)
}
