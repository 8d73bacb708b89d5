// Package guard decides whether compiled code may be reused.
//
// Capture adds a guard for each fact that it relies on to a Draft. When the trace has ended, NewSet makes of them the Set of the
// compiled code: Set.Check tests them against the surroundings of a call and names the first that fails. What guards look at they
// know by the sources of package source. The package also prints guards as logs and torch._dynamo.explain do.
//
// It does not decide what is relied on, nor what to do when a guard fails: see package capture. Mirrors torch/_dynamo/guards.py.
package guard
