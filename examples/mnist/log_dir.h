/* log_dir.h: the folder that a training writes to. */
#ifndef LOG_DIR_H
#define LOG_DIR_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the folder with all missing parents. Without keep, event files and checkpoints of earlier
 * trainings are removed; what else is there stays, and is counted. On failure false, with a
 * text. */
bool log_dir_prepare(const char *dir, bool keep, size_t *others, char *text, size_t n);

#endif
