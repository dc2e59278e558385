/* log_dir.c: the tutorial deletes the whole folder; here only what a trainer has written goes. */
#include "log_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const char *name) {
    static const char *const patterns[] = {
        "checkpoint", "events.out.tfevents.*", "model.ckpt-*.index", "model.ckpt-*.meta",
        "model.ckpt-*.data-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (fnmatch(patterns[i], name, 0) == 0) return true;
    return false;
}

static bool make_folders(const char *dir, char *text, size_t n) {
    char path[4096];
    size_t length = strlen(dir);
    for (size_t i = 1; i <= length && length < sizeof path; i++) {
        if (dir[i] != '/' && dir[i] != 0) continue;
        memcpy(path, dir, i);
        path[i] = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            snprintf(text, n, "%s: cannot be made: %s", path, strerror(errno));
            return false;
        }
    }
    if (access(dir, W_OK | X_OK) == 0) return true;
    snprintf(text, n, "%s: cannot be written to: %s", dir, strerror(errno));
    return false;
}

bool log_dir_prepare(const char *dir, bool keep, size_t *others, char *text, size_t n) {
    *others = 0;
    if (!make_folders(dir, text, n)) return false;
    DIR *d = keep ? NULL : opendir(dir);
    bool done = true;
    for (struct dirent *e; done && d && (e = readdir(d));) {
        char path[8192];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (!is_ours(e->d_name)) {
            ++*others;
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        done = unlink(path) == 0;
        if (!done) snprintf(text, n, "%s: cannot be removed: %s", path, strerror(errno));
    }
    if (d) closedir(d);
    return done;
}
