// Package replaytest fills stores for tests and measurements: large ones (Fill), and one whose every text is an attack on whoever shows it (Attack).
//
// Rows that package replay has no writer for are written as SQL, past its checks.
package replaytest
