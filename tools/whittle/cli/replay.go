package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"whittle/replay"
)

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
			return fmt.Errorf("frame %d (%s, kind %s) cannot be replayed by this version", f.ID, f.Name, f.Kind)
		},
	}
}
