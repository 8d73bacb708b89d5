// Package pylzma is Python's module _lzma. The coding itself is a library's; the container of .xz is read and written here, as streams have to
// end where they end, may go through filters, and come in pieces.
package pylzma
