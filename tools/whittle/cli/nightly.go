package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whittle/replay"
	"whittle/replay/triage"
	"whittle/tools/whittle/nightly"
)

// nightlyOptions are the flags of nightly.
type nightlyOptions struct {
	night     string
	once      bool
	json      bool
	dryRun    bool
	hookAgain bool
	example   string
}

func (a *app) nightlyCommand() *cobra.Command {
	var o nightlyOptions
	c := &cobra.Command{
		Use:   "nightly [flags] CONFIG.toml",
		Short: "Test a corpus on the newest of several versions, and say what is new",
		Long: `Play one night of a bot: run every case of its corpora, in every mode, on the newest engine; run what looks new twice more in fresh processes; shrink what is
new, bisect it over the versions and then over the commits between two of them, where the configuration has a repository, and group it; test again what was open, so that it is said to be fixed, between which versions, or withdrawn if it does not fail any more
where it was found; hold the figures (compile time, speed against eager, accuracy, graph breaks, memory) against those of the nights before. The report is printed, and
lies in the outbox as KEY/report.md and KEY/report.json. The hook gets the JSON on its standard input, once.

A night has a key, which is today's date unless --night says another one. A night that was stopped, by whatever, goes on when the command is given again, and
measures nothing twice; one that is finished is only printed. A hook that was killed with its night is not started again, because nobody knows what it
did: the command says so, and --hook-again starts it. One night of a bot is played at a time.

What fails in some runs only is minimised and bisected by its rates: the line says how often it fails with the change and without, and how likely the place is.

A change of a figure is reported when chance explains it in less than one night of 200, over all cases and figures ([thresholds] alarms). What cannot be
measured, because of the machine or the engine, shows in the report's section "Not tested", and is never a finding.

The command plays one night and ends; cron or a timer starts it every night: --example lists files for that.

Exit status: 0 the night was played, whatever it found; 1 the newest engine could not be started, the report could not be written, or the hook failed; 2 used wrongly.`,
		Example: `  whittle nightly --dry-run nightly.toml
  whittle nightly -j 4 nightly.toml
  whittle nightly --example config > nightly.toml
  whittle nightly --example cron`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("example") {
				return a.nightlyExample(args, o.example)
			}
			if len(args) != 1 {
				return usagef("nightly takes one configuration, got %s (--example config prints one)", replay.Count(len(args), "argument"))
			}
			cfg, err := nightly.ReadConfig(args[0])
			if err != nil {
				return usageError{err}
			}
			if !c.Flags().Changed("jobs") {
				a.workers = max(cfg.Limits.Jobs, 1)
			}
			if !c.Flags().Changed("night") {
				o.night = time.Now().Format(time.DateOnly)
			}
			return a.nightly(c.Context(), cfg, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.night, "night", "", "`KEY` of the night: one that was begun goes on, one that is finished is printed (default: today's date)")
	f.BoolVar(&o.once, "once", false, "play one night and end, as it does without the flag: for crontab lines that say so")
	f.BoolVar(&o.json, "json", false, "events as JSON, one a line, on standard output; the last one has the report")
	f.BoolVar(&o.dryRun, "dry-run", false, "list the versions and the cases, and run nothing")
	f.BoolVar(&o.hookAgain, "hook-again", false, "start the night's hook, also if it was started before")
	f.StringVar(&o.example, "example", "", "print an example `NAME`: "+strings.Join(nightly.Examples(), ", "))
	a.jobs(c)
	f.Lookup("jobs").Usage = "measurements at a time (default: [limits] jobs, then 1)"
	f.Lookup("jobs").DefValue = ""
	return c
}

func (a *app) nightlyExample(args []string, name string) error {
	if len(args) > 0 {
		return usagef("--example takes no configuration")
	}
	text, err := nightly.Example(name)
	if err != nil {
		return usageError{err}
	}
	fmt.Fprint(a.stdout, text)
	return nil
}

// nightly plays a night and delivers its report.
func (a *app) nightly(ctx context.Context, cfg *nightly.Config, o nightlyOptions) error {
	st, err := replay.Open(ctx, a.storePath())
	if err != nil {
		return err
	}
	defer st.Close()
	if o.dryRun {
		return a.nightlyPlan(ctx, cfg, st, o)
	}
	lock, err := cfg.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	nightly.CleanFolders()
	lab := a.nightLab(cfg, st, a.workers)
	defer lab.close()
	opt := nightly.Options{Config: cfg, Store: st, Lab: lab, Key: o.night, Jobs: a.workers, Cache: filepath.Join(cacheDir(), "nightly"), Group: func(ctx context.Context, failure int64) (int64, bool, error) {
		return triage.Place(ctx, st, failure, cfg.Name)
	}, Event: func(e nightly.Event) {
		if !o.json {
			tellNight(a, e)
		} else if b, err := json.Marshal(e); err == nil {
			fmt.Fprintf(a.stdout, "%s\n", b)
		}
	}}
	r, text, err := nightly.Run(ctx, opt)
	var key *nightly.KeyError
	var changed *replay.NightChangedError
	var wrong *nightly.ConfigError
	switch {
	case errors.As(err, &key), errors.As(err, &wrong):
		return usageError{err}
	case errors.As(err, &changed):
		return usagef("%v (--night names another one)", err)
	case err != nil && ctx.Err() != nil:
		fmt.Fprintf(a.stderr, "whittle: night %s was stopped; the same command goes on with it\n", o.night)
		return exitCode(1)
	case err != nil:
		return err
	}
	bad := r.Dead != ""
	paths, err := cfg.Write(r, text)
	if err != nil {
		fmt.Fprintln(a.stderr, "whittle:", err)
		bad = true
	}
	for _, p := range paths {
		if base := filepath.Base(p); base != "report.md" && base != "report.json" {
			fmt.Fprintf(a.stderr, "whittle: %s has its name because another file has the report's\n", p)
		}
	}
	if err := cfg.Hook(ctx, st, text, o.night, o.hookAgain); err != nil {
		fmt.Fprintln(a.stderr, "whittle:", err)
		bad = true
	}
	if o.json {
		b, err := json.Marshal(struct {
			Event  string          `json:"event"`
			Night  string          `json:"night"`
			Files  []string        `json:"files"`
			Report *nightly.Report `json:"report"`
		}{"done", o.night, paths, r})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s\n", b)
	} else {
		fmt.Fprint(a.stdout, r.Markdown())
	}
	if len(paths) > 0 {
		fmt.Fprintf(a.stderr, "whittle: report: %s\n", paths[0])
	}
	if bad {
		return exitCode(1)
	}
	return nil
}

// tellNight says what happens in a line.
func tellNight(a *app, e nightly.Event) {
	who := e.Case
	if e.Mode != "" {
		who += " [" + e.Mode + "]"
	}
	switch e.Kind {
	case "night":
		fmt.Fprintf(a.stderr, "whittle: night %s, version %s\n", e.Night, e.Version)
		if e.Text != "" {
			fmt.Fprintf(a.stderr, "whittle: it cannot be started: %s\n", e.Text)
		}
	case "measured":
		line := fmt.Sprintf("whittle: %s on %s: %s", who, e.Version, e.Status)
		if e.Text != "" {
			line += " (" + e.Text + ")"
		}
		fmt.Fprintln(a.stderr, line)
	default:
		fmt.Fprintf(a.stderr, "whittle: %s: %s: %s\n", who, e.Kind, e.Text)
	}
}

// nightlyPlan says what a night would run.
func (a *app) nightlyPlan(ctx context.Context, cfg *nightly.Config, st *replay.Store, o nightlyOptions) error {
	versions, items, err := nightly.Plan(ctx, cfg, st)
	var wrong *nightly.ConfigError
	if errors.As(err, &wrong) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	var names []string
	for _, e := range versions {
		names = append(names, e.Version)
	}
	if o.json {
		b, err := json.Marshal(struct {
			Event    string   `json:"event"`
			Versions []string `json:"versions"`
			Cases    []string `json:"cases"`
		}{"plan", names, items})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s\n", b)
		return nil
	}
	fmt.Fprintf(a.stdout, "newest version %s, of %s\n", names[len(names)-1], strings.Join(names, ", "))
	for _, x := range items {
		fmt.Fprintln(a.stdout, x)
	}
	fmt.Fprintf(a.stderr, "whittle: %s\n", replay.Count(len(items), "measurement"))
	return nil
}
