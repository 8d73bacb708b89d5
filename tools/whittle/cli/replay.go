package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"whittle/replay"
	"whittle/tools/whittle/stack"
)

// frameKind is the kind of the store's frames that hold a stack.RecordedFrame.
const frameKind = "python"

func (a *app) replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay ID",
		Short: "Run a recorded frame again, without its script",
		Args:  oneFile("replay"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usagef("replay takes the number of a recorded frame, got %q", args[0])
			}
			s, err := replay.Open(c.Context(), a.storePath())
			if err != nil {
				return err
			}
			defer s.Close()
			f, err := s.Frame(c.Context(), id)
			var nf *replay.NotFoundError
			if errors.As(err, &nf) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			if f.Kind != frameKind || f.Version > stack.FrameVersion {
				return fmt.Errorf("frame %d is of kind %s, version %d: a newer whittle wrote it", f.ID, f.Kind, f.Version)
			}
			var r stack.RecordedFrame
			if err := json.Unmarshal(f.Data, &r); err != nil {
				return fmt.Errorf("frame %d: %w", f.ID, err)
			}
			ses := stack.New(c.Context(), cacheDir())
			ses.In.Stdout, ses.In.Stderr = a.stdout, a.stderr
			err = ses.ReplayFrame(&r)
			_ = ses.In.Flush()
			if err != nil {
				fmt.Fprint(a.stderr, ses.In.FormatException(err))
				return exitCode(1)
			}
			fmt.Fprintf(a.stdout, "frame %d (%s) compiles and runs; it was recorded with: %s\n", f.ID, r.Function, r.Error)
			return nil
		},
	}
}
