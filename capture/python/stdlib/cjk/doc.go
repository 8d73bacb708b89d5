// Package cjk has the encodings of East Asia: Python's modules _codecs_cn, _codecs_hk, _codecs_jp, _codecs_kr, _codecs_tw, _codecs_iso2022
// and _multibytecodec.
//
// A codec is a scheme: a function that reads one character from bytes and one that writes one, both with a small state, which matters to HZ
// and ISO 2022 alone. What the codecs map to what is in tables.txt.gz, which maketables.py takes from CPython. Errors, pieces of texts and
// streams are the same for all schemes.
package cjk
