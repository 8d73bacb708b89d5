// Package engine is what answering a search means, whoever answers it.
//
// It owns the interface that a search asks through (Engine), what a query and its replies say (Query, Reply) and what bounds it (Limits), the one
// check of their proof (Proved), the one framing of messages, the process groups that engines start and end (Group), what the time of a search goes to (Clock), the one way in which
// processes are started, replaced and closed (Seat), and the way between the states of a search and the repros that an engine runs (Local, Render,
// Describe, Finish). Package worker runs repros in processes of whittle's own stack, package torch in a real PyTorch: each adds only what
// differs. Package enginetest holds both to the same behaviour.
package engine
