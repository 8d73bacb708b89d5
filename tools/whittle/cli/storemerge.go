package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"whittle/replay"
	"whittle/replay/triage"
)

func (a *app) storeMergeCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "merge OTHER.db",
		Short: "Bring what another store has into this one",
		Long: `Bring what another store has into this one: failures with all that belongs to them, answers, searches with their journals and results, bisections with their tests,
and groups with their history. What is here already comes once, however often it is merged. The other store is not changed; it may be of an earlier whittle,
and in use. It is copied first, to the folder of temporary files ($TMPDIR), which needs the space. All of it comes, or nothing.

Afterwards the groups that came are compared with those that are here: see whittle triage.`,
		Example: "  whittle store merge ci-machine.db",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("store merge takes the file of another store, got %s", replay.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if same(args[0], a.storePath()) {
				return usagef("%s is the store itself", args[0])
			}
			s, err := replay.Open(c.Context(), a.storePath())
			if err != nil {
				return err
			}
			defer s.Close()
			r, err := s.Merge(c.Context(), args[0])
			if err != nil {
				return err
			}
			p, err := triage.PlaceAll(c.Context(), s, "whittle")
			if err != nil {
				return err
			}
			if asJSON {
				b, err := json.MarshalIndent(struct {
					replay.MergeReport
					Triage triage.Report `json:"triage"`
				}{r, p}, "", "  ")
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.stdout, "%s\n", b)
				return err
			}
			fmt.Fprintf(a.stdout, "new here: %s, %s, %s, %s, %s, %s, %s\n", replay.Count(r.Failures, "failure"), replay.Count(r.Minifications, "minification"), replay.Count(r.Bisections, "bisection"),
				replay.Count(r.Findings, "finding"), replay.Count(r.Compiles, "compile"), replay.Count(r.Queries, "answer"), replay.Count(r.Groups, "group"))
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// same reports whether two paths name one file.
func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	if err1 != nil || err2 != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return os.SameFile(x, y)
}
