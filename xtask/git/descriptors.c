/*
 * File descriptors that WASI does not know: those from VIRTUAL on, and 0, 1 and 2 of a child. They are pipes, which are
 * lists of pages in memory, /dev/null, and other names of real descriptors. libc comes here for all of them, as the
 * linker wraps the functions of WASI.
 */
#include "kernel.h"

struct end *end_of(int fd)
{
	if (fd >= 0 && fd < 3)
		return &kernel->standard[fd];
	if (fd >= VIRTUAL && fd < VIRTUAL + MAX_VIRTUAL && kernel->virtual[fd - VIRTUAL].kind != UNUSED_FD)
		return &kernel->virtual[fd - VIRTUAL];
	return NULL;
}

void take(struct end *end)
{
	if (end->kind == READS)
		end->pipe->readers++;
	else if (end->kind == WRITES)
		end->pipe->writers++;
	else if (end->kind == REAL && end->real < MAX_REAL)
		kernel->names[end->real]++;
}

static void discard(struct pipe *pipe)
{
	struct chunk *chunk = pipe->first;

	while (chunk) {
		struct chunk *next = chunk->next;
		chunk->next = kernel->free;
		kernel->free = chunk;
		chunk = next;
	}
	pipe->first = pipe->last = NULL;
}

void drop(struct end *end)
{
	struct end dropped = *end;

	end->kind = CLOSED;
	if (dropped.kind == READS) {
		if (!--dropped.pipe->readers)
			discard(dropped.pipe);
	} else if (dropped.kind == WRITES) {
		if (!--dropped.pipe->writers)
			run_if_ready(dropped.pipe);
	} else if (dropped.kind == REAL && dropped.real < MAX_REAL) {
		if (!--kernel->names[dropped.real] && kernel->closing[dropped.real]) {
			kernel->closing[dropped.real] = 0;
			(void)!__real___wasi_fd_close(dropped.real);
		}
	}
}

static int virtual_fd(struct end end)
{
	for (int i = 0; i < MAX_VIRTUAL; i++)
		if (kernel->virtual[i].kind == UNUSED_FD) {
			kernel->virtual[i] = end;
			kernel->owner[i] = kernel->depth;
			take(&end);
			return VIRTUAL + i;
		}
	errno = EMFILE;
	return -1;
}

int pipe(int fds[2])
{
	struct pipe *made = NULL;

	for (int i = 0; i < MAX_VIRTUAL && !made; i++)
		if (!kernel->pipes[i].readers && !kernel->pipes[i].writers)
			made = &kernel->pipes[i];
	if (!made) {
		errno = EMFILE;
		return -1;
	}
	discard(made);
	fds[0] = virtual_fd((struct end){ .kind = READS, .pipe = made });
	if (fds[0] < 0)
		return -1;
	fds[1] = virtual_fd((struct end){ .kind = WRITES, .pipe = made });
	if (fds[1] < 0) {
		close(fds[0]);
		return -1;
	}
	return 0;
}

int dup(int fd)
{
	struct end *end = end_of(fd);

	if (fd < 0 || (end && end->kind == CLOSED)) {
		errno = EBADF;
		return -1;
	}
	return virtual_fd(end ? *end : (struct end){ .kind = REAL, .real = fd });
}

int dup2(int from, int to)
{
	struct end *end = end_of(from), *target = end_of(to);
	struct end new = end ? *end : (struct end){ .kind = REAL, .real = from };

	if (from < 0 || !target || new.kind == CLOSED) {
		errno = target ? EBADF : ENOSYS;
		return -1;
	}
	if (target != end) {
		take(&new);
		drop(target);
		*target = new;
	}
	return to;
}

/* Pipes. */

static size_t read_pipe(struct pipe *pipe, char *to, size_t size)
{
	struct chunk *chunk = pipe->first;
	size_t count;

	if (!chunk)
		return 0;
	count = chunk->to - chunk->from < size ? chunk->to - chunk->from : size;
	memcpy(to, chunk->bytes + chunk->from, count);
	chunk->from += count;
	if (chunk->from == chunk->to) {
		pipe->first = chunk->next;
		if (!pipe->first)
			pipe->last = NULL;
		chunk->next = kernel->free;
		kernel->free = chunk;
	}
	return count;
}

static void write_pipe(struct pipe *pipe, const char *from, size_t size)
{
	while (size) {
		struct chunk *chunk = pipe->last;
		size_t count;
		if (!chunk || chunk->to == sizeof(chunk->bytes)) {
			struct chunk *next = kernel->free;
			if (next)
				kernel->free = next->next;
			else
				next = keep(sizeof(*next));
			next->next = NULL;
			next->from = next->to = 0;
			if (chunk)
				chunk->next = next;
			else
				pipe->first = next;
			pipe->last = chunk = next;
		}
		count = sizeof(chunk->bytes) - chunk->to < size ? sizeof(chunk->bytes) - chunk->to : size;
		memcpy(chunk->bytes + chunk->to, from, count);
		chunk->to += count;
		from += count;
		size -= count;
	}
}

/* Waits until there is something in a pipe, or nobody writes into it. */
static void await_pipe(struct pipe *pipe)
{
	while (!pipe->first && pipe->writers) {
		struct child *child = writer(pipe);
		if (!child)
			broken("a program waits for what nobody writes");
		settle(child);
	}
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int ready = 0;

	for (nfds_t i = 0; i < count; i++) {
		struct end *end = end_of(fds[i].fd);
		fds[i].revents = 0;
		if (fds[i].fd < 0)
			continue;
		if (end && end->kind == READS) {
			struct child *child = writer(end->pipe);
			if (end->pipe->first || !end->pipe->writers || (child && is_ready(child)))
				fds[i].revents = fds[i].events & POLLIN;
		} else {
			fds[i].revents = fds[i].events & (POLLIN | POLLOUT);
		}
		ready += !!fds[i].revents;
	}
	if (!ready && count && timeout < 0)
		broken("a program waits for what nobody writes");
	return ready;
}

/* /dev/null and /dev/stdin are there, whatever else is. */

static int open_device(const char *path)
{
	if (!strcmp(path, "/dev/null"))
		return virtual_fd((struct end){ .kind = NOTHING });
	return dup(0);
}

static int is_device(const char *path) { return !strcmp(path, "/dev/null") || !strcmp(path, "/dev/stdin"); }

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	return is_device(path) ? open_device(path) : __real_open(path, flags);
}

int __real___wasilibc_open_nomode(const char *path, int flags);
int __wrap___wasilibc_open_nomode(const char *path, int flags)
{
	return is_device(path) ? open_device(path) : __real___wasilibc_open_nomode(path, flags);
}

/* The functions of WASI, for descriptors that are no real ones. */

#define WASI(function) __real___wasi_##function

__wasi_errno_t WASI(fd_close)(__wasi_fd_t fd);
__wasi_errno_t __wrap___wasi_fd_close(__wasi_fd_t fd)
{
	struct end *end = end_of(fd);

	if (!end) {
		if (fd >= 0 && fd < MAX_REAL) {
			kernel->opened[fd] = 0;
			if (kernel->names[fd]) {
				kernel->closing[fd] = 1;
				return 0;
			}
		}
		return WASI(fd_close)(fd);
	}
	if (end->kind == CLOSED)
		return __WASI_ERRNO_BADF;
	if (fd >= VIRTUAL) {
		struct end closed = *end;
		end->kind = UNUSED_FD;
		drop(&closed);
	} else {
		drop(end);
	}
	return 0;
}

__wasi_errno_t WASI(path_open)(__wasi_fd_t fd, __wasi_lookupflags_t dirflags, const char *path, __wasi_oflags_t oflags,
			       __wasi_rights_t base, __wasi_rights_t inheriting, __wasi_fdflags_t flags, __wasi_fd_t *opened);
__wasi_errno_t __wrap___wasi_path_open(__wasi_fd_t fd, __wasi_lookupflags_t dirflags, const char *path,
				       __wasi_oflags_t oflags, __wasi_rights_t base, __wasi_rights_t inheriting,
				       __wasi_fdflags_t flags, __wasi_fd_t *opened)
{
	__wasi_errno_t error = WASI(path_open)(fd, dirflags, path, oflags, base, inheriting, flags, opened);

	if (!error && *opened < MAX_REAL)
		kernel->opened[*opened] = kernel->depth + 1;
	return error;
}

__wasi_errno_t WASI(fd_read)(__wasi_fd_t fd, const __wasi_iovec_t *vectors, size_t count, __wasi_size_t *size);
__wasi_errno_t __wrap___wasi_fd_read(__wasi_fd_t fd, const __wasi_iovec_t *vectors, size_t count, __wasi_size_t *size)
{
	struct end *end = end_of(fd);

	if (!end)
		return WASI(fd_read)(fd, vectors, count, size);
	*size = 0;
	if (end->kind == REAL)
		return WASI(fd_read)(end->real, vectors, count, size);
	if (end->kind == NOTHING)
		return 0;
	if (end->kind != READS)
		return __WASI_ERRNO_BADF;
	await_pipe(end->pipe);
	for (size_t i = 0; i < count; i++)
		*size += read_pipe(end->pipe, (char *)vectors[i].buf, vectors[i].buf_len);
	return 0;
}

__wasi_errno_t WASI(fd_write)(__wasi_fd_t fd, const __wasi_ciovec_t *vectors, size_t count, __wasi_size_t *size);
__wasi_errno_t __wrap___wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *vectors, size_t count, __wasi_size_t *size)
{
	struct end *end = end_of(fd);

	if (!end)
		return WASI(fd_write)(fd, vectors, count, size);
	if (end->kind == REAL)
		return WASI(fd_write)(end->real, vectors, count, size);
	if (end->kind != NOTHING && end->kind != WRITES)
		return __WASI_ERRNO_BADF;
	if (end->kind == WRITES && !end->pipe->readers)
		return __WASI_ERRNO_PIPE;
	*size = 0;
	for (size_t i = 0; i < count; i++) {
		if (end->kind == WRITES)
			write_pipe(end->pipe, (const char *)vectors[i].buf, vectors[i].buf_len);
		*size += vectors[i].buf_len;
	}
	return 0;
}

__wasi_errno_t WASI(fd_fdstat_get)(__wasi_fd_t fd, __wasi_fdstat_t *about);
__wasi_errno_t __wrap___wasi_fd_fdstat_get(__wasi_fd_t fd, __wasi_fdstat_t *about)
{
	struct end *end = end_of(fd);

	if (!end || end->kind == REAL)
		return WASI(fd_fdstat_get)(end ? end->real : fd, about);
	if (end->kind == CLOSED)
		return __WASI_ERRNO_BADF;
	/* With the right to seek, a device is no terminal. */
	memset(about, 0, sizeof(*about));
	about->fs_filetype = end->kind == NOTHING ? __WASI_FILETYPE_CHARACTER_DEVICE : __WASI_FILETYPE_UNKNOWN;
	about->fs_rights_base = about->fs_rights_inheriting = ~(__wasi_rights_t)0;
	return 0;
}

__wasi_errno_t WASI(fd_filestat_get)(__wasi_fd_t fd, __wasi_filestat_t *about);
__wasi_errno_t __wrap___wasi_fd_filestat_get(__wasi_fd_t fd, __wasi_filestat_t *about)
{
	struct end *end = end_of(fd);

	if (!end || end->kind == REAL)
		return WASI(fd_filestat_get)(end ? end->real : fd, about);
	if (end->kind == CLOSED)
		return __WASI_ERRNO_BADF;
	memset(about, 0, sizeof(*about));
	about->filetype = end->kind == NOTHING ? __WASI_FILETYPE_CHARACTER_DEVICE : __WASI_FILETYPE_UNKNOWN;
	return 0;
}

__wasi_errno_t WASI(fd_seek)(__wasi_fd_t fd, __wasi_filedelta_t offset, __wasi_whence_t whence, __wasi_filesize_t *at);
__wasi_errno_t __wrap___wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t offset, __wasi_whence_t whence,
				     __wasi_filesize_t *at)
{
	struct end *end = end_of(fd);

	if (!end || end->kind == REAL)
		return WASI(fd_seek)(end ? end->real : fd, offset, whence, at);
	*at = 0;
	return end->kind == NOTHING ? 0 : __WASI_ERRNO_SPIPE;
}

__wasi_errno_t WASI(fd_tell)(__wasi_fd_t fd, __wasi_filesize_t *at);
__wasi_errno_t __wrap___wasi_fd_tell(__wasi_fd_t fd, __wasi_filesize_t *at)
{
	struct end *end = end_of(fd);

	if (!end || end->kind == REAL)
		return WASI(fd_tell)(end ? end->real : fd, at);
	*at = 0;
	return end->kind == NOTHING ? 0 : __WASI_ERRNO_SPIPE;
}

/* Of these, all that a virtual descriptor has to say is its real one, or that there is nothing to do. */
#define PASSED(function, declared, passed, otherwise)                            \
	__wasi_errno_t WASI(function) declared;                                  \
	__wasi_errno_t __wrap___wasi_##function declared                         \
	{                                                                        \
		struct end *end = end_of(fd);                                    \
		if (end && end->kind != REAL)                                    \
			return otherwise;                                        \
		if (end)                                                         \
			fd = end->real;                                          \
		return WASI(function) passed;                                    \
	}

PASSED(fd_sync, (__wasi_fd_t fd), (fd), 0)
PASSED(fd_datasync, (__wasi_fd_t fd), (fd), 0)
PASSED(fd_fdstat_set_flags, (__wasi_fd_t fd, __wasi_fdflags_t flags), (fd, flags), 0)
PASSED(fd_filestat_set_size, (__wasi_fd_t fd, __wasi_filesize_t size), (fd, size), __WASI_ERRNO_INVAL)
PASSED(fd_pread,
       (__wasi_fd_t fd, const __wasi_iovec_t *vectors, size_t count, __wasi_filesize_t at, __wasi_size_t *size),
       (fd, vectors, count, at, size), __WASI_ERRNO_SPIPE)
PASSED(fd_pwrite,
       (__wasi_fd_t fd, const __wasi_ciovec_t *vectors, size_t count, __wasi_filesize_t at, __wasi_size_t *size),
       (fd, vectors, count, at, size), __WASI_ERRNO_SPIPE)
PASSED(fd_readdir,
       (__wasi_fd_t fd, uint8_t *bytes, __wasi_size_t length, __wasi_dircookie_t cookie, __wasi_size_t *size),
       (fd, bytes, length, cookie, size), __WASI_ERRNO_NOTDIR)
