// Package graphs measures how much of a corpus of real graphs whittle understands: files parsed, printed back
// unchanged, read as repros, given shapes, run eagerly by package aten, and compiled with results close to eager's.
//
// The compiler is injected. The package prints nothing: its Report is for commands and bots to show.
package graphs
