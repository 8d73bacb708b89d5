// Package replay is the record/replay store: one SQLite file that remembers frames, graphs,
// compiles, failures, queries and their outcomes, minifications step by step with their results, findings, bisections, and tensors by
// content.
//
// Open takes a context and a path and gives a Store. One connection writes and many read; every write is a
// transaction, so what a method acknowledged is there after kill -9 and the rest never half. schema.sql and those with
// a number document the tables. Blobs are compressed with zstd and keyed by the SHA-256 of what they hold; Check verifies each.
//
// What refers to what (a row names the row on its right; all texts and data are blobs):
//
//	failures ──> compiles ──> frames          what was met: by run, exec and record
//	    └──────────└────────> graphs
//	results ───> minifications                a search, its end, and the files that it wrote (result_files)
//	steps ─────────┘                          its journal: which candidate came of which, by what edit, with what verdict
//	findings ──────┘                          other failures that it met
//	queries                                   answers, by what was asked: of use to every search with the same question
//	trials ────> bisections                   answers of the tests of a bisection, by point
//
// A search needs three writes to survive kill -9 at any moment: the search itself before its first question (BeginMinification), each
// answer before it is used (PutOutcome), each step before it counts (PutStep). One that is run again walks the same steps, and finds
// their answers.
//
// The plain data types Outcome, Signature and Verdict live here, low down, so that engines, search and triage share
// them without knowing each other. The package imports nothing else of whittle and does not know what a graph is:
// graphs are text with a canonical hash, frames are opaque bytes with a kind and a version.
package replay
