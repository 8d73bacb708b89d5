// Package decomp rewrites operators into fewer, simpler ones while a graph is traced.
//
// Inductor is the table of the backends inductor and aot_eager_decomp_partition. A row is an
// expression over the arguments of one operator; it runs on the tracer, so what it calls is
// decomposed in turn. Formulas mirror torch/_decomp/decompositions.py and torch/_inductor/decomposition.py.
package decomp
