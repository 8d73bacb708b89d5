package nightly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"whittle/replay"
	"whittle/replay/files"
	"whittle/repros/engine"
)

// Write puts a night's report into the outbox: KEY/report.md and KEY/report.json. It gives the paths, which differ where somebody else's files
// have these names. Written again, the files stay as they are.
func (c *Config) Write(r *Report, json []byte) (paths []string, err error) {
	dir := filepath.Join(c.At(c.Report.Outbox), r.Night)
	for _, f := range []struct {
		name string
		data []byte
	}{{"report.md", []byte(r.Markdown())}, {"report.json", json}} {
		path, err := files.Put(filepath.Join(dir, f.name), f.data, "nightly", r.Bot, r.Night)
		if err != nil {
			return paths, fmt.Errorf("the report is in the store, and could not be written: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// HookLostError says that a night's hook was started before, and that nobody saw how it ended: it may have done its work or not.
type HookLostError struct{ Night string }

func (e *HookLostError) Error() string {
	return "the hook of night " + e.Night + " was started before, and its end was not seen: it is not started twice (--hook-again does)"
}

// HookError says that a hook did not end well.
type HookError struct{ How string }

func (e *HookError) Error() string { return "the hook: " + e.How }

// hookLimit is how long a hook may take.
const hookLimit = 10 * time.Minute

// Hook gives a night's report to the hook, if there is one: once. That it is started is noted first. One that was killed with its night is not started
// again, as nobody knows what it has done: *HookLostError. again starts it all the same.
func (c *Config) Hook(ctx context.Context, st *replay.Store, json []byte, key string, again bool) error {
	if c.Report.Hook == "" {
		return nil
	}
	row, found, err := st.FindNight(ctx, c.Name, key)
	if err == nil && !found {
		err = &replay.NotFoundError{Table: "night", Key: key}
	}
	if err == nil && again {
		err = st.EndHook(ctx, row.ID, "")
	}
	if err != nil {
		return err
	}
	first, err := st.BeginHook(ctx, row.ID)
	switch {
	case err != nil:
		return err
	case !first && row.Hook == replay.HookBegun:
		return &HookLostError{key}
	case !first:
		return nil
	}
	how := c.runHook(ctx, json)
	if err := st.EndHook(context.WithoutCancel(ctx), row.ID, how); err != nil {
		return err
	}
	if how != hookFine {
		return &HookError{how}
	}
	return nil
}

// hookFine is what is noted of a hook that ended well.
const hookFine = "exit status 0"

func (c *Config) runHook(ctx context.Context, json []byte) string {
	in, err := scratch(json)
	if err != nil {
		return err.Error()
	}
	defer in.Close()
	out, err := scratch(nil)
	if err != nil {
		return err.Error()
	}
	defer out.Close()
	cmd := exec.Command("sh", "-c", c.Report.Hook)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir(), in, out, out
	g, err := engine.StartGroup(cmd)
	if err != nil {
		return err.Error()
	}
	until := time.Now().Add(hookLimit)
	for !g.Ends(20 * time.Millisecond) {
		if ctx.Err() != nil {
			g.Reap()
			return "stopped: " + ctx.Err().Error()
		}
		if time.Now().After(until) {
			g.Reap()
			return fmt.Sprintf("ran longer than %v", hookLimit)
		}
	}
	state := g.Reap()
	if state.Success() {
		return hookFine
	}
	said, _ := whole(out) // for people; without it they have the status
	return state.String() + lastLine(bytes.TrimSpace(said))
}

// BusyError says that another process plays a night of the same bot.
type BusyError struct{ Outbox string }

func (e *BusyError) Error() string {
	return "another night of this bot is being played: " + e.Outbox + " is locked"
}

// Lock keeps other processes from playing nights of this bot, until the file is closed or the process ends.
func (c *Config) Lock() (*os.File, error) {
	outbox := c.At(c.Report.Outbox)
	if err := os.MkdirAll(outbox, 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(outbox, "."+c.Name+".lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = &BusyError{outbox}
		}
		return nil, err
	}
	return f, nil
}
