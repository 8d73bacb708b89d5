// Package inflow decompresses what comes piece by piece: it runs a decoder, which reads when it wants, as a coroutine that gives way where
// nothing has come yet. It is what the decompressors of Python's bz2 and lzma have in common.
package inflow
