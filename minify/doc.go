// Package minify searches for the smallest graph, inputs and configuration that still fail in the same way.
//
// A Search starts from a State whose run by the Oracle fails, and edits it as long as the failure stays: see the table
// reductions, whose rows go from coarse to fine. Reductions see a view and propose edits, which are values; the driver goes through the
// table, adopts and journals; an executor gets questions answered (executor.go has what holds of every answer); a planner says what may be
// asked next. The package knows graphs and outcomes; it knows no engine, no repro file and no Python.
//
// Inputs may be fake tensors: descriptions, with where an engine takes the elements from. What the values in the middle of a graph
// look like is asked of the engine (Values), or computed by meta functions where those agree with it; see world.go.
//
// A row asks in one of two ways. Independent edits of one base go in rounds of a fixed size, whose wins are merged in candidate
// order, the merge tested, and split on conflict (rounds.go). A question that depends on earlier answers is a node of a
// decision tree (walk.go). Workers with nothing else to do look at what is likely to be asked next (planner.go); an answer counts when its
// turn comes. So the result and the journal depend neither on the number of workers nor on timing. Every outcome is in the store before it
// is used: a search that was killed is resumed by running it again, and asks nothing twice.
//
// Failures that come and go are measured, and candidates then run until the odds are clear: flaky.go.
package minify
