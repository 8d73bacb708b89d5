// Package vm runs compiled Python: objects, types, and an interpreter for the code objects of package code.
//
// New gives an Interp; RunFile runs a script with it. Embedders add native types (NewNativeType), modules
// (RegisterModule) and embedded source trees (AddSourceFS), and drive objects through the helpers GetAttr, Call,
// GetItem, Iter and so on. A raised Python exception is a Go error of type *Raised.
//
// The evaluator is a plain switch over CPython 3.11's instructions. Three hooks serve capture: FrameHook (PEP 523)
// decides how a frame is evaluated, Frame.Trace sees every instruction before it runs, CallHook sees calls.
//
// An Interp is used by one goroutine at a time. Built-in types are shared by all interpreters and immutable.
// The package knows nothing of tensors or graphs.
//
// To find one's way, in the order in which a program meets it:
//
//   - interp.go lists the parts of an interpreter; each has a file: streams, import, hooks, interrupt, callstack, raise, identity, atexit.
//   - run.go compiles and runs texts. codeobject.go readies code objects, frame.go has frames, bind.go puts arguments into them, call.go calls.
//   - eval.go is the evaluator, evalrare.go its rarer instructions, evalframe.go how frames begin, end and unwind. quicken.go, inlinecache.go,
//     box.go and quickop.go make it fast; evalsupport.go, match.go, excgroup.go and gen.go have what single instructions do.
//   - object.go has the values, type.go and buildclass.go classes, attr.go attributes and descriptors, dict.go hash tables, exc.go exceptions.
//   - ops.go, arith.go, compare.go, seq.go, iter.go, repr.go and format.go are the operations of the language over all of them.
//   - The rest are the built-in types and functions, method by method, in functions called init and add.
package vm
