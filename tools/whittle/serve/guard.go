package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
)

// policy lets a page load what this server has, and nothing else; no script or style stands in a page, and no page of ours in a frame.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// A guard lets programs of this machine look, by the address of this server, and browsers only for pages of ours.
//
// A name that another site gives to this machine's address (DNS rebinding) is not ours in Host; a request that another site's page makes has its Origin.
type guard struct {
	hosts map[string]bool // with port
	next  http.Handler
}

// newGuard answers for the loopback addresses and names with the port of addr.
func newGuard(addr net.Addr, next http.Handler) (*guard, error) {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return nil, fmt.Errorf("%s is not an address of this machine alone", addr)
	}
	g := &guard{map[string]bool{}, next}
	for _, h := range []string{"127.0.0.1", "::1", "localhost", at.Addr().Unmap().String()} {
		g.hosts[net.JoinHostPort(h, fmt.Sprint(at.Port()))] = true
		if at.Port() == 80 {
			g.hosts[h] = true
			g.hosts["["+h+"]"] = true
		}
	}
	return g, nil
}

func (g *guard) ours(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.User == nil && u.Path == "" && g.hosts[u.Host]
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	refuse := func(status int, why string) {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprintln(w, why)
	}
	origins, sent := r.Header["Origin"]
	switch {
	case !g.hosts[r.Host]:
		refuse(http.StatusForbidden, "whittle serve answers for 127.0.0.1, [::1] and localhost with its own port, not for another name")
	case sent && (len(origins) != 1 || !g.ours(origins[0])):
		refuse(http.StatusForbidden, "whittle serve answers its own pages, not those of another site")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		refuse(http.StatusMethodNotAllowed, "whittle serve only shows: GET and HEAD")
	default:
		g.next.ServeHTTP(w, r)
	}
}
