package vm

// FSPath is os.fspath, as the text or the bytes that it gives.
func (in *Interp) FSPath(o Object) (string, error) {
	if s, ok := AsStr(o); ok {
		return s, nil
	}
	if b, ok := unwrap(o).(Bytes); ok {
		return string(b), nil
	}
	v, ok, err := in.special(o, "__fspath__")
	if err != nil {
		return "", err
	}
	if ok {
		if s, ok := AsStr(v); ok {
			return s, nil
		}
		if b, ok := unwrap(v).(Bytes); ok {
			return string(b), nil
		}
		return "", in.Errorf(in.Exc.TypeError, "expected %s.__fspath__() to return str or bytes, not %s", o.Type().Name, v.Type().Name)
	}
	return "", in.Errorf(in.Exc.TypeError, "expected str, bytes or os.PathLike object, not %s", o.Type().Name)
}
