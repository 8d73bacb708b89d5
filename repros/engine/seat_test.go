package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc/pool"
)

// sitter is a process that does nothing.
type sitter struct {
	number int
	over   atomic.Bool
	gone   sync.Once
	alive  *atomic.Int32
}

func (s *sitter) Over() bool { return s.over.Load() }

func (s *sitter) End(error) {
	s.over.Store(true)
	s.gone.Do(func() { s.alive.Add(-1) })
}

// sitters is a seat, with how many were started in it and how many are alive.
func sitters(refuse func(number int) error) (seat *Seat[*sitter], started, alive *atomic.Int32) {
	started, alive = new(atomic.Int32), new(atomic.Int32)
	return NewSeat(func(life context.Context, before *sitter) (*sitter, error) {
		n := int(started.Add(1))
		if alive.Load() != 0 {
			return nil, errors.New("the one before is alive")
		}
		if before != nil && before.number >= n {
			return nil, fmt.Errorf("%d comes after %d", n, before.number)
		}
		if err := refuse(n); err != nil {
			return nil, err
		}
		alive.Add(1)
		return &sitter{number: n, alive: alive}, life.Err()
	}), started, alive
}

func willing(int) error { return nil }

// Many who ask at once, and one that is ended again and again: never two at a time, each generation started once.
func TestOneProcessAtATime(t *testing.T) {
	seat, started, alive := sitters(willing)
	p := pool.New().WithErrors()
	ends := new(atomic.Int32)
	for i := range 16 {
		p.Go(func() error {
			for range 200 {
				s, err := seat.Get(context.Background())
				if err != nil {
					return err
				}
				if i == 0 && !s.over.Load() {
					s.End(nil)
					ends.Add(1)
				}
			}
			return nil
		})
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	if n, e := started.Load(), ends.Load(); n != e && n != e+1 {
		t.Errorf("%d were started, %d were ended", n, e)
	}
	seat.Close()
	seat.Close()
	if n := alive.Load(); n != 0 {
		t.Errorf("%d are left", n)
	}
	if _, err := seat.Get(context.Background()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// A start that fails is an error of all who wait for it, and the next who asks has it tried again.
func TestAStartIsTriedAgain(t *testing.T) {
	no := errors.New("no")
	seat, _, _ := sitters(func(n int) error {
		if n < 3 {
			return no
		}
		return nil
	})
	defer seat.Close()
	var got []string
	for range 4 {
		empty := seat.Empty()
		s, err := seat.Get(context.Background())
		if err != nil {
			got = append(got, fmt.Sprint(empty, " ", err))
			continue
		}
		got = append(got, fmt.Sprint(empty, " ", s.number))
	}
	if diff := cmp.Diff([]string{"true no", "true no", "true 3", "false 3"}, got); diff != "" {
		t.Error(diff)
	}
}

// Who gives up waiting gets the reason of that; the start goes on for others. Close gives up a start under way, and waits for its end.
func TestAStartBelongsToNobody(t *testing.T) {
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	seat := NewSeat(func(life context.Context, before *sitter) (*sitter, error) {
		begun <- struct{}{}
		select {
		case <-goOn:
			return &sitter{number: 1, alive: new(atomic.Int32)}, nil
		case <-life.Done():
			return nil, life.Err()
		}
	})
	mine := errors.New("mine")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() { <-begun; cancel(mine) }()
	if _, err := seat.Get(ctx); !errors.Is(err, mine) {
		t.Error(err)
	}
	goOn <- struct{}{}
	s, err := seat.Get(context.Background())
	if err != nil || s.number != 1 {
		t.Fatal(err)
	}
	s.End(nil)
	waiting := make(chan error)
	go func() { _, err := seat.Get(context.Background()); waiting <- err }()
	<-begun
	seat.Close()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
