/*
 * Writes a line to the file DOMESDAY_CALLS for each call of the program that makes a change durable
 * or that must come after it (LD_PRELOAD): `create PATH`, `mkdir PATH`, `rename PATH` with the new
 * name, `cut PATH`, and `sync PATH`. A call that failed leaves no line.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int (*real_open(void))(const char *, int, ...) {
    return (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
}

static void note(const char *call, const char *path) {
    const char *log = getenv("DOMESDAY_CALLS");
    char line[8192];
    if (log == NULL)
        return;
    int length = snprintf(line, sizeof line, "%s %s\n", call, path);
    int fd = real_open()(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, length) != length)
        abort();
    close(fd);
}

static void note_open(const char *call, int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        abort();
    path[length] = '\0';
    note(call, path);
}

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    int fd = real_open()(path, flags, mode);
    if (fd >= 0 && (flags & O_CREAT) && (flags & O_EXCL))
        note_open("create", fd);
    return fd;
}

int mkdir(const char *path, mode_t mode) {
    int (*real)(const char *, mode_t) = dlsym(RTLD_NEXT, "mkdir");
    int answer = real(path, mode);
    if (answer == 0)
        note("mkdir", path);
    return answer;
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    int answer = real(from, to);
    if (answer == 0)
        note("rename", to);
    return answer;
}

int ftruncate64(int fd, off64_t length) {
    int (*real)(int, off64_t) = dlsym(RTLD_NEXT, "ftruncate64");
    int answer = real(fd, length);
    if (answer == 0)
        note_open("cut", fd);
    return answer;
}

static int sync_of(const char *name, int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    int answer = real(fd);
    if (answer == 0)
        note_open("sync", fd);
    return answer;
}

int fdatasync(int fd) { return sync_of("fdatasync", fd); }

int fsync(int fd) { return sync_of("fsync", fd); }
