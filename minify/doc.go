// Package minify searches for the smallest graph, inputs and configuration that still fail in the same way.
//
// A Search starts from a State whose run by the Oracle fails, and edits it as long as the failure stays: see the table
// reductions, whose rows yield candidates from coarse to fine, and driver.go, the one place that checks, asks, merges and
// journals them. The package knows graphs and outcomes; it knows no engine, no repro file and no Python.
//
// Candidates are evaluated in rounds of a fixed size. The candidates of a round are edits of one base; wins are merged in
// candidate order, the merge is tested, and split on conflict. So the result and the journal
// depend neither on the number of workers nor on timing. Every outcome is in the store before it is used: a search that
// was killed is resumed by running it again, and asks nothing twice.
package minify
