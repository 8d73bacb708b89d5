//go:build !poison

package tensor

func poison([]byte) {}
