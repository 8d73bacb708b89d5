package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"whittle/capture"
	"whittle/replay"
	"whittle/tools/whittle/stack"
)

// frameKind is the kind of the store's frames that hold a capture.FrameRecord.
const frameKind = "python"

func (a *app) replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay ID...",
		Short: "Capture recorded frames again, and run them, without their script",
		Long: `Capture recorded frames again, each in an interpreter of its own, and run them. A frame is recorded by whittle run --record-frames, or when it
fails and torch._dynamo.config.replay_record_enabled is set. The capture is compared with the recorded one: graph, breaks, error.
The exit status is 1 where a frame raises, or is captured in another way.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("replay: which frame? (usage: whittle replay ID...)")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			s, err := replay.Open(c.Context(), a.storePath())
			if err != nil {
				return err
			}
			defer s.Close()
			failed := false
			for _, arg := range args {
				id, err := strconv.ParseInt(arg, 10, 64)
				if err != nil {
					return usagef("replay takes the numbers of recorded frames, got %q", arg)
				}
				ok, err := a.replayFrame(c.Context(), s, id)
				if err != nil {
					return err
				}
				failed = failed || !ok
			}
			if failed {
				return exitCode(1)
			}
			return nil
		},
	}
}

// replayFrame replays one frame, and reports whether it was captured as recorded and ran without an error.
func (a *app) replayFrame(ctx context.Context, s *replay.Store, id int64) (bool, error) {
	f, err := s.Frame(ctx, id)
	var nf *replay.NotFoundError
	if errors.As(err, &nf) {
		return false, usageError{err}
	}
	if err != nil {
		return false, err
	}
	if f.Kind != frameKind || f.Version != stack.FrameVersion {
		return false, fmt.Errorf("frame %d is of kind %s, version %d: this whittle reads %s, version %d", f.ID, f.Kind, f.Version, frameKind, stack.FrameVersion)
	}
	var r capture.FrameRecord
	if err := json.Unmarshal(f.Data, &r); err != nil {
		return false, fmt.Errorf("frame %d: %w", f.ID, err)
	}
	ses := stack.New(ctx, cacheDir())
	ses.In.Stdout, ses.In.Stderr = a.stdout, a.stderr
	came, err := ses.ReplayFrame(&r)
	_ = ses.In.Flush()
	if err != nil {
		fmt.Fprint(a.stderr, ses.In.FormatException(err))
	}
	diffs := differences(r.Came, came)
	if len(diffs) == 0 {
		fmt.Fprintf(a.stdout, "frame %d (%s): captured as recorded: %s\n", f.ID, r.Function, describe(came))
	}
	for _, d := range diffs {
		fmt.Fprintf(a.stdout, "frame %d (%s): %s\n", f.ID, r.Function, d)
	}
	return err == nil && len(diffs) == 0, nil
}

// describe says in a line what a capture came to.
func describe(c capture.Came) string {
	out := c.Status
	if c.Graph != "" {
		out += fmt.Sprintf(", a graph of %s", replay.Count(strings.Count(c.Graph, "\n"), "line"))
	}
	for _, b := range c.Breaks {
		out += ", " + b
	}
	return out
}

var noAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` at 0x[0-9a-f]+`) })

// differences says how a capture differs from the recorded one.
func differences(want, got capture.Came) []string {
	var out []string
	if want.Status != got.Status {
		out = append(out, fmt.Sprintf("recorded as %s, now %s", want.Status, got.Status))
	}
	if want.Graph != got.Graph {
		out = append(out, fmt.Sprintf("the graph differs. Recorded:\n%s\nNow:\n%s", want.Graph, got.Graph))
	}
	if w, g := noAddress().ReplaceAllString(strings.Join(want.Breaks, "; "), ""), noAddress().ReplaceAllString(strings.Join(got.Breaks, "; "), ""); w != g {
		out = append(out, fmt.Sprintf("the breaks differ: recorded %q, now %q", w, g))
	}
	if want.Error != got.Error {
		out = append(out, fmt.Sprintf("the error differs: recorded %q, now %q", want.Error, got.Error))
	}
	return out
}
