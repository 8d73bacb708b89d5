package cli

import (
	"encoding/json"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"whittle/replay"
	"whittle/tools/whittle/serve"
)

func (a *app) serveCommand() *cobra.Command {
	var addr, traces string
	var open, asJSON bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show the store as a page in the browser, for this machine alone",
		Long: `Show what is in the store as pages for a browser: groups of failures, each with its minimal repro, bisection, history and graph; cases by
versions; what was measured, with the changes; nights and their reports; failures, minifications, also those in progress, and bisections.

The pages need no network. They are for this machine alone: the address is a loopback one, and requests for another name, or by another site's pages, are
refused. From another machine: ssh -L PORT:127.0.0.1:PORT, with --addr 127.0.0.1:PORT here. The store is only looked at, while other commands
may write to it; one of an older whittle has to be brought up to date first, by any other command.

The URL is the first line that is printed. Ctrl-C ends it.`,
		Example: `  whittle serve
  whittle serve --open --store team.db
  whittle serve --trace t
  whittle serve --addr 127.0.0.1:8080 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("serve takes no argument, got %q: the store is named by --store", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			st, err := replay.OpenReadOnly(ctx, a.storePath())
			if err != nil {
				return usageError{err}
			}
			defer st.Close()
			s, err := serve.New(st)
			if err != nil {
				return err
			}
			if traces != "" {
				if err := showTrace(s, traces); err != nil {
					return err
				}
			}
			l, err := serve.Listen(ctx, addr)
			if err != nil {
				return usageError{err}
			}
			url := fmt.Sprintf("http://%s/", l.Addr())
			if asJSON {
				b, err := json.Marshal(struct {
					URL string `json:"url"`
				}{url})
				if err != nil {
					return err
				}
				fmt.Fprintf(a.stdout, "%s\n", b)
			} else {
				fmt.Fprintln(a.stdout, url)
			}
			if open {
				// It is left alone: a browser that is not there takes nothing from the page.
				if out, err := exec.CommandContext(ctx, "xdg-open", url).CombinedOutput(); err != nil {
					fmt.Fprintf(a.stderr, "whittle: no browser could be opened: %v %s\n", err, out)
				}
			}
			return s.Serve(ctx, l)
		},
	}
	f := c.Flags()
	f.StringVar(&addr, "addr", "127.0.0.1:0", "`HOST:PORT` to answer at, a loopback address; port 0: any that is free")
	f.StringVar(&traces, "trace", "", "show also a trace, a `FILE or FOLDER` of TORCH_TRACE, as whittle trace does")
	f.BoolVar(&open, "open", false, "open the page in the browser (xdg-open)")
	f.BoolVar(&asJSON, "json", false, `print {"url": ...} instead of the URL`)
	return c
}
