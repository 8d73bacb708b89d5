package stdlib

import (
	"math"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/capture/python/vm"
)

type signalsKey struct{}

// signals are the handlers that a script has set. A signal that arrives is noted, and its handler runs when the interpreter next looks: between
// two instructions, or when a function of the library that waits or sends one returns.
type signals struct {
	in        *vm.Interp
	handlers  map[int]vm.Object // of Python; SIG_DFL and SIG_IGN are integers
	interrupt vm.Object         // what SIGINT does unless a script sets a handler, once there is a _signal
	arrive    chan os.Signal    // nil until a handler is set
	wg        conc.WaitGroup    // of what listens to it
	dumps     map[int]*dump     // what faulthandler writes when a signal comes, before its handler runs

	mu      sync.Mutex
	pending []int
	wake    chan struct{} // has room for one: a signal has arrived
	wakeFD  int           // one more than the descriptor of set_wakeup_fd
	timer   *time.Timer   // of setitimer
	due     time.Time
	every   time.Duration
}

const (
	sigDefault = 0
	sigIgnore  = 1
	sigLast    = 64
)

func signalsOf(in *vm.Interp) *signals {
	if s, ok := in.Ext[signalsKey{}].(*signals); ok {
		return s
	}
	s := &signals{in: in, handlers: map[int]vm.Object{}, dumps: map[int]*dump{}, wake: make(chan struct{}, 1)}
	in.Ext[signalsKey{}] = s
	in.OnInterrupt = s.run
	return s
}

// note is told of a signal from any goroutine.
func (s *signals) note(sig int) {
	s.tellWakeup(sig)
	s.mu.Lock()
	s.pending = append(s.pending, sig)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	s.in.Interrupt()
}

// run calls the handlers of the signals that have arrived.
func (s *signals) run() error {
	for {
		s.mu.Lock()
		if len(s.pending) == 0 {
			s.mu.Unlock()
			return nil
		}
		sig := s.pending[0]
		s.pending = s.pending[1:]
		s.mu.Unlock()
		if err := s.deliver(sig); err != nil {
			return err
		}
	}
}

// deliver does what is to be done about a signal, in the thread of the interpreter.
func (s *signals) deliver(sig int) error {
	if d := s.dumps[sig]; d != nil {
		d.write(s.in, fatalSignals[sig])
		if !d.chain && fatalSignals[sig] == "" {
			return nil
		}
	}
	h, set := s.handlers[sig]
	n, number := vm.AsInt(h)
	switch {
	case !set && sig == int(syscall.SIGINT):
		return s.in.Errorf(s.in.Exc.KeyboardInterrupt, "")
	case !set && sig == int(syscall.SIGPIPE), number && n == sigIgnore:
		return nil
	case !set, number:
		_ = s.in.Flush()
		die(syscall.Signal(sig))
		return nil
	}
	_, err := s.in.Call(h, []vm.Object{vm.MakeInt(int64(sig)), s.frame()}, nil)
	return err
}

// set makes h the handler of a signal and returns the one before.
func (s *signals) set(sig int, h vm.Object) vm.Object {
	old := s.get(sig)
	n, number := vm.AsInt(h)
	s.handlers[sig] = h
	real := syscall.Signal(sig)
	signal.Reset(real) // whoever listened: the script decides now
	switch {
	case s.dumps[sig] != nil:
		s.hear(real)
	case number && n == sigIgnore:
		signal.Ignore(real)
	case number:
		if sig == int(syscall.SIGINT) {
			return old
		}
		resetHandler(real)
	default:
		s.hear(real)
	}
	return old
}

// hear has signals of a kind noted.
func (s *signals) hear(sig syscall.Signal) {
	if s.arrive == nil {
		s.arrive = make(chan os.Signal, 16)
		s.wg.Go(s.listen)
	}
	signal.Notify(s.arrive, sig)
}

// dump sets what is written when a signal comes, or with nil takes it back, and returns the one before.
func (s *signals) dump(sig int, d *dump) *dump {
	old := s.dumps[sig]
	if d != nil {
		s.dumps[sig] = d
		s.hear(syscall.Signal(sig))
	} else if old != nil {
		delete(s.dumps, sig)
		if h, set := s.handlers[sig]; set {
			s.set(sig, h)
		} else if sig != int(syscall.SIGINT) {
			signal.Reset(syscall.Signal(sig))
		}
	}
	return old
}

// listen runs as long as the process: the runtime has no way to say that no signal will come.
func (s *signals) listen() {
	for sig := range s.arrive {
		s.note(int(sig.(syscall.Signal)))
	}
}

func (s *signals) get(sig int) vm.Object {
	if h, ok := s.handlers[sig]; ok {
		return h
	}
	switch {
	case sig == int(syscall.SIGPIPE):
		return vm.MakeInt(sigIgnore)
	case sig == int(syscall.SIGINT) && s.interrupt != nil:
		return s.interrupt
	}
	return vm.MakeInt(sigDefault)
}

// itimer starts or stops the timer of SIGALRM and returns what was left of the one before, and its interval.
func (s *signals) itimer(after, every time.Duration) (left, interval time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		left, interval = max(time.Until(s.due), 0), s.every
		s.timer.Stop()
		s.timer = nil
	}
	if after <= 0 {
		return left, interval
	}
	s.every, s.due = every, time.Now().Add(after)
	s.timer = time.AfterFunc(after, s.fire)
	return left, interval
}

func (s *signals) fire() {
	s.mu.Lock()
	if s.timer != nil && s.every > 0 {
		s.due = time.Now().Add(s.every)
		s.timer = time.AfterFunc(s.every, s.fire)
	} else {
		s.timer = nil
	}
	s.mu.Unlock()
	s.note(int(syscall.SIGALRM))
}

// pause waits until a signal arrives or d is over, and runs the handlers; a sleep that a handler interrupts goes on.
func (s *signals) pause(d time.Duration) error {
	end := time.NewTimer(d)
	defer end.Stop()
	wake := s.wake
	if !s.in.OnMainThread() {
		wake = nil // signals are handled there
	}
	for {
		over := false
		err := s.in.Unlocked(func() error {
			select {
			case <-end.C:
				over = true
			case <-wake:
			case <-s.in.Context().Done():
				return s.in.Context().Err()
			}
			return nil
		})
		if err != nil || over {
			return err
		}
		if err := s.run(); err != nil || d == math.MaxInt64 {
			return err
		}
	}
}

// frame is what runs while a handler is called.
func (s *signals) frame() vm.Object {
	f := s.in.Frame()
	if f == nil {
		return vm.None
	}
	f.Retain()
	return f
}

func callable(in *vm.Interp, o vm.Object) bool {
	f, ok := in.Builtins.Dict.GetStr("callable")
	if !ok {
		return false
	}
	v, err := in.Call(f, []vm.Object{o}, nil)
	return err == nil && v == vm.True
}
