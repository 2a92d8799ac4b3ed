/*
 * Stands between the program under test and its disk (LD_PRELOAD), for the files that
 * DOMESDAY_FAULT_FILES names, with colons between them. While DOMESDAY_FAULTS/full exists, nothing
 * can be written to them. While DOMESDAY_FAULTS/readonly exists, they are not opened to be written
 * either, as on a disk that the kernel has made read-only. While DOMESDAY_FAULTS/sync exists, a sync of one fails. Each page of it
 * that was written since the last good sync is then lost or kept at random. A disk does the same
 * when it fails to write back the kernel's pages. While DOMESDAY_FAULTS/stall exists, no read, write
 * or sync of one ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct page {
    ino_t file;
    off64_t at;
    char before[PAGE];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page *unsynced;
static size_t count, room;
static unsigned coin = 1086;

static int failing(const char *fault) {
    const char *folder = getenv("DOMESDAY_FAULTS");
    char path[4096];
    if (folder == NULL)
        return 0;
    snprintf(path, sizeof path, "%s/%s", folder, fault);
    return access(path, F_OK) == 0;
}

/* The file's number if it is one of those that are named, and otherwise 0. */
static ino_t meant_file(struct stat file) {
    const char *paths = getenv("DOMESDAY_FAULT_FILES");
    struct stat given;
    if (paths == NULL)
        return 0;
    while (*paths != '\0') {
        char path[4096];
        size_t length = strcspn(paths, ":");
        snprintf(path, sizeof path, "%.*s", (int)length, paths);
        if (stat(path, &given) == 0 && file.st_dev == given.st_dev && file.st_ino == given.st_ino)
            return file.st_ino;
        paths += length + (paths[length] == ':');
    }
    return 0;
}

static ino_t meant(int fd) {
    struct stat file;
    return fstat(fd, &file) == 0 ? meant_file(file) : 0;
}

static void stall(void) {
    while (failing("stall"))
        usleep(5000);
}

static ssize_t get(int fd, void *bytes, size_t length, off64_t at) {
    ssize_t (*real)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
    return real(fd, bytes, length, at);
}

static ssize_t put(int fd, const void *bytes, size_t length, off64_t at) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    return real(fd, bytes, length, at);
}

/* Notes what the disk holds where something is about to be written. */
static void note(ino_t file, int fd, size_t length, off64_t from) {
    for (off64_t at = from - from % PAGE; at < from + (off64_t)length; at += PAGE) {
        size_t found = 0;
        while (found < count && (unsynced[found].file != file || unsynced[found].at != at))
            found++;
        if (found < count)
            continue;
        if (count == room) {
            room = room ? room * 2 : 256;
            unsynced = realloc(unsynced, room * sizeof *unsynced);
            if (unsynced == NULL)
                abort();
        }
        memset(unsynced[count].before, 0, PAGE);
        if (get(fd, unsynced[count].before, PAGE, at) < 0)
            abort();
        unsynced[count].file = file;
        unsynced[count++].at = at;
    }
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    ino_t file = meant(fd);
    if (file == 0)
        return put(fd, bytes, length, at);
    stall();
    if (failing("full") || failing("readonly")) {
        errno = failing("full") ? ENOSPC : EROFS;
        return -1;
    }
    pthread_mutex_lock(&lock);
    note(file, fd, length, at);
    ssize_t written = put(fd, bytes, length, at);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t at) {
    if (meant(fd) != 0)
        stall();
    return get(fd, bytes, length, at);
}

/* What is known of a file's pages is over: they are lost, as a coin falls, or are on the disk. */
static void over(ino_t file, int fd, int lost) {
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (unsynced[i].file != file)
            unsynced[left++] = unsynced[i];
        else if (lost && rand_r(&coin) % 2 && put(fd, unsynced[i].before, PAGE, unsynced[i].at) < 0)
            abort();
    }
    count = left;
}

static int sync_of(const char *name, int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    ino_t file = meant(fd);
    if (file == 0)
        return real(fd);
    int answer;
    stall();
    pthread_mutex_lock(&lock);
    if (failing("sync")) {
        over(file, fd, 1);
        errno = EIO;
        answer = -1;
    } else {
        answer = real(fd);
        if (answer == 0)
            over(file, fd, 0);
    }
    pthread_mutex_unlock(&lock);
    return answer;
}

int open64(const char *path, int flags, ...) {
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
    struct stat file;
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    if (writes && stat(path, &file) == 0 && meant_file(file) != 0 && failing("readonly")) {
        errno = EROFS;
        return -1;
    }
    return real(path, flags, mode);
}

int ftruncate64(int fd, off64_t length) {
    int (*real)(int, off64_t) = dlsym(RTLD_NEXT, "ftruncate64");
    if (meant(fd) != 0 && failing("readonly")) {
        errno = EROFS;
        return -1;
    }
    return real(fd, length);
}

int fdatasync(int fd) { return sync_of("fdatasync", fd); }

int fsync(int fd) { return sync_of("fsync", fd); }
