package serve

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sourcegraph/conc/pool"

	"whittle/replay"
	"whittle/tools/whittle/serve/look"
)

//go:embed templates static
var files embed.FS

// pageRows is how many rows a page of a list has.
const pageRows = 50

// A Server shows one store. Make it with New.
type Server struct {
	store  *replay.Reader
	pages  map[string]*template.Template
	artist artist
	every  time.Duration // how often a search that is followed is looked at
	follow chan struct{} // has a token for each one that is followed
	ctx    context.Context
	stop   context.CancelFunc

	trace, tracePolicy string // the page of a trace, and what it may do; "" none
}

// New makes a server of a store, which the caller closes after it.
func New(store *replay.Reader) (*Server, error) {
	s := &Server{store: store, pages: map[string]*template.Template{}, every: time.Second / 2, follow: make(chan struct{}, 64)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.artist.engine.Start(); err != nil {
		return nil, err
	}
	base, err := template.New("layout.html").Funcs(funcs).ParseFS(files, "templates/layout.html", "templates/parts.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		short := strings.TrimSuffix(strings.TrimPrefix(name, "templates/"), ".html")
		if short == "layout" || short == "parts" {
			continue
		}
		t, err := base.Clone()
		if err == nil {
			t, err = t.ParseFS(files, name)
		}
		if err != nil {
			return nil, err
		}
		s.pages[short] = t
	}
	return s, nil
}

// Trace adds the page of a trace (see package trace), which stands by itself, and the policy that it names. It is for before Serve.
func (s *Server) Trace(page []byte, policy string) { s.trace, s.tracePolicy = string(page), policy }

func (s *Server) tracePage(w http.ResponseWriter, r *http.Request) {
	if s.trace == "" {
		s.show(w, r, func(*http.Request) (view, error) {
			return view{}, wrong{http.StatusNotFound, "no trace is shown: whittle serve --trace FOLDER shows one"}
		})
		return
	}
	w.Header().Set("Content-Security-Policy", s.tracePolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(s.trace))
}

// Listen opens addr, HOST:PORT, which must be of this machine alone. The error says what to do instead.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%s: want HOST:PORT, such as 127.0.0.1:0", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%s: only this machine may look (127.0.0.1, [::1] or localhost): for another one use ssh -L PORT:127.0.0.1:PORT, with one PORT on both sides", addr)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", addr)
}

// Serve answers on l until ctx ends, and then ends what is under way. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h, err := newGuard(l.Addr(), s.Handler())
	if err != nil {
		l.Close()
		return err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: log.New(discard{}, "", 0), BaseContext: func(net.Listener) context.Context { return s.ctx }}
	p := pool.New().WithErrors()
	p.Go(func() error {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.stop()
			return err
		}
		return nil
	})
	p.Go(func() error {
		select {
		case <-ctx.Done():
		case <-s.ctx.Done():
		}
		s.stop() // searches that are followed
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		if err := srv.Shutdown(end); err != nil {
			return srv.Close()
		}
		return nil
	})
	return p.Wait()
}

// discard takes what the HTTP server says of connections that break: nobody has to act on it.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Handler answers for all paths. It does not look at who asks: Serve does.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, page := range map[string]func(*http.Request) (view, error){
		"/{$}": s.overview, "/groups": s.groups, "/groups/{id}": s.group, "/failures": s.failures, "/failures/{id}": s.failure, "/minifications": s.minifications,
		"/minifications/{id}": s.minification, "/bisections": s.bisections, "/bisections/{id}": s.bisection, "/matrix": s.matrix, "/cases/{id}": s.oneCase,
		"/nights": s.nights, "/nights/{id}": s.night, "/graph": s.graph, "/": s.nothing,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, page) })
	}
	mux.HandleFunc("/trace", s.tracePage)
	mux.HandleFunc("/text/{kind}/{id}/{part}", s.text)
	mux.HandleFunc("/minifications/{id}/live", s.live)
	mux.HandleFunc("/static/{name}", s.static)
	return mux
}

// view is a page: the name of its template, and what that is given.
type view struct {
	name  string
	Title string
	Nav   string // path of the part of the site that it is in
	Body  any
	Store string
	Trace bool // there is one
}

// wrong is an error with the status that it has on the web.
type wrong struct {
	status int
	text   string
}

func (e wrong) Error() string { return e.text }

func (s *Server) nothing(r *http.Request) (view, error) {
	return view{}, wrong{http.StatusNotFound, "there is no page " + r.URL.Path}
}

// show makes a page, whole, before any of it is sent.
func (s *Server) show(w http.ResponseWriter, r *http.Request, page func(*http.Request) (view, error)) {
	v, err := page(r)
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		var nf *replay.NotFoundError
		var bad wrong
		switch {
		case errors.As(err, &nf):
			status = http.StatusNotFound
		case errors.As(err, &bad):
			status = bad.status
		}
		v = view{name: "error", Title: http.StatusText(status), Body: err.Error()}
	}
	v.Store, v.Trace = s.store.Path, s.trace != ""
	var b bytes.Buffer
	if err := s.pages[v.name].Execute(&b, v); err != nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusInternalServerError)
		w.Write(visible([]byte(err.Error())))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(visible(b.Bytes()))
}

// kindsOf are the files that a page needs.
var kindsOf = map[string]string{"style.css": "text/css; charset=utf-8", "whittle.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"}

func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	b, err := files.ReadFile("static/" + name)
	if name == "style.css" {
		b, err = []byte(look.Style), nil
	}
	kind := kindsOf[name]
	if err != nil || kind == "" {
		s.show(w, r, s.nothing)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Write(b)
}

// text sends a text of the store as it is: what a button copies, and the whole of what a page has the start of.
func (s *Server) text(w http.ResponseWriter, r *http.Request) {
	t, err := s.findText(r)
	if err != nil {
		s.show(w, r, func(*http.Request) (view, error) { return view{}, err })
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte(t))
}

func (s *Server) findText(r *http.Request) (string, error) {
	ctx := r.Context()
	id, err := number(r.PathValue("id"))
	if err != nil {
		return "", err
	}
	none := wrong{http.StatusNotFound, "there is no such text"}
	blob := func(key string) (string, error) {
		if key == "" {
			return "", none
		}
		b, err := s.store.Blob(ctx, key)
		return string(b), err
	}
	switch what := r.PathValue("kind") + "/" + r.PathValue("part"); what {
	case "failure/raw", "failure/repro", "failure/graph":
		f, err := s.store.FailureByID(ctx, id)
		switch {
		case err != nil:
			return "", err
		case what == "failure/raw":
			return f.Raw, nil
		case what == "failure/repro":
			return blob(f.Repro)
		}
		return s.store.Graph(ctx, f.Graph)
	case "minification/start":
		return s.store.Start(ctx, id)
	case "minification/repro", "minification/standalone", "minification/error":
		m, err := s.result(ctx, id)
		return map[string]string{"minification/repro": m.Repro, "minification/standalone": m.Standalone, "minification/error": m.Error}[what], err
	case "night/report":
		n, err := s.store.NightByID(ctx, id)
		if err != nil {
			return "", err
		}
		return blob(n.Report)
	}
	return "", none
}
