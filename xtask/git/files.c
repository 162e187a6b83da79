/*
 * Paths: where the program works, which WASI does not say; the directories above those that are granted; and what
 * may be executed, which is nothing.
 */
#include "git-compat-util.h"
#include "abspath.h"
#include "strbuf.h"

#include <wasi/api.h>

/* No file can be executed, so hooks are those that are "not set as executable", of which git tells. */

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
	struct stat about;
	int status = __real_access(path, mode & ~X_OK);

	if (!status && (mode & X_OK) && !stat(path, &about) && !S_ISDIR(about.st_mode)) {
		errno = EACCES;
		return -1;
	}
	return status;
}

__wasi_errno_t __real___wasi_fd_prestat_dir_name(__wasi_fd_t fd, uint8_t *name, size_t size);

/*
 * Hides `.` from libc, which else takes each path that begins with `/` and is below no granted directory for one
 * below `.`. With the name of the working directory that descriptor is not needed.
 */
__wasi_errno_t __wrap___wasi_fd_prestat_dir_name(__wasi_fd_t fd, uint8_t *name, size_t size)
{
	__wasi_errno_t error = __real___wasi_fd_prestat_dir_name(fd, name, size);

	if (!error && size == 1 && *name == '.')
		*name = 1;
	return error;
}

/* A directory above a granted one is there, though nothing can be seen in it. */

static int is_above_granted(const char *path)
{
	size_t length = strlen(path);
	__wasi_prestat_t granted;

	while (length && path[length - 1] == '/')
		length--;
	if (path[0] != '/')
		return 0;
	for (__wasi_fd_t fd = 3; !__wasi_fd_prestat_get(fd, &granted); fd++) {
		size_t size = granted.u.dir.pr_name_len;
		char name[PATH_MAX + 1];
		if (size > PATH_MAX || __real___wasi_fd_prestat_dir_name(fd, (uint8_t *)name, size))
			continue;
		name[size] = 0;
		if (name[0] == '/' && !strncmp(name, path, length) && name[length] == '/')
			return 1;
	}
	return 0;
}

static int describe_granted(const char *path, struct stat *about)
{
	int error = errno;

	if (!is_above_granted(path)) {
		errno = error;
		return -1;
	}
	memset(about, 0, sizeof(*about));
	about->st_mode = S_IFDIR;
	about->st_nlink = 1;
	about->st_dev = 1;
	return 0;
}

/* What a file takes on a disk is not told: what it would take on most, for `git count-objects`. */
static int count_blocks(struct stat *about)
{
	about->st_blocks = (about->st_size + 4095) / 4096 * 8;
	return 0;
}

int __real_stat(const char *path, struct stat *about);
int __wrap_stat(const char *path, struct stat *about)
{
	return __real_stat(path, about) ? describe_granted(path, about) : count_blocks(about);
}

int __real_lstat(const char *path, struct stat *about);
int __wrap_lstat(const char *path, struct stat *about)
{
	return __real_lstat(path, about) ? describe_granted(path, about) : count_blocks(about);
}

/* Not every host takes the name of a directory with a slash at its end. */
int __real_rmdir(const char *path);
int __wrap_rmdir(const char *path)
{
	size_t length = strlen(path);
	char *name;
	int status, error;

	if (length < 2 || path[length - 1] != '/')
		return __real_rmdir(path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	name = xmemdupz(path, length);
	status = __real_rmdir(name);
	error = errno;
	free(name);
	errno = error;
	return status;
}

/* Where it works. */

/* Until a directory is entered that has a name. */
static int is_nowhere = 1;

/* libc's keeps `..` and links in the name, and git goes up by names. */
int __real_chdir(const char *path);
int __wrap_chdir(const char *path)
{
	struct strbuf resolved = STRBUF_INIT;
	int status = strbuf_realpath(&resolved, path, 0) ? __real_chdir(resolved.buf) : -1;
	int error = errno;

	strbuf_release(&resolved);
	if (!status)
		is_nowhere = 0;
	errno = error;
	return status;
}

/* A directory that has been removed, or that no granted one leads to, has no name. */
char *__real_getcwd(char *path, size_t size);
char *__wrap_getcwd(char *path, size_t size)
{
	char *directory = is_nowhere ? NULL : __real_getcwd(path, size);
	struct stat about;

	if (is_nowhere || (directory && stat(directory, &about))) {
		errno = ENOENT;
		return NULL;
	}
	return directory;
}

/* The descriptor of the directory that WASI calls `.`, or -1. */
static __wasi_fd_t working_directory(void)
{
	__wasi_prestat_t granted;
	uint8_t name;

	for (__wasi_fd_t fd = 3; !__wasi_fd_prestat_get(fd, &granted); fd++)
		if (granted.u.dir.pr_name_len == 1 && !__real___wasi_fd_prestat_dir_name(fd, &name, 1) && name == '.')
			return fd;
	return -1;
}

static int is_same(const __wasi_filestat_t *one, const struct stat *other)
{
	return one->ino == other->st_ino && one->dev == other->st_dev;
}

/* Goes down into the entry that is this one. */
static int go_down(struct strbuf *path, const __wasi_filestat_t *wanted)
{
	size_t length = path->len;
	struct dirent *entry;
	struct stat about;
	DIR *directory = opendir(path->buf);
	int found = 0;

	if (!directory)
		return 0;
	while (!found && (entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		strbuf_setlen(path, length);
		strbuf_complete(path, '/');
		strbuf_addstr(path, entry->d_name);
		found = !lstat(path->buf, &about) && is_same(wanted, &about);
	}
	closedir(directory);
	return found;
}

/* The way up from the working directory is at most as long. */
#define MAX_UP 64

/* Goes up until a granted directory is met, and by that finds the path. */
static void find_directory(__wasi_fd_t here)
{
	__wasi_filestat_t above[MAX_UP];
	__wasi_prestat_t granted;
	struct strbuf up = STRBUF_INIT, path = STRBUF_INIT;
	struct stat about;
	int found = 0;

	strbuf_addch(&up, '.');
	for (int level = 0; level < MAX_UP && !__wasi_path_filestat_get(here, 0, up.buf, &above[level]); level++) {
		for (__wasi_fd_t fd = 3; !__wasi_fd_prestat_get(fd, &granted); fd++) {
			int at = level;
			strbuf_reset(&path);
			strbuf_grow(&path, granted.u.dir.pr_name_len);
			if (__real___wasi_fd_prestat_dir_name(fd, (uint8_t *)path.buf, granted.u.dir.pr_name_len))
				continue;
			strbuf_setlen(&path, granted.u.dir.pr_name_len);
			if (path.buf[0] != '/' || stat(path.buf, &about) || !is_same(&above[level], &about))
				continue;
			while (at && go_down(&path, &above[at - 1]))
				at--;
			found = !at && !chdir(path.buf);
			if (found)
				goto done;
		}
		strbuf_addstr(&up, "/..");
	}
done:
	strbuf_release(&up);
	strbuf_release(&path);
}

/*
 * The path of the working directory: what the shell says, if that is right; else a granted directory, or one above
 * it that the way up leads to, and from there down by the numbers of the entries.
 */
void enter_directory(void)
{
	__wasi_fd_t here = working_directory();
	const char *said = getenv("PWD");
	__wasi_filestat_t about;
	struct stat other;

	if (here < 0 || __wasi_path_filestat_get(here, 0, ".", &about))
		return;
	if (!said || said[0] != '/' || stat(said, &other) || !is_same(&about, &other) || chdir(said))
		find_directory(here);
}
