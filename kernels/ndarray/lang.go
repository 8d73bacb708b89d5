package ndarray

// nolang stands where there are no objects.
type nolang struct{}

func (nolang) ToObject(v any) any { return v }
func (nolang) FromObject(any, *DType) (any, error) {
	return nil, fail("TypeError", "an object of no language")
}
func (nolang) Apply(name string, _ []any) (any, error) {
	return nil, fail("TypeError", "%s of objects of no language", name)
}
func (nolang) Less(_, _ any) (bool, error)  { return false, nil }
func (nolang) Equal(a, b any) (bool, error) { return a == b, nil }
func (nolang) Truth(any) (bool, error)      { return false, nil }
