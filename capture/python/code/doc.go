// Package code compiles Python syntax trees to code objects.
//
// Compile takes a syntax.File and gives the module's Code, or the *syntax.Error of a name or statement that is out of place; functions are constants in it. Instruction names and
// what they do to the operand stack are CPython 3.11's, so that traces and disassembly read as users know them;
// there are no inline caches and no EXTENDED_ARG, every argument is a full integer, and jump arguments are the
// index of the target instruction. Exceptions cost nothing until raised: ExcTable says who handles what.
//
// Disassemble prints a code object like dis, and Parse reads that text back.
//
// It does not run anything: see package vm.
package code
