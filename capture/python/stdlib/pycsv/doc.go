// Package pycsv is Python's module _csv: rows of text fields from lines and back.
//
// dialect.go has how fields are told apart, reader.go the machine that reads lines character by character, writer.go what writes rows, and
// module.go the register of dialects and the functions.
package pycsv
