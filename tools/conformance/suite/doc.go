// Package suite runs other people's unittest files under whittle and compares what becomes of each test with what became of it elsewhere.
//
// A file, or each of its tests, has an interpreter of its own, which a runner written in Python (runner.py) drives; it writes a line for each test that begins or
// ends. Where a test takes the interpreter down, or holds it for longer than its limit, another one goes on with the tests behind it. What is
// reported is the share of recorded tests that pass, and the causes of the rest, by how many tests each of them stops.
package suite
