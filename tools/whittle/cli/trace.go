package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"whittle/replay"
	"whittle/replay/files"
	"whittle/tools/whittle/serve"
	"whittle/tools/whittle/trace"
)

func (a *app) traceCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "trace FILE|FOLDER",
		Short: "Make a page of what TORCH_TRACE wrote, a PyTorch's or whittle's",
		Long: `Make a report of a trace: the folder that the variable TORCH_TRACE named, or a file in it. A PyTorch writes them (2.6 and 2.14 are tested), and so
does whittle run. The report is one HTML file that needs no network: frames with their breaks and recompiles, and for each compilation its source, graphs, guards, generated
code, times and figures.

Lines that cannot be read and records that are not known are listed on the page; what the rest says is shown all the same. Files of the program are shown where they are on this
machine and still have the lines that the trace quotes.`,
		Example: `  TORCH_TRACE=t python3 train.py; whittle trace t
  whittle trace -o report t/dedicated_log_torch_trace_ab12.log
  whittle run --report report train.py`,
		Args: takes("a trace, or the folder with it", 1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return a.traceReport(args[0], out) },
	}
	c.Flags().StringVarP(&out, "out", "o", "whittle-trace", "the `FOLDER` of the page")
	return c
}

// traceReport makes the page of a trace and says where it is.
func (a *app) traceReport(path, out string) error {
	names, err := trace.Files(path)
	if err != nil {
		return usageError{err}
	}
	t, err := trace.Read(names)
	if err != nil {
		return usageError{err}
	}
	if len(t.Compiles) == 0 && len(t.Kinds) == 0 {
		return usagef("%s: no record of a trace is in it", path)
	}
	page, err := t.Report()
	if err != nil {
		return err
	}
	at, err := files.Put(filepath.Join(out, "index.html"), page, "trace")
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, t.Summary())
	if n := len(t.Problems); n > 0 {
		fmt.Fprintf(a.stderr, "whittle: %s of the trace cannot be read; the page lists them\n", replay.Count(n, "place"))
	}
	fmt.Fprintln(a.stdout, at)
	return nil
}

// traceFolder is where a run leaves its trace: what TORCH_TRACE says, or a folder of its own below that of the report.
func (a *app) traceFolder(report string) (string, error) {
	folder := os.Getenv("TORCH_TRACE")
	if folder == "" {
		folder = filepath.Join(report, "trace")
	}
	folder, err := filepath.Abs(folder) // the program may change where it is
	if err != nil {
		return "", err
	}
	return folder, os.MkdirAll(folder, 0o777)
}

// reportRun makes the page of a run that has ended, from the latest trace in a folder. That goes to the standard error, beside what the program printed.
func (a *app) reportRun(traces, out string) {
	names, err := trace.Files(traces)
	if err != nil {
		fmt.Fprintln(a.stderr, "whittle: no report: nothing was compiled")
		return
	}
	told := *a
	told.stdout = a.stderr
	if err := told.traceReport(names[len(names)-1], out); err != nil {
		fmt.Fprintln(a.stderr, "whittle: no report:", err)
	}
}

// showTrace gives a server the page of a trace.
func showTrace(s *serve.Server, path string) error {
	names, err := trace.Files(path)
	if err != nil {
		return usageError{err}
	}
	t, err := trace.Read(names)
	if err != nil {
		return usageError{err}
	}
	page, err := t.Report()
	if err != nil {
		return err
	}
	s.Trace(page, trace.Policy)
	return nil
}
