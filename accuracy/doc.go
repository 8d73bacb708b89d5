// Package accuracy decides whether two executions computed the same.
//
// Compare follows the rule of torch._dynamo.utils.same: close within a tolerance, or no further from a float64
// reference than a small multiple of eager's own distance from it. Diverge runs two executions of
// one graph node by node and names the first node at which they part. Double makes the float64 reference's graph.
//
// It knows nothing of compilers: executions come in as resolvers of package fx.
package accuracy
