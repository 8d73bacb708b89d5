// Package layout places boxes in layers and routes the lines between them, by dagre (github.com/dagrejs/dagre 3.1.3, MIT, in the folder dagre), which
// is JavaScript and runs in github.com/dop251/goja. Who draws what, and in which format, is no matter of its own.
package layout
