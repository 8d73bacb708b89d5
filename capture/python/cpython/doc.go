// Package cpython carries CPython 3.11's own library: its .py files, as they are, in one archive.
//
// Lib is that library as a file system. It was taken from the module github.com/kluctl/go-embed-python by tools/cpythonlib (go generate
// writes it anew, a test compares it); what CPython writes in C is not in it, see package stdlib. The licence is in the archive: LICENSE.txt.
//
// Site is a second archive, of pure Python packages that programs expect beside torch, from the copies that pip carries in the same module
// (requests: Apache 2.0, urllib3: MIT, idna: BSD, certifi: MPL 2.0, packaging: Apache 2.0 or BSD).
package cpython
