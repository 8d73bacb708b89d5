// Package replay is the record/replay store: one SQLite file that remembers frames, graphs,
// compiles, failures, queries and their outcomes, minifications step by step with their results, findings, bisections, and tensors by
// content.
//
// Open takes a context and a path and gives a Store. One connection writes and many read; every write is a
// transaction, so what a method acknowledged is there after kill -9 and the rest never half. schema.sql, schema2.sql and schema3.sql
// document the tables. Blobs are compressed with zstd and keyed by the SHA-256 of what they hold; Check verifies each.
//
// The plain data types Outcome, Signature and Verdict live here, low down, so that engines, search and triage share
// them without knowing each other. The package imports nothing else of whittle and does not know what a graph is:
// graphs are text with a canonical hash, frames are opaque bytes with a kind and a version.
package replay
