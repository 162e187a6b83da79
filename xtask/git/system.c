/*
 * What git asks a system for and WASI does not have: answers that are right for a system with one user, one
 * process, no network and no modes of files, or an error.
 */
#include "git-compat-util.h"

#include <wasi/api.h>

/* Users: one. It has no entry, so git wants a name and an address in its configuration, as it says itself. */

struct passwd *getpwuid(uid_t uid) { return NULL; }
struct passwd *getpwnam(const char *name) { return NULL; }
struct group *getgrnam(const char *name) { return NULL; }
uid_t getuid(void) { return 0; }
uid_t geteuid(void) { return 0; }
gid_t getgid(void) { return 0; }
gid_t getegid(void) { return 0; }

/* Files have no modes and no owners; whoever sets them goes on. */

mode_t umask(mode_t mask) { return 022; }
int chmod(const char *path, mode_t mode) { return access(path, F_OK); }
int fchmod(int fd, mode_t mode) { return 0; }
int chown(const char *path, uid_t uid, gid_t gid) { return access(path, F_OK); }

/* Replaces the last six characters by random ones. */
static int random_name(char *pattern)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	unsigned char bytes[6];
	size_t length = strlen(pattern);

	if (length < sizeof(bytes) || strcmp(pattern + length - sizeof(bytes), "XXXXXX")) {
		errno = EINVAL;
		return -1;
	}
	if (getentropy(bytes, sizeof(bytes)))
		return -1;
	for (size_t i = 0; i < sizeof(bytes); i++)
		pattern[length - sizeof(bytes) + i] = letters[bytes[i] % (sizeof(letters) - 1)];
	return 0;
}

/* How often a name is tried that may be taken. */
#define TRIES 100

int mkstemp(char *pattern)
{
	for (int i = 0; i < TRIES; i++) {
		int fd;
		if (random_name(pattern))
			return -1;
		fd = open(pattern, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
		memcpy(pattern + strlen(pattern) - 6, "XXXXXX", 6);
	}
	return -1;
}

char *mkdtemp(char *pattern)
{
	for (int i = 0; i < TRIES; i++) {
		if (random_name(pattern))
			return NULL;
		if (!mkdir(pattern, 0700))
			return pattern;
		if (errno != EEXIST)
			return NULL;
		memcpy(pattern + strlen(pattern) - 6, "XXXXXX", 6);
	}
	return NULL;
}

int statvfs(const char *path, struct statvfs *about)
{
	errno = ENOSYS;
	return -1;
}

/* Signals: none is sent, so none need be handled. */

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	if (before)
		memset(before, 0, sizeof(*before));
	return 0;
}

void (*signal(int number, void (*handler)(int)))(int) { return SIG_DFL; }
int sigemptyset(sigset_t *set) { return 0; }
int sigfillset(sigset_t *set) { return 0; }
int sigaddset(sigset_t *set, int number) { return 0; }
int sigprocmask(int how, const sigset_t *set, sigset_t *before) { return 0; }
unsigned alarm(unsigned seconds) { return 0; }

/* git raises what it got, to end by it. */
int raise(int number) { exit(128 + number); }

/* The handlers that libc has for signals, which nobody sends; they are named by address only. */
void __SIG_IGN(int number) {}
void __SIG_ERR(int number) {}

/* The network: none. */

static int no_network(void)
{
	errno = ENOSYS;
	return -1;
}

struct hostent *gethostbyname(const char *name) { return NULL; }
struct servent *getservbyname(const char *name, const char *protocol) { return NULL; }
const char *hstrerror(int error) { return "there is no network"; }
int socket(int domain, int type, int protocol) { return no_network(); }
int connect(int fd, const struct sockaddr *address, socklen_t size) { return no_network(); }
int setsockopt(int fd, int level, int option, const void *value, socklen_t size) { return no_network(); }

int gethostname(char *name, size_t size)
{
	strlcpy(name, "localhost", size);
	return 0;
}

/* No log, no terminal, no time zones: local time is UTC. */

void openlog(const char *name, int options, int facility) {}
void syslog(int priority, const char *format, ...) {}
void tzset(void) {}

char *getpass(const char *prompt)
{
	errno = ENXIO;
	return NULL;
}
