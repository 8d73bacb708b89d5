// Command bench measures whittle beside the programs that it is compared with, in one run on one machine:
//
//	bench -torch "COMMAND" compile|hot|eager|python [DIR]
//
// compile: capture and AOT of the programs of DIR; hot: calls of compiled functions; eager: forty operators; python: plain Python, beside
// python3. Each row is run by whittle and by the other, and printed with the ratio of their times; the median and the worst ratio follow.
package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed *.py
var scripts embed.FS

// against says which program a measurement is compared with.
var against = map[string]string{"compile": "torch", "hot": "torch", "eager": "torch", "python": "python"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	commands := map[string]*string{
		"whittle": fs.String("whittle", "whittle", "the command to measure"),
		"torch":   fs.String("torch", os.Getenv("WHITTLE_TORCH"), "the command that starts a Python with torch"),
		"python":  fs.String("python", "python3", "the command that starts a Python"),
	}
	if err := fs.Parse(args); err != nil {
		return err
	}
	other, ok := against[fs.Arg(0)]
	if !ok {
		return fmt.Errorf("usage: bench [-torch COMMAND] [-whittle COMMAND] [-python COMMAND] compile DIR|hot|eager|python")
	}
	if *commands[other] == "" {
		return fmt.Errorf("%s is measured beside %s: give its command by -%s", fs.Arg(0), other, other)
	}
	text, err := script(fs.Arg(0), fs.Arg(1))
	if err != nil {
		return err
	}
	ours, err := measure(ctx, append(strings.Fields(*commands["whittle"]), "run"), text, true)
	if err != nil {
		return fmt.Errorf("whittle: %w", err)
	}
	theirs, err := measure(ctx, strings.Fields(*commands[other]), text, false)
	if err != nil {
		return fmt.Errorf("%s: %w", other, err)
	}
	fmt.Print(table(ours, theirs, other))
	return nil
}

// script is the text to run; dir has the programs of compile.
func script(name, dir string) (string, error) {
	b, err := scripts.ReadFile(name + ".py")
	if err != nil || name != "compile" {
		return string(b), err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.py"))
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fmt.Errorf("no programs in %q", dir)
	}
	var list [][2]string
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		list = append(list, [2]string{strings.TrimSuffix(filepath.Base(f), ".py"), string(src)})
	}
	j, err := json.Marshal(list) // lists and strings are written alike in Python
	return "PROGRAMS = " + string(j) + "\n" + string(b), err
}

// row is one line of a script's output.
type row struct {
	Row     string
	Seconds float64
}

// measure runs text, from a file or over standard input.
func measure(ctx context.Context, command []string, text string, file bool) ([]row, error) {
	arg := "-"
	if file {
		f, err := os.CreateTemp("", "bench*.py")
		if err != nil {
			return nil, err
		}
		defer os.Remove(f.Name())
		if _, err := f.WriteString(text); err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
		arg = f.Name()
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], arg)...)
	if !file {
		cmd.Stdin = strings.NewReader(text)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, lastLine(errs.String()))
	}
	var rows []row
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var r row
		if err := json.Unmarshal(s.Bytes(), &r); err == nil && r.Row != "" {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndex(s, "\n")+1:]
}

// table prints rows side by side, and the median and the largest ratio of ours to theirs.
func table(ours, theirs []row, other string) string {
	at := map[string]float64{}
	for _, r := range theirs {
		at[r.Row] = r.Seconds
	}
	var b strings.Builder
	var ratios []float64
	fmt.Fprintf(&b, "%-24s %12s %12s %7s\n", "row", "whittle ms", other+" ms", "ratio")
	for _, r := range ours {
		t, ok := at[r.Row]
		if !ok {
			continue
		}
		ratio := r.Seconds / t
		ratios = append(ratios, ratio)
		fmt.Fprintf(&b, "%-24s %12.4f %12.4f %7.3f\n", r.Row, 1e3*r.Seconds, 1e3*t, ratio)
	}
	if len(ratios) > 0 {
		slices.Sort(ratios)
		fmt.Fprintf(&b, "ratio: median %.3f, largest %.3f, of %d rows\n", ratios[len(ratios)/2], ratios[len(ratios)-1], len(ratios))
	}
	return b.String()
}
