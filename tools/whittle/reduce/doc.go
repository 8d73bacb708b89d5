// Package reduce connects a search (minify) with an engine (repros/engine, repros/torch) and with repro files: it makes the state that
// a repro stands for, the repro that a state stands for, and the files that come out.
package reduce
