package tensor

// poisoned, unless it is empty, has memory that is left unset filled, so that who reads it before it is written shows. The linker sets it, so that
// no package is compiled twice: go build -ldflags "-X whittle/kernels/tensor.poisoned=yes". Small tensors then lie in the memory that is used again, too,
// so that it also shows who reads what was given back.
var poisoned string

func poison(data []byte) {
	if poisoned == "" {
		return
	}
	for i := range data {
		data[i] = 0xCB
	}
}
