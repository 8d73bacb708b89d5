package replay

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What pages show. Lists come in pages by their last row, not by a count of rows that are passed over: page 1,000 costs what the first one does.
// Rows that do not decode are shown as they are: who looks at a store wants to see them.

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func atOrZero(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return at(ms.Int64)
}

// lenient reads a signature; a text that is none stands as the message.
func lenient(text string) Signature {
	var s Signature
	if json.Unmarshal([]byte(text), &s) != nil {
		return Signature{Message: text}
	}
	return s
}

// like is a LIKE pattern for texts that contain part, with \ as its escape.
func like(part string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(part) + "%"
}

// GroupRow is a group of failures in a line.
type GroupRow struct {
	ID       int64
	Title    string
	State    string
	Assignee string
	Muted    string    // why; "" not muted
	Until    time.Time // zero: never by itself
	Created  time.Time
	Updated  time.Time
	Failures int
	Severity int64  // 0 to 100: see RateGroups
	Features string // of the example, JSON, as package triage reads it
}

// GroupSort is an order of groups.
type GroupSort string

// The orders, each descending.
const (
	BySeverity GroupSort = "severity"
	ByAge      GroupSort = "age" // newest first
	ByCases    GroupSort = "cases"
)

// GroupQuery says which groups are listed: those after a row, in an order.
type GroupQuery struct {
	State  string // "" any
	Search string // in the title; "" any
	Sort   GroupSort
	// AfterValue and AfterID are of the last row of the page before, by Key; AfterID 0: from the start.
	AfterValue int64
	AfterID    int64
	Limit      int
}

// Key is the value by which the order sorts the row.
func (s GroupSort) Key(g GroupRow) int64 {
	switch s {
	case ByAge:
		return g.Created.UnixMilli()
	case ByCases:
		return int64(g.Failures)
	}
	return g.Severity
}

// groupColumns are those of a group. Its example, as that of Store.Groups, is the failure that was shrunk last, or else the last one.
const groupColumns = `g.id, g.title, g.state, g.assignee, g.muted, g.until, g.created, g.updated, (SELECT count(*) FROM members m WHERE m."group" = g.id),
	(SELECT severity(coalesce((SELECT x.features FROM members x WHERE x.failure = counts.example), ''), counts.members, counts.origins,
		coalesce((SELECT r.rate FROM failures f JOIN results r ON r.minification = f.minification WHERE f.id = counts.example), 0.0))
	FROM (` + groupCounts + `) counts), coalesce((SELECT x.features FROM members x WHERE x.failure = (SELECT counts.example FROM (` + groupCounts + `) counts)), '')`

// groupCounts are how many members the group g has, from how many places, and which is its example.
const groupCounts = `SELECT count(*) members, count(DISTINCT nullif(f.origin, '')) origins, coalesce(max(CASE WHEN r.minification IS NOT NULL THEN f.id END), max(f.id)) example
	FROM members m JOIN failures f ON f.id = m.failure LEFT JOIN results r ON r.minification = f.minification WHERE m."group" = g.id`

func scanGroup(rows *sql.Rows, g *GroupRow) error {
	var until sql.NullInt64
	var created, updated int64
	err := rows.Scan(&g.ID, &g.Title, &g.State, &g.Assignee, &g.Muted, &until, &created, &updated, &g.Failures, &g.Severity, &g.Features)
	g.Until, g.Created, g.Updated = atOrZero(until), at(created), at(updated)
	return err
}

// GroupPage lists groups. An order that is not known is BySeverity.
func (r *Reader) GroupPage(ctx context.Context, f GroupQuery) ([]GroupRow, error) {
	key := `10`
	switch f.Sort {
	case ByAge:
		key = `7`
	case ByCases:
		key = `9`
	}
	var where []string
	var args []any
	if f.State != "" {
		where, args = append(where, `state = ?`), append(args, f.State)
	}
	if f.Search != "" {
		where, args = append(where, `title LIKE ? ESCAPE '\'`), append(args, like(f.Search))
	}
	inner := `SELECT ` + groupColumns + ` FROM groups g`
	if len(where) > 0 {
		inner += ` WHERE ` + strings.Join(where, ` AND `)
	}
	names := `id, title, state, assignee, muted, until, c7, updated, c9, c10, features`
	query := `WITH w(` + names + `) AS (` + inner + `) SELECT ` + names + ` FROM w`
	if f.AfterID > 0 {
		query += ` WHERE (c` + key + `, id) < (?, ?)`
		args = append(args, f.AfterValue, f.AfterID)
	}
	return collect(ctx, r, scanGroup, query+` ORDER BY c`+key+` DESC, id DESC LIMIT ?`, append(args, f.Limit)...)
}

// NamedCount is how often something is there.
type NamedCount struct {
	Name  string
	Count int
}

func scanCount(rows *sql.Rows, c *NamedCount) error { return rows.Scan(&c.Name, &c.Count) }

// GroupStates counts the groups of each state.
func (r *Reader) GroupStates(ctx context.Context) ([]NamedCount, error) {
	return collect(ctx, r, scanCount, `SELECT state, count(*) FROM groups GROUP BY state ORDER BY state`)
}

// GroupByID reads a group.
func (r *Reader) GroupByID(ctx context.Context, id int64) (GroupRow, error) {
	return one(ctx, r, "group", id, scanGroup, `SELECT `+groupColumns+` FROM groups g WHERE g.id = ?`, id)
}

// EventRow is a line of a group's history.
type EventRow struct {
	ID      int64
	Actor   string
	Kind    string
	Text    string
	Created time.Time
}

// GroupEvents is the history of a group, latest first, before an event (0: from the latest).
func (r *Reader) GroupEvents(ctx context.Context, group, before int64, limit int) ([]EventRow, error) {
	return collect(ctx, r, func(rows *sql.Rows, e *EventRow) error {
		var created int64
		err := rows.Scan(&e.ID, &e.Actor, &e.Kind, &e.Text, &created)
		e.Created = at(created)
		return err
	}, `SELECT id, actor, kind, text, created FROM events WHERE "group" = ? AND id < ? ORDER BY id DESC LIMIT ?`, group, orMax(before), limit)
}

// orMax is a bound from above: 0 stands for none.
func orMax(before int64) int64 {
	if before <= 0 {
		return 1<<63 - 1
	}
	return before
}

// MemberRow is a failure of a group.
type MemberRow struct {
	Failure   int64
	Features  string  // JSON
	Distance  float64 // to the member that it was put beside
	Pinned    bool
	Signature Signature
	Origin    string
	Decides   string
	Created   time.Time
}

// GroupMembers lists the failures of a group after one (0: from the first), oldest first.
func (r *Reader) GroupMembers(ctx context.Context, group, after int64, limit int) ([]MemberRow, error) {
	return collect(ctx, r, func(rows *sql.Rows, m *MemberRow) error {
		var created int64
		s := &m.Signature
		err := rows.Scan(&m.Failure, &m.Features, &m.Distance, &m.Pinned, &s.Stage, &s.Type, &s.Message, &s.Frame, &s.Output, &m.Origin, &m.Decides, &created)
		m.Created = at(created)
		return err
	}, `SELECT m.failure, m.features, m.distance, m.pinned, f.stage, f.type, f.message, f.frame, f.output, f.origin, f.decides, f.created
		FROM members m JOIN failures f ON f.id = m.failure WHERE m."group" = ? AND m.failure > ? ORDER BY m.failure LIMIT ?`, group, after, limit)
}

// GroupWork is what came of the failures of a group: ids, 0 where there is none.
type GroupWork struct {
	Minification int64   // the one with the smallest result
	Bisections   []int64 // at most 20
	Latest       int64   // failure
}

// GroupWork finds what came of the failures of a group.
func (r *Reader) GroupWork(ctx context.Context, group int64) (w GroupWork, err error) {
	id := func(rows *sql.Rows, n *int64) error { return rows.Scan(n) }
	first := func(to *int64, query string) {
		if err != nil {
			return
		}
		var ids []int64
		if ids, err = collect(ctx, r, id, query, group); len(ids) > 0 {
			*to = ids[0]
		}
	}
	first(&w.Minification, `SELECT n.id FROM members m JOIN failures f ON f.id = m.failure JOIN minifications n ON n.id = f.minification WHERE m."group" = ?
		ORDER BY n.finished IS NULL, n.calls IS NULL, n.calls, n.id LIMIT 1`)
	first(&w.Latest, `SELECT failure FROM members WHERE "group" = ? ORDER BY failure DESC LIMIT 1`)
	if err == nil {
		w.Bisections, err = collect(ctx, r, id, `SELECT DISTINCT f.bisection FROM members m JOIN failures f ON f.id = m.failure WHERE m."group" = ? AND f.bisection IS NOT NULL ORDER BY f.bisection DESC LIMIT 20`, group)
	}
	return w, err
}

// FailureRow is a failure in a line, with what it belongs to: 0 for nothing.
type FailureRow struct {
	ID                             int64
	Signature                      Signature
	Origin, Decides                string
	Group, Minification, Bisection int64
	Created                        time.Time
}

const failureColumns = `f.id, f.stage, f.type, f.message, f.frame, f.output, f.origin, f.decides, coalesce(m."group", 0), coalesce(f.minification, 0), coalesce(f.bisection, 0), f.created
	FROM failures f LEFT JOIN members m ON m.failure = f.id`

func scanFailure(rows *sql.Rows, f *FailureRow) error {
	var created int64
	s := &f.Signature
	err := rows.Scan(&f.ID, &s.Stage, &s.Type, &s.Message, &s.Frame, &s.Output, &f.Origin, &f.Decides, &f.Group, &f.Minification, &f.Bisection, &created)
	f.Created = at(created)
	return err
}

// FailurePage lists failures, latest first, before one (0: from the latest), of a stage ("" any), whose message or type contains search ("" any).
func (r *Reader) FailurePage(ctx context.Context, stage, search string, before int64, limit int) ([]FailureRow, error) {
	query, args := `SELECT `+failureColumns+` WHERE f.id < ?`, []any{orMax(before)}
	if stage != "" {
		query, args = query+` AND f.stage = ?`, append(args, stage)
	}
	if search != "" {
		query, args = query+` AND (f.message LIKE ? ESCAPE '\' OR f.type LIKE ? ESCAPE '\')`, append(args, like(search), like(search))
	}
	return collect(ctx, r, scanFailure, query+` ORDER BY f.id DESC LIMIT ?`, append(args, limit)...)
}

// FailureText is a failure with all its texts. Those of Failure that do not decode are empty, and Settings and Inputs have them as they are.
type FailureText struct {
	FailureRow
	Graph    string // canonical hash; "" none
	Raw      string
	Settings string // JSON
	Inputs   string // JSON
	Repro    string // key of a blob; "" none
}

// FailureByID reads a failure.
func (r *Reader) FailureByID(ctx context.Context, id int64) (FailureText, error) {
	row, err := one(ctx, r, "failure", id, scanFailure, `SELECT `+failureColumns+` WHERE f.id = ?`, id)
	if err != nil {
		return FailureText{}, err
	}
	return one(ctx, r, "failure", id, func(rows *sql.Rows, f *FailureText) error {
		f.FailureRow = row
		return rows.Scan(&f.Graph, &f.Raw, &f.Settings, &f.Inputs, &f.Repro)
	}, `SELECT coalesce(graph, ''), raw, config, inputs, coalesce(repro, '') FROM failures WHERE id = ?`, id)
}

// FailuresOf lists failures that a search began with ("minification") or that a bisection is of ("bisection"), latest first.
func (r *Reader) FailuresOf(ctx context.Context, what string, id int64, limit int) ([]FailureRow, error) {
	column := map[string]string{"minification": "minification", "bisection": "bisection"}[what]
	if column == "" {
		return nil, fmt.Errorf("failures have no %q", what)
	}
	return collect(ctx, r, scanFailure, `SELECT `+failureColumns+` WHERE f.`+column+` = ? ORDER BY f.id DESC LIMIT ?`, id, limit)
}

// Steps are as many as the number of the last one; the count of a journal's rows would read them all.
const summaryColumns = `id, signature, owner, start_calls, calls, created, finished, coalesce((SELECT max(seq) FROM steps WHERE minification = m.id), 0),
	(SELECT edit FROM steps WHERE minification = m.id AND reduction = '` + EndNotFailing + `' AND seq = (SELECT max(seq) FROM steps WHERE minification = m.id)) FROM minifications m`

func scanSummary(rows *sql.Rows, m *Summary) error {
	var sig string
	var owner, why sql.NullString
	var start, calls, finished sql.NullInt64
	var created int64
	if err := rows.Scan(&m.ID, &sig, &owner, &start, &calls, &created, &finished, &m.Steps, &why); err != nil {
		return err
	}
	m.Signature, m.StartCalls, m.Calls, m.Created, m.Finished = lenient(sig), orUnknown(start), orUnknown(calls), at(created), atOrZero(finished)
	switch {
	case finished.Valid:
		m.State = Done
	case owner.Valid && alive(owner.String):
		m.State = Running
	case why.Valid:
		m.State, m.Why = NotFailing, why.String
	default:
		m.State = Interrupted
	}
	return nil
}

// MinificationPage lists searches, latest first, before one (0: from the latest).
func (r *Reader) MinificationPage(ctx context.Context, before int64, limit int) ([]Summary, error) {
	return collect(ctx, r, scanSummary, `SELECT `+summaryColumns+` WHERE id < ? ORDER BY id DESC LIMIT ?`, orMax(before), limit)
}

// RunningMinifications lists the searches that a process is at, latest first; of very many that have not ended, the latest 200 are looked at.
func (r *Reader) RunningMinifications(ctx context.Context) ([]Summary, error) {
	all, err := collect(ctx, r, scanSummary, `SELECT `+summaryColumns+` WHERE finished IS NULL AND owner IS NOT NULL ORDER BY id DESC LIMIT 200`)
	return slices.DeleteFunc(all, func(m Summary) bool { return m.State != Running }), err
}

// MinificationSummary reads a search in a line.
func (r *Reader) MinificationSummary(ctx context.Context, id int64) (Summary, error) {
	return one(ctx, r, "minification", id, scanSummary, `SELECT `+summaryColumns+` WHERE id = ?`, id)
}

// StepPage lists the steps of a search after one (0: from the first); with taken, only those that were.
func (r *Reader) StepPage(ctx context.Context, id int64, after int, taken bool, limit int) ([]Step, error) {
	query := `SELECT seq, parent, reduction, candidate, edit, verdict, cached, taken, ms FROM steps WHERE minification = ? AND seq > ?`
	if taken {
		query += ` AND taken = 1`
	}
	return collect(ctx, r, func(rows *sql.Rows, st *Step) error {
		var ms int64
		err := rows.Scan(&st.Seq, &st.Parent, &st.Reduction, &st.Candidate, &st.Edit, &st.Verdict, &st.Cached, &st.Taken, &ms)
		st.Duration = time.Duration(ms) * time.Millisecond
		return err
	}, query+` ORDER BY seq LIMIT ?`, id, after, limit)
}

// StepsSpan is a stretch of a search's journal.
type StepsSpan struct {
	Last  int // seq of its last step
	Taken int
	Calls int // of the last graph that was taken; 0: none was, or nobody knows
	Time  time.Duration
}

// Course sums the first steps of a search up, reading each of them once: by reduction, in the order in which they first came, and in at most spans stretches of one
// length, in order.
func (r *Reader) Course(ctx context.Context, id int64, steps, spans int) ([]PassStats, []StepsSpan, error) {
	type part struct {
		reduction    string
		span         int
		first, last  int
		steps, taken int
		ms           int64
		calls        int
	}
	width := max(1, (steps+spans-1)/max(spans, 1))
	parts, err := collect(ctx, r, func(rows *sql.Rows, p *part) error {
		return rows.Scan(&p.reduction, &p.span, &p.first, &p.last, &p.steps, &p.taken, &p.ms, &p.calls)
	}, `SELECT reduction, (seq - 1) / ?, min(seq), max(seq), count(*), sum(taken), sum(ms), coalesce(min(CASE WHEN taken THEN calls END), 0) FROM steps WHERE minification = ? AND seq <= ? GROUP BY 1, 2 ORDER BY 3`, width, id, steps)
	var passes []PassStats
	var stretches []StepsSpan
	at := map[string]int{}
	for _, p := range parts {
		i, ok := at[p.reduction]
		if !ok {
			i = len(passes)
			at[p.reduction] = i
			passes = append(passes, PassStats{Reduction: p.reduction})
		}
		took := time.Duration(p.ms) * time.Millisecond
		passes[i].Steps, passes[i].Wins, passes[i].Time = passes[i].Steps+p.steps, passes[i].Wins+p.taken, passes[i].Time+took
		for len(stretches) <= p.span {
			stretches = append(stretches, StepsSpan{})
		}
		sp := &stretches[p.span]
		sp.Last, sp.Taken, sp.Time = max(sp.Last, p.last), sp.Taken+p.taken, sp.Time+took
		if p.calls > 0 && (sp.Calls == 0 || p.calls < sp.Calls) {
			sp.Calls = p.calls
		}
	}
	return passes, stretches, err
}

// BisectionRow is a bisection in a line.
type BisectionRow struct {
	Bisection
	Tests    int
	Created  time.Time
	Finished time.Time // zero: under way, or stopped
}

const bisectionColumns = `id, key, kind, subject, result, axis, (SELECT count(*) FROM trials WHERE bisection = b.id), created, finished FROM bisections b`

func scanBisection(rows *sql.Rows, b *BisectionRow) error {
	var created int64
	var finished sql.NullInt64
	var axis string
	err := rows.Scan(&b.ID, &b.Key, &b.Kind, &b.Subject, &b.Result, &axis, &b.Tests, &created, &finished)
	_ = json.Unmarshal([]byte(axis), &b.Axis) // "" is none, and so is what is no list
	b.Created, b.Finished = at(created), atOrZero(finished)
	return err
}

// BisectionPage lists bisections, latest first, before one (0: from the latest).
func (r *Reader) BisectionPage(ctx context.Context, before int64, limit int) ([]BisectionRow, error) {
	return collect(ctx, r, scanBisection, `SELECT `+bisectionColumns+` WHERE id < ? ORDER BY id DESC LIMIT ?`, orMax(before), limit)
}

// BisectionByID reads a bisection.
func (r *Reader) BisectionByID(ctx context.Context, id int64) (BisectionRow, error) {
	return one(ctx, r, "bisection", id, scanBisection, `SELECT `+bisectionColumns+` WHERE id = ?`, id)
}

// NightRow is a night of a bot.
type NightRow struct {
	ID          int64
	Bot         string
	Key         string
	Version     string
	Fingerprint string
	Report      string // key of a blob; "" while it is under way
	Created     time.Time
	Finished    time.Time
}

const nightColumns = `id, bot, key, version, fingerprint, coalesce(report, ''), created, finished FROM nights`

func scanNight(rows *sql.Rows, n *NightRow) error {
	var created int64
	var finished sql.NullInt64
	err := rows.Scan(&n.ID, &n.Bot, &n.Key, &n.Version, &n.Fingerprint, &n.Report, &created, &finished)
	n.Created, n.Finished = at(created), atOrZero(finished)
	return err
}

// NightPage lists the nights of a bot ("" any), latest first, before one (0: from the latest).
func (r *Reader) NightPage(ctx context.Context, bot string, before int64, limit int) ([]NightRow, error) {
	if bot == "" {
		return collect(ctx, r, scanNight, `SELECT `+nightColumns+` WHERE id < ? ORDER BY id DESC LIMIT ?`, orMax(before), limit)
	}
	return collect(ctx, r, scanNight, `SELECT `+nightColumns+` WHERE bot = ? AND id < ? ORDER BY id DESC LIMIT ?`, bot, orMax(before), limit)
}

// NightByID reads a night.
func (r *Reader) NightByID(ctx context.Context, id int64) (NightRow, error) {
	return one(ctx, r, "night", id, scanNight, `SELECT `+nightColumns+` WHERE id = ?`, id)
}

// Bots lists the names of the bots that have a night, in alphabetical order.
func (r *Reader) Bots(ctx context.Context) ([]string, error) {
	return collect(ctx, r, func(rows *sql.Rows, s *string) error { return rows.Scan(s) }, `SELECT DISTINCT bot FROM nights ORDER BY bot`)
}

// NewsCounts counts the news of nights by kind.
func (r *Reader) NewsCounts(ctx context.Context, nights []int64) (map[int64][]NamedCount, error) {
	type row struct {
		night int64
		NamedCount
	}
	all, err := collect(ctx, r, func(rows *sql.Rows, n *row) error { return rows.Scan(&n.night, &n.Name, &n.Count) },
		`SELECT night, kind, count(*) FROM news WHERE night IN (SELECT value FROM json_each(?)) GROUP BY night, kind ORDER BY night, kind`, jsonText(nights))
	out := map[int64][]NamedCount{}
	for _, n := range all {
		out[n.night] = append(out[n.night], n.NamedCount)
	}
	return out, err
}

// NewsRow is a line of a night's report.
type NewsRow struct {
	Night   int64
	Version string // of the night
	Case    CaseRow
	Kind    string
	Subject string
	Group   int64 // 0: none
	Text    string
}

// NewsFilter says which news are listed: of a night, a case or a group, the one that is not 0.
type NewsFilter struct {
	Night, Case, Group int64
	Limit              int
}

// NewsPage lists news, latest night first, those of a night by kind.
func (r *Reader) NewsPage(ctx context.Context, f NewsFilter) ([]NewsRow, error) {
	where, arg := `n.night = ? ORDER BY n.kind, n."case", n.subject`, f.Night
	switch {
	case f.Case > 0:
		where, arg = `n."case" = ? ORDER BY n.night DESC, n.kind, n.subject`, f.Case
	case f.Group > 0:
		where, arg = `n."group" = ? ORDER BY n.night DESC, n.kind, n."case", n.subject`, f.Group
	}
	return collect(ctx, r, func(rows *sql.Rows, n *NewsRow) error {
		return rows.Scan(&n.Night, &n.Version, &n.Case.ID, &n.Case.Bot, &n.Case.Name, &n.Case.Mode, &n.Kind, &n.Subject, &n.Group, &n.Text)
	}, `SELECT n.night, nights.version, c.id, c.bot, c.name, c.mode, n.kind, n.subject, coalesce(n."group", 0), n.text
		FROM news n JOIN nights ON nights.id = n.night JOIN cases c ON c.id = n."case" WHERE `+where+` LIMIT ?`, arg, f.Limit)
}

// CaseRow is what a bot tests.
type CaseRow struct {
	ID              int64
	Bot, Name, Mode string
}

func scanCase(rows *sql.Rows, c *CaseRow) error { return rows.Scan(&c.ID, &c.Bot, &c.Name, &c.Mode) }

// CaseFilter says which cases are listed: those after a name and mode.
type CaseFilter struct {
	Bot                  string
	Search               string // in the name or mode; "" any
	Status               string // of a run in Night; "" any
	Night                int64
	AfterName, AfterMode string // "" both: from the first
	Limit                int
}

// CasePage lists cases by name and mode.
func (r *Reader) CasePage(ctx context.Context, f CaseFilter) ([]CaseRow, error) {
	query, args := `SELECT id, bot, name, mode FROM cases WHERE bot = ? AND (name, mode) > (?, ?)`, []any{f.Bot, f.AfterName, f.AfterMode}
	if f.AfterName == "" && f.AfterMode == "" {
		query, args = `SELECT id, bot, name, mode FROM cases WHERE bot = ?`, []any{f.Bot}
	}
	if f.Search != "" {
		query, args = query+` AND (name LIKE ? ESCAPE '\' OR mode LIKE ? ESCAPE '\')`, append(args, like(f.Search), like(f.Search))
	}
	if f.Status != "" {
		query, args = query+` AND id IN (SELECT "case" FROM runs WHERE night = ? AND status = ?)`, append(args, f.Night, f.Status)
	}
	return collect(ctx, r, scanCase, query+` ORDER BY name, mode LIMIT ?`, append(args, f.Limit)...)
}

// CaseByID reads a case.
func (r *Reader) CaseByID(ctx context.Context, id int64) (CaseRow, error) {
	return one(ctx, r, "case", id, scanCase, `SELECT id, bot, name, mode FROM cases WHERE id = ?`, id)
}

// Versions lists the versions that the nights of a bot, or runs of these cases, are of, in no order.
func (r *Reader) Versions(ctx context.Context, bot string, cases []int64) ([]string, error) {
	return collect(ctx, r, func(rows *sql.Rows, s *string) error { return rows.Scan(s) },
		`SELECT version FROM nights WHERE bot = ? UNION SELECT version FROM runs WHERE "case" IN (SELECT value FROM json_each(?))`, bot, jsonText(cases))
}

// RunRow is one run of a case.
type RunRow struct {
	Case     int64
	Night    int64
	Version  string
	Attempt  int
	Status   Status
	Outcome  string // JSON
	Failure  int64  // 0: none
	Duration time.Duration
	Created  time.Time
}

func scanRun(rows *sql.Rows, n *RunRow) error {
	var ms, created int64
	err := rows.Scan(&n.Case, &n.Night, &n.Version, &n.Attempt, &n.Status, &n.Outcome, &n.Failure, &ms, &created)
	n.Duration, n.Created = time.Duration(ms)*time.Millisecond, at(created)
	return err
}

const runColumns = `r."case", r.night, r.version, r.attempt, r.status, r.outcome, coalesce(r.failure, 0), r.ms, r.created`

// Cell is how a case did on a version, the latest night that it ran there: Statuses of its attempts, in order.
type Cell struct {
	Case     int64
	Version  string
	Night    int64
	Failure  int64
	Statuses []Status
}

// Cells are those of cases by versions that have a run.
func (r *Reader) Cells(ctx context.Context, cases []int64, versions []string) ([]Cell, error) {
	rows, err := collect(ctx, r, func(rows *sql.Rows, n *RunRow) error {
		return rows.Scan(&n.Case, &n.Version, &n.Night, &n.Status, &n.Failure)
	}, `SELECT r."case", r.version, r.night, r.status, coalesce(r.failure, 0) FROM json_each(?) c CROSS JOIN json_each(?) v CROSS JOIN runs r
		ON r."case" = c.value AND r.version = v.value AND r.night = (SELECT max(night) FROM runs x WHERE x."case" = c.value AND x.version = v.value)
		ORDER BY 1, 2, r.attempt`, jsonText(cases), jsonText(versions))
	var out []Cell
	for _, n := range rows {
		if k := len(out) - 1; k < 0 || out[k].Case != n.Case || out[k].Version != n.Version {
			out = append(out, Cell{Case: n.Case, Version: n.Version, Night: n.Night})
		}
		c := &out[len(out)-1]
		c.Statuses, c.Failure = append(c.Statuses, n.Status), cmp.Or(n.Failure, c.Failure)
	}
	return out, err
}

// CaseRuns lists the runs of a case in the nights before one (0: from the latest), latest first. Those of one night stand in the order of versions by name.
func (r *Reader) CaseRuns(ctx context.Context, id, before int64, limit int) ([]RunRow, error) {
	return collect(ctx, r, scanRun, `SELECT `+runColumns+` FROM nights n CROSS JOIN runs r ON r.night = n.id AND r."case" = ?
		WHERE n.bot = (SELECT bot FROM cases WHERE id = ?) AND n.id < ? ORDER BY n.id DESC, r.version, r.attempt LIMIT ?`, id, id, orMax(before), limit)
}

// Figure is what was measured of a case in a night.
type Figure struct {
	Night   int64
	Version string
	Created time.Time // of the night
	Name    string
	Value   float64 // the median
	Spread  float64 // median absolute deviation
}

// CaseFigures lists the figures of a case in the latest nights before one (0: from the latest), by name, then oldest night first.
func (r *Reader) CaseFigures(ctx context.Context, id, before int64, nights int) ([]Figure, error) {
	all, err := collect(ctx, r, func(rows *sql.Rows, f *Figure) error {
		var created int64
		err := rows.Scan(&f.Night, &f.Version, &created, &f.Name, &f.Value, &f.Spread)
		f.Created = at(created)
		return err
	}, `SELECT f.night, n.version, n.created, f.name, f.value, f.spread FROM figures f JOIN nights n ON n.id = f.night WHERE f."case" = ? AND f.night < ? ORDER BY f.name, f.night`, id, orMax(before))
	seen := map[int64]bool{}
	for _, f := range all {
		seen[f.Night] = true
	}
	last := make([]int64, 0, len(seen))
	for n := range seen {
		last = append(last, n)
	}
	slices.Sort(last)
	if len(last) > nights {
		from := last[len(last)-nights]
		all = slices.DeleteFunc(all, func(f Figure) bool { return f.Night < from })
	}
	return all, err
}
