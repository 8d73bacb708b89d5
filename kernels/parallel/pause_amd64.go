package parallel

// pause lets about a microsecond pass without the scheduler, whose locks the others would wait for.
//
//go:noescape
func pause()
