package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whittle/minify/bisect"
	"whittle/replay"
	"whittle/tools/whittle/axis"
)

// bisectOptions are the flags of bisect.
type bisectOptions struct {
	versions     string
	versionsFrom string
	settings     string // two files, or ownSettings
	layers       bool
	calls        bool
	every        int     // of calls
	tolerance    float64 // likewise: the share of a value's magnitude that it may be off
	commits      string
	repo         string
	build        string
	firstParent  bool
	cache        string // folder of builds; "" => one for this bisection, which goes with it
	cacheSize    string
	artifacts    []string
	buildTimeout time.Duration
	torch        string // command that starts the Python of a version
	source       string
	limit        time.Duration // of one test
	memory       string        // of one test by an engine

	flaky      bool
	fixed      bool // of a noisy bisection: the first point is the bad one
	rate       float64
	falseRate  float64
	confidence float64
	maxTests   int

	json     bool
	again    bool
	noMinify bool

	given func(flag string) bool
}

func (a *app) bisectCommand() *cobra.Command {
	var o bisectOptions
	c := &cobra.Command{
		Use:   "bisect [flags] -- COMMAND...  |  bisect [flags] THING...",
		Short: "Find the version, the commit or the settings that decide whether something fails",
		Long: `Find the first of many versions, or of a repository's commits, with which something fails, or with which it no longer does.

What is tested is a command, whose exit status says what it found, as git bisect run has it: 0 good, 125 cannot be tested, 1 to 127 bad
otherwise; anything else ends the bisection. {} in the command stands for the version or the commit. Or it is a repro, or a folder of them: each is
run by the Python of the version, and its signature decides. A failure with another signature is told, and counts neither as good nor as bad. For a
repro may stand a record of the store, as failure/3 or minification/2, or a program: the failure of torch.compile that it has is bisected. Where both sides
compile a record that was minified, what they generate is kept beside it, and whittle serve shows the difference.

Commits are built and tested in worktrees of their own, in a private folder. Merges are followed to both sides; --first-parent takes each
for one change. Commits with the same files are built and tested once; submodules are there as the commit has them. While some workers test, idle ones build what is likely to be next.

Of settings the smallest set of differences between two configurations is found that decides, and the smallest that helps. Variables reach a
command by its environment; PyTorch's settings are lines of a Python file, whose path stands for {}.

--layers finds the first backend with which a repro fails, of eager, aot_eager, aot_eager_decomp_partition and inductor; then which of its choices
decide: passes, decompositions, lowerings, fusions, vector code, settings. Choices that fail only together are named together.

--calls runs a program three times, twice eagerly and once compiled, and compares checksums: of what compiled functions return, and of gradients and
parameters at each step of an optimizer. The first that differs is named.

Both ends are tested first. Where the first is bad and the last is good, it is the first good one that is looked for. -j N tests N versions at a time;
the answer does not depend on it. Every answer is kept in the store before it is used: a bisection that was stopped, by whatever,
goes on where it was when the command is given again, and one that is given again asks nothing again (--again does).

A failure that comes and goes: --flaky, or --rate and --false-rate where they are known. Then the answer is the likeliest version, and comes with
its probability. With --layers each question is asked until its answer is as sure as that; there it is found out by itself that a failure comes and goes, where it is minified first.

Exit status: 0 found, 1 not decided (what it can be is told), 2 used wrongly, or a test gave no answer.`,
		Example: `  whittle bisect --versions 1..64 -- ./test.sh {}
  whittle bisect --versions 2.6,2.7,2.14 --torch "chroot /torch/{} python3" repro.py
  whittle bisect --commits v1.2..main --build make -- ./test.sh
  whittle bisect --settings=good.txt,bad.txt -- ./test.sh
  whittle bisect --settings repro.py
  whittle bisect --layers repro.py minification/2
  whittle bisect --calls -- python3 train.py
  whittle bisect --versions nightlies.txt --flaky -j 4 -- docker run --rm torch:{} python3 test.py`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			o.given = func(flag string) bool { return c.Flags().Changed(flag) }
			files, command := args, []string(nil)
			if n := c.ArgsLenAtDash(); n >= 0 {
				files, command = args[:n], args[n:]
			}
			return a.bisectAll(c.Context(), files, command, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.versions, "versions", "", "`LIST` of versions, oldest first: a file of lines, a,b,c, or numbers a..b")
	f.StringVar(&o.versionsFrom, "versions-from", "", "`COMMAND` that prints the versions, one a line, oldest first")
	f.StringVar(&o.settings, "settings", "", "`GOOD,BAD`: two files of lines NAME=VALUE and torch._inductor.config.NAME = VALUE; alone: the settings of a repro against none")
	f.Lookup("settings").NoOptDefVal = ownSettings
	f.BoolVar(&o.layers, "layers", false, "the compiler's layers, and what each can do without: which backend, pass, decomposition, lowering, fusion or setting of a repro's compiler decides")
	f.BoolVar(&o.calls, "calls", false, "the calls of a program: the first compiled call, or optimizer step, that computes something else than eager does")
	f.IntVar(&o.every, "every", 1, "for --calls: compare each so many first, and then those between")
	f.Float64Var(&o.tolerance, "tolerance", 1e-3, "for --calls: by which share of its magnitude a value may be off")
	f.StringVar(&o.commits, "commits", "", "`GOOD..BAD`: commits of a git repository; each that is tested has a worktree of its own, in which its command runs")
	f.StringVar(&o.repo, "repo", ".", "for --commits: a folder of the repository, whose own checkout is not touched")
	f.BoolVar(&o.firstParent, "first-parent", false, "for --commits: a merge is one change, whatever it merges")
	f.StringVar(&o.build, "build", "", "for --commits: `COMMAND` that builds a worktree, by the shell; a commit that it fails for cannot be tested")
	f.DurationVar(&o.buildTimeout, "build-timeout", 0, "for --commits: how long one build may take; a commit that takes longer cannot be tested (0: no limit)")
	f.StringVar(&o.cache, "build-cache", "", "for --commits: `FOLDER` that keeps builds, by content (default: one that goes when the bisection ends)")
	f.StringVar(&o.cacheSize, "build-cache-size", "10G", "for --commits: how many `BYTES` of builds are kept")
	f.StringArrayVar(&o.artifacts, "artifact", nil, "for --commits: `PATTERN` of files of a build that a test depends on, such as bin/*; commits whose files are equal are tested once")
	f.StringVar(&o.torch, "torch", os.Getenv("WHITTLE_TORCH"), "for repros: command that starts the Python of version {}, or that of the build in folder {} (default $WHITTLE_TORCH)")
	f.StringVar(&o.source, "source", "", "for repros: script that defines the backend that the file only names; looked for beside the file first")
	f.DurationVar(&o.limit, "limit", 0, "how long one test may take; a command that takes longer cannot be told, a repro hangs (0: no limit for commands, found out for repros)")
	f.StringVar(&o.memory, "memory", "0", "for repros: how much memory one test may use beyond an idle Python: 4G (0: found out)")
	f.BoolVar(&o.flaky, "flaky", false, "tests are wrong now and then; how often is learned")
	f.Float64Var(&o.rate, "rate", 0, "tests are wrong now and then: the share of tests of a bad version that say bad")
	f.Float64Var(&o.falseRate, "false-rate", 0, "the share of tests of a good version that say bad")
	f.Float64Var(&o.confidence, "confidence", 0.998, "how likely the answer has to be, where tests are wrong now and then")
	f.IntVar(&o.maxTests, "max-tests", 0, "stop after so many answers, where tests are wrong now and then; with --layers, of one question (0: 100 for each version or question)")
	f.BoolVar(&o.fixed, "fixed", false, "where tests are wrong now and then: the first version is bad, and the last is good")
	f.BoolVar(&o.noMinify, "no-minify", false, "take a repro as it is; otherwise it is minified first where that saves time: for --layers, and for many versions")
	f.BoolVar(&o.again, "again", false, "forget the answers of before")
	f.BoolVar(&o.json, "json", false, "events as JSON, one a line, on standard output")
	a.jobs(c)
	return c
}

// noisy reports whether tests are wrong now and then.
func (o bisectOptions) noisy() bool { return o.flaky || o.given("rate") || o.given("false-rate") }

// noise is what the flags say of tests that are wrong now and then.
func (o bisectOptions) noise() bisect.Noise {
	n := bisect.Noise{Confidence: o.confidence, MaxTests: o.maxTests}
	if o.given("rate") {
		n.Rates = &bisect.Rates{Fail: o.rate, False: o.falseRate}
	}
	return n
}

// check refuses flags that do not make sense, before anything starts.
func (o bisectOptions) check(files, command []string) error {
	switch {
	case len(files) == 0 && len(command) == 0:
		return usagef("bisect takes a command after --, or repros, got neither")
	case len(files) > 0 && len(command) > 0:
		return usagef("bisect takes a command after --, or repros, and not both")
	case len(o.axes()) == 0:
		return usagef("bisect needs --versions LIST, --versions-from COMMAND, --commits GOOD..BAD, --settings, --layers or --calls")
	case len(o.axes()) > 1:
		return usagef("%s: one of them", strings.Join(o.axes(), " and "))
	case o.commits == "" && (o.build != "" || o.firstParent || o.cache != "" || len(o.artifacts) > 0 || o.given("repo") || o.given("build-cache-size") || o.given("build-timeout")):
		return usagef("--repo, --build, --build-timeout, --first-parent, --build-cache and --artifact are for --commits")
	case o.settings == ownSettings && len(command) > 0:
		return usagef("--settings=GOOD,BAD: which two files?")
	case o.calls && len(files) > 0:
		return usagef("--calls: of which program? Its command stands after --")
	case !o.calls && (o.given("every") || o.given("tolerance")):
		return usagef("--every and --tolerance are for --calls")
	case o.every < 1 || !(o.tolerance >= 0):
		return usagef("--every %d, --tolerance %v: at least 1, and at least 0", o.every, o.tolerance)
	case o.calls && o.noisy():
		return usagef("--calls: tests that are wrong now and then are for --versions and --commits")
	case o.layers && len(command) > 0:
		return usagef("--layers: a command does not say what its compiler does: give it a repro")
	case o.layers && o.fixed:
		return usagef("--fixed: --layers begins with eager, which is the good one")
	case o.settings != "" && o.noisy():
		return usagef("--settings: tests that are wrong now and then are for --versions and --commits")
	case o.commits == "" && o.settings == "" && !o.calls && len(command) > 0 && !strings.Contains(strings.Join(command, " "), axis.Place):
		return usagef("the command does not say which version it tests: put %s into it", axis.Place)
	case o.settings == "" && !o.layers && len(files) > 0 && !strings.Contains(o.torch, axis.Place):
		return usagef("--torch %q does not say which version it starts: put %s into it", o.torch, axis.Place)
	case o.flaky && (o.given("rate") || o.given("false-rate")):
		return usagef("--flaky learns the rates: --rate and --false-rate are for those that are known")
	case o.given("rate") != o.given("false-rate"):
		return usagef("--rate and --false-rate go together; --flaky learns both")
	case o.given("rate") && !(0 <= o.falseRate && o.falseRate < o.rate && o.rate <= 1):
		return usagef("--rate %v, --false-rate %v: shares from 0 to 1, the first one larger", o.rate, o.falseRate)
	case !(o.confidence > 0.5 && o.confidence < 1):
		return usagef("--confidence %v: above 0.5, below 1", o.confidence)
	case !o.noisy() && !o.layers && (o.fixed || o.given("confidence") || o.maxTests != 0):
		return usagef("--confidence, --max-tests and --fixed are for tests that are wrong now and then: --flaky, or --rate and --false-rate")
	case o.limit < 0 || o.maxTests < 0 || o.buildTimeout < 0:
		return usagef("a limit below 0")
	}
	if _, err := parseBytes(o.memory); err != nil {
		return usagef("--memory: %v", err)
	}
	if n, err := parseBytes(o.cacheSize); err != nil || n <= 0 {
		return usagef("--build-cache-size %s: bytes, as 500M or 10G", o.cacheSize)
	}
	return nil
}

// axes are the flags given that say along what is bisected.
func (o bisectOptions) axes() []string {
	var out []string
	set := func(on bool) string {
		if on {
			return "yes"
		}
		return ""
	}
	for _, x := range []struct{ flag, value string }{{"--layers", set(o.layers)}, {"--calls", set(o.calls)}, {"--versions", o.versions}, {"--versions-from", o.versionsFrom}, {"--commits", o.commits}, {"--settings", o.settings}} {
		if x.value != "" {
			out = append(out, x.flag)
		}
	}
	return out
}

// bisectAll bisects what was given: a command, or repros one after the other.
func (a *app) bisectAll(ctx context.Context, files, command []string, o bisectOptions) error {
	if err := o.check(files, command); err != nil {
		return err
	}
	t, err := a.tests(ctx, o)
	if err != nil {
		return err
	}
	defer t.close()
	st, err := replay.Open(ctx, a.storePath())
	if err != nil {
		return err
	}
	defer st.Close()
	if files, err = t.things(ctx, st, files); err != nil {
		return err
	}
	if o.calls {
		return a.bisectCalls(ctx, st, command, o, newBisectPrinter(a, o, false))
	}
	if o.layers {
		return a.bisectLayers(ctx, st, t, files, newBisectPrinter(a, o, len(files) > 1))
	}
	all, err := t.of(files, command)
	if err != nil {
		return err
	}
	p := newBisectPrinter(a, o, len(all) > 1)
	worst := exitCode(0)
	for i, b := range all {
		if len(all) > 1 {
			fmt.Fprintf(a.stderr, "whittle: %s (%d of %d)\n", b.subject, i+1, len(all))
		}
		small, err := a.minified(ctx, st, b, o)
		var r bisectResult
		if err == nil && small != nil {
			if r, err = a.bisect(ctx, st, small, o, p); err == nil && r.ends == nil {
				b = small
			} else if err == nil {
				fmt.Fprintln(a.stderr, "whittle: what it was minified to is the same on both ends; now as it was")
				small = nil
			}
		}
		if err == nil && small == nil {
			r, err = a.bisect(ctx, st, b, o, p)
		}
		if err == nil && r.ends != nil && r.ends.First.Verdict == bisect.Good && r.ends.Last.Verdict == bisect.Good && b.instead != nil {
			fmt.Fprintln(a.stderr, "whittle: it passes on both ends; now without gradients")
			b = b.instead
			r, err = a.bisect(ctx, st, b, o, p)
		}
		if err == nil && r.decided() {
			err = decides(ctx, st, b.subject, r.id, b.kind, r.text(b))
			if err == nil {
				err = r.keepCode(ctx, st, b)
			}
		}
		if err == nil {
			err = p.result(b, r)
		}
		var code exitCode
		switch {
		case errors.As(err, &code):
			worst = max(worst, code)
		case ctx.Err() != nil:
			p.stopped(b)
			fmt.Fprintln(a.stderr, "whittle: stopped; given again, the command goes on from here")
			return exitCode(1)
		case err != nil:
			p.failed(b, err)
			return err
		}
	}
	p.end()
	if worst > 0 {
		return worst
	}
	return nil
}
