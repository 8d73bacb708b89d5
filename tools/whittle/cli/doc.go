// Package cli is the whittle command: one row per subcommand, each parses flags, calls one package and prints.
//
// `run` works in two processes: the parent supervises, stores and minifies; the child runs the script
// and tells the parent, before each step that could take it down, what it is about to compile. So a backend that aborts
// or hangs costs the child alone.
package cli
