/* A library to preload: the n-th write to a file below a folder fails with a given error number, or, if that is
   negative, ends the process with SIGKILL. Names that are given and removed then count as writes, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[4096];
static long fail_at, n_writes;
static int error_number;

/* Count writes below `path` from now on, and let number `n` fail; 0 for none. */
void arm(const char *path, long n, int number) {
    strncpy(folder, path, sizeof folder - 1);
    fail_at = n;
    error_number = number;
    n_writes = 0;
}

long count(void) { return n_writes; }

static int fails_now(void) {
    if (++n_writes != fail_at) return 0;
    if (error_number < 0) kill(getpid(), SIGKILL);
    errno = error_number;
    return 1;
}

static int fails(int descriptor) {
    char link[64], path[4096];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder))) return 0;
    return fails_now();
}

/* Before and after a change of the folder: a process may be killed at each of the two moments. */
static void kill_at(const char *path) {
    if (folder[0] && error_number < 0 && !strncmp(path, folder, strlen(folder))) fails_now();
}

#define NEXT(name) static __typeof__(&name) next; if (!next) next = dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t size) {
    NEXT(write);
    return fails(fd) ? -1 : next(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    NEXT(pwrite);
    return fails(fd) ? -1 : next(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    NEXT(pwrite64);
    return fails(fd) ? -1 : next(fd, data, size, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
    NEXT(writev);
    return fails(fd) ? -1 : next(fd, parts, n);
}

size_t fwrite(const void *data, size_t size, size_t n, FILE *file) {
    NEXT(fwrite);
    return fails(fileno(file)) ? 0 : next(data, size, n, file);
}

int fsync(int fd) {
    NEXT(fsync);
    return fails(fd) ? -1 : next(fd);
}

int ftruncate(int fd, off_t length) {
    NEXT(ftruncate);
    return fails(fd) ? -1 : next(fd, length);
}

int link(const char *from, const char *to) {
    NEXT(link);
    kill_at(to);
    int code = next(from, to);
    kill_at(to);
    return code;
}

int rename(const char *from, const char *to) {
    NEXT(rename);
    kill_at(to);
    int code = next(from, to);
    kill_at(to);
    return code;
}

int unlink(const char *path) {
    NEXT(unlink);
    kill_at(path);
    int code = next(path);
    kill_at(path);
    return code;
}
