package replay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Group is a group of failures that are one bug, as far as is known. Package triage makes them.
type Group struct {
	ID       int64
	Title    string // one line, for people; it may hold what a failure brought
	State    string // new, confirmed, minimised, bisected, fixed, flaky, closed: see package triage
	Assignee string // "" nobody
	Muted    string // why; "" not muted
	Until    time.Time
	Created  time.Time
	Updated  time.Time

	Members     int       // failures
	Origins     int       // different places that they came from
	First, Last time.Time // when members were met
	Example     int64     // the member that says most: the latest one that was shrunk, else the latest; 0 for an empty group
	Features    string    // of Example, JSON
	Rate        float64   // of the runs of the Example's result, the share that failed; 0: not measured
}

// Member is a failure in a group.
type Member struct {
	Failure, Group int64
	Features       string  // JSON, as package triage reads it
	Distance       float64 // to the member that it was put beside, 0 to 1; 0 for the first
	Pinned         bool    // a person put it there
	Placed         time.Time
}

// GroupEvent is a line of a group's history.
type GroupEvent struct {
	ID, Group   int64
	Actor, Kind string // Kind: created, member, state, merge, split, mute, unmute, assign, fixed, reopened
	Text        string // for people
	Created     time.Time
}

// GroupFilter says which groups are listed.
type GroupFilter struct {
	States []string // none: all
	Loud   bool     // leave muted groups out, unless their time is over
	Limit  int      // the latest so many; 0: all
	id     int64
}

// Groups lists groups, the latest change first.
func (s *Store) Groups(ctx context.Context, f GroupFilter) ([]Group, error) {
	where, args := []string{"true"}, []any{}
	if len(f.States) > 0 {
		where = append(where, "g.state IN (?"+strings.Repeat(",?", len(f.States)-1)+")")
		for _, st := range f.States {
			args = append(args, st)
		}
	}
	if f.Loud {
		where = append(where, "(g.muted = '' OR g.until <= ?)")
		args = append(args, s.now())
	}
	if f.id != 0 {
		where = append(where, "g.id = ?")
		args = append(args, f.id)
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	rows, err := s.read.QueryContext(ctx, `WITH chosen AS (SELECT * FROM groups g WHERE `+strings.Join(where, " AND ")+` ORDER BY g.updated DESC, g.id DESC LIMIT ?),
		counted AS (SELECT m."group" g, count(*) n, count(DISTINCT nullif(f.origin, '')) origins, min(f.created) first, max(f.created) last,
			max(CASE WHEN r.minification IS NULL THEN 0 ELSE f.id END) shrunk, max(f.id) latest
			FROM chosen c JOIN members m ON m."group" = c.id JOIN failures f ON f.id = m.failure LEFT JOIN results r ON r.minification = f.minification GROUP BY m."group")
		SELECT c.id, c.title, c.state, c.assignee, c.muted, c.until, c.created, c.updated, coalesce(n, 0), coalesce(origins, 0), first, last, coalesce(e.failure, 0), coalesce(e.features, ''), coalesce(r.rate, 0)
		FROM chosen c LEFT JOIN counted ON counted.g = c.id LEFT JOIN members e ON e.failure = CASE WHEN shrunk > 0 THEN shrunk ELSE latest END
		LEFT JOIN failures f ON f.id = e.failure LEFT JOIN results r ON r.minification = f.minification ORDER BY c.updated DESC, c.id DESC`, append(args, limit)...)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	var out []Group
	for rows.Next() {
		var g Group
		var until, first, last sql.NullInt64
		var created, updated int64
		if err := rows.Scan(&g.ID, &g.Title, &g.State, &g.Assignee, &g.Muted, &until, &created, &updated, &g.Members, &g.Origins, &first, &last, &g.Example, &g.Features, &g.Rate); err != nil {
			return nil, s.wrap(err)
		}
		g.Until, g.First, g.Last = orZero(until), orZero(first), orZero(last)
		g.Created, g.Updated = time.UnixMilli(created), time.UnixMilli(updated)
		out = append(out, g)
	}
	return out, s.wrap(rows.Err())
}

func orZero(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64)
}

// Group reads a group. The error of one that was merged into another says so.
func (s *Store) Group(ctx context.Context, id int64) (Group, error) {
	all, err := s.Groups(ctx, GroupFilter{id: id})
	if err != nil {
		return Group{}, err
	}
	if len(all) == 1 {
		return all[0], nil
	}
	var into int64
	err = s.read.QueryRowContext(ctx, `SELECT "group" FROM events WHERE kind = 'merge' AND text LIKE ? ORDER BY id DESC LIMIT 1`, fmt.Sprintf("group/%d %%", id)).Scan(&into)
	switch {
	case err == nil:
		return Group{}, &NotFoundError{"group", fmt.Sprintf("%d: it was merged into group/%d", id, into)}
	case errors.Is(err, sql.ErrNoRows):
		return Group{}, &NotFoundError{"group", fmt.Sprint(id)}
	}
	return Group{}, s.wrap(err)
}

const memberColumns = `m.failure, m."group", m.features, m.distance, m.pinned, m.placed`

func scanMembers(rows *sql.Rows, err error) ([]Member, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Member
	for rows.Next() {
		var m Member
		var placed int64
		if err := rows.Scan(&m.Failure, &m.Group, &m.Features, &m.Distance, &m.Pinned, &placed); err != nil {
			return nil, err
		}
		m.Placed = time.UnixMilli(placed)
		out = append(out, m)
	}
	return out, rows.Err()
}

// Members are the members of a group, oldest first; of the latest limit ones, where limit is not 0.
func (s *Store) Members(ctx context.Context, group int64, limit int) ([]Member, error) {
	if limit <= 0 {
		limit = -1
	}
	out, err := scanMembers(s.read.QueryContext(ctx, `SELECT * FROM (SELECT `+memberColumns+` FROM members m WHERE m."group" = ? ORDER BY m.failure DESC LIMIT ?) ORDER BY 1`, group, limit))
	return out, s.wrap(err)
}

// MemberOf is where a failure is.
func (s *Store) MemberOf(ctx context.Context, failure int64) (m Member, found bool, err error) {
	all, err := scanMembers(s.read.QueryContext(ctx, "SELECT "+memberColumns+" FROM members m WHERE m.failure = ?", failure))
	if err != nil || len(all) == 0 {
		return m, false, s.wrap(err)
	}
	return all[0], true, nil
}

// GroupEvents is the history of a group, oldest first.
func (s *Store) GroupEvents(ctx context.Context, group int64) ([]GroupEvent, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, "group", actor, kind, text, created FROM events WHERE "group" = ? ORDER BY created, id`, group)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	var out []GroupEvent
	for rows.Next() {
		var e GroupEvent
		var ms int64
		if err := rows.Scan(&e.ID, &e.Group, &e.Actor, &e.Kind, &e.Text, &ms); err != nil {
			return nil, s.wrap(err)
		}
		e.Created = time.UnixMilli(ms)
		out = append(out, e)
	}
	return out, s.wrap(rows.Err())
}

// Unplaced are failures to be grouped, oldest first: those without a group, and those of which more is known than when they were placed.
func (s *Store) Unplaced(ctx context.Context) ([]int64, error) {
	var out []int64
	err := s.each(ctx, `SELECT f.id FROM failures f LEFT JOIN members m ON m.failure = f.id LEFT JOIN results r ON r.minification = f.minification
		LEFT JOIN bisections b ON b.id = f.bisection WHERE m.failure IS NULL OR m.placed = 0 OR r.created > m.placed OR b.finished > m.placed ORDER BY f.id`, func(c []any) {
		id, _ := c[0].(int64)
		out = append(out, id)
	})
	return out, err
}

// Grouping is a change of groups: all of it is in the store, or nothing of it. Nobody else changes groups meanwhile.
type Grouping struct {
	ctx context.Context
	tx  *sql.Tx
	now int64
}

// Regroup changes groups.
func (s *Store) Regroup(ctx context.Context, change func(g *Grouping) error) error {
	return s.tx(ctx, func(tx *sql.Tx) error { return change(&Grouping{ctx, tx, s.now()}) })
}

// Alike are members that are looked up under one of keys, each once. A key that members of more than most groups have says nothing: it is passed over.
func (g *Grouping) Alike(keys []string, most int) ([]Member, error) {
	seen := map[int64]bool{}
	var out []Member
	for _, k := range keys {
		var groups int
		if err := g.tx.QueryRowContext(g.ctx, `SELECT count(*) FROM (SELECT DISTINCT m."group" FROM keys k JOIN members m ON m.failure = k.failure WHERE k.key = ? LIMIT ?)`, k, most+1).Scan(&groups); err != nil {
			return nil, err
		}
		if groups > most {
			continue
		}
		found, err := scanMembers(g.tx.QueryContext(g.ctx, "SELECT "+memberColumns+" FROM keys k JOIN members m ON m.failure = k.failure WHERE k.key = ? ORDER BY k.failure", k))
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			if !seen[m.Failure] {
				seen[m.Failure] = true
				out = append(out, m)
			}
		}
	}
	return out, nil
}

// Has reports whether a member of a group is looked up under a key.
func (g *Grouping) Has(group int64, key string) (has bool, err error) {
	err = g.tx.QueryRowContext(g.ctx, `SELECT EXISTS (SELECT 1 FROM members m JOIN keys k ON k.failure = m.failure WHERE m."group" = ? AND k.key = ?)`, group, key).Scan(&has)
	return has, err
}

// IsPinned reports whether a person put a member of a group there.
func (g *Grouping) IsPinned(group int64) (pinned bool, err error) {
	err = g.tx.QueryRowContext(g.ctx, `SELECT EXISTS (SELECT 1 FROM members WHERE "group" = ? AND pinned = 1)`, group).Scan(&pinned)
	return pinned, err
}

// Indexed is how many members of a group are looked up.
func (g *Grouping) Indexed(group int64) (n int, err error) {
	err = g.tx.QueryRowContext(g.ctx, `SELECT count(*) FROM members m WHERE m."group" = ? AND EXISTS (SELECT 1 FROM keys k WHERE k.failure = m.failure)`, group).Scan(&n)
	return n, err
}

// Of are the members of a group, oldest first.
func (g *Grouping) Of(group int64) ([]Member, error) {
	return scanMembers(g.tx.QueryContext(g.ctx, "SELECT "+memberColumns+` FROM members m WHERE m."group" = ? ORDER BY m.failure`, group))
}

// Member is where a failure is.
func (g *Grouping) Member(failure int64) (m Member, found bool, err error) {
	all, err := scanMembers(g.tx.QueryContext(g.ctx, "SELECT "+memberColumns+" FROM members m WHERE m.failure = ?", failure))
	if err != nil || len(all) == 0 {
		return m, false, err
	}
	return all[0], true, nil
}

// Twin is another member of a group with the same features: one that is looked up, or one that is not; 0 for none.
func (g *Grouping) Twin(group, failure int64, features string, indexed bool) (id int64, err error) {
	err = g.tx.QueryRowContext(g.ctx, `SELECT m.failure FROM members m WHERE m."group" = ? AND m.features = ? AND m.failure <> ? AND EXISTS (SELECT 1 FROM keys k WHERE k.failure = m.failure) = ? ORDER BY m.failure LIMIT 1`,
		group, features, failure, indexed).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// Group reads a group's own columns.
func (g *Grouping) Group(id int64) (Group, error) {
	out := Group{ID: id}
	var until sql.NullInt64
	var created, updated int64
	err := g.tx.QueryRowContext(g.ctx, `SELECT title, state, assignee, muted, until, created, updated, (SELECT count(*) FROM members WHERE "group" = id) FROM groups WHERE id = ?`, id).
		Scan(&out.Title, &out.State, &out.Assignee, &out.Muted, &until, &created, &updated, &out.Members)
	if errors.Is(err, sql.ErrNoRows) {
		return out, &NotFoundError{"group", fmt.Sprint(id)}
	}
	out.Until, out.Created, out.Updated = orZero(until), time.UnixMilli(created), time.UnixMilli(updated)
	return out, err
}

// Create makes a group without members.
func (g *Grouping) Create(title, state, actor, text string) (int64, error) {
	id, err := insert(g.ctx, g.tx, "INSERT INTO groups(title, state, assignee, muted, created, updated) VALUES (?,?,'','',?,?)", title, state, g.now, g.now)
	if err != nil {
		return 0, err
	}
	return id, g.Event(id, actor, "created", text)
}

// Put puts a failure into a group, out of the one where it was, and notes under what it is looked up.
func (g *Grouping) Put(m Member, keys []string) error {
	_, err := g.tx.ExecContext(g.ctx, `INSERT INTO members(failure, "group", features, distance, pinned, placed) VALUES (?,?,?,?,?,?)
		ON CONFLICT(failure) DO UPDATE SET "group" = excluded."group", features = excluded.features, distance = excluded.distance, pinned = excluded.pinned, placed = excluded.placed`,
		m.Failure, m.Group, m.Features, m.Distance, m.Pinned, g.now)
	if err != nil {
		return err
	}
	if err := g.Index(m.Failure, keys); err != nil {
		return err
	}
	return g.touch(m.Group)
}

// Touch notes that a member was compared now.
func (g *Grouping) Touch(failure int64) error {
	_, err := g.tx.ExecContext(g.ctx, "UPDATE members SET placed = ? WHERE failure = ?", g.now, failure)
	return err
}

// Index notes under what a member is looked up, instead of what was noted before.
func (g *Grouping) Index(failure int64, keys []string) error {
	if _, err := g.tx.ExecContext(g.ctx, "DELETE FROM keys WHERE failure = ?", failure); err != nil {
		return err
	}
	for _, k := range keys {
		if _, err := g.tx.ExecContext(g.ctx, "INSERT OR IGNORE INTO keys(key, failure) VALUES (?,?)", k, failure); err != nil {
			return err
		}
	}
	return nil
}

func (g *Grouping) touch(group int64) error {
	_, err := g.tx.ExecContext(g.ctx, "UPDATE groups SET updated = ? WHERE id = ?", g.now, group)
	return err
}

// Event adds a line to a group's history.
func (g *Grouping) Event(group int64, actor, kind, text string) error {
	if _, err := insert(g.ctx, g.tx, `INSERT INTO events("group", actor, kind, text, created) VALUES (?,?,?,?,?)`, group, actor, kind, text, g.now); err != nil {
		return err
	}
	return g.touch(group)
}

// LastEvent is the latest event of a kind; found is false where there is none.
func (g *Grouping) LastEvent(group int64, kind string) (e GroupEvent, found bool, err error) {
	var ms int64
	err = g.tx.QueryRowContext(g.ctx, `SELECT id, actor, text, created FROM events WHERE "group" = ? AND kind = ? ORDER BY created DESC, id DESC LIMIT 1`, group, kind).Scan(&e.ID, &e.Actor, &e.Text, &ms)
	if errors.Is(err, sql.ErrNoRows) {
		return e, false, nil
	}
	e.Group, e.Kind, e.Created = group, kind, time.UnixMilli(ms)
	return e, err == nil, err
}

// Change writes a group's title, state, assignee, and what mutes it. A *NotFoundError for none.
func (g *Grouping) Change(to Group) error {
	var until sql.NullInt64
	if !to.Until.IsZero() {
		until = sql.NullInt64{Int64: to.Until.UnixMilli(), Valid: true}
	}
	res, err := g.tx.ExecContext(g.ctx, "UPDATE groups SET title = ?, state = ?, assignee = ?, muted = ?, until = ?, updated = ? WHERE id = ?", to.Title, to.State, to.Assignee, to.Muted, until, g.now, to.ID)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(&NotFoundError{"group", fmt.Sprint(to.ID)}, err)
	}
	return nil
}

// Merge moves members and history of one group into another. The first one is no more.
func (g *Grouping) Merge(from, into int64, actor, why string) error {
	was, err := g.Group(from)
	if err != nil {
		return err
	}
	for _, q := range []string{`UPDATE members SET "group" = ? WHERE "group" = ?`, `UPDATE events SET "group" = ? WHERE "group" = ?`, `UPDATE news SET "group" = ? WHERE "group" = ?`} {
		if _, err := g.tx.ExecContext(g.ctx, q, into, from); err != nil {
			return err
		}
	}
	if _, err := g.tx.ExecContext(g.ctx, "DELETE FROM groups WHERE id = ?", from); err != nil {
		return err
	}
	return g.Event(into, actor, "merge", fmt.Sprintf("group/%d (%s, %s, %s) %s", from, was.Title, was.State, Count(was.Members, "failure"), why))
}

// Drop removes a group without members, with its history.
func (g *Grouping) Drop(group int64) error {
	_, err := g.tx.ExecContext(g.ctx, `DELETE FROM groups WHERE id = ? AND NOT EXISTS (SELECT 1 FROM members WHERE "group" = ?)`, group, group)
	return err
}

// Pin says that a person put members where they are.
func (g *Grouping) Pin(group int64) error {
	_, err := g.tx.ExecContext(g.ctx, `UPDATE members SET pinned = 1 WHERE "group" = ?`, group)
	return err
}
