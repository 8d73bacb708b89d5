//go:build poison

package tensor

// poison fills memory that is left unset, so that who reads it before it is written shows.
func poison(data []byte) {
	for i := range data {
		data[i] = 0xCB
	}
}
