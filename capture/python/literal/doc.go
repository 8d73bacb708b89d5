// Package literal writes values as Python's repr() writes them: str, bytes, float and complex.
//
// Graphs, repros, tracebacks and scripts' own output are all Python text, so all of them write through here.
package literal
