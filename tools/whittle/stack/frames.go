package stack

import (
	"fmt"

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
	s.Dynamo.Observe.Recorded = func(r *capture.FrameRecord, err error) {
		switch {
		case err != nil && !told[fmt.Sprint(err)]:
			told[fmt.Sprint(err)] = true
			refused(err)
		case err == nil && (all || r.Came.Error != ""):
			keep(r)
		}
	}
}
