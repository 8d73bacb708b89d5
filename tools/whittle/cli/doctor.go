package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"whittle/kernels/native"
	"whittle/replay"
	"whittle/replay/triage"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Print the versions, compilers and CPU that a bug report needs", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		fmt.Fprintf(a.stdout, "whittle: %s (follows PyTorch %s)\n%s\n", Version, PyTorchVersion, strings.Join(machine(), "\n"))
		fmt.Fprintf(a.stdout, "store: %s\ncache: %s\n", a.storePath(), cacheDir())
		return nil
	}}
}

// machine describes in lines what a failure may depend on besides whittle.
func machine() []string {
	return []string{
		fmt.Sprintf("go: %s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH),
		fmt.Sprintf("cpu: %s, %s, vector code %v", cpuName(), replay.Count(runtime.NumCPU(), "core"), native.Level()),
		"c++: " + compilerVersion(),
	}
}

func cpuName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for _, l := range strings.Split(string(data), "\n") {
		if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

func compilerVersion() string {
	cxx := os.Getenv("CXX")
	if cxx == "" {
		cxx = "g++"
	}
	out, err := exec.Command(cxx, "--version").Output()
	if err != nil {
		return cxx + ": not found"
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first
}

// fingerprint is what outcomes depend on besides the query.
func fingerprint() string { return replay.HashOf(append([]string{"native", Version}, machine()...)...) }

func (a *app) storeCommand() *cobra.Command {
	c := &cobra.Command{Use: "store", Short: "Look into the store: check, ls, show, export; merge brings what another one has; gc drops what is old", RunE: func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("unknown command %q for \"whittle store\"", args[0])
		}
		return c.Help()
	}}
	var full bool
	show := &cobra.Command{Use: "show KIND/ID", Short: "Show one record", Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, args []string) error {
		s, err := replay.Open(c.Context(), a.storePath())
		if err != nil {
			return err
		}
		defer s.Close()
		text, err := s.Show(c.Context(), args[0], full)
		if err != nil {
			return err
		}
		if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			text = triage.QuoteLines(text) // a file gets it as it is
		}
		fmt.Fprint(a.stdout, text)
		return nil
	}}
	show.Flags().BoolVar(&full, "full", false, "the edits of a search in full, as JSON")
	open := func(ctx context.Context) (*replay.Store, error) { return replay.Open(ctx, a.storePath()) }
	c.AddCommand(&cobra.Command{Use: "check", Short: "Verify every hash and reference", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		s, err := open(c.Context())
		if err != nil {
			return err
		}
		defer s.Close()
		rep, err := s.Check(c.Context())
		if err != nil {
			return err
		}
		for _, p := range rep.Problems {
			fmt.Fprintln(a.stdout, p)
		}
		fmt.Fprintf(a.stdout, "%s, %s, %s: %s\n", replay.Count(rep.Blobs, "blob"), replay.Count(rep.Tensors, "tensor"), replay.Count(rep.Rows, "row"), replay.Count(len(rep.Problems), "problem"))
		if len(rep.Problems) > 0 {
			return exitCode(1)
		}
		return nil
	}}, &cobra.Command{Use: "ls [KIND]", Short: "List records", Args: cobra.MaximumNArgs(1), RunE: func(c *cobra.Command, args []string) error {
		s, err := open(c.Context())
		if err != nil {
			return err
		}
		defer s.Close()
		kind := ""
		if len(args) > 0 {
			kind = args[0]
		}
		es, err := s.List(c.Context(), kind)
		if err != nil {
			return err
		}
		for _, e := range es {
			fmt.Fprintf(a.stdout, "%s/%d\t%s\t%s\n", e.Kind, e.ID, e.Created.Format("2006-01-02 15:04:05"), triage.Quote(e.Summary))
		}
		return nil
	}}, show, &cobra.Command{Use: "export KIND/ID DIR", Short: "Write a record's files to a folder", Args: cobra.ExactArgs(2), RunE: func(c *cobra.Command, args []string) error {
		s, err := open(c.Context())
		if err != nil {
			return err
		}
		defer s.Close()
		p, err := s.Export(c.Context(), args[0], args[1])
		if err != nil {
			return err
		}
		fmt.Fprintln(a.stdout, p)
		return nil
	}}, a.gcCommand(), a.storeMergeCommand())
	return c
}
