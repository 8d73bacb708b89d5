// Package startcode carries the compiled code of the modules that import torch loads, so that a first run need not compile them.
//
// The archive has a file of the code cache for each, packed by Zstandard (to unpack what others pack took a seventh of the time until torch is
// there), by the name that it has there: name and text of the source decide it, and code of
// another text is simply not found. tools/startcode writes it (go generate), and a test compares.
package startcode
