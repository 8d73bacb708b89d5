// Package minify measures the minifier on the corpus of failing programs: which are reproduced, how small they get
// compared with the known minimum, how many queries that takes, and whether the result still fails.
//
// How a case is minified is injected: engines are wired in tools/whittle. The package reads cases, judges and counts.
package minify
