// Package pycontext is Python's module _contextvars: variables whose values depend on the context that runs.
//
// Each thread has a context that runs, in its vm.Thread. variable.go has ContextVar and its tokens, context.go Context.
package pycontext
