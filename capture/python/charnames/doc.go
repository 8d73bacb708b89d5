// Package charnames has the names of Unicode's characters, as \N{...} and unicodedata have them.
package charnames
