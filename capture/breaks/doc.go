// Package breaks is the table of reasons for which a trace ends.
//
// Each reason is a row: the words in which PyTorch 2.6 gives it, what becomes of the frame, what a user can do about it, and
// the page that says more. Capture ends a trace with the row's identifier and what fills the slots of its words; logs,
// exceptions, counters, torch._dynamo.explain and the command line all take their text from the row. Where a trace ends is
// capture's own matter.
//
// Mirrors the calls of unimplemented() that are spread over torch/_dynamo.
package breaks
