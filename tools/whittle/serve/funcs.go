package serve

import (
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"whittle/replay"
	"whittle/replay/triage"
)

// funcs are what templates may call.
var funcs = template.FuncMap{
	"cell":    func(text string) string { return short(cellText, text) },
	"line":    func(text string) string { return short(110, text) },
	"stamp":   func(t time.Time) string { return t.Format("2006-01-02 15:04") },
	"iso":     func(t time.Time) string { return t.Format(time.RFC3339) },
	"age":     func(t time.Time) string { return age(time.Since(t)) },
	"took":    took,
	"figure":  figure,
	"add":     func(a, b int) int { return a + b },
	"severe":  severe,
	"query":   query,
	"percent": func(x float64) string { return strconv.FormatFloat(100*x, 'g', 3, 64) + " %" },
	"slug":    slug,
	"args":    func(args ...string) []string { return args },
	"clip":    clip,
	"count":   replay.Count[int],
	"known":   known,
	"plus":    func(a, b float64) float64 { return a + b },
	"first":   first,
	"long":    func(text string) bool { return len(text) > cellText || strings.Contains(text, "\n") },
}

// slugs are words that a class or an icon goes by.
func slug(word string) string {
	switch word {
	case "good", "bad", "skip", "other", "pass", "fail", "timeout", "oom", "killed", "invalid", "infrastructure", "flaky", "new", "confirmed", "minimised", "bisected", "fixed", "closed", "running", "done", "interrupted":
		return word
	}
	return "else"
}

// age is a time in the largest unit that fits.
func age(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if d >= u.of {
			return replay.Count(int(d/u.of), u.name)
		}
	}
	return "now"
}

// took is how long something took, for people.
func took(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// figure is a measured number with four digits.
func figure(x float64) string {
	if math.Abs(x) >= 10_000 && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// query writes a path with the parameters that are not empty.
func query(path string, kv ...any) (string, error) {
	if len(kv)%2 != 0 {
		return "", fmt.Errorf("query %s: a name without a value", path)
	}
	q := url.Values{}
	for i := 0; i < len(kv); i += 2 {
		if v := fmt.Sprint(kv[i+1]); v != "" && v != "0" {
			q.Set(fmt.Sprint(kv[i]), v)
		}
	}
	if len(q) == 0 {
		return path, nil
	}
	return path + "?" + q.Encode(), nil
}

// number reads an id.
func number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, wrong{http.StatusNotFound, fmt.Sprintf("%q is no number of a record", short(60, text))}
	}
	return n, nil
}

// numberOr reads an optional number of a query: def where it is not there.
func numberOr(r *http.Request, name string, def int64) (int64, error) {
	text := r.FormValue(name)
	if text == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, wrong{http.StatusBadRequest, fmt.Sprintf("%s=%s: want a number from 0", name, short(60, text))}
	}
	return n, nil
}

// more cuts a list that was asked for with one row too many, and says whether it was there.
func more[T any](rows []T, n int) ([]T, bool) {
	if len(rows) > n {
		return rows[:n], true
	}
	return rows, false
}

// known is a number that is not -1.
func known(n int) string {
	if n < 0 {
		return "?"
	}
	return strconv.Itoa(n)
}

// first is the start of a list.
func first(n int, list any) any {
	v := reflect.ValueOf(list)
	return v.Slice(0, min(n, v.Len())).Interface()
}

// clip is the start of a text that is folded away, with what is left out.
func clip(text string) string {
	shown := cut(foldText, text)
	if left := len(text) - len(shown); left > 0 {
		shown += "\n… " + replay.Count(left, "byte") + " more"
	}
	return shown
}

// severe says how bad a group is: what its example does, and the score by which triage orders groups.
func severe(g replay.GroupRow) string {
	f, err := triage.ParseFeatures(g.Features)
	if err != nil || f.Kind == "" {
		f.Kind = triage.Error
	}
	return fmt.Sprintf("%s, %d of 100", short(40, string(f.Kind)), g.Severity)
}
