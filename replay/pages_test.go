package replay_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
	"whittle/replay/replaytest"
	"whittle/replay/triage"
)

var bg = context.Background()

func looked(t *testing.T, size replaytest.Size) *replay.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	if err := replaytest.Fill(bg, path, size); err != nil {
		t.Fatal(err)
	}
	r, err := replay.OpenReadOnly(bg, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// everything asks each query of pages once, with its filters.
func everything(t *testing.T, r *replay.Reader) {
	t.Helper()
	check := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	for _, sort := range []replay.GroupSort{replay.BySeverity, replay.ByAge, replay.ByCases} {
		check(r.GroupPage(bg, replay.GroupQuery{Sort: sort, Limit: 5}))
		check(r.GroupPage(bg, replay.GroupQuery{Sort: sort, State: "new", Search: "a", AfterValue: 5, AfterID: 5, Limit: 5}))
	}
	check(r.GroupStates(bg))
	check(r.GroupByID(bg, 1))
	check(r.GroupEvents(bg, 1, 9, 5))
	check(r.GroupMembers(bg, 1, 3, 5))
	check(r.GroupWork(bg, 1))
	check(r.FailurePage(bg, "", "", 9, 5))
	check(r.FailureByID(bg, 1))
	check(r.FailuresOf(bg, "minification", 1, 5))
	check(r.FailuresOf(bg, "bisection", 1, 5))
	check(r.MinificationPage(bg, 9, 5))
	check(r.RunningMinifications(bg))
	check(r.MinificationSummary(bg, 1))
	check(r.StepPage(bg, 1, 9, false, 5))
	check(r.StepPage(bg, 1, 9, true, 5))
	_, _, err := r.Course(bg, 1, 100, 10)
	check(nil, err)
	check(r.BisectionPage(bg, 9, 5))
	check(r.BisectionByID(bg, 1))
	check(r.NightPage(bg, "", 9, 5))
	check(r.NightPage(bg, "nightly", 9, 5))
	check(r.NightByID(bg, 1))
	check(r.Bots(bg))
	check(r.NewsCounts(bg, []int64{1, 2}))
	check(r.NewsPage(bg, replay.NewsFilter{Night: 1, Limit: 5}))
	check(r.NewsPage(bg, replay.NewsFilter{Case: 1, Limit: 5}))
	check(r.NewsPage(bg, replay.NewsFilter{Group: 1, Limit: 5}))
	check(r.CasePage(bg, replay.CaseFilter{Bot: "nightly", Limit: 5}))
	check(r.CasePage(bg, replay.CaseFilter{Bot: "nightly", Search: "a", Status: "fail", Night: 1, AfterName: "a", AfterMode: "b", Limit: 5}))
	check(r.CaseByID(bg, 1))
	check(r.Versions(bg, "nightly", []int64{1, 2}))
	check(r.Cells(bg, []int64{1, 2}, []string{"2.6.0", "2.6.1"}))
	check(r.CaseRuns(bg, 1, 9, 5))
	check(r.CaseFigures(bg, 1, 9, 5))
}

// TestPlans: no page reads all of a table that grows with every query, step, run, failure or night. What is read whole is groups, of which there are few, the one row of a group's counts, and lists in a parameter.
// The text search in failures reads them until its page is full, by their number; it is not among the queries here.
func TestPlans(t *testing.T) {
	r := looked(t, replaytest.Small)
	asked := map[string]bool{}
	r.SetSeen(func(query string, args []any) {
		if asked[query] {
			return
		}
		asked[query] = true
		for _, line := range r.Plan(t, query, args) {
			what, ok := strings.CutPrefix(line, "SCAN ")
			if !ok {
				continue
			}
			name, _, _ := strings.Cut(what, " ")
			switch {
			case name == "g" || name == "groups" || name == "w" || name == "counts" || strings.Contains(what, "VIRTUAL TABLE"):
			case strings.Contains(what, "minifications_under_way"): // has those alone
			case name == "nights" && strings.Contains(what, "COVERING INDEX"): // the names of the bots: a row a night
			default:
				t.Errorf("%s\nin %s", line, query)
			}
		}
	})
	everything(t, r)
	if len(asked) < 35 {
		t.Errorf("only %d queries were seen", len(asked))
	}
}

// TestKeyset: pages that are put together are the whole list, each row once.
func TestKeyset(t *testing.T) {
	r := looked(t, replaytest.Small)
	for _, sort := range []replay.GroupSort{replay.BySeverity, replay.ByAge, replay.ByCases} {
		whole, err := r.GroupPage(bg, replay.GroupQuery{Sort: sort, Limit: 1000})
		if err != nil || len(whole) != replaytest.Small.Groups {
			t.Fatalf("%s: %d groups, %v", sort, len(whole), err)
		}
		var parts []replay.GroupRow
		f := replay.GroupQuery{Sort: sort, Limit: 5}
		for {
			page, err := r.GroupPage(bg, f)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, page...)
			if len(page) < f.Limit {
				break
			}
			last := page[len(page)-1]
			f.AfterValue, f.AfterID = sort.Key(last), last.ID
		}
		if d := cmp.Diff(whole, parts); d != "" {
			t.Errorf("%s: %s", sort, d)
		}
		for i := 1; i < len(whole); i++ {
			if sort.Key(whole[i-1]) < sort.Key(whole[i]) {
				t.Errorf("%s: group %d stands before %d", sort, whole[i-1].ID, whole[i].ID)
			}
		}
	}
	var ids []int64
	for before := int64(0); ; {
		page, err := r.FailurePage(bg, "", "", before, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page {
			ids = append(ids, f.ID)
		}
		if len(page) < 7 {
			break
		}
		before = page[6].ID
	}
	for i, id := range ids {
		if id != int64(replaytest.Small.Failures-i) {
			t.Fatalf("failure %d at %d of %v", id, i, ids)
		}
	}
}

// TestLike: what is searched for is text, and no pattern.
func TestLike(t *testing.T) {
	r := looked(t, replaytest.Small)
	for search, want := range map[string]bool{"model 3": true, "MODEL 3": true, "model%3": false, "model_3": false, `model\3`: false} {
		rows, err := r.GroupPage(bg, replay.GroupQuery{Search: search, Limit: 5})
		if err != nil || (len(rows) > 0) != want {
			t.Errorf("%q: %d groups, %v", search, len(rows), err)
		}
		fs, err := r.FailurePage(bg, "", search, 0, 5)
		if err != nil || (len(fs) > 0) != want {
			t.Errorf("%q: %d failures, %v", search, len(fs), err)
		}
	}
}

// TestSeverity: a group that is listed has the score, the example and the counts that triage has of it, and the worst come first.
func TestSeverity(t *testing.T) {
	r := looked(t, replaytest.Small)
	s, err := replay.Open(bg, r.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	groups, err := s.Groups(bg, replay.GroupFilter{})
	if err != nil {
		t.Fatal(err)
	}
	scores := map[int]bool{}
	for _, g := range groups {
		f, err := triage.ParseFeatures(g.Features)
		if err != nil && g.Features != "" {
			t.Fatal(err)
		}
		want := triage.Rate(g, f).Score
		got, err := r.GroupByID(bg, g.ID)
		if err != nil || got.Severity != int64(want) || got.Features != g.Features || got.Failures != g.Members {
			t.Errorf("group %d: %+v, %v, want severity %d", g.ID, got, err, want)
		}
		scores[want] = true
	}
	if len(scores) < 4 {
		t.Errorf("all groups are alike: %v", scores)
	}
	rows, err := r.GroupPage(bg, replay.GroupQuery{Sort: replay.BySeverity, Limit: 1000})
	if err != nil || len(rows) != len(groups) || !slices.IsSortedFunc(rows, func(a, b replay.GroupRow) int { return int(b.Severity - a.Severity) }) {
		t.Errorf("%d rows of %d groups, or not in order: %v", len(rows), len(groups), err)
	}
	var nf *replay.NotFoundError
	if _, err := r.GroupByID(bg, 999); !errors.As(err, &nf) {
		t.Errorf("group 999: %v", err)
	}
}

// TestReadOnly: a reader leaves the file as it is, sees what others write, and cannot write.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := replay.Open(bg, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutFailure(bg, replay.Failure{Raw: "one"}); err != nil {
		t.Fatal(err)
	}
	r, err := replay.OpenReadOnly(bg, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := s.PutFailure(bg, replay.Failure{Raw: "two"}); err != nil {
		t.Fatal(err)
	}
	all, err := r.FailurePage(bg, "", "", 0, 9)
	if err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(`INSERT INTO groups(title, state, assignee, muted, created, updated) VALUES ('', '', '', '', 0, 0)`); err == nil {
		t.Error("a reader has written")
	}
	everythingOfNothing(t, r)
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file is not as it was, %v", err)
	}
}

// everythingOfNothing asks for what is not there: lists are empty, records are not found.
func everythingOfNothing(t *testing.T, r *replay.Reader) {
	t.Helper()
	if g, err := r.GroupPage(bg, replay.GroupQuery{Limit: 5}); err != nil || len(g) > 0 {
		t.Errorf("groups: %v, %v", g, err)
	}
	var nf *replay.NotFoundError
	for what, err := range map[string]error{
		"failure": second(r.FailureByID(bg, 99)), "minification": second(r.MinificationSummary(bg, 99)), "bisection": second(r.BisectionByID(bg, 99)), "night": second(r.NightByID(bg, 99)), "case": second(r.CaseByID(bg, 99)),
	} {
		if !errors.As(err, &nf) || nf.Table != what {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestOpenReadOnly: what cannot be looked at is said, and stays as it is.
func TestOpenReadOnly(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	poke := func(name, query string) string {
		s, err := replay.Open(bg, at(name))
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		db, err := sql.Open("sqlite3", at(name))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	if err := os.WriteFile(at("text"), []byte("not a database, but long enough for one"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("empty"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want replay.Reason
	}{
		{at("none"), replay.Missing}, {dir, replay.IsDirectory}, {at("text"), replay.NotADatabase}, {at("empty"), replay.NotADatabase},
		{poke("older", "PRAGMA user_version = 4"), replay.Older}, {poke("newer", "PRAGMA user_version = 99"), replay.Newer}, {poke("foreign", "PRAGMA application_id = 7"), replay.Foreign},
	} {
		r, err := replay.OpenReadOnly(bg, c.path)
		var oe *replay.OpenError
		if !errors.As(err, &oe) || oe.Why != c.want {
			t.Errorf("%s: %v, want %s", filepath.Base(c.path), err, c.want)
		}
		if err == nil {
			r.Close()
		}
	}
	if _, err := os.Stat(at("none")); err == nil {
		t.Error("a file was made")
	}
}
