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
package vm
