package native

/*
#include <signal.h>
static void default_abort(void) { signal(SIGABRT, SIG_DFL); }
*/
import "C"

// DefaultAbort makes abort() end the process as it does in a C program: by its signal, without a dump of Go's threads.
func DefaultAbort() { C.default_abort() }
