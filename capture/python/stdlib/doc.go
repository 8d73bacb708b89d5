// Package stdlib is the part of Python's standard library that scripts and the torch package use.
//
// Register makes it known to an interpreter; nothing is loaded before it is imported. What has to do with the machine
// (sys, os, time, math, re, random, ...) is written in Go, the rest is Python of our own in lib/, embedded. os.abort,
// os._exit and os.kill act on this very process.
//
// It follows CPython 3.11 where it exists, and is far from all of it: see the tests for what is covered.
package stdlib
