/*
 * What git expects of a system and WASI lacks: included before everything else. It is defined in process.c,
 * descriptors.c, files.c and system.c.
 */
#ifndef TOLLHOUSE_GIT_WASI_H
#define TOLLHOUSE_GIT_WASI_H

#define _GNU_SOURCE 1

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>
#include <stdlib.h>
#include <signal.h>
#include <time.h>

/* Processes: a child is git itself, in this same instance (process.c). */
pid_t fork(void);
pid_t waitpid(pid_t pid, int *status, int options);
int wasi_spawn(const char **argv, char **env, const char *dir, int in, int out, int err);
int pipe(int fds[2]);
int dup(int fd);
int dup2(int from, int to);
int execve(const char *path, char *const argv[], char *const env[]);
int execvp(const char *file, char *const argv[]);
int execl(const char *path, const char *argument, ...);
int execlp(const char *file, const char *argument, ...);
int kill(pid_t pid, int signal);
pid_t getpid(void);
pid_t getppid(void);
pid_t getpgid(pid_t pid);
pid_t getpgrp(void);
pid_t tcgetpgrp(int fd);
pid_t setsid(void);
#define WNOHANG 1
#define WIFEXITED(status) (((status) & 0x7f) == 0)
#define WEXITSTATUS(status) (((status) >> 8) & 0xff)
#define WIFSIGNALED(status) (((status) & 0x7f) != 0)
#define WTERMSIG(status) ((status) & 0x7f)

/* Signals: none is ever sent. */
struct sigaction {
	void (*sa_handler)(int);
	sigset_t sa_mask;
	int sa_flags;
};
#ifndef SIG_BLOCK
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
#endif
#define SA_RESTART 0
int sigaction(int number, const struct sigaction *action, struct sigaction *before);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int number);
int sigprocmask(int how, const sigset_t *set, sigset_t *before);
unsigned alarm(unsigned seconds);

/* Users: one, who is nobody in particular. */
struct passwd {
	char *pw_name;
	char *pw_gecos;
	char *pw_dir;
	uid_t pw_uid;
	gid_t pw_gid;
};
struct group {
	char *gr_name;
	gid_t gr_gid;
};
struct passwd *getpwuid(uid_t uid);
struct passwd *getpwnam(const char *name);
struct group *getgrnam(const char *name);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);

/* Files: no modes, no owners. */
mode_t umask(mode_t mask);
/* libc's fail. */
#define chmod wasi_chmod
#define fchmod wasi_fchmod
int chmod(const char *path, mode_t mode);
int fchmod(int fd, mode_t mode);
int chown(const char *path, uid_t uid, gid_t gid);
int mkstemp(char *pattern);
char *mkdtemp(char *pattern);

/* The network: none. */
struct hostent {
	char *h_name;
	int h_addrtype;
	int h_length;
	char **h_addr_list;
};
struct servent {
	int s_port;
};
struct hostent *gethostbyname(const char *name);
struct servent *getservbyname(const char *name, const char *protocol);
const char *hstrerror(int error);
#define h_errno 0
#include <sys/socket.h>
#ifndef SO_KEEPALIVE
#define SO_KEEPALIVE 9
#endif
int socket(int domain, int type, int protocol);
int connect(int fd, const struct sockaddr *address, socklen_t size);
int setsockopt(int fd, int level, int option, const void *value, socklen_t size);
#include <netinet/in.h>
char *inet_ntoa(struct in_addr address);
int gethostname(char *name, size_t size);

/* The system's log: none. */
#define LOG_PID 0
#define LOG_DAEMON 0
#define LOG_ERR 3
#define LOG_INFO 6
void openlog(const char *name, int options, int facility);
void syslog(int priority, const char *format, ...);

/* One thread, no timers, no terminal, pages of no account. */
#define flockfile(file) ((void)0)
#define funlockfile(file) ((void)0)
#define ITIMER_REAL 0
#define getpagesize() 4096
void tzset(void);
char *getpass(const char *prompt);
#define statvfs wasi_statvfs
struct statvfs {
	unsigned long f_bsize, f_frsize, f_bavail, f_flag;
};
int statvfs(const char *path, struct statvfs *about);

#endif
