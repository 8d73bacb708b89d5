// Package triton writes Triton kernels for groups of loops, and the Python module that launches them on a CUDA device.
//
// Plan cuts a group into kernels: loops that share their rows run in one. A kernel's rows are the axis x, what they reduce the axis r; each
// program instance computes a block of both. The table of scalar operators is the only place that knows Triton's spellings. Write puts kernels,
// launches, calls of other operators and the life of buffers into a module in the layout of PyTorch's output code. Nothing here needs Triton, or
// a GPU, and output is deterministic. Mirrors torch/_inductor/codegen/triton.py and wrapper.py.
package triton
