// Package sched decides which loops share a kernel.
//
// Neighbouring loops over the same space go together, and every group keeps the order of
// the graph, so reads see what earlier loops stored. Mirrors torch/_inductor/scheduler.py.
package sched
