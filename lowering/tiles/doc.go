// Package tiles runs the loops of a lowered graph without a compiler: an expression is evaluated a tile of its inner axis at a time, each operator
// by a SIMD kernel of package native over registers that stay in the cache, or by plain Go where there is none. It is what runs where no C++
// compiler is found, and what generated code is compared with. It fuses what one loop computes, and nothing else: see package codegen.
package tiles
