// Package audioop is Python's module audioop: arithmetic on fragments of sound, which are signed samples of 1 to 4 bytes, one after another.
//
// samples.go reads and writes samples of any width, measure.go has what sums fragments up, change.go what makes other fragments of them, and
// companding.go and adpcm.go the encodings of telephony.
package audioop
