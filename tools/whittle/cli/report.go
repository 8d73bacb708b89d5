package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"whittle/replay"
)

func (a *app) reportCommand() *cobra.Command {
	var asJSON, full bool
	c := &cobra.Command{
		Use:   "report ID",
		Short: "Print an issue ready to file, as Markdown, from a minification (or failure/ID) in the store",
		Long: `Print an issue ready to file, as Markdown, from a minification (or failure/ID) in the store. Of what a C++ compiler said the errors are
shown, with what explains them, and the warnings are counted: --full and --json have the whole.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("report takes the number of a minification (see whittle store ls), got %s", replay.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			st, err := replay.Open(c.Context(), a.storePath())
			if err != nil {
				return err
			}
			defer st.Close()
			r, err := loadReport(c.Context(), st, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				b, err := json.MarshalIndent(r, "", "  ")
				if err != nil {
					return err
				}
				fmt.Fprintf(a.stdout, "%s\n", b)
				return nil
			}
			fmt.Fprint(a.stdout, r.markdown(full))
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&full, "full", false, "the error with all the warnings of the compiler")
	return c
}

// issueReport is what an issue says, and the JSON form of `whittle report`. Fields of Result that the store does not hold are zero.
type issueReport struct {
	Ref       string             `json:"ref"` // "minification/3"
	Title     string             `json:"title"`
	Signature replay.Signature   `json:"signature"`
	State     replay.State       `json:"state,omitempty"` // of the search; "" for a failure that was not minified
	Created   time.Time          `json:"created"`
	Result    replay.Result      `json:"result"`
	Steps     int                `json:"steps"`
	Passes    []replay.PassStats `json:"passes"`
	Findings  []issueFinding     `json:"findings"`
	Start     string             `json:"start,omitempty"` // the repro that the search began with
	stored    bool               // Result is from the store, figures included
}

// issueFinding is another failure met on the way.
type issueFinding struct {
	Signature replay.Signature `json:"signature"`
	Error     string           `json:"error"`
	Repro     string           `json:"repro"`
}

// loadReport reads the record "7", "minification/7" or "failure/7".
func loadReport(ctx context.Context, st *replay.Store, ref string) (*issueReport, error) {
	kind, num, ok := strings.Cut(ref, "/")
	if !ok {
		kind, num = "minification", ref
	}
	id, err := strconv.ParseInt(num, 10, 64)
	if err != nil || id <= 0 {
		return nil, usagef("%q is no record: want the number of a minification, or failure/NUMBER", ref)
	}
	r := &issueReport{Ref: fmt.Sprintf("%s/%d", kind, id), Passes: []replay.PassStats{}, Findings: []issueFinding{}}
	switch kind {
	case "minification":
		err = r.minification(ctx, st, id)
	case "failure":
		var f replay.Failure
		if f, err = st.Failure(ctx, id); err == nil {
			r.Signature, r.Created = f.Signature, f.Created
			r.Result.Repro, r.Result.Error = f.Repro, f.Raw
			for _, k := range slices.Sorted(maps.Keys(f.Config)) {
				r.Result.Config = append(r.Result.Config, replay.Setting{Name: k, Value: f.Config[k]})
			}
		}
	default:
		return nil, usagef("%q: only minifications and failures have a report", ref)
	}
	if err != nil {
		return nil, usageError{err}
	}
	r.Title = issueTitle(r.Signature, r.Result.Repro)
	return r, nil
}

func (r *issueReport) minification(ctx context.Context, st *replay.Store, id int64) error {
	m, err := st.Minification(ctx, id)
	if err != nil {
		return err
	}
	all, err := st.Minifications(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.ID == id {
			r.State, r.Created, r.Steps = s.State, s.Created, s.Steps
			r.Result.Start.Calls, r.Result.End.Calls = s.StartCalls, s.Calls
			if s.Why != "" {
				return fmt.Errorf("minification %d has no result: %s", id, s.Why)
			}
		}
	}
	r.Signature, r.Start = m.Signature, m.Start
	res, err := st.Result(ctx, id)
	var nf *replay.NotFoundError
	switch {
	case err == nil:
		r.Result, r.stored = res, true
	case !errors.As(err, &nf):
		return err
	case !m.Finished:
		return fmt.Errorf("minification %d is %s and has no result yet", id, r.State)
	default: // a search of an older whittle: the end state and the certificate are all that there is
		r.Result.Repro, r.Result.Complete = m.Result, true
		if err := json.Unmarshal([]byte(m.Certificate), &r.Result.Certificate); err != nil {
			return &replay.CorruptError{Table: "minification", Key: fmt.Sprint(id), Msg: "certificate: " + err.Error()}
		}
	}
	if len(r.Result.Free) == 0 { // edits that keep the failure, and do not make it smaller
		for _, t := range r.Result.Certificate {
			if t.Verdict == replay.Reproduced {
				r.Result.Free = append(r.Result.Free, t.Reduction+": "+t.Edit)
			}
		}
	}
	if r.Passes, err = st.Passes(ctx, id); err != nil {
		return err
	}
	fs, err := st.Findings(ctx, id)
	if err != nil {
		return err
	}
	for _, f := range fs {
		r.Findings = append(r.Findings, issueFinding{f.Signature, f.Raw, f.Repro})
	}
	return nil
}

// stageTitles say in a title what failed, by the signature's stage.
var stageTitles = map[string]string{
	"compile": "compilation fails", "run": "the compiled graph fails", "accuracy": "the compiled graph computes something else than eager", "aot": "compilation fails", "dynamo": "compilation fails",
}

// maxTitle bounds a title, in bytes.
const maxTitle = 140

// issueTitle is a line from the signature and the operators of the repro.
func issueTitle(s replay.Signature, repro string) string {
	what := stageTitles[s.Stage]
	switch s.Type {
	case "timeout":
		what = "hangs"
	case "oom":
		what = "uses up the memory"
	}
	if what == "" {
		what = "fails"
	}
	title := "torch.compile: " + what
	if ops := callsOf(repro); len(ops) > 0 && len(ops) <= 3 && !slices.ContainsFunc(ops, func(op string) bool { return strings.Contains(s.Message, op) }) {
		title += " for " + strings.Join(ops, ", ")
	}
	if s.Stage != "accuracy" && s.Type != "timeout" && s.Type != "oom" {
		for _, part := range []string{s.Type, strings.TrimPrefix(strings.TrimPrefix(s.Message, s.Type), ": ")} {
			if part = strings.Trim(part, ": "); part != "" {
				title += ": " + part
			}
		}
	}
	title = strings.Join(strings.Fields(title), " ")
	if len(title) > maxTitle {
		title = strings.TrimSpace(strings.ToValidUTF8(title[:maxTitle-3], "")) + "..."
	}
	return title
}

var reCall = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s+\w+(?: : [^=]+)? = (torch(?:\.\w+)+)\(`) })

// callsOf lists the operators that the forward methods of a repro call, without repeats: aten.relu.default, torch.relu.
func callsOf(repro string) []string {
	var out []string
	forward := -1 // how far the def is indented; -1: outside of one
	for _, l := range strings.Split(repro, "\n") {
		code := strings.TrimLeft(l, " \t")
		indent := len(l) - len(code)
		switch {
		case strings.HasPrefix(code, "def forward("):
			forward = indent
		case code != "" && indent <= forward:
			forward = -1
		}
		m := reCall().FindStringSubmatch(l)
		if forward < 0 || m == nil {
			continue
		}
		if name := strings.TrimPrefix(m[1], "torch.ops."); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// markdown is the issue; full has warnings, too.
func (r *issueReport) markdown(full bool) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	res := r.Result
	p("# %s\n\n### Describe the bug\n\n", r.Title)
	p("%s\n\n", r.describe())
	repro := "Minimal repro"
	if r.State == "" {
		repro = "Repro (not minified)"
	}
	if res.Standalone != "" {
		p("### %s\n\n%s\n", repro, fence("python", res.Standalone))
		p("%s", details("The same in PyTorch's form (`repro.py`)", fence("python", res.Repro)))
	} else if res.Repro != "" {
		p("### %s\n\n%s\n", repro, fence("python", res.Repro))
	}
	if n := len(reStorage().FindAllString(res.Repro, -1)); n > 0 {
		p("It reads %s by content from the folder that `save_dir` names, which has to lie beside it.\n\n", replay.Count(n, "input"))
	}
	if len(res.Config) > 0 {
		p("### Settings that it needs\n\n%s\n", fence("python", settings(res.Config)))
	}
	if len(res.Workaround) > 0 {
		p("### Workaround\n\nWith this it does not fail:\n\n%s\n", fence("python", settings(res.Workaround)))
	}
	if len(res.Free) > 0 {
		p("### What may vary\n\nThe failure does not depend on this:\n\n")
		for _, f := range res.Free {
			p("- %s\n", cell(f))
		}
		p("\n")
	}
	if res.Error != "" {
		text, warnings := res.Error, 0
		if !full {
			text, warnings = withoutWarnings(text)
		}
		p("### Error\n\n%s\n", fence("", text))
		if warnings > 0 {
			p("%s of the compiler left out; `whittle report --full %s` shows all.\n\n", replay.Count(warnings, "warning"), r.Ref)
		}
	}
	if r.stored || len(r.Passes) > 0 {
		r.reduction(p)
	}
	if res.Runs > 0 || res.Confirmed > 0 {
		p("### Reliability\n\n%s\n\n", r.reliability())
	}
	if len(r.Findings) > 0 {
		p("### Other failures found on the way\n\nEach is another failure than the one above, with its own repro.\n\n")
		for _, f := range r.Findings {
			p("%s", details("<code>"+escapeHTML(oneOf(f.Signature.String(), f.Error))+"</code>", fence("python", f.Repro)))
		}
	}
	p("### Versions\n\n%s\n", fence("", oneOf(res.Environment, "not recorded\n")))
	if len(res.Certificate) > 0 {
		var rows strings.Builder
		rows.WriteString("Each of these edits of the result was tried last; none that makes it smaller fails in the same way.\n\n| reduction | edit | verdict |\n| --- | --- | --- |\n")
		for _, t := range res.Certificate {
			fmt.Fprintf(&rows, "| %s | %s | %s |\n", cell(t.Reduction), cell(t.Edit), cell(string(t.Verdict)))
		}
		p("%s", details(fmt.Sprintf("Minimality certificate: %s", replay.Count(len(res.Certificate), "edit")), rows.String()))
	}
	return b.String()
}

// describe is the first paragraph.
func (r *issueReport) describe() string {
	s := r.Signature
	var parts []string
	switch {
	case s.Stage == "accuracy":
		parts = append(parts, "A graph that runs correctly in eager mode compiles, and computes something else.")
	case s.Type == "timeout":
		parts = append(parts, "A graph that runs correctly in eager mode does not end when it is compiled.")
	default:
		parts = append(parts, "A graph that runs correctly in eager mode fails when it is compiled.")
	}
	if !s.IsZero() {
		parts = append(parts, "Signature: `"+strings.ReplaceAll(s.String(), "`", "'")+"`.")
	}
	if ops := callsOf(r.Result.Repro); len(ops) > 0 && len(ops) <= 12 {
		parts = append(parts, "Operators: `"+strings.Join(ops, "`, `")+"`.")
	}
	if r.State != "" && !r.Result.Complete {
		why := ""
		if r.Result.Stopped != "" {
			why = " (" + r.Result.Stopped + ")"
		}
		parts = append(parts, "The search for a smaller repro was stopped early"+why+": this one is the best so far, and not minimal.")
	}
	return strings.Join(parts, "\n")
}

// reduction says how the repro came to be.
func (r *issueReport) reduction(p func(string, ...any)) {
	res := r.Result
	p("### How it was reduced\n\n")
	if r.stored {
		p("| | start | end |\n| --- | ---: | ---: |\n")
		for _, row := range []struct {
			name string
			a, b int64
		}{
			{"calls", int64(res.Start.Calls), int64(res.End.Calls)}, {"outputs", int64(res.Start.Outputs), int64(res.End.Outputs)}, {"inputs", int64(res.Start.Inputs), int64(res.End.Inputs)},
			{"input elements", res.Start.Elements, res.End.Elements}, {"settings", int64(res.Start.Settings), int64(res.End.Settings)},
		} {
			p("| %s | %d | %d |\n", row.name, row.a, row.b)
		}
		p("\n%s to the engine (%s), %s from the cache, %s refused before, in %s.\n\n", replay.Count(res.Queries, "query"), oneOf(res.Engine, "unknown"), replay.Count(res.CacheHits, "answer"), replay.Count(res.Rejected, "candidate"), seconds(res.Seconds))
	}
	if len(r.Passes) > 0 {
		p("| reduction | tried | taken |\n| --- | ---: | ---: |\n")
		for _, x := range r.Passes {
			p("| %s | %d | %d |\n", cell(x.Reduction), x.Steps, x.Wins)
		}
		p("\n")
	}
	if len(res.Off) > 0 {
		p("Switched off, as too many of their candidates hung: %s.\n\n", strings.Join(res.Off, ", "))
	}
	if res.Launcher != "" {
		p("It began with `%s`.\n\n", strings.ReplaceAll(res.Launcher, "`", "'"))
	}
}

func (r *issueReport) reliability() string {
	res := r.Result
	var parts []string
	if res.Confirmed > 0 {
		parts = append(parts, fmt.Sprintf("Proved again %s in a fresh process.", times(res.Confirmed)))
	}
	if res.Runs > 0 {
		parts = append(parts, fmt.Sprintf("It failed in %.0f %% of %s.", 100*res.Rate, replay.Count(res.Runs, "run")))
	}
	if res.FalseRuns > 0 {
		often := fmt.Sprintf("in %.0f %%", 100*res.FalseRate)
		if res.FalseRate == 0 {
			often = "in none"
		}
		parts = append(parts, fmt.Sprintf("A graph without the failure seemed to have it %s of %s.", often, replay.Count(res.FalseRuns, "run")))
	}
	return strings.Join(parts, " ")
}

var reStorage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`reader\.storage\(['"][0-9a-fA-F]{8,}['"]`) })

func settings(ss []replay.Setting) string {
	var b strings.Builder
	for _, s := range ss {
		fmt.Fprintf(&b, "%s = %s\n", s.Name, s.Value)
	}
	return b.String()
}

// fence puts text into a block that nothing in it can end.
func fence(lang, text string) string {
	ticks := "```"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	return ticks + lang + "\n" + strings.TrimRight(text, "\n") + "\n" + ticks + "\n"
}

// details is a section that is closed until it is clicked.
func details(summary, text string) string {
	return "<details>\n<summary>" + summary + "</summary>\n\n" + strings.TrimRight(text, "\n") + "\n\n</details>\n\n"
}

// cell is text in a table.
func cell(s string) string {
	return escapeHTML(strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", "\\|"))
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escapeHTML(s string) string { return htmlEscapes.Replace(s) }

func oneOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return replay.Count(n, "time")
}

func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", s)
	}
	return d.Round(time.Second).String()
}
