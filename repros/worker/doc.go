// Package worker is the native engine: it runs repros in worker processes and says what happened.
//
// A worker is the same binary started again with a hidden argument, in its own process group, with limits on wall
// time, CPU time and memory. Queries and answers are length-framed JSON on two pipes of their own, so that what a repro prints
// cannot be taken for an answer. The worker echoes the query's nonce with a mark per stage (loaded, eager, compiled,
// ran); an answer without its marks is a fault of the infrastructure, never a failure. A segmentation fault, an abort, a
// hang, a memory hog or rubbish on the pipes is an Outcome and costs one worker; workers that answered cleanly are used again.
//
// What runs a repro is injected as a Runner: this package knows neither Python nor compilers.
package worker
