// Command bench measures whittle beside the programs that it is compared with, in turns, in one run on one machine:
//
//	bench -torch "COMMAND" eager [RECORDS]
//	bench -torch "COMMAND" compile PROGRAMS
//	bench -torch "COMMAND" hot
//	bench python
//	bench limit
//
// eager: every operator that has a record in a folder of recorded calls, at about a million elements, contiguous and transposed, and rows of training and
// of forms that no record has (rows.py); compile: capture and AOT of the programs of a folder; hot: calls of compiled functions; python: plain Python,
// beside python3; limit: bytes a second beside a copy's and flops beside the peak of this machine. Each row is printed with the ratio of our time to
// the other's, of the best and of the medians, and of the rounds by themselves; what the ratios are together follows. An operator none of whose records
// can be made larger is left out by name, with the reason. With -o the same is written as JSON.
package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed *.py
var scripts embed.FS

// against says which program a measurement is compared with.
var against = map[string]string{"compile": "torch", "hot": "torch", "eager": "torch", "python": "python", "limit": ""}

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
	rounds := fs.Int("rounds", 3, "how many times each row is measured, in turns")
	budget := fs.Float64("budget", 0.05, "eager: seconds for a row of a round")
	rows := fs.String("rows", "", "eager: a regular expression that the names of rows have to match")
	plan := fs.String("plan", "", "eager: a file that remembers the rows, made if it is not there")
	out := fs.String("o", "", "eager: a file that the figures of each row are written to, as JSON")
	verbose := fs.Bool("v", false, "eager: say what is known of each row as it is measured")
	if err := fs.Parse(args); err != nil {
		return err
	}
	name, dir := fs.Arg(0), fs.Arg(1)
	other, ok := against[name]
	if !ok || name == "compile" && dir == "" {
		return fmt.Errorf("usage: bench [-torch COMMAND] [-whittle COMMAND] [-python COMMAND] [-rounds N] eager [RECORDS]|compile PROGRAMS|hot|python|limit")
	}
	if other != "" && *commands[other] == "" {
		return fmt.Errorf("%s is measured beside %s: give its command by -%s", name, other, other)
	}
	var progress io.Writer
	if *verbose {
		progress = os.Stderr
	}
	match, err := regexp.Compile(*rows)
	if err != nil {
		return err
	}
	whittle := append(strings.Fields(*commands["whittle"]), "run")
	switch name {
	case "limit":
		return limit(ctx, whittle, os.Stdout)
	case "eager":
		return eager(ctx, whittle, strings.Fields(*commands["torch"]), dir, *plan, *out, *rounds, *budget, match.MatchString, os.Stdout, progress)
	}
	text, err := script(name, dir)
	if err != nil {
		return err
	}
	return whole(ctx, whittle, strings.Fields(*commands[other]), text, other, *rounds, os.Stdout)
}

// whole measures the rows of a script that runs as a whole, in turns.
func whole(ctx context.Context, ours, theirs []string, text, other string, rounds int, report io.Writer) error {
	var order []string
	of := map[string]*timing{}
	for range rounds {
		us, err := measure(ctx, ours, text, true)
		if err != nil {
			return fmt.Errorf("whittle: %w", err)
		}
		them, err := measure(ctx, theirs, text, false)
		if err != nil {
			return fmt.Errorf("%s: %w", other, err)
		}
		for _, r := range us {
			if of[r.Row] == nil {
				order, of[r.Row] = append(order, r.Row), &timing{row: r.Row}
			}
			of[r.Row].ours = append(of[r.Row].ours, []float64{r.Seconds})
		}
		for _, r := range them {
			if of[r.Row] != nil {
				of[r.Row].theirs = append(of[r.Row].theirs, []float64{r.Seconds})
			}
		}
	}
	var ts []timing
	for _, r := range order {
		if len(of[r].theirs) > 0 {
			ts = append(ts, *of[r])
		}
	}
	fmt.Fprint(report, turns(ts, other))
	return nil
}

// script is the text to run; dir has the programs of compile.
func script(name, dir string) (string, error) {
	b, err := scripts.ReadFile(name + ".py")
	if err != nil {
		return "", err
	}
	switch name {
	case "eager": // its own rows come first
		rows, err := scripts.ReadFile("rows.py")
		return string(rows) + string(b), err
	case "compile":
	default:
		return string(b), nil
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

// row is one line of a script's output: a time, and what was moved or computed in it.
type row struct {
	Row          string
	Seconds      float64
	Bytes, Flops float64
}

// kept puts text into a file.
func kept(text string) (string, error) {
	f, err := os.CreateTemp("", "bench*.py")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}

// measure runs text, from a file or over standard input.
func measure(ctx context.Context, command []string, text string, file bool) ([]row, error) {
	arg := "-"
	if file {
		f, err := kept(text)
		if err != nil {
			return nil, err
		}
		defer os.Remove(f)
		arg = f
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], arg)...)
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
