// Package doctor says whether a Python with torch, whittle's own or a real one, works: what it is, and stage by stage of torch.compile whether a tiny
// program comes out as eager has it.
//
// In goes a Runner, which has that Python run a text; out come facts and checks. A stage that fails says why in a line. It mends nothing, and it does
// not look at the machine: see the command.
package doctor
