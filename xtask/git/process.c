/*
 * Processes, for a program that has one instance and no threads.
 *
 * git starts itself: `git stash` runs `git reset`, `git rebase` runs `git stash`. WASI starts nothing. So a child
 * runs here, inside its parent's call: what the parent has in memory is put aside, what a new instance has is put
 * in its place, the child runs to its end, and the parent's memory is put back. Children run one after another.
 * One that reads from its parent runs when the parent has closed that pipe, or waits for its result; two that
 * would have to run by turns are an error.
 *
 * Memory, from below: the stack, which parent and child share; the image, which is data, what is zero at first,
 * and the first pages of the heap; then what is got by `sbrk`, where a child begins above all that its parents
 * have.
 *
 * No frame can be unwound in WebAssembly without exceptions, which not every engine has. A child that returns from
 * its command is a child like any other. One that calls `exit` deep inside (it died of an error) cannot go back to
 * its parent, and the parent ends too: its memory is put back, its handlers run (they remove its locks), and it
 * exits with the child's status.
 *
 * The kernel's state (`struct kernel`) lies outside of the image. descriptors.c
 * has its file descriptors.
 */
#include "kernel.h"

struct kernel *volatile kernel;

extern char __global_base;
extern void __wasm_call_ctors(void);
extern int __main_void(void);
extern void __funcs_on_exit(void);
extern void __stdio_exit(void);

/* Memory. */

static void out_of_memory(void)
{
	static const char message[] = "fatal: out of memory\n";
	__wasi_ciovec_t vector = { (const uint8_t *)message, sizeof(message) - 1 };
	__wasi_size_t written;
	/* Until the kernel's state is there, no descriptor is looked up in it. */
	if (kernel)
		(void)!__wasi_fd_write(2, &vector, 1, &written);
	else
		(void)!__real___wasi_fd_write(2, &vector, 1, &written);
	__wasi_proc_exit(128);
}

/* Moves the end of the memory in use. What is new is zero: a child may have used it before. */
static char *extend(size_t size)
{
	struct kernel *k = kernel;
	char *begin;

	if (size > (size_t)(k->limit - k->top)) {
		size_t pages = (size - (size_t)(k->limit - k->top) + PAGE - 1) / PAGE;
		size_t at = __builtin_wasm_memory_grow(0, pages);
		if (at == (size_t)-1)
			return NULL;
		if ((char *)(at * PAGE) != k->limit) {
			/* Someone else has taken memory, as what adapts this module does once: beyond that, then. */
			size_t more = (size + PAGE - 1) / PAGE - pages;
			if (more && __builtin_wasm_memory_grow(0, more) != at + pages)
				return NULL;
			pages += more;
			k->top = k->limit = k->floor = k->used = (char *)(at * PAGE);
		}
		k->limit += pages * PAGE;
	}
	begin = k->top;
	k->top = begin + size;
	if (begin < k->used)
		memset(begin, 0, (size_t)((k->top < k->used ? k->top : k->used) - begin));
	if (k->used < k->top)
		k->used = k->top;
	return begin;
}

/* libc's heap grows by it. */
void *sbrk(intptr_t size)
{
	char *begin;

	if (size < 0) {
		errno = ENOMEM;
		return (void *)-1;
	}
	begin = size ? extend(size) : kernel->top;
	if (!begin) {
		errno = ENOMEM;
		return (void *)-1;
	}
	return begin;
}

/* Memory of the kernel, which is there as long as the program. */
void *keep(size_t size)
{
	char *kept = extend((size + PAGE - 1) / PAGE * PAGE);
	if (!kept)
		out_of_memory();
	if (kernel->floor < kernel->top)
		kernel->floor = kernel->top;
	return kept;
}

/* Begins with what memory is before anything runs, which children are given. */
static void boot(void)
{
	size_t end = (size_t)__builtin_wasm_memory_size(0) * PAGE;
	size_t size = end - (size_t)&__global_base;
	size_t pages = (sizeof(struct kernel) + size + PAGE - 1) / PAGE;
	struct kernel *k;

	if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1)
		out_of_memory();
	k = (struct kernel *)end;
	k->image = &__global_base;
	k->image_end = (char *)end;
	k->pristine = (char *)(k + 1);
	k->top = k->limit = k->floor = k->used = (char *)end + pages * PAGE;
	k->next_pid = 2;
	/* Their names are counted, so that they are never closed: another file would get their number. */
	for (int i = 0; i < 3; i++) {
		k->standard[i] = (struct end){ .kind = REAL, .real = i };
		k->names[i]++;
	}
	memcpy(k->pristine, k->image, size);
	kernel = k;
}

/* Children. */

void NORETURN __wrap_exit(int status);

void NORETURN broken(const char *why)
{
	fprintf(stderr, "fatal: %s\n", why);
	__wrap_exit(128);
}

/* Copies a list of strings to the end of memory. */
static char **copy_list(char **list)
{
	size_t count = 0, size = 0;
	char **copied, *text;

	while (list[count])
		size += strlen(list[count++]) + 1;
	copied = (char **)extend((count + 1) * sizeof(*copied) + (size + 7) / 8 * 8);
	if (!copied)
		out_of_memory();
	text = (char *)(copied + count + 1);
	for (size_t i = 0; i < count; i++) {
		copied[i] = text;
		text = stpcpy(text, list[i]) + 1;
	}
	copied[count] = NULL;
	return copied;
}

/* Puts the parent's memory back, and away what the child has left open. The frames of the child may still be there. */
static struct child *leave(int status)
{
	struct kernel *k = kernel;
	struct end left[3 + MAX_VIRTUAL + 3 * MAX_CHILDREN];
	struct child *child;
	int count = 0;

	for (int fd = 0; fd < MAX_REAL; fd++)
		if (k->opened[fd] == k->depth + 1) {
			k->opened[fd] = 0;
			if (!k->names[fd])
				(void)!__real___wasi_fd_close(fd);
			else
				k->closing[fd] = 1;
		}
	for (int i = 0; i < 3; i++)
		left[count++] = k->standard[i];
	for (int i = 0; i < MAX_VIRTUAL; i++)
		if (k->virtual[i].kind != UNUSED_FD && k->owner[i] == k->depth) {
			left[count++] = k->virtual[i];
			k->virtual[i].kind = UNUSED_FD;
		}
	for (int i = 0; i < MAX_CHILDREN; i++)
		if (k->children[i].state != NONE && k->children[i].depth == k->depth) {
			for (int end = 0; k->children[i].state == WAITS && end < 3; end++)
				left[count++] = k->children[i].ends[end];
			/* Nobody waits for one that has ended. */
			k->children[i].state = NONE;
		}
	k->depth--;
	child = k->parents[k->depth].child;
	memcpy(k->image, k->parents[k->depth].memory, (size_t)(k->image_end - k->image));
	kernel = k;
	memcpy(k->standard, k->parents[k->depth].standard, sizeof(k->standard));
	k->top = k->parents[k->depth].top;
	if (k->top < k->floor)
		k->top = k->floor;
	child->status = status;
	child->state = ENDED;
	/* Now, in the parent: who waits for the last of them runs. */
	for (int i = 0; i < count; i++)
		drop(&left[i]);
	return child;
}

int git_child(int argc, const char **argv);

/* Whole lines are written at once: what a program says on both of its outputs is not cut within them. */
static void prepare_stderr(void)
{
	static char buffer[BUFSIZ];
	setvbuf(stderr, buffer, _IOLBF, sizeof(buffer));
}

/* What a child does first and last. In a function of its own, so that nothing is known from before. */
static __attribute__((noinline)) int begin(char **argv, char **env, char **directories)
{
	int argc = 0, status;

	__wasm_call_ctors();
	prepare_stderr();
	clearenv();
	while (*env)
		putenv(*env++);
	while (argv[argc])
		argc++;
	for (; *directories; directories++)
		if (chdir(*directories)) {
			fprintf(stderr, "fatal: cannot change to '%s': %s\n", *directories, strerror(errno));
			return 128;
		}
	status = git_child(argc, (const char **)argv);
	__funcs_on_exit();
	__stdio_exit();
	return status & 0xff;
}

static void run(struct child *child)
{
	struct kernel *k = kernel;
	size_t size = (size_t)(k->image_end - k->image);
	char *top = k->top, *memory, *own, *directories[3] = { NULL };
	char **argv, **env, **enter;

	if (k->depth == MAX_DEPTH)
		broken("too many programs within each other");
	/* A child begins nowhere, and stays there if its parent is nowhere. */
	own = getcwd(NULL, 0);
	directories[0] = own ? own : child->directory;
	directories[1] = own ? child->directory : NULL;
	argv = copy_list(child->argv);
	env = copy_list(child->env);
	enter = copy_list(directories);
	free(own);
	memory = extend(size);
	if (!memory || !extend((PAGE - (size_t)k->top % PAGE) % PAGE))
		out_of_memory();
	k->parents[k->depth].memory = memory;
	k->parents[k->depth].top = top;
	k->parents[k->depth].child = child;
	memcpy(k->parents[k->depth].standard, k->standard, sizeof(k->standard));
	memcpy(k->standard, child->ends, sizeof(k->standard));
	child->state = RUNS;
	memcpy(memory, k->image, size);
	k->depth++;
	memcpy(k->image, k->pristine, size);
	kernel = k;
	leave(begin(argv, env, enter));
}

void NORETURN __wrap_exit(int status)
{
	__funcs_on_exit();
	__stdio_exit();
	_Exit(status);
}

void NORETURN _Exit(int status)
{
	if (!kernel->depth)
		__wasi_proc_exit((__wasi_exitcode_t)status & 0xff);
	leave(status & 0xff);
	/* Its parent cannot go on. */
	if (!status)
		fprintf(stderr, "fatal: git cannot go on after a part of it that ended early\n");
	__wrap_exit(status ? status & 0xff : 128);
}

void NORETURN _exit(int status) { _Exit(status); }

/* The child that would write into a pipe, if it ran. */
struct child *writer(struct pipe *pipe)
{
	for (int i = 0; i < MAX_CHILDREN; i++) {
		struct child *child = &kernel->children[i];
		if (child->state != WAITS || child->depth != kernel->depth)
			continue;
		for (int end = 1; end < 3; end++)
			if (child->ends[end].kind == WRITES && child->ends[end].pipe == pipe)
				return child;
	}
	return NULL;
}

/* Returns true if all that a child reads is there, or can be made by others that wait. */
int is_ready(struct child *child)
{
	struct pipe *pipe = child->ends[0].kind == READS ? child->ends[0].pipe : NULL;
	struct child *before;

	if (!pipe || !pipe->writers)
		return 1;
	before = writer(pipe);
	return before && pipe->writers == 1 && is_ready(before);
}

/* Runs a child that waits, and before it those whose output it reads. */
void settle(struct child *child)
{
	if (!is_ready(child))
		broken("two programs would have to run at the same time, which cannot be had here");
	if (child->ends[0].kind == READS && child->ends[0].pipe->writers)
		settle(writer(child->ends[0].pipe));
	/* What the former wrote may have been what it waited for. */
	if (child->state == WAITS)
		run(child);
}

/* The last who wrote into a pipe has closed it: whoever reads it can run. */
void run_if_ready(struct pipe *closed)
{
	for (int i = 0; i < MAX_CHILDREN; i++) {
		struct child *child = &kernel->children[i];
		int reads = child->ends[0].kind == READS && child->ends[0].pipe == closed;
		if (reads && child->state == WAITS && child->depth == kernel->depth && is_ready(child))
			settle(child);
	}
}

static char **list_copy(const char *const *list, size_t more)
{
	size_t count = 0;
	char **copy;

	while (list[count])
		count++;
	copy = xcalloc(count + more + 1, sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = xstrdup(list[i]);
	return copy;
}

/* The environment, with changes: NAME=value, or NAME, which removes it. */
static char **environment(const char *const *changes)
{
	size_t more = 0, count = 0;
	char **list;

	while (changes && changes[more])
		more++;
	list = list_copy((const char *const *)environ, more);
	while (list[count])
		count++;
	for (; changes && *changes; changes++) {
		size_t name = strcspn(*changes, "="), at = 0;
		while (at < count && (strncmp(list[at], *changes, name) || list[at][name] != '='))
			at++;
		if ((*changes)[name])
			list[at] = xstrdup(*changes);
		else if (at < count)
			list[at] = list[--count];
		if (at == count && (*changes)[name])
			count++;
		list[count] = NULL;
	}
	return list;
}

static void free_list(char **list)
{
	for (char **at = list; at && *at; at++)
		free(*at);
	free(list);
}

/* The name of a command of git, if that is what a program is. */
static const char *git_command(const char *program)
{
	const char *name = strrchr(program, '/');

	name = name ? name + 1 : program;
	return !strcmp(name, "git") || (skip_prefix(name, "git-", &name) && is_builtin(name)) ? name : NULL;
}

/* Starts a child that has these as 0, 1 and 2. Returns its process, or -1. */
int wasi_spawn(const char **argv, char **env, const char *directory, int in, int out, int err)
{
	int fds[3] = { in, out, err };
	struct child *child = NULL;
	const char *command = argv[0] ? git_command(argv[0]) : NULL;
	int knows = argv[0] && (!strcmp(argv[0], "true") || !strcmp(argv[0], "false"));

	if (!command && !knows) {
		int is_git = argv[0] && starts_with(argv[0], "git-");
		if (!is_git)
			fprintf(stderr, "hint: git cannot start other programs here\n");
		errno = is_git ? ENOENT : ENOSYS;
		return -1;
	}
	/* A pipe or a device that could not be had. */
	if (in < 0 || out < 0 || err < 0) {
		errno = EMFILE;
		return -1;
	}
	for (int i = 0; i < MAX_CHILDREN && !child; i++)
		if (kernel->children[i].state == NONE)
			child = &kernel->children[i];
	if (!child) {
		errno = EAGAIN;
		return -1;
	}
	memset(child, 0, sizeof(*child));
	child->pid = kernel->next_pid++;
	child->depth = kernel->depth;
	if (knows) {
		child->state = ENDED;
		child->status = !strcmp(argv[0], "false");
		return child->pid;
	}
	child->state = WAITS;
	child->argv = list_copy(argv, 1);
	if (strcmp(command, "git")) {
		free(child->argv[0]);
		child->argv[0] = xstrfmt("git-%s", command);
	}
	child->env = environment((const char *const *)env);
	child->directory = directory ? xstrdup(directory) : NULL;
	for (int i = 0; i < 3; i++) {
		struct end *end = end_of(fds[i]);
		child->ends[i] = end ? *end : (struct end){ .kind = REAL, .real = fds[i] };
		take(&child->ends[i]);
	}
	if (child->ends[0].kind != READS || !child->ends[0].pipe->writers)
		run(child);
	return child->pid;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	for (int i = 0; i < MAX_CHILDREN; i++) {
		struct child *child = &kernel->children[i];
		if (child->state == NONE || child->pid != pid || child->depth != kernel->depth)
			continue;
		if (child->state == WAITS)
			settle(child);
		child->state = NONE;
		free_list(child->argv);
		free_list(child->env);
		free(child->directory);
		*status = child->status << 8;
		return pid;
	}
	errno = ECHILD;
	return -1;
}

pid_t fork(void)
{
	errno = ENOSYS;
	return -1;
}

/* Goes on as git with other arguments, or is not there. */
int execve(const char *path, char *const argv[], char *const env[])
{
	int status, pid = wasi_spawn((const char **)argv, NULL, NULL, 0, 1, 2);

	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	exit(WEXITSTATUS(status));
}

int execvp(const char *file, char *const argv[]) { return execve(file, argv, environ); }

int execl(const char *path, const char *argument, ...)
{
	errno = ENOENT;
	return -1;
}

int execlp(const char *file, const char *argument, ...)
{
	errno = ENOENT;
	return -1;
}

int kill(pid_t pid, int signal)
{
	errno = ESRCH;
	return -1;
}

pid_t getpid(void) { return kernel->depth ? kernel->parents[kernel->depth - 1].child->pid : 1; }
pid_t getppid(void) { return 1; }
pid_t getpgid(pid_t pid) { return 1; }
pid_t getpgrp(void) { return 1; }
pid_t tcgetpgrp(int fd) { return 1; }
pid_t setsid(void) { return 1; }

/* The beginning. */

/* In files.c. */
void enter_directory(void);

__attribute__((export_name("_start"))) void _start(void)
{
	boot();
	__wasm_call_ctors();
	prepare_stderr();
	enter_directory();
	exit(__main_void());
}
