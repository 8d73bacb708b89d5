// Package trace reads what TORCH_TRACE makes a PyTorch or whittle write, and makes a report of it: one HTML file that needs no network.
//
// A trace goes through three steps, each a file:
//
//	record.go   text to records: a line of JSON each, its payload indented below. A file that is cut off, or a line that is none, is a Problem and no error
//	trace.go    records to compilations, each with its graphs, guards, breaks, code, times and figures; a kind without a row in the table is counted and kept
//	report.go   compilations to a page: what is seen at once is in its text, what belongs to one compilation is compressed, and drawn when it is asked for
//
// All of a trace came from outside. It is shown as text, by html/template and by textContent, and the page's own policy lets no other script run than the
// one that is in it. Files that a trace names are read only where they are Python and still have the lines that the trace quotes.
//
// The records are those of torch/_logging/structured.py and of its callers. The package decides nothing about failures, and compiles nothing.
package trace
