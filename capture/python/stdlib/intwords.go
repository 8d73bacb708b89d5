package stdlib

import "math/big"

// low64 gives the lowest 64 bits of an integer, in two's complement.
func low64(n *big.Int) uint64 {
	mask := new(big.Int).SetUint64(1<<64 - 1)
	return mask.And(mask, n).Uint64()
}
