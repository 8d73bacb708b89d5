package serve

import (
	"encoding/json"
	"net/http"
	"time"

	sse "github.com/tmaxmax/go-sse"

	"whittle/replay"
)

// progress is what is sent of a search that is followed, each time that it has come on.
type progress struct {
	State  replay.State `json:"state"`
	Start  int          `json:"start"` // calls; -1: not known
	Calls  int          `json:"calls"` // of the best so far; -1: not known
	Steps  int          `json:"steps"`
	Passes []passLine   `json:"passes,omitempty"`
}

type passLine struct {
	Reduction string `json:"reduction"`
	Steps     int    `json:"steps"`
	Wins      int    `json:"wins"`
	Time      string `json:"time"`
}

// followFor bounds how long a connection follows a search; the browser asks again by itself.
const followFor = time.Hour

// live sends server-sent events of a search: progress while it runs, and done at its end.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	id, err := number(r.PathValue("id"))
	if err == nil {
		_, err = s.store.MinificationSummary(r.Context(), id)
	}
	if err != nil {
		s.show(w, r, func(*http.Request) (view, error) { return view{}, err })
		return
	}
	select {
	case s.follow <- struct{}{}:
		defer func() { <-s.follow }()
	default:
		s.show(w, r, func(*http.Request) (view, error) {
			return view{}, wrong{http.StatusServiceUnavailable, "too many pages follow a search: close some"}
		})
		return
	}
	// The server's limit on writing is for pages.
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(followFor + time.Minute)); err != nil {
		return
	}
	session, err := sse.Upgrade(w, r)
	if err != nil || r.Method == http.MethodHead {
		return
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	var last string
	for end := time.Now().Add(followFor); time.Now().Before(end); {
		p, err := s.progress(r, id)
		if err != nil {
			return
		}
		b, err := json.Marshal(p)
		if err != nil {
			return
		}
		kind := "progress"
		if p.State != replay.Running {
			kind = "done"
		}
		if text := string(b); text != last {
			last = text
			m := &sse.Message{Type: sse.Type(kind)}
			m.AppendData(text)
			if session.Send(m) != nil || session.Flush() != nil {
				return
			}
		}
		if kind == "done" {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) progress(r *http.Request, id int64) (progress, error) {
	m, err := s.store.MinificationSummary(r.Context(), id)
	if err != nil {
		return progress{}, err
	}
	p := progress{State: m.State, Start: m.StartCalls, Calls: m.Calls, Steps: m.Steps}
	passes, _, err := s.store.Course(r.Context(), id, m.Steps, 1)
	for _, x := range passes {
		p.Passes = append(p.Passes, passLine{string(visible([]byte(x.Reduction))), x.Steps, x.Wins, took(x.Time)})
	}
	return p, err
}
