package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"whittle/replay"
)

func (a *app) gcCommand() *cobra.Command {
	var olderThan, maxSize string
	var dry bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Drop what is old and nobody needs, and give the space back",
		Long: `Drop from the store what is older than --older-than: answers to the questions of searches, compiles, failures of which a younger one with
the same signature is there, and content that nothing names any more. Where more than --max-size bytes are in use then, younger answers go
too, the oldest first.

What is kept, however old: whatever a search needs that can be resumed, results, journals and findings of searches, the latest failure of each
signature, and recorded frames. whittle does the same by itself after a search where more than 2 GiB are in use.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o := replay.GCOptions{DryRun: dry, Vacuum: true}
			var err error
			if o.OlderThan, err = parseAge(olderThan); err != nil {
				return usagef("--older-than: %v", err)
			}
			if o.MaxSize, err = parseBytes(maxSize); err != nil {
				return usagef("--max-size: %v", err)
			}
			s, err := replay.Open(c.Context(), a.storePath())
			if err != nil {
				return err
			}
			defer s.Close()
			r, err := s.GC(c.Context(), o)
			if err != nil {
				return err
			}
			what := "dropped"
			if dry {
				what = "would drop"
			}
			fmt.Fprintf(a.stdout, "%s %s, %s, %s, %s, %s, %s: %d of %s in use are left\n", what, replay.Count(r.Queries, "answer"), replay.Count(r.Failures, "failure"), replay.Count(r.Compiles, "compile"),
				replay.Count(r.Graphs, "graph"), replay.Count(r.Tensors, "tensor"), replay.Count(r.Blobs, "blob"), r.After, replay.Count(r.Before, "byte"))
			if r.After > o.MaxSize {
				fmt.Fprintf(a.stderr, "whittle: that is more than %s: the rest is needed\n", maxSize)
			}
			return nil
		},
	}
	c.Flags().StringVar(&olderThan, "older-than", "30d", "`AGE` of what goes: 12h, 30d")
	c.Flags().StringVar(&maxSize, "max-size", "2G", "`BYTES` that may be in use: 500M, 2G")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would go, and leave it")
	return c
}

// parseAge reads 90m, 12h, 30d.
func parseAge(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || !(n >= 0 && n < 100000) {
			return 0, fmt.Errorf("%q is no age", s)
		}
		return time.Duration(n * 24 * float64(time.Hour)), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no age: 12h and 30d are", s)
	}
	return d, nil
}

// tidyStore applies the bounds of package replay to a store in which more than most bytes are in use. The space is used again by what comes.
func tidyStore(ctx context.Context, st *replay.Store, most int64) error {
	if n, err := st.Size(ctx); err != nil || n <= most {
		return err
	}
	_, err := st.GC(ctx, replay.GCOptions{OlderThan: replay.KeepFor, MaxSize: most})
	return err
}
