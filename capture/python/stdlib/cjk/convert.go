package cjk

import (
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// Reasons of errors.
const (
	illegal    = "illegal multibyte sequence"
	incomplete = "incomplete multibyte sequence"
)

func reason(f fault) string {
	if f == short {
		return incomplete
	}
	return illegal
}

// decodeAll reads data, up to what is not complete unless it is final, and says how much that was.
func (s *scheme) decodeAll(in *vm.Interp, st *state, data []byte, errs string, final bool) (string, int, error) {
	var out []byte
	at := 0
	for at < len(data) {
		text, n, f := s.decode(st, data[at:])
		switch {
		case f == good:
			out = append(out, text...)
			at += n
			continue
		case f == short && !final:
			return string(out), at, nil
		case f == short:
			n = len(data) - at
		}
		repl, _, next, err := in.DecodeError(s.name, data, at, at+n, reason(f), errs)
		if err != nil {
			return "", at, outOfBounds(in, err)
		}
		out = append(out, repl...)
		at = next
	}
	return string(out), at, nil
}

// encodeAll writes text, up to what may belong to characters that come next unless it is final, and says how many characters that were.
func (s *scheme) encodeAll(in *vm.Interp, st *state, text, errs string, final bool) ([]byte, int, error) {
	rs := wtf8.Runes(text)
	var out []byte
	at := 0
	for at < len(rs) {
		seq, n, f := s.encode(st, rs[at:], final)
		switch {
		case f == good:
			out = append(out, seq...)
			at += n
			continue
		case f == short && !final:
			return out, at, nil
		}
		if errs == "replace" {
			if q, _, f := s.encode(st, []rune{'?'}, true); f == good {
				out = append(out, q...)
			} else {
				out = append(out, '?')
			}
			at += n
			continue
		}
		raw, repl, next, err := in.EncodeError(s.name, text, at, at+n, reason(f), errs)
		if err != nil {
			return nil, at, outOfBounds(in, err)
		}
		if raw == nil && repl != "" {
			if raw, _, err = s.encodeAll(in, st, repl, "strict", true); err != nil {
				return nil, at, err
			}
		}
		out = append(out, raw...)
		at = next
	}
	if final {
		out = append(out, s.finish(st)...)
	}
	return out, at, nil
}

// outOfBounds is the error of a handler whose place to go on is no place at all: these codecs make no difference between one that is too large
// for C and one that is too large for the text.
func outOfBounds(in *vm.Interp, err error) error {
	if in.Matches(err, in.Exc.OverflowError) {
		return in.Errorf(in.Exc.IndexError, "position -1 from error handler out of bounds")
	}
	return err
}
