// Package sched decides which loops share a kernel, and which of those run together.
//
// Fuse groups neighbouring loops, in the order of the graph, for one function. Machine.Nests then arranges a group: loops that share an outer space run
// as stages of one nest, so that what one writes at a point the next finds in the cache, or in a register. Mirrors
// torch/_inductor/scheduler.py.
package sched
