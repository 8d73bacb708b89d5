// Package random has NumPy's random streams, bit for bit: the Mersenne twister of RandomState and the PCG64 of default_rng, how they are
// seeded, and the distributions drawn from them, legacy and new.
package random
