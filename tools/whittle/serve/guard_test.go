package serve

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"whittle/replay/replaytest"
)

// TestGuard: who may ask, and what an answer says about what the page may do.
func TestGuard(t *testing.T) {
	s := server(t, fill(replaytest.Small))
	g, err := newGuard(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, s.Handler())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, host, origin string
		want                 int
	}{
		{"GET", "127.0.0.1:8080", "", 200}, {"HEAD", "127.0.0.1:8080", "", 200}, {"GET", "localhost:8080", "", 200}, {"GET", "[::1]:8080", "", 200},
		{"GET", "127.0.0.1:8080", "http://127.0.0.1:8080", 200}, {"GET", "127.0.0.1:8080", "http://localhost:8080", 200},
		{"GET", "evil.example:8080", "", 403}, {"GET", "127.0.0.1", "", 403}, {"GET", "127.0.0.1:8081", "", 403}, {"GET", "127.0.0.1.evil.example:8080", "", 403}, {"GET", "localhost.:8080", "", 403}, {"GET", "", "", 403},
		{"GET", "0.0.0.0:8080", "", 403}, {"GET", "127.0.0.2:8080", "", 403}, {"GET", "LOCALHOST:8080", "", 403},
		{"GET", "127.0.0.1:8080", "http://evil.example", 403}, {"GET", "127.0.0.1:8080", "null", 403}, {"GET", "127.0.0.1:8080", "https://127.0.0.1:8080", 403}, {"GET", "127.0.0.1:8080", "http://127.0.0.1:80", 403},
		{"GET", "127.0.0.1:8080", "http://user@127.0.0.1:8080", 403}, {"GET", "127.0.0.1:8080", "http://127.0.0.1:8080/x", 403},
		{"POST", "127.0.0.1:8080", "", 405}, {"OPTIONS", "127.0.0.1:8080", "http://127.0.0.1:8080", 405}, {"DELETE", "127.0.0.1:8080", "", 405}, {"POST", "evil.example", "", 403},
	} {
		for _, path := range []string{"/", "/text/failure/1/raw", "/static/whittle.js", "/minifications/1/live"} {
			r := httptest.NewRequest(c.method, path, nil)
			r.Host = c.host
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code != c.want && !(c.want == 200 && strings.HasSuffix(path, "/live")) {
				t.Errorf("%s %s, Host %q, Origin %q: status %d, want %d", c.method, path, c.host, c.origin, w.Code, c.want)
			}
			h := w.Header()
			if h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s, Host %q: headers %v", c.method, path, c.host, h)
			}
			if w.Code == 403 && strings.Contains(w.Body.String(), "<") {
				t.Errorf("a refusal shows %s", w.Body)
			}
		}
	}
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s", part)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Error("the policy has a hole:", policy)
	}
}

func TestListen(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1", "10.0.0.1:80", "127.0.0.1.evil.example:0"} {
		if l, err := Listen(ctx, addr); err == nil {
			l.Close()
			t.Errorf("%s: is listened at", addr)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := Listen(ctx, addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newGuard(l.Addr(), http.NotFoundHandler()); err != nil {
			t.Error(err)
		}
		l.Close()
	}
	if _, err := newGuard(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}, nil); err == nil {
		t.Error("another machine's address is guarded")
	}
}

// TestStatus: what is not there, or is asked for wrongly, has a page that says so.
func TestStatus(t *testing.T) {
	s := server(t, fill(replaytest.Small))
	for path, want := range map[string]int{
		"/groups/999": 404, "/groups/x": 404, "/groups/0": 404, "/groups/-1": 404, "/groups/9223372036854775808": 404, "/failures/999": 404, "/minifications/999": 404, "/minifications/999/live": 404, "/bisections/999": 404, "/cases/999": 404,
		"/nights/999": 404, "/graph": 404, "/graph?hash=..%2f..": 404, "/nothing": 404, "/static/../serve.go": 307, "/static/x": 404, "/static/": 404, "/text/failure/1/x": 404, "/text/failure/999/raw": 404, "/text/x/1/raw": 404,
		"/groups?after=x": 400, "/groups?after=-1": 400, "/groups?sort=x": 400, "/failures?before=1e3": 400, "/matrix?skip=x": 400, "/cases/1?by=x": 400, "/matrix?skip=99999": 200, "/graph?page=999&hash=" + strings.Repeat("0", 62) + "02": 200,
		"/matrix?bot=none": 200, "/groups?q=%25": 200, "/groups?state=none": 200, "/failures?q=%00%ff": 200,
	} {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: status %d, want %d: %.200s", path, w.Code, want, w.Body)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") && w.Code != 307 {
			checkPage(t, path, w.Body.Bytes())
		}
	}
}
