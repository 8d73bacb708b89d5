package torch

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"whittle/repros/engine"
)

// source says how the far side gets a storage that it does not hold.
type source struct {
	load func() ([]byte, error) // its bytes; nil where made is set
	made *exploration           // gives it among others
}

// exploration is one that was asked before.
type exploration struct{ j job }

func (x *exploration) size() int { return len(x.j.Text) }

// maxExplored is how many bytes of repro text are kept of explorations, so that they can be asked again. Those unused for longest are
// forgotten, and with them the storages that only they give.
const maxExplored = 64 << 20

// LostError says that a storage is not held any more and cannot be made again. No other data stand in for it.
type LostError struct {
	Hash string
	Err  error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("torch: storage %s cannot be handed over again: %v", e.Hash, e.Err)
}
func (e *LostError) Unwrap() error { return e.Err }

// Put says where the bytes of a storage come from; queries name it by its hash. load is called when the far side needs them: maybe never,
// and again when a new Python takes the place of one that died, or when the storage had to make room for others.
func (c *Client) Put(hash string, load func() ([]byte, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.sources[hash]; !known {
		c.sources[hash] = source{load: load}
	}
}

// informed asks a process, and hands it over what it needs to answer. give has storages that are this job's alone.
// clock is told what the time went to.
func (c *Client) informed(ctx context.Context, p *process, j job, give map[string][]byte, clock *engine.Question) (json.RawMessage, error) {
	a, err := p.ask(ctx, j)
	for try := 0; err == nil && len(a.Missing) > 0; try++ {
		if try == 2 {
			return nil, &LostError{a.Missing[0], errors.New("it is dropped as soon as it is there: the far side keeps too few bytes")}
		}
		supplied := clock.Wait(engine.OnTransfer)
		select {
		case p.supplying <- struct{}{}: // one at a time: most need the same
			err = c.supply(ctx, p, a.Missing, give, nil)
			<-p.supplying
		case <-p.dead: // asking will tell
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		supplied()
		if err == nil {
			a, err = p.ask(ctx, j)
		}
	}
	for kind, seconds := range a.Spent {
		clock.Tell(kind, time.Duration(seconds*float64(time.Second)))
	}
	return a.Result, err
}

// supply hands over storages that p may not hold. within are explorations under way, which need them.
func (c *Client) supply(ctx context.Context, p *process, hashes []string, give map[string][]byte, within []*exploration) error {
	a, err := p.ask(ctx, job{Op: "have", Needs: hashes})
	if err != nil {
		return err
	}
	for len(a.Missing) > 0 {
		hash := a.Missing[0]
		if err := c.make(ctx, p, hash, give, within); err != nil {
			return err
		}
		if a, err = p.ask(ctx, job{Op: "have", Needs: hashes}); err != nil {
			return err
		}
		if slices.Contains(a.Missing, hash) {
			return &LostError{hash, errors.New("what made it gives other values now, or the far side keeps too few bytes")}
		}
	}
	return nil
}

// make hands over one storage.
func (c *Client) make(ctx context.Context, p *process, hash string, give map[string][]byte, within []*exploration) error {
	if data, ok := give[hash]; ok {
		return put(ctx, p, hash, data)
	}
	c.mu.Lock()
	s, ok := c.sources[hash]
	if s.made != nil {
		c.used(s.made)
	}
	c.mu.Unlock()
	switch {
	case !ok || slices.Contains(within, s.made):
		return &LostError{hash, errors.New("it was not put, or the exploration that made it is too long ago")}
	case s.made != nil:
		if err := c.supply(ctx, p, s.made.j.Needs, give, append(slices.Clone(within), s.made)); err != nil {
			return err
		}
		_, err := p.ask(ctx, s.made.j)
		return err
	}
	data, err := s.load()
	if err != nil {
		return &LostError{hash, err}
	}
	return put(ctx, p, hash, data)
}

// maxPut is how many bytes of a storage go into one message.
const maxPut = 64 << 20

func put(ctx context.Context, p *process, hash string, data []byte) error {
	for begin := true; begin || len(data) > 0; begin = false {
		n := min(len(data), maxPut)
		a, err := p.ask(ctx, job{Op: "put", piece: &piece{Hash: hash, Data: base64.StdEncoding.EncodeToString(data[:n]), More: !begin, Last: n == len(data)}})
		if err != nil {
			return err
		}
		var r reply
		if err := read(a.Result, &r, &r); err != nil {
			return fmt.Errorf("torch: handing over storage %s: %w", hash, err)
		}
		data = data[n:]
	}
	return nil
}

// remember notes which storages an exploration gave.
func (c *Client) remember(j job, values map[string]Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := &exploration{j}
	gives := false
	var walk func(v Value)
	walk = func(v Value) {
		if _, known := c.sources[v.Storage]; v.Storage != "" && !known && !slices.Contains(j.Needs, v.Storage) {
			c.sources[v.Storage] = source{made: x}
			gives = true
		}
		for _, item := range v.Items {
			walk(item)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		walk(values[name])
	}
	if !gives {
		return
	}
	c.explorations = append(c.explorations, x)
	c.explored += x.size()
	for c.explored > maxExplored && len(c.explorations) > 1 {
		old := c.explorations[0]
		c.explorations = c.explorations[1:]
		c.explored -= old.size()
		maps.DeleteFunc(c.sources, func(_ string, s source) bool { return s.made == old })
	}
}

// used makes an exploration the latest. c.mu is held.
func (c *Client) used(x *exploration) {
	if i := slices.Index(c.explorations, x); i >= 0 {
		c.explorations = append(slices.Delete(c.explorations, i, i+1), x)
	}
}

// Storage reads the bytes of a held storage, or of one derived from it.
func (c *Client) Storage(ctx context.Context, hash string, d *Derived) ([]byte, error) {
	j := job{Op: "export", Needs: []string{hash}, wanted: &wanted{Storage: hash, As: d}}
	if d != nil {
		j.Needs = []string{d.Of.Storage}
	} else {
		c.mu.Lock()
		load := c.sources[hash].load
		c.mu.Unlock()
		if load != nil {
			return load()
		}
	}
	b, err := c.ask(ctx, j, nil)
	if err != nil {
		return nil, err
	}
	var r struct {
		Data string `json:"data"`
		reply
	}
	if err := read(b, &r, &r.reply); err != nil {
		return nil, fmt.Errorf("torch: reading a storage: %w", err)
	}
	return base64.StdEncoding.DecodeString(r.Data)
}
