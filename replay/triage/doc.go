// Package triage says which failures are one bug, how far each bug is, and how bad it is.
//
// Of a failure it takes features (kind, error, graph, settings, backend, layer); two sets of features have a distance from 0 to 1 whose every part
// can be read (Compare). The distance depends on the two alone, never on what else is in a store: operators that nearly all models have weigh little by a
// fixed table, and an error text that would fit any bug is no evidence. A failure joins the group of the nearest member; two groups that it
// joins are one. So groups are the connected parts of "is near", in whatever order failures come, with two exceptions: what a person said (merge, split)
// stands; and a failure of which too little is known to tell one bug from another (wrong results of a large graph) joins a group, but never
// joins two, and stays with the first that it fitted.
//
// It runs nothing, and has no SQL: groups are rows of package replay.
package triage
