package serve

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/replay"
	"whittle/replay/replaytest"
)

// TestStates: a journal as a tree: candidates below the state that they were made of, by reduction, and what was taken with the state that it became.
func TestStates(t *testing.T) {
	step := func(parent, reduction, edit, candidate string, v replay.Verdict, taken bool) replay.Step {
		return replay.Step{Parent: parent, Reduction: reduction, Edit: edit, Candidate: candidate, Verdict: v, Taken: taken}
	}
	a, b, c, d := step("s", "cut", "half", "x", "pass", false), step("s", "cut", "quarter", "y", "fail", true), step("y", "cut", "all", "z", "pass", false), step("y", "bypass", "relu", "w", "fail", true)
	want := []stateRow{
		{Number: 0, Count: 2, Verdict: []replay.NamedCount{{Name: "pass", Count: 1}, {Name: "fail", Count: 1}}, Groups: []stateGroup{{"cut", []replay.Step{a, b}}}, Next: []stateLink{{"cut quarter", 1}}},
		{Number: 1, From: "cut quarter", Count: 2, Verdict: []replay.NamedCount{{Name: "pass", Count: 1}, {Name: "fail", Count: 1}}, Groups: []stateGroup{{"cut", []replay.Step{c}}, {"bypass", []replay.Step{d}}}, Next: []stateLink{{"bypass relu", -1}}},
	}
	if diff := cmp.Diff(want, states([]replay.Step{a, b, c, d})); diff != "" {
		t.Error(diff)
	}
}

// TestTracePage: the page of a trace is there when there is one, with its own policy, and linked from every page.
func TestTracePage(t *testing.T) {
	s := server(t, fill(replaytest.Small))
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	if w := get("/trace"); w.Code != 404 || !strings.Contains(w.Body.String(), "whittle serve --trace FOLDER") || strings.Contains(get("/").Body.String(), `href="/trace"`) {
		t.Errorf("without a trace: %d", w.Code)
	}
	s.Trace([]byte("<!DOCTYPE html><p>x"), "default-src 'none'; script-src 'sha256-x'")
	w := get("/trace")
	if w.Code != 200 || w.Body.String() != "<!DOCTYPE html><p>x" || w.Header().Get("Content-Security-Policy") != "default-src 'none'; script-src 'sha256-x'" {
		t.Errorf("with a trace: %d, %v, %s", w.Code, w.Header(), w.Body)
	}
	if !strings.Contains(get("/").Body.String(), `href="/trace"`) {
		t.Error("no page links to the trace")
	}
}
