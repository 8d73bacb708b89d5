//go:build linux && cgo

package early

/*
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static int pipe_end = -1;
static pid_t child;

#ifdef __GLIBC__ // it gives constructors the arguments of main
__attribute__((constructor)) static void start(int argc, char **argv, char **envp) {
	if (argc < 3 || strcmp(argv[1], "run") != 0) return;
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0) return;
	static char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0) return;
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
	size_t vars = 0;
	while (envp[vars]) vars++;
	char **env = malloc((vars + 2) * sizeof *env);
	char **args = malloc((argc + 3) * sizeof *args);
	if (!env || !args) goto failed;
	char **to = env;
	*to++ = "GOTRACEBACK=none";
	for (char **v = envp; *v; v++)
		if (strncmp(*v, "GOTRACEBACK=", 12) != 0) *to++ = *v;
	*to = 0;
	args[0] = self;
	args[1] = "__script";
	args[2] = "-";
	memcpy(args + 3, argv + 2, (argc - 1) * sizeof *args); // and the zero after them
	posix_spawn_file_actions_t acts;
	if (posix_spawn_file_actions_init(&acts) != 0) goto failed;
	int err = posix_spawn_file_actions_adddup2(&acts, ends[1], 3);
	if (err == 0) err = posix_spawn(&child, self, &acts, 0, args, env);
	posix_spawn_file_actions_destroy(&acts);
	if (err != 0) goto failed;
	free(args);
	free(env);
	close(ends[1]);
	pipe_end = ends[0];
	return;
failed:
	free(args);
	free(env);
	child = 0;
	close(ends[0]);
	close(ends[1]);
}
#endif

static int taken_pipe(void) { int fd = pipe_end; pipe_end = -1; return fd; }
static pid_t taken_child(void) { return child; }
*/
import "C"

import (
	"os"
	"sync"
	"syscall"
)

var taking sync.Mutex

// Take gives the child that was started, once; nil => there is none.
func Take() *Child {
	taking.Lock()
	defer taking.Unlock()
	fd := int(C.taken_pipe())
	if fd < 0 {
		return nil
	}
	p, err := os.FindProcess(int(C.taken_child()))
	if err == nil {
		err = syscall.SetNonblock(fd, true) // so that reading it takes no thread
	}
	if err != nil {
		_ = syscall.Close(fd) // the child ends
		return nil
	}
	return &Child{Process: p, Pipe: os.NewFile(uintptr(fd), "events")}
}
