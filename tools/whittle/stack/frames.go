package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"whittle/capture"
	"whittle/capture/python/vm"
)

// FrameVersion is the version of capture.FrameRecord's form in the store.
const FrameVersion = 2

// ReplayFrame captures a recorded frame again and runs it: what the capture came to, and what running it raised. A breakpoint in it
// stops nothing.
func (s *Session) ReplayFrame(r *capture.FrameRecord) (capture.Came, error) {
	sys, err := s.In.Import("sys")
	if err != nil {
		return capture.Came{}, err
	}
	pass := &vm.Builtin{Name: "breakpointhook", Module: "sys", Max: -1, Fn: func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil }}
	if err := s.In.SetAttr(sys, "breakpointhook", pass); err != nil {
		return capture.Came{}, err
	}
	return s.Dynamo.Replay(r, s.lookup)
}

// RecordingFrames reports whether torch._dynamo.config.replay_record_enabled is set: frames that fail are to be kept.
func (s *Session) RecordingFrames() bool {
	m, err := s.In.Import("torch._dynamo.config")
	if err != nil {
		return false
	}
	v, err := s.In.GetAttr(m, "replay_record_enabled")
	if err != nil {
		return false
	}
	on, err := s.In.Truth(v)
	return err == nil && on
}

// RecordFrames hands each frame that is captured to keep: all of them, or those that fail where the script asks for that. What has no
// written form goes to refused, once for each reason.
func (s *Session) RecordFrames(all bool, keep func(r *capture.FrameRecord), refused func(err error)) {
	told := map[string]bool{}
	s.Dynamo.Observe.Record = func(*vm.Frame) bool { return all || s.RecordingFrames() }
	s.Dynamo.Observe.Recorded = func(r *capture.FrameRecord, err error) (file string) {
		if err == nil && r.Came.Error != "" && s.RecordingFrames() {
			file, err = s.writeFrame(r)
		}
		switch {
		case err != nil && !told[fmt.Sprint(err)]:
			told[fmt.Sprint(err)] = true
			refused(err)
		case err == nil && (all || r.Came.Error != ""):
			keep(r)
		}
		return file
	}
}

// frameFile is the form of a file with a recorded frame.
type frameFile struct {
	Version int                  `json:"whittle_frame"`
	Frame   *capture.FrameRecord `json:"frame"`
}

// writeFrame writes a frame that failed into the run's folder for debugging, under the name that PyTorch gives such a file.
func (s *Session) writeFrame(r *capture.FrameRecord) (string, error) {
	dir, err := s.DebugDir()
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(frameFile{FrameVersion, r})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "error_recordings", fmt.Sprintf("%s_%s_%d.rec", r.Function, r.Came.Kind, r.Line))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, data, 0o666)
}

// replayFile captures the frame of a file again in a session of its own, and runs it. The error that it ends with is raised here, too.
func (s *Session) replayFile(file string) error {
	in := s.In
	data, err := os.ReadFile(file)
	if err != nil {
		return in.Errorf(in.Exc.FileNotFoundError, "%v", err)
	}
	var f frameFile
	if err := json.Unmarshal(data, &f); err != nil || f.Frame == nil || f.Version != FrameVersion {
		return in.Errorf(in.Exc.ValueError, "%s is no frame that this whittle recorded", file)
	}
	fresh := New(s.ctx, s.CacheDir)
	fresh.In.Stdout, fresh.In.Stderr = in.Stdout, in.Stderr
	if err := in.Flush(); err != nil {
		return err
	}
	_, err = fresh.ReplayFrame(f.Frame)
	if ferr := fresh.In.Flush(); err == nil {
		err = ferr
	}
	var r *vm.Raised
	if !errors.As(err, &r) {
		return err
	}
	text, serr := fresh.In.Str(r.Exc)
	if serr != nil {
		text = err.Error()
	}
	class := in.Exc.RuntimeError
	if m, err := in.Import(r.Exc.Class.Module); err == nil {
		if c, err := in.GetAttr(m, r.Exc.Class.Name); err == nil {
			if t, ok := c.(*vm.Type); ok {
				class = t
			}
		}
	}
	made, err := in.CallMethod(class, "__new__", class, vm.Str(text)) // a class may make its text of something else
	if err != nil {
		return err
	}
	x, ok := made.(*vm.Exception)
	if !ok {
		return in.Errorf(in.Exc.RuntimeError, "%s", text)
	}
	return in.Raise(x)
}
