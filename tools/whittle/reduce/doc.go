// Package reduce runs a search (minify) with an engine on a repro, and makes the files and the stored result of what comes out.
package reduce
