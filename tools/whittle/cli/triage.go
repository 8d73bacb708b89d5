package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"whittle/replay"
	"whittle/replay/triage"
	"whittle/repros"
)

func (a *app) triageCommand() *cobra.Command {
	var actor string
	c := &cobra.Command{
		Use:   "triage",
		Short: "Which failures are one bug, how far each is, and how bad",
		Long: `Group the failures of the store: those that whittle exec, run and nightly put there, those of files (triage add) and of other stores (store merge).

Failures that came since are grouped first, whatever the command. What is compared is the kind of failure, its error, the operators of its graph (of the
minimal one, where it was shrunk), settings, backend and layer: triage explain shows it line by line. merge and split overrule it, and stay.`,
		Example: `  whittle triage ls
  whittle triage show group/3
  whittle triage mute group/3 "known, waits for 2.15" --until 2027-01-31`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"whittle triage\"", args[0])
			}
			return c.Help()
		},
	}
	c.PersistentFlags().StringVar(&actor, "as", userName(), "who the history names")
	t := &triager{app: a, actor: &actor}
	c.AddCommand(t.ls(), t.show(), t.explain(), t.merge(), t.split(), t.mute(), t.unmute(), t.assign(), t.close(), t.reopen(), t.add())
	return c
}

// userName is who uses the command.
func userName() string {
	if u := os.Getenv("USER"); u != "" {
		return u
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "somebody"
}

// triager is what the commands of triage share.
type triager struct {
	*app
	actor *string
}

// with opens the store, groups what is new, and does something.
func (t *triager) with(ctx context.Context, do func(s *replay.Store) error) error {
	s, err := replay.Open(ctx, t.storePath())
	if err != nil {
		return err
	}
	defer s.Close()
	if err := t.place(ctx, s); err != nil {
		return err
	}
	return usage(do(s))
}

func (t *triager) place(ctx context.Context, s *replay.Store) error {
	r, err := triage.PlaceAll(ctx, s, "whittle")
	if err != nil {
		return err
	}
	for _, id := range r.Skipped {
		fmt.Fprintf(t.stderr, "whittle: failure/%d cannot be read, and is in no group: see whittle store check\n", id)
	}
	return nil
}

// usage gives errors about what the user asked for their exit status.
func usage(err error) error {
	var nf *replay.NotFoundError
	var tr *triage.TransitionError
	if errors.As(err, &nf) || errors.As(err, &tr) {
		return usageError{err}
	}
	return err
}

// record reads "group/3", or "3" for a group.
func record(kind, ref string) (int64, error) {
	k, num, ok := strings.Cut(ref, "/")
	if !ok {
		k, num = kind, ref
	}
	id, err := strconv.ParseInt(num, 10, 64)
	if k != kind || err != nil || id <= 0 {
		return 0, usagef("%s is no %s: %s/1 is", strconv.QuoteToASCII(ref), kind, kind)
	}
	return id, nil
}

func recordsOf(kind string, refs []string) ([]int64, error) {
	var out []int64
	for _, r := range refs {
		id, err := record(kind, r)
		if err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, nil
}

// takes wants a number of arguments; most < 0: any number.
func takes(what string, least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usagef("triage %s takes %s, got %s", c.Name(), what, replay.Count(len(args), "argument"))
		}
		return nil
	}
}

// print writes one document.
func (t *triager) print(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.stdout, "%s\n", b)
	return err
}

// groupInfo is the JSON form of a group.
type groupInfo struct {
	Group    string          `json:"group"` // "group/3"
	Title    string          `json:"title"`
	State    string          `json:"state"`
	Muted    string          `json:"muted,omitempty"`
	Until    time.Time       `json:"until,omitzero"`
	Assignee string          `json:"assignee,omitempty"`
	Severity triage.Severity `json:"severity"`
	Kind     triage.Kind     `json:"kind"`
	Failures int             `json:"failures"`
	Origins  int             `json:"origins"`
	First    time.Time       `json:"first"`
	Last     time.Time       `json:"last"`
	Example  string          `json:"example"` // "failure/7"
}

func info(g replay.Group) (groupInfo, triage.Features, error) {
	out := groupInfo{Group: fmt.Sprintf("group/%d", g.ID), Title: g.Title, State: g.State, Assignee: g.Assignee, Failures: g.Members, Origins: g.Origins, First: g.First, Last: g.Last, Example: fmt.Sprintf("failure/%d", g.Example)}
	if triage.IsMuted(g, time.Now()) {
		out.Muted, out.Until = g.Muted, g.Until
	}
	var f triage.Features
	if g.Features != "" {
		var err error
		if f, err = triage.ParseFeatures(g.Features); err != nil {
			return out, f, &replay.CorruptError{Table: "member", Key: fmt.Sprint(g.Example), Msg: err.Error()}
		}
	}
	out.Kind, out.Severity = f.Kind, triage.Rate(g, f)
	return out, f, nil
}

func (t *triager) ls() *cobra.Command {
	var states string
	var limit int
	var all, asJSON bool
	c := &cobra.Command{Use: "ls", Short: "List groups, the worst first", Args: takes("no arguments", 0, 0),
		Example: "  whittle triage ls --state new,confirmed --limit 10",
		Long: `List groups, the worst first. Muted ones, and those that are fixed or closed, are left out, unless --state or --all asks for them.

Columns: group, severity (0 to 100), state, failures, when the last one was met, what it is.`,
		RunE: func(c *cobra.Command, _ []string) error {
			f := replay.GroupFilter{Loud: !all}
			switch {
			case states != "":
				for _, name := range strings.Split(states, ",") {
					if name == "muted" {
						f.Loud = false
						continue
					}
					st, err := triage.ParseState(name)
					if err != nil {
						return usagef("--state: %v, muted", err)
					}
					f.States = append(f.States, string(st))
				}
			case !all:
				for _, st := range triage.States {
					if st.Open() {
						f.States = append(f.States, string(st))
					}
				}
			}
			if limit < 0 {
				return usagef("--limit %d: a limit below 0", limit)
			}
			onlyMuted := states == "muted"
			return t.with(c.Context(), func(s *replay.Store) error {
				gs, err := s.Groups(c.Context(), f)
				if err != nil {
					return err
				}
				rows := []groupInfo{}
				for _, g := range gs {
					i, _, err := info(g)
					if err != nil {
						return err
					}
					if onlyMuted && i.Muted == "" {
						continue
					}
					rows = append(rows, i)
				}
				slices.SortStableFunc(rows, func(a, b groupInfo) int { return b.Severity.Score - a.Severity.Score })
				if limit > 0 && len(rows) > limit {
					rows = rows[:limit]
				}
				if asJSON {
					return t.print(rows)
				}
				w := tabwriter.NewWriter(t.stdout, 0, 8, 2, ' ', 0)
				for _, r := range rows {
					state := r.State
					if r.Muted != "" {
						state += ", muted"
					}
					fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\n", r.Group, r.Severity.Score, state, replay.Count(r.Failures, "failure"), r.Last.Format(time.DateOnly), triage.Quote(r.Title))
				}
				return w.Flush()
			})
		}}
	c.Flags().StringVar(&states, "state", "", "`STATES` to list, with commas: new, confirmed, minimised, bisected, flaky, fixed, closed, muted")
	c.Flags().IntVar(&limit, "limit", 0, "the worst so many (0: all)")
	c.Flags().BoolVar(&all, "all", false, "fixed, closed and muted ones, too")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// memberInfo is the JSON form of a failure in a group.
type memberInfo struct {
	Failure      string           `json:"failure"`
	Signature    replay.Signature `json:"signature"`
	Origin       string           `json:"origin,omitempty"`
	Minification string           `json:"minification,omitempty"`
	Bisection    string           `json:"bisection,omitempty"`
	Distance     float64          `json:"distance"`
	Pinned       bool             `json:"pinned"`
	Created      time.Time        `json:"created"`
}

// eventInfo is the JSON form of a line of a group's history.
type eventInfo struct {
	Time  time.Time `json:"time"`
	Actor string    `json:"actor"`
	Kind  string    `json:"kind"`
	Text  string    `json:"text"`
}

// groupDocument is what `triage show --json` prints.
type groupDocument struct {
	groupInfo
	Features triage.Features `json:"features"`
	Members  []memberInfo    `json:"members"` // the latest ones, see --limit
	History  []eventInfo     `json:"history"`
	Repro    string          `json:"repro"` // of the example, the minimal one where there is one
}

func (t *triager) show() *cobra.Command {
	var limit int
	var asJSON bool
	c := &cobra.Command{Use: "show GROUP", Short: "Show a group: what it is, its failures, its history, its smallest repro", Args: takes("a group", 1, 1), Example: "  whittle triage show group/3",
		RunE: func(c *cobra.Command, args []string) error {
			id, err := record("group", args[0])
			if err != nil {
				return err
			}
			if limit < 0 {
				return usagef("--limit %d: a limit below 0", limit)
			}
			return t.with(c.Context(), func(s *replay.Store) error {
				d, err := document(c.Context(), s, id, limit)
				if err != nil {
					return err
				}
				if asJSON {
					return t.print(d)
				}
				t.tellGroup(d)
				return nil
			})
		}}
	c.Flags().IntVar(&limit, "limit", 20, "how many failures are listed, the latest ones (0: all)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// document reads a group with what belongs to it.
func document(ctx context.Context, s *replay.Store, id int64, limit int) (groupDocument, error) {
	d := groupDocument{Members: []memberInfo{}, History: []eventInfo{}}
	g, err := s.Group(ctx, id)
	if err != nil {
		return d, err
	}
	if d.groupInfo, d.Features, err = info(g); err != nil {
		return d, err
	}
	members, err := s.Members(ctx, id, limit)
	if err != nil {
		return d, err
	}
	for _, m := range members {
		f, err := s.Failure(ctx, m.Failure)
		if err != nil {
			return d, err
		}
		i := memberInfo{Failure: fmt.Sprintf("failure/%d", f.ID), Signature: f.Signature, Origin: f.Origin, Distance: m.Distance, Pinned: m.Pinned, Created: f.Created}
		if f.Minification != 0 {
			i.Minification = fmt.Sprintf("minification/%d", f.Minification)
		}
		if f.Bisection != 0 {
			i.Bisection = fmt.Sprintf("bisection/%d", f.Bisection)
		}
		d.Members = append(d.Members, i)
	}
	events, err := s.GroupEvents(ctx, id)
	if err != nil {
		return d, err
	}
	for _, e := range events {
		d.History = append(d.History, eventInfo{e.Created, e.Actor, e.Kind, e.Text})
	}
	if g.Example == 0 {
		return d, nil
	}
	f, err := s.Failure(ctx, g.Example)
	if err != nil {
		return d, err
	}
	d.Repro = f.Repro
	if f.Minification != 0 {
		r, err := s.Result(ctx, f.Minification)
		var nf *replay.NotFoundError
		switch {
		case err == nil:
			d.Repro = r.Repro
		case !errors.As(err, &nf):
			return d, err
		}
	}
	return d, nil
}

// tellGroup prints a group. All that failures brought is quoted.
func (t *triager) tellGroup(d groupDocument) {
	say := func(format string, args ...any) { fmt.Fprintf(t.stdout, format+"\n", args...) }
	q := triage.Quote
	say("%s: %s", d.Group, q(d.Title))
	say("state     %s", d.State)
	if d.Muted != "" {
		until := ""
		if !d.Until.IsZero() {
			until = ", until " + d.Until.Format(time.DateOnly)
		}
		say("muted     %s%s", q(d.Muted), until)
	}
	if d.Assignee != "" {
		say("assignee  %s", q(d.Assignee))
	}
	say("severity  %d: %s", d.Severity.Score, q(strings.Join(d.Severity.Why, ", ")))
	say("failures  %d, from %s to %s", d.Failures, d.First.Format(time.DateOnly), d.Last.Format(time.DateOnly))
	for _, f := range []struct{ name, text string }{{"error", d.Features.Message}, {"graph", strings.Join(d.Features.Graph, ", ")}, {"settings", strings.Join(d.Features.Settings, ", ")}, {"layer", d.Features.Layer}, {"decides", d.Features.Decides}} {
		if f.text != "" {
			say("%-9s %s", f.name, q(f.text))
		}
	}
	say("")
	w := tabwriter.NewWriter(t.stdout, 0, 8, 2, ' ', 0)
	for _, m := range d.Members {
		where := m.Origin
		if m.Minification != "" {
			where += " " + m.Minification
		}
		if m.Bisection != "" {
			where += " " + m.Bisection
		}
		pinned := ""
		if m.Pinned {
			pinned = " pinned"
		}
		fmt.Fprintf(w, "%s\t%s\tdistance %.2f%s\t%s\t%s\n", m.Failure, m.Created.Format(time.DateTime), m.Distance, pinned, q(strings.TrimSpace(where)), q(m.Signature.String()))
	}
	w.Flush()
	if n := d.Failures - len(d.Members); n > 0 {
		say("and %d more: --limit 0", n)
	}
	say("")
	for _, e := range d.History {
		say("%s  %s  %s: %s", e.Time.Format(time.DateTime), q(e.Actor), e.Kind, q(e.Text))
	}
	if d.Repro != "" {
		say("\n%s", strings.TrimRight(triage.QuoteLines(d.Repro), "\n"))
	}
}

func (t *triager) explain() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "explain FAILURE [FAILURE]", Short: "Say why two failures are one bug or not; of one failure, why it is where it is", Args: takes("one failure or two", 1, 2), Example: "  whittle triage explain failure/3 failure/7",
		Long: `Say why two failures are one bug, or are not: a line for each feature, with what is equal, what differs, and what it weighs. Of one failure, it is compared with the
failure of its group that says most.`,
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := recordsOf("failure", args)
			if err != nil {
				return err
			}
			ctx := c.Context()
			return t.with(ctx, func(s *replay.Store) error {
				if len(ids) == 1 {
					m, _, err := s.MemberOf(ctx, ids[0])
					if err != nil {
						return err
					}
					if m.Group == 0 {
						return &replay.NotFoundError{Table: "group of failure", Key: fmt.Sprint(ids[0])}
					}
					g, err := s.Group(ctx, m.Group)
					if err != nil {
						return err
					}
					ids = append(ids, g.Example)
				}
				var f [2]triage.Features
				for i, id := range ids {
					if f[i], err = triage.Of(ctx, s, id); err != nil {
						return err
					}
				}
				cmp := triage.Compare(f[0], f[1])
				if asJSON {
					return t.print(struct {
						Failures [2]string          `json:"failures"`
						Features [2]triage.Features `json:"features"`
						triage.Comparison
					}{[2]string{fmt.Sprintf("failure/%d", ids[0]), fmt.Sprintf("failure/%d", ids[1])}, f, cmp})
				}
				fmt.Fprintf(t.stdout, "failure/%d and failure/%d\n", ids[0], ids[1])
				for _, l := range cmp.Explain() {
					fmt.Fprintln(t.stdout, triage.Quote(l))
				}
				return nil
			})
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// changed prints a group after a change.
func (t *triager) changed(ctx context.Context, s *replay.Store, id int64, asJSON bool) error {
	g, err := s.Group(ctx, id)
	if err != nil {
		return err
	}
	i, _, err := info(g)
	if err != nil {
		return err
	}
	if asJSON {
		return t.print(i)
	}
	state := i.State
	if i.Muted != "" {
		state += ", muted"
	}
	fmt.Fprintf(t.stdout, "%s: %s, %s: %s\n", i.Group, state, replay.Count(i.Failures, "failure"), triage.Quote(i.Title))
	return nil
}

// change is a command that changes one group.
func (t *triager) change(use, short, example, what string, least, most int, do func(ctx context.Context, s *replay.Store, id int64, rest []string) error) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: use, Short: short, Args: takes(what, least, most), Example: example, RunE: func(c *cobra.Command, args []string) error {
		id, err := record("group", args[0])
		if err != nil {
			return err
		}
		return t.with(c.Context(), func(s *replay.Store) error {
			if err := do(c.Context(), s, id, args[1:]); err != nil {
				return err
			}
			return t.changed(c.Context(), s, id, asJSON)
		})
	}}
	c.Flags().BoolVar(&asJSON, "json", false, "print the group as JSON")
	return c
}

func (t *triager) merge() *cobra.Command {
	return t.change("merge GROUP GROUP...", "Make one group of several, by hand: all go to the first", "  whittle triage merge group/3 group/8", "two groups or more", 2, -1, func(ctx context.Context, s *replay.Store, id int64, rest []string) error {
		others, err := recordsOf("group", rest)
		if err != nil {
			return err
		}
		if slices.Contains(others, id) {
			return usagef("group/%d cannot be merged into itself", id)
		}
		return triage.Merge(ctx, s, id, others, *t.actor)
	})
}

func (t *triager) split() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "split FAILURE...", Short: "Take failures of a group into a new group, by hand", Args: takes("failures", 1, -1), Example: "  whittle triage split failure/12 failure/15",
		Long: `Take failures of a group into a new group, by hand. Neither these nor those that stay move by themselves afterwards.`,
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := recordsOf("failure", args)
			if err != nil {
				return err
			}
			return t.with(c.Context(), func(s *replay.Store) error {
				id, err := triage.Split(c.Context(), s, ids, *t.actor)
				if err != nil {
					return usageError{err}
				}
				return t.changed(c.Context(), s, id, asJSON)
			})
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print the new group as JSON")
	return c
}

func (t *triager) mute() *cobra.Command {
	var until string
	var at time.Time
	c := t.change("mute GROUP REASON", "Leave a group out of lists and reports, for a reason", `  whittle triage mute group/3 "known, waits for 2.15" --until 2027-01-31`, "a group and a reason", 2, 2,
		func(ctx context.Context, s *replay.Store, id int64, rest []string) error {
			return triage.Mute(ctx, s, id, rest[0], at, *t.actor)
		})
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if strings.TrimSpace(args[1]) == "" {
			return usagef("muting takes a reason")
		}
		if until != "" {
			var err error
			if at, err = time.ParseInLocation(time.DateOnly, until, time.Local); err != nil {
				return usagef("--until %s: a date, as 2027-01-31", strconv.QuoteToASCII(until))
			}
			if !at.After(time.Now()) {
				return usagef("--until %s: that is over", until)
			}
		}
		return run(c, args)
	}
	c.Flags().StringVar(&until, "until", "", "`DATE` from which on it is spoken of again (default: never)")
	return c
}

func (t *triager) unmute() *cobra.Command {
	return t.change("unmute GROUP", "Speak of a muted group again", "  whittle triage unmute group/3", "a group", 1, 1, func(ctx context.Context, s *replay.Store, id int64, _ []string) error {
		return triage.Unmute(ctx, s, id, *t.actor)
	})
}

func (t *triager) assign() *cobra.Command {
	return t.change("assign GROUP [WHO]", "Say who sees to a group; without WHO: nobody", "  whittle triage assign group/3 ada", "a group and a name", 1, 2, func(ctx context.Context, s *replay.Store, id int64, rest []string) error {
		return triage.Assign(ctx, s, id, strings.Join(rest, ""), *t.actor)
	})
}

func (t *triager) close() *cobra.Command {
	fixed := false
	c := t.change("close GROUP [WHY]", "Close a group; a failure that comes later reopens it", `  whittle triage close group/3 --fixed "pytorch#12345"`, "a group and why", 1, 2, func(ctx context.Context, s *replay.Store, id int64, rest []string) error {
		to := triage.Closed
		if fixed {
			to = triage.Fixed
		}
		return triage.SetState(ctx, s, id, to, *t.actor, strings.Join(rest, ""))
	})
	c.Flags().BoolVar(&fixed, "fixed", false, "the bug is fixed")
	return c
}

func (t *triager) reopen() *cobra.Command {
	return t.change("reopen GROUP [WHY]", "Open a fixed or closed group again", "  whittle triage reopen group/3", "a group and why", 1, 2, func(ctx context.Context, s *replay.Store, id int64, rest []string) error {
		return triage.Reopen(ctx, s, id, *t.actor, strings.Join(rest, ""))
	})
}

// addedInfo is what `triage add --json` prints for each file.
type addedInfo struct {
	File    string `json:"file"`
	Failure string `json:"failure"`
	Group   string `json:"group"`
	New     bool   `json:"new"` // the failure was not in the store
}

func (t *triager) add() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "add FILE|FOLDER...", Short: "Put repros into the store as failures, and group them", Args: takes("files or folders", 1, -1), Example: "  whittle triage add whittle-repro minifier_launcher.py",
		Long: `Put repros into the store as failures, and group them: repro.py, minifier_launcher.py and fx_graph_runnable.py, PyTorch's and whittle's; of a folder, all below it. Nothing is run. What
failed is read from the file's head, where whittle wrote it, else from error.txt beside it: the error as Python printed it. A repro that says
neither is one that fails in a way that is not known: wrong results where it compares, else an error. A file that is added twice is one failure.`,
		RunE: func(c *cobra.Command, args []string) error {
			var files []string
			var rs []*repros.Repro
			for _, arg := range args {
				one := func(file string, r *repros.Repro) error { files, rs = append(files, file), append(rs, r); return nil }
				var err error
				if isFolder(arg) {
					n := len(files)
					if err = reprosToAdd(arg, one); err == nil && len(files) == n {
						err = usagef("%s: there is no repro below it", arg)
					}
				} else {
					var r *repros.Repro
					if r, err = readRepro(arg); err == nil {
						err = one(arg, r)
					}
				}
				if err != nil {
					return err
				}
			}
			return t.with(c.Context(), func(s *replay.Store) error {
				out := []addedInfo{}
				for i, file := range files {
					x, err := t.addOne(c.Context(), s, file, rs[i])
					if err != nil {
						return err
					}
					out = append(out, x)
					if !asJSON {
						known := ""
						if !x.New {
							known = " (it was there)"
						}
						fmt.Fprintf(t.stdout, "%s\t%s\t%s%s\n", x.Group, x.Failure, triage.Quote(file), known)
					}
				}
				if asJSON {
					return t.print(out)
				}
				return nil
			})
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// addOne stores the failure of a file, if it is not there, and places it.
func (t *triager) addOne(ctx context.Context, s *replay.Store, file string, r *repros.Repro) (addedInfo, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return addedInfo{}, err
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return addedInfo{}, err
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(file), "error.txt"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return addedInfo{}, err
	}
	f := triage.FromFile(r, string(text), string(raw))
	f.Origin = abs
	x := addedInfo{File: file}
	id, found, err := s.SameFailure(ctx, f)
	if err != nil {
		return x, err
	}
	if !found {
		x.New = true
		if id, err = s.PutFailure(ctx, f); err != nil {
			return x, err
		}
	}
	g, _, err := triage.Place(ctx, s, id, *t.actor)
	x.Failure, x.Group = fmt.Sprintf("failure/%d", id), fmt.Sprintf("group/%d", g)
	return x, err
}

// reprosToAdd gives the complete repros below a folder, results too. Where a result lies, the graph as it was recorded is the same failure.
func reprosToAdd(dir string, add func(file string, r *repros.Repro) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return usageError{err}
		case d.IsDir() && d.Name() == "recorded":
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "repro.py")); err == nil {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || !strings.HasSuffix(path, ".py"):
			return nil
		}
		r, err := repros.ReadFile(path)
		if err != nil || r.Complete() != nil {
			return nil // some other Python file
		}
		return add(path, r)
	})
}
