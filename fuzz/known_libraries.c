/* known_libraries.c: tells MSan which memory zlib has written; linked into the fuzz targets of the
 * preset fuzz-memory.
 *
 * MSan takes memory for uninitialised until a program that was compiled with it writes there, and
 * the system's zlib was not. The linker (--wrap) sends calls through here; what zlib says that it
 * has written counts as written.
 */
#include <sanitizer/msan_interface.h>
#include <zlib.h>

#define SEEN_BY_LIBRARIES __attribute__((visibility("default")))

int __real_inflate(z_streamp stream, int flush);
SEEN_BY_LIBRARIES int __wrap_inflate(z_streamp stream, int flush);
int __real_gzread(gzFile file, voidp to, unsigned n);
SEEN_BY_LIBRARIES int __wrap_gzread(gzFile file, voidp to, unsigned n);

int __wrap_inflate(z_streamp stream, int flush) {
    const Bytef *begin = stream->next_out;
    int result = __real_inflate(stream, flush);
    __msan_unpoison(begin, (size_t)(stream->next_out - begin));
    return result;
}

int __wrap_gzread(gzFile file, voidp to, unsigned n) {
    int got = __real_gzread(file, to, n);
    if (got > 0) __msan_unpoison(to, (size_t)got);
    return got;
}
