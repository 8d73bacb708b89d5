package stdlib

/*
#include <signal.h>
static void wh_default(int sig) {
	struct sigaction sa;
	sigset_t set;
	sa.sa_handler = SIG_DFL;
	sa.sa_flags = 0;
	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, 0);
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, 0);
}
*/
import "C"

import "syscall"

func resetHandler(sig syscall.Signal) { C.wh_default(C.int(sig)) }
