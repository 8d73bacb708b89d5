package engine

import (
	"fmt"
	"slices"

	"whittle/replay"
)

// The marks that a query leaves, in order: each says that a stage is behind it.
const (
	Loaded   = "loaded"   // the repro was read and its inputs made
	Eager    = "eager"    // eager ran without an error
	Compiled = "compiled" // the compiler gave a callable
	Ran      = "ran"      // the compiled callable gave results
)

// Marks are all marks, in order.
var Marks = []string{Loaded, Eager, Compiled, Ran}

// stages are what is under way before each mark, and after the last.
var stages = []string{"load", "eager", "compile", "run", "compare"}

// UnderWay is the stage that follows so many marks.
func UnderWay(marks int) string { return stages[min(marks, len(stages)-1)] }

// Proved is o where its marks prove it, else a fault of the infrastructure. Whoever says how a candidate ended has been through the stages
// before: a pass has all marks, but for one that was stopped in the compiler, as was asked; and a failure has those of the stages before its own. All failures have at least been loaded, whatever stage
// they name.
func Proved(o replay.Outcome) replay.Outcome {
	need := 0
	switch o.Status {
	case replay.Pass:
		need = len(Marks)
		if o.Before != "" { // it was stopped on its way through the compiler
			need = slices.Index(Marks, Eager) + 1
		}
	case replay.Failed, replay.Timeout, replay.OOM, replay.Killed:
		stage := o.Signature.Stage
		if stage == "accuracy" {
			stage = "compare"
		}
		need = max(1, slices.Index(stages, stage))
	}
	for i, m := range Marks[:need] {
		if i >= len(o.Marks) || o.Marks[i] != m {
			return replay.Outcome{Status: replay.Infrastructure, Message: fmt.Sprintf("%s without the mark %q", o.Status, m), Detail: o.Detail, Marks: o.Marks}
		}
	}
	return o
}

// Early is what an end from outside means before eager was through: nothing about the compiler. Later ends are as o says.
func Early(o replay.Outcome) replay.Outcome {
	switch len(o.Marks) {
	case 0:
		o.Status, o.Signature = replay.Infrastructure, replay.Signature{}
		o.Message = "while loading: " + o.Message
	case 1:
		o.Status, o.Signature = replay.Invalid, replay.Signature{}
		o.Message = "in eager: " + o.Message
	}
	return o
}
