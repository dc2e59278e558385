/* replay_main.c: feeds the saved inputs of a fuzz target to it, without libFuzzer.
 *
 * In:  one folder, fuzz/corpus/<name>. Each input is handed over in a block of exactly its size, so
 *      that the address sanitizer sees a read past its end.
 * Out: 0 when the target lived through all of them; 1 when there was none, or a file could not be
 *      read. A find ends the process, as it does under libFuzzer; the input's name is the last
 * line.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_input(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* One input: false when it could not be read. */
static bool replay(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    struct stat info;
    bool done = false;
    if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode)) {
        size_t size = (size_t)info.st_size;
        uint8_t *data = malloc(size ? size : 1);
        if (data && fread(data, 1, size, file) == size) {
            LLVMFuzzerTestOneInput(data, size);
            done = true;
        }
        free(data);
    }
    fclose(file);
    return done;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    struct dirent **inputs;
    int count = scandir(argv[1], &inputs, is_input, alphasort);
    int failed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", argv[1], inputs[i]->d_name);
        printf("%s\n", inputs[i]->d_name);
        fflush(stdout); /* the last name printed is the one to blame */
        if (length >= (int)sizeof path || !replay(path)) {
            printf("cannot read %s\n", path);
            failed = 1;
        }
        free(inputs[i]);
    }
    if (count >= 0) free(inputs);
    if (count <= 0) {
        printf("no inputs in %s\n", argv[1]);
        return 1;
    }
    return failed;
}
