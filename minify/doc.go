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
//
// # How a search goes
//
// This is the journal of a graph of nine calls whose failure is in the last one (a star: the candidate was taken):
//
//	1 * start        reproduced     the start
//	2 * localise     reproduced     run alone: x, y, add, z
//	3   localise     passed         run alone: x, y
//	4 * localise     reproduced     run alone: add, z
//	5   localise     passed         run alone: add
//	6 * localise     reproduced     run alone: z
//	7 * plain        reproduced     the simplest inputs
//	8   confirm      reproduced     the result, in a fresh process
//
// Question 2 runs half of the calls alone. They get as inputs what the other half had computed: Explore asked the engine for the values of all
// calls, once, before the search began. That is why no half ever lacks what it needs, and why halving finds a call in as many questions as
// its number has binary digits.
//
// Where an engine runs several small candidates for little more than the price of one (Search.Together), the calls of a small window are asked about in
// one question (pieces), and so is all that a small graph may not need (apart); what keeps the failure by itself is then made together (merge).
//
// # Where to read
//
//   - state.go: what is searched for (State), and what is better (Cost).
//   - edit.go, and the files named after what they reduce: the edits, and which of them a row proposes.
//   - reductions.go: the table, the rows that are made of a list of items, and the sweep, which ends with the certificate.
//   - localise.go: where the failure is, as a decision tree over windows of calls.
//   - dims.go, relate.go, shrink.go: which sizes must agree, and making them small.
//   - world.go, eager.go: what is known of values, and the engine that holds them where there is no other.
//   - driver.go, rounds.go, walk.go: asking for edits and adopting them. executor.go, planner.go: answers, and questions ahead of their time.
//   - short.go: candidates that need not run to their ends. flaky.go: failures that come and go.
//   - journal.go, written.go, retrace.go: what was done, and doing it again.
package minify
