/* temp_file.h: temporary files that have no name.
 *
 * The file disappears when its descriptor is closed, also when the process is killed. */
#ifndef SB_BASE_TEMP_FILE_H
#define SB_BASE_TEMP_FILE_H

/* A new file for reading and writing on the file system of that folder; -1 with errno when there
 * can be none. */
int sb_temp_file(const char *folder);

/* The same in folder (may be NULL), or in /tmp when that fails. */
int sb_temp_file_or_tmp(const char *folder);

#endif
