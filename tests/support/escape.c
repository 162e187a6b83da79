/* What code does that has broken out of WebAssembly and looks for a way out of the process.
 *
 * It is preloaded into the binary, and acts in the first thread that begins when the whole second wall stands: such a thread
 * has all that a guest's has. Each way is one line on standard error: `way NAME RESULT`, where the result is `open` or the name
 * of an error. No way does harm where it is open.
 *
 * If `ESCAPE_ROLE` is set, it acts in the processes of a server with this `--role` alone; `front` is the one without.
 *
 * If `ESCAPE_FLOOD` is set it only sends descriptors to itself which nobody receives, until it may send no more.
 *
 * If `ESCAPE_COUNT` is set it tries nothing, and says at the end of the process how many filters held it: `held COUNT`; and
 * whether there is a thread that began before any of them stood: `early`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PATH 512

static void say(const char *name, long result) {
    dprintf(2, "way %s %s\n", name, result < 0 ? strerrorname_np(errno) : "open");
}

/* A name below the directory that the test made, outside of all that the process was told to touch. */
static const char *outside(const char *name) {
    static _Thread_local char path[PATH];
    snprintf(path, sizeof path, "%s/%s", getenv("ESCAPE_OUTSIDE"), name);
    return path;
}

/* A name in the cache, which the process writes. */
static const char *inside(const char *name) {
    static _Thread_local char path[PATH];
    snprintf(path, sizeof path, "%s/%s", getenv("ESCAPE_INSIDE"), name);
    return path;
}

/* What is made of the files that it may write. */
static void made(void) {
    char from[PATH];
    say("make-program", open(inside("program"), O_CREAT | O_WRONLY, 0700));
    say("make-set-user-id", open(inside("set-user-id"), O_CREAT | O_WRONLY, 04600));
    say("make-set-group-id", syscall(SYS_openat, AT_FDCWD, inside("set-group-id"), O_CREAT | O_WRONLY, 02600));
    say("make-program-without-name", open(inside("."), O_TMPFILE | O_WRONLY, 0755));
    say("left-make-file", open(inside("file"), O_CREAT | O_WRONLY, 0600));
    snprintf(from, sizeof from, "%s", inside("file"));
    say("make-whiteout", syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, inside("other"), RENAME_WHITEOUT));
    unlink(from);
    unlink(inside("other"));
    unlink(inside("program"));
    unlink(inside("set-user-id"));
    unlink(inside("set-group-id"));
}

static void files(void) {
    char other[PATH], target[PATH];
    say("read-file", open(outside("secret"), O_RDONLY));
    say("write-file", open(outside("secret"), O_WRONLY));
    say("create-file", open(outside("new"), O_CREAT | O_WRONLY, 0600));
    say("list-directory", open(outside("."), O_RDONLY | O_DIRECTORY));
    say("make-directory", mkdir(outside("made"), 0700));
    say("remove-file", unlink(outside("removable")));
    snprintf(other, sizeof other, "%s", outside("movable"));
    say("rename-file", rename(other, outside("moved")));
    snprintf(target, sizeof target, "%s", outside("secret"));
    say("link-file", link(target, outside("linked")));
    say("symlink", symlink("/", outside("symlink")));
    say("make-pipe", mknod(outside("pipe"), S_IFIFO | 0600, 0));
    say("truncate-file", truncate(outside("secret"), 3));
    say("chmod-file", chmod(outside("secret"), 0777));
    say("chown-file", chown(outside("secret"), getuid(), getgid()));
    say("touch-file", utimensat(AT_FDCWD, outside("secret"), NULL, 0));
    say("set-attribute", setxattr(outside("secret"), "user.a", "b", 1, 0));
    say("fchmod-file", fchmod(memfd_create("escape", 0), 0777));
    say("own-environment", open("/proc/self/environ", O_RDONLY));
    say("own-memory", open("/proc/self/mem", O_RDWR));
    snprintf(other, sizeof other, "/proc/%d/environ", getppid());
    say("environment-of-parent", open(other, O_RDONLY));
    say("list-root", open("/", O_RDONLY | O_DIRECTORY));
    say("own-control-group", open("/proc/self/cgroup", O_RDONLY));
    say("list-control-groups", open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY));
    say("lead-to-file-by-handle", syscall(SYS_name_to_handle_at, AT_FDCWD, "/", NULL, NULL, 0));
    say("watch-files", syscall(SYS_inotify_init1, 0));
    say("watch-all-files", syscall(SYS_fanotify_init, 0, 0));
    say("open-by-handle", syscall(SYS_open_by_handle_at, -1, NULL, 0));
    /* The number may belong to a file of the process's own by now. */
    struct stat there, given;
    errno = EBADF;
    say("inherited-descriptor", fstat(9, &there) == 0 && stat(outside("inherited"), &given) == 0 &&
                                        there.st_ino == given.st_ino && there.st_dev == given.st_dev ? 0 : -1);
}

static void programs(void) {
    static char *const none[] = {NULL};
    say("execve", execve(getenv("ESCAPE_OUTSIDE"), none, none));
    say("execveat", syscall(SYS_execveat, -1, "", none, none, 0));
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    say("fork", child);
    if (child > 0) waitpid(child, NULL, 0);
    say("clone-new-user", syscall(SYS_clone, CLONE_THREAD | CLONE_NEWUSER, 0, 0, 0, 0));
    say("clone3", syscall(SYS_clone3, NULL, 0));
    say("unshare", unshare(0));
    say("setns", setns(-1, 0));
    say("chroot", chroot("/nowhere"));
    say("pivot-root", syscall(SYS_pivot_root, "/nowhere", "/nowhere"));
    say("mount", mount("none", "/nowhere", "tmpfs", 0, NULL));
    say("umount", umount2("/nowhere", 0));
    say("open-tree", syscall(SYS_open_tree, -1, "", 0));
    say("personality", syscall(SYS_personality, 0xffffffff));
}

static void processes(void) {
    struct rlimit limit = {0, 0};
    pid_t parent = getppid();
    say("signal-to-parent", kill(parent, 0));
    say("signal-to-thread-of-parent", syscall(SYS_tgkill, parent, parent, 0));
    say("signal-to-thread", syscall(SYS_tkill, parent, 0));
    say("queue-signal", syscall(SYS_rt_sigqueueinfo, parent, 0, NULL));
    say("signal-to-group", kill(0, 0));
    say("signal-to-all", kill(-1, 0));
    say("descriptor-of-process", syscall(SYS_pidfd_open, parent, 0));
    say("signals-of-a-terminal-for-parent", fcntl(0, F_SETOWN, parent));
    say("signals-of-a-terminal-for-foreground", fcntl(0, F_SETFL, O_ASYNC));
    say("trace", ptrace(PTRACE_ATTACH, 0, 0, 0));
    say("read-memory-of-process", syscall(SYS_process_vm_readv, parent, NULL, 0, NULL, 0, 0));
    say("write-memory-of-process", syscall(SYS_process_vm_writev, parent, NULL, 0, NULL, 0, 0));
    say("compare-processes", syscall(SYS_kcmp, parent, parent, 0, 0, 0));
    say("limits-of-parent", prlimit(parent, RLIMIT_CORE, NULL, &limit));
    say("raise-own-limit", prlimit(0, RLIMIT_CORE, &limit, NULL));
    /* Any process's processor time is a clock: the complement of its number, and 2 for the time that it has had. */
    struct timespec time;
    clockid_t clock = (~(clockid_t)parent << 3) | 2;
    say("clock-of-parent", syscall(SYS_clock_gettime, clock, &time));
    say("resolution-of-clock-of-parent", syscall(SYS_clock_getres, clock, &time));
    say("wait-for-clock-of-parent", syscall(SYS_clock_nanosleep, clock, 1, &(struct timespec){0, 0}, NULL) ? -1 : 0);
    say("group-of-parent", getpgid(parent) < 0 ? -1 : 0);
    say("session-of-parent", getsid(parent));
    say("scheduling-of-parent", syscall(SYS_sched_getscheduler, parent));
    say("pages-of-parent", syscall(SYS_move_pages, parent, 0, NULL, NULL, NULL, 0));
    say("shared-memory", syscall(SYS_shmget, 0, 4096, 01600));
    say("message-queue", syscall(SYS_msgget, 0, 01600));
    say("timer", syscall(SYS_timer_create, 0, NULL, NULL));
    say("priority-of-parent", setpriority(PRIO_PROCESS, parent, getpriority(PRIO_PROCESS, parent)));
    say("become-dumpable", prctl(PR_SET_DUMPABLE, 1));
    say("allow-tracing", prctl(PR_SET_PTRACER, parent));
    say("seccomp", syscall(SYS_seccomp, 2, 0, NULL));
    say("landlock", syscall(SYS_landlock_create_ruleset, NULL, 0, 1));
}

static void terminals(void) {
    char key = '#';
    say("type-into-terminal", ioctl(2, TIOCSTI, &key));
    say("type-into-console", ioctl(2, TIOCLINUX, &key));
    say("line-discipline", ioctl(2, TIOCSETD, &key));
    say("take-terminal", ioctl(2, TIOCSCTTY, 1));
    say("foreground-group", ioctl(2, TIOCSPGRP, &key));
    /* The kernel looks at the lower half of the command alone. */
    say("type-with-high-bits", syscall(SYS_ioctl, 2, 0x100000000UL | TIOCSTI, &key));
}

static void sockets(void) {
    static const struct { const char *name; int family, type; } kinds[] = {
        {"socket-unix", AF_UNIX, SOCK_STREAM},   {"socket-unix-datagrams", AF_UNIX, SOCK_DGRAM},
        {"socket-tcp", AF_INET, SOCK_STREAM},    {"socket-udp", AF_INET, SOCK_DGRAM},
        {"socket-tcp6", AF_INET6, SOCK_STREAM},  {"socket-raw", AF_INET, SOCK_RAW},
        {"socket-netlink", AF_NETLINK, SOCK_RAW}, {"socket-packet", AF_PACKET, SOCK_RAW},
        {"socket-crypto", AF_ALG, SOCK_SEQPACKET}, {"socket-machine", AF_VSOCK, SOCK_STREAM},
    };
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++)
        say(kinds[at].name, socket(kinds[at].family, kinds[at].type, 0));
    say("socket-multipath", socket(AF_INET, SOCK_STREAM, 262));
    say("socket-sctp", socket(AF_INET, SOCK_STREAM, 132));
    say("socket-udp-lite", socket(AF_INET, SOCK_DGRAM, 136));
    say("socket-ping", socket(AF_INET, SOCK_DGRAM, 1));
    int one = 1, online = socket(AF_INET, SOCK_STREAM, 0);
    say("bind-to-device", setsockopt(online, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
    say("mark-packets", setsockopt(online, SOL_SOCKET, SO_MARK, &one, sizeof one));
    say("foreign-addresses", setsockopt(online, SOL_IP, IP_TRANSPARENT, &one, sizeof one));
    say("replace-firewall", setsockopt(online, SOL_IP, 64, NULL, 0));
    say("repair-connection", setsockopt(online, SOL_TCP, TCP_REPAIR, &one, sizeof one));
    say("attach-program", setsockopt(online, SOL_SOCKET, SO_ATTACH_BPF, &one, sizeof one));
    int pair[2];
    say("pair-of-datagrams", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    /* As many as a user may have on their way keep all of its processes from sending any. */
    char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
    struct iovec one_byte = {&byte, 1};
    struct msghdr message = {.msg_iov = &one_byte, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    *rights = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    int ends[2] = {-1, -1};
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    memcpy(CMSG_DATA(rights), &ends[1], sizeof(int));
    say("send-descriptor", sendmsg(ends[0], &message, 0));
    say("filter-packets", setsockopt(0, SOL_SOCKET, SO_ATTACH_FILTER, NULL, 0));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int own = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(address.sun_path + 1, getenv("ESCAPE_ABSTRACT"), sizeof address.sun_path - 2);
    socklen_t length = sizeof address.sun_family + 1 + strlen(getenv("ESCAPE_ABSTRACT"));
    say("connect-abstract", connect(own, (struct sockaddr *)&address, length));
    strncpy(address.sun_path, outside("socket"), sizeof address.sun_path - 1);
    say("connect-path", connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address));
    say("bind", bind(-1, (struct sockaddr *)&address, length));
    say("listen", listen(-1, 1));
}

static void kernel(void) {
    say("bpf", syscall(SYS_bpf, -1, NULL, 0));
    say("perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
    say("userfaultfd", syscall(SYS_userfaultfd, -1));
    say("io-uring", syscall(SYS_io_uring_setup, 0, NULL));
    say("keyctl", syscall(SYS_keyctl, 0, -3, 0, 0, 0));
    say("add-key", syscall(SYS_add_key, NULL, NULL, NULL, 0, 0));
    say("load-module", syscall(SYS_init_module, NULL, 0, NULL));
    say("load-kernel", syscall(SYS_kexec_load, 0, 17, NULL, 0));
    say("reboot", syscall(SYS_reboot, 0, 0, 0, NULL));
    say("swap", syscall(SYS_swapon, "", 0));
    say("set-clock", syscall(SYS_settimeofday, NULL, NULL));
    say("adjust-clock", syscall(SYS_adjtimex, NULL));
}

/* What is to be left. */
static void left(void) {
    struct rlimit core;
    struct stat given;
    int pair[2];
    /* Landlock has no right for it: docs/security.md says so. */
    say("left-look-at-path", stat(outside("secret"), &given));
    say("left-read-status", open("/proc/self/status", O_RDONLY));
    say("left-pair-of-streams", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    say("left-signal-to-itself", kill(getpid(), 0));
    say("left-no-core", getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur <= 1 && core.rlim_max <= 1 ? 0 : -1);
    say("left-not-dumpable", prctl(PR_GET_DUMPABLE) == 0 ? 0 : -1);
}

static int filters(void) {
    char line[256];
    int count = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "Seccomp_filters: %d", &count);
    if (status) fclose(status);
    return count;
}

static int first;

/* Whether this is another process than the one that is to act. */
static int is_other;

/* Returns true if the last role on the command line is not this one. */
static int has_other_role(const char *wanted) {
    char line[8192], last[32] = "front";
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file) fclose(file);
    line[length] = 0;
    for (size_t at = 0, next; at < length; at = next) {
        next = at + strlen(line + at) + 1;
        if (strcmp(line + at, "--role") == 0 && next < length) snprintf(last, sizeof last, "%s", line + next);
    }
    return strcmp(last, wanted) != 0;
}

/* How many threads there are that began before any filter stood: the kernel's Landlock may not hold them. */
static int early;

__attribute__((constructor)) static void begin(void) {
    const char *role = getenv("ESCAPE_ROLE");
    first = filters();
    is_other = role && has_other_role(role);
}

__attribute__((destructor)) static void finish(void) {
    if (getenv("ESCAPE_COUNT") && strcmp(program_invocation_short_name, "tollhouse") == 0)
        dprintf(2, "held %d\n%s", filters() - first, early ? "early\n" : "");
}

struct start {
    void *(*function)(void *);
    void *argument;
};

/* As many descriptors on their way as this process can have: they count for its user. */
static void flood(void) {
    enum { MOST = 250 };
    int handed[MOST], ends[2];
    char room[CMSG_SPACE(sizeof handed)] = {0}, byte = 0;
    struct iovec one_byte = {&byte, 1};
    struct msghdr message = {.msg_iov = &one_byte, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    *rights = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof handed), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    long sent = 0, failed = -1;
    for (int pair = 0; pair < 2000 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0; pair++) {
        for (int at = 0; at < MOST; at++) handed[at] = ends[1];
        memcpy(CMSG_DATA(rights), handed, sizeof handed);
        /* A socket that is full is left, and the next one filled. */
        while ((failed = sendmsg(ends[0], &message, MSG_DONTWAIT)) >= 0) sent += MOST;
        if (errno != EAGAIN) break;
    }
    say("flood", failed);
    dprintf(2, "way sent %ld\n", sent);
}

static void *escape(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    if (getenv("ESCAPE_FLOOD")) {
        flood();
        say("end", 0);
        return start.function(start.argument);
    }
    files();
    made();
    programs();
    processes();
    terminals();
    sockets();
    kernel();
    left();
    say("left-no-thread-before", early ? -1 : 0);
    say("end", 0);
    return start.function(start.argument);
}

static void *count(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    void *result = start.function(start.argument);
    __sync_fetch_and_sub(&early, 1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    static int done;
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    const char *wanted = getenv("ESCAPE_FILTERS");
    int held = filters() - first;
    int acts = wanted && !is_other && held >= atoi(wanted) && !__sync_lock_test_and_set(&done, 1);
    if (!acts && held > 0) return create(thread, attributes, function, argument);
    if (!acts) __sync_fetch_and_add(&early, 1);
    struct start *start = malloc(sizeof *start);
    *start = (struct start){function, argument};
    return create(thread, attributes, acts ? escape : count, start);
}
