// Package stack wires the layers into one that runs scripts: interpreter, torch,
// capture, ahead-of-time autograd and lowering. It is the only place that knows which backends exist.
package stack
