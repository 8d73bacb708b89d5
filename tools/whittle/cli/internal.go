package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/replay"
)

// internalStatus is the exit status of a script that a fault of whittle's own has ended: EX_SOFTWARE of BSD's sysexits.h.
const internalStatus = 70

// fault is a panic of whittle's in a script's process.
type fault struct {
	title string   // what panicked, and why, in one line
	place []string // where the program was, innermost first
	stack string   // Go's
}

// faultOf is the fault that an error stands for, nil for what is the program's own.
func faultOf(err error) *fault {
	var k *aten.Panic
	if errors.As(err, &k) {
		return &fault{k.Error(), k.Trail, k.Stack}
	}
	var p *vm.PanicError
	if errors.As(err, &p) {
		return &fault{fmt.Sprintf("internal error: %v", p.Value), nil, string(p.Stack)}
	}
	return nil
}

// print says whose fault it is, and where the program was.
func (f *fault) print(w io.Writer) {
	fmt.Fprintf(w, "whittle: %s\n", f.title)
	for _, p := range f.place {
		fmt.Fprintf(w, "  %s\n", p)
	}
	fmt.Fprintln(w, "whittle: this is a fault of whittle's, not of the script, which no handler of it has seen")
}

// event tells the parent, which has the store.
func (f *fault) event() event {
	return event{Kind: "internal", Sig: replay.NewSignature("internal", "panic", f.title, nil, nil), Raw: strings.Join(append([]string{f.title}, f.place...), "\n") + "\n\n" + f.stack}
}

// keepFault stores a fault and says how to report it.
func (a *app) keepFault(ctx context.Context, e *event) error {
	s, err := replay.Open(ctx, a.storePath())
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := s.PutFailure(ctx, replay.Failure{Signature: e.Sig, Raw: e.Raw})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "whittle: kept: whittle report failure/%d\n", id)
	return nil
}
