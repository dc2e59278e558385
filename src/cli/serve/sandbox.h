/* sandbox.h: the server gives up what it does not need, so that a hole in it is worth little.
 *
 *   auto   writes below its own directories only, runs no programs, opens no connections
 *   on     and reads below the log directories only
 *
 * Done by the kernel, for this thread and all that it starts later: Landlock for files and TCP, a
 * filter of system calls (seccomp) for the rest. So it comes before the first thread, and after
 * everything that needs more: certificates, names of this machine, the browser.
 *
 * A rule belongs to the directory that is there now. With `on`, what links lead to outside of the
 * log directories is not read, nor is a log directory that is made anew later. With `auto` it is:
 * that one changes nothing for anybody, and is the default. */
#ifndef SB_CLI_SANDBOX_H
#define SB_CLI_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct sb_sandbox {
    bool bounds_reading;
    const char *const *read; /* directories, with all below them; where bounds_reading */
    size_t read_count;
    const char *const *write; /* directories to read and to write; NULL among them is left out */
    size_t write_count;
} sb_sandbox;

typedef struct sb_sandbox_state {
    int landlock; /* its version; 0: the kernel has none, or refuses it */
    bool seccomp;
} sb_sandbox_state;

/* What the kernel lacks is left out, and *out says so. SB_NOT_FOUND when a directory to be read is
 * not there; SB_IO when the kernel has Landlock and refuses a rule. */
sb_status sb_sandbox_enter(const sb_sandbox *s, sb_sandbox_state *out, sb_err *err);

/* What the process gave up, in words. */
#define SB_SANDBOX_TEXT 200
void sb_sandbox_describe(const sb_sandbox *s, const sb_sandbox_state *state,
                         char out[SB_SANDBOX_TEXT]);

#endif
