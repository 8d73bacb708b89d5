// Package prompt is what a person types into: a line editor over a terminal, for input() and the debugger, and Python's interactive prompt on it.
//
// The editor is golang.org/x/term's, the prompt CPython's code.InteractiveConsole; this package puts them together, completes names by
// CPython's rlcompleter, and keeps the lines for the next time.
package prompt
