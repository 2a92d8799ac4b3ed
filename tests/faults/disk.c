/*
 * Stands between the program under test and its disk (LD_PRELOAD), for the one file that
 * DOMESDAY_FAULT_FILE names. While DOMESDAY_FAULTS/full exists, nothing can be written to it. While
 * DOMESDAY_FAULTS/sync exists, a sync fails, and each page that was written since the last good one
 * is lost or kept as a coin falls: so a disk does that fails to write back what the kernel held.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct page {
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

static int meant(int fd) {
    const char *path = getenv("DOMESDAY_FAULT_FILE");
    struct stat file, given;
    return path != NULL && stat(path, &file) == 0 && fstat(fd, &given) == 0 &&
           file.st_dev == given.st_dev && file.st_ino == given.st_ino;
}

static ssize_t put(int fd, const void *bytes, size_t length, off64_t at) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    return real(fd, bytes, length, at);
}

/* Notes what the disk holds where something is about to be written. */
static void note(int fd, size_t length, off64_t from) {
    for (off64_t at = from - from % PAGE; at < from + (off64_t)length; at += PAGE) {
        size_t found = 0;
        while (found < count && unsynced[found].at != at)
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
        if (pread64(fd, unsynced[count].before, PAGE, at) < 0)
            abort();
        unsynced[count++].at = at;
    }
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    if (!meant(fd))
        return put(fd, bytes, length, at);
    if (failing("full")) {
        errno = ENOSPC;
        return -1;
    }
    pthread_mutex_lock(&lock);
    note(fd, length, at);
    ssize_t written = put(fd, bytes, length, at);
    pthread_mutex_unlock(&lock);
    return written;
}

static int sync_of(const char *name, int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    if (!meant(fd))
        return real(fd);
    int answer;
    pthread_mutex_lock(&lock);
    if (failing("sync")) {
        for (size_t i = 0; i < count; i++)
            if (rand_r(&coin) % 2 && put(fd, unsynced[i].before, PAGE, unsynced[i].at) < 0)
                abort();
        count = 0;
        errno = EIO;
        answer = -1;
    } else {
        answer = real(fd);
        if (answer == 0)
            count = 0;
    }
    pthread_mutex_unlock(&lock);
    return answer;
}

int fdatasync(int fd) { return sync_of("fdatasync", fd); }

int fsync(int fd) { return sync_of("fsync", fd); }
