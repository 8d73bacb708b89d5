// Package accuracy decides whether two executions computed the same.
//
// Compare follows the rule of torch._dynamo.utils.same: close within a tolerance, or no further from a float64
// reference than a small multiple of eager's own distance from it. testdata holds what a real PyTorch says of hundreds of cases.
// Diverge compares the intermediates of an eager and a compiled run with float64 arithmetic and says where they part;
// Table prints that. NullTest tells results that differ from run to run, which nobody can judge. Double makes the float64 reference's graph.
//
// It knows nothing of compilers: executions come in as functions.
package accuracy
