// Package zlib is Python's module zlib: deflate by Go's own library, in the three wrappings that the module knows.
package zlib
