package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/pool"
)

// framesReport is what came of recording the frames of programs and replaying them in new processes.
type framesReport struct {
	Frames   int      `json:"frames"`   // captured
	Recorded int      `json:"recorded"` // with a written form
	Same     int      `json:"same"`     // captured again with the same graph, breaks and error
	Reasons  []string `json:"reasons,omitempty"`
	Broken   []string `json:"broken,omitempty"` // a line for each program that could not be run at all
}

var (
	recordedFrame = regexp.MustCompile(`(?m)^whittle: recorded frame (\d+) `)
	refusedFrame  = regexp.MustCompile(`(?m)^whittle: not recorded: .*`)
	sameFrame     = regexp.MustCompile(`(?m)^frame (\d+) \(.*\): captured as recorded`)
	otherFrame    = regexp.MustCompile(`(?m)^frame \d+ \(.*\): (?:recorded as|the ).*`)
)

// runFrames runs each program of a folder with --record-frames, and replays its frames in a process of their own.
func runFrames(ctx context.Context, dir string, o options) (any, error) {
	var programs []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".py") && strings.Contains(path, o.match) {
			programs = append(programs, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var rep framesReport
	p := pool.New().WithMaxGoroutines(max(o.workers, 1))
	for _, program := range programs {
		p.Go(func() {
			one, err := framesOf(ctx, program, o)
			mu.Lock()
			defer mu.Unlock()
			rep.Frames, rep.Recorded, rep.Same = rep.Frames+one.Frames, rep.Recorded+one.Recorded, rep.Same+one.Same
			rep.Reasons = append(rep.Reasons, one.Reasons...)
			if err != nil {
				rep.Broken = append(rep.Broken, fmt.Sprintf("%s: %v", program, err))
			}
		})
	}
	if p.Wait(); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	fmt.Printf("recorded: %d of %d\ncaptured again as recorded: %d of %d\n", rep.Recorded, rep.Frames, rep.Same, rep.Frames)
	if o.verbose {
		for _, r := range rep.Reasons {
			fmt.Println(r)
		}
	}
	return rep, nil
}

// framesOf records and replays the frames of one program, in a copy of its folder.
func framesOf(ctx context.Context, program string, o options) (framesReport, error) {
	var rep framesReport
	tmp, err := os.MkdirTemp("", "conformance-frames-")
	if err != nil {
		return rep, err
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(filepath.Join(tmp, "run"), os.DirFS(filepath.Dir(program))); err != nil {
		return rep, err
	}
	store := filepath.Join(tmp, "store.db")
	run := func(dir string, args ...string) (string, string) {
		ctx, stop := context.WithTimeout(ctx, max(o.timeout, time.Second))
		defer stop()
		cmd := exec.CommandContext(ctx, o.whittle, append([]string{"--store", store}, args...)...)
		cmd.Dir = dir
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // a program may fail: its frames count
		return out.String(), errs.String()
	}
	_, errs := run(filepath.Join(tmp, "run"), "run", "--record-frames", "--no-minify", filepath.Base(program))
	var ids []string
	for _, m := range recordedFrame.FindAllStringSubmatch(errs, -1) {
		ids = append(ids, m[1])
	}
	refused := refusedFrame.FindAllString(errs, -1)
	rep.Recorded, rep.Frames = len(ids), len(ids)+len(refused)
	for _, r := range refused {
		rep.Reasons = append(rep.Reasons, filepath.Base(program)+": "+r)
	}
	if len(ids) > 0 {
		out, _ := run(tmp, append([]string{"replay"}, ids...)...)
		rep.Same = len(sameFrame.FindAllString(out, -1))
		for _, r := range otherFrame.FindAllString(out, -1) {
			rep.Reasons = append(rep.Reasons, filepath.Base(program)+": "+r)
		}
	}
	return rep, nil
}
