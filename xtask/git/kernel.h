/* What process.c and descriptors.c share: the state that lies outside of the image, and who changes it. */
#ifndef TOLLHOUSE_GIT_KERNEL_H
#define TOLLHOUSE_GIT_KERNEL_H

#include "git-compat-util.h"
#include "builtin.h"
#include "path.h"
#include "strbuf.h"

/* Not git's, which calls this one. */
#undef exit

#include <wasi/api.h>

#define PAGE ((size_t)65536)
#define VIRTUAL 100000
#define MAX_VIRTUAL 256
#define MAX_CHILDREN 64
#define MAX_REAL 4096
#define MAX_DEPTH 8

enum kind { UNUSED_FD, CLOSED, REAL, NOTHING, READS, WRITES };

struct chunk {
	struct chunk *next;
	size_t from, to;
	char bytes[PAGE - 3 * sizeof(size_t)];
};

struct pipe {
	int readers, writers;
	struct chunk *first, *last;
};

/* What a descriptor leads to. */
struct end {
	enum kind kind;
	int real;
	struct pipe *pipe;
};

struct child {
	pid_t pid;
	enum { NONE, WAITS, RUNS, ENDED } state;
	int status;
	/* Of which depth its parent is, and what that wants to run; in the parent's memory. */
	int depth;
	char **argv, **env, *directory;
	struct end ends[3];
};

struct kernel {
	char *image, *image_end, *pristine;
	/* The ends of the memory in use, of what there is, of what outlives the child that took it, of what was ever used. */
	char *top, *limit, *floor, *used;
	struct chunk *free;
	int depth;
	pid_t next_pid;
	/* What 0, 1 and 2 are, of who runs now. */
	struct end standard[3];
	struct end virtual[MAX_VIRTUAL];
	int owner[MAX_VIRTUAL];
	struct pipe pipes[MAX_VIRTUAL];
	struct child children[MAX_CHILDREN];
	/* Of real descriptors: who opened them, that they are closed when their other names are, and how many of these there are. */
	unsigned char opened[MAX_REAL], closing[MAX_REAL];
	unsigned short names[MAX_REAL];
	/* Of each parent: its memory, the end of it, what 0, 1 and 2 are, and the child that runs for it. */
	struct {
		char *memory, *top;
		struct end standard[3];
		struct child *child;
	} parents[MAX_DEPTH];
};

/* In the image, and set again whenever that is replaced, behind the compiler's back. */
extern struct kernel *volatile kernel;

/* In process.c. */
void *keep(size_t size);
void run_if_ready(struct pipe *closed);
struct child *writer(struct pipe *pipe);
int is_ready(struct child *child);
void settle(struct child *child);
void NORETURN broken(const char *why);

/* In descriptors.c. */
struct end *end_of(int fd);
void take(struct end *end);
void drop(struct end *end);
__wasi_errno_t __real___wasi_fd_close(__wasi_fd_t fd);
__wasi_errno_t __real___wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *vectors, size_t count, __wasi_size_t *size);

#endif
