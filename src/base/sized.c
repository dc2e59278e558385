/* sized.c: structs of the public interface whose size depends on the caller's header. */
#include "base/sized.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "seaboard/checkpoint.h"
#include "seaboard/profile.h"
#include "seaboard/reader.h"
#include "seaboard/train.h"
#include "seaboard/version.h"
#include "seaboard/writer.h"
#include "base/banned.h"

/* More than any of the structs will ever need: a larger size is memory that was not initialised. */
#define MAX_SIZE 4096

#define CHECK_LAYOUT(type, last)                                                                   \
    static_assert(offsetof(type, size) == 0 &&                                                     \
                      offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type),            \
                  #type " must begin with its size and must not end in padding")

/* Every struct that may grow, and its last field. */
CHECK_LAYOUT(sb_chart, tag_count);
CHECK_LAYOUT(sb_chart_category, chart_count);
CHECK_LAYOUT(sb_embedding_opts, images);
CHECK_LAYOUT(sb_experiment, metric_count);
CHECK_LAYOUT(sb_histogram_data, n);
CHECK_LAYOUT(sb_histogram_opts, max_bins);
CHECK_LAYOUT(sb_hparam_info, max);
CHECK_LAYOUT(sb_image_opts, max_outputs);
CHECK_LAYOUT(sb_meta, wall_time);
CHECK_LAYOUT(sb_metric_info, description);
CHECK_LAYOUT(sb_net_session_opts, saver);
CHECK_LAYOUT(sb_optimizer, nesterov);
CHECK_LAYOUT(sb_reader_opts, max_decoded);
CHECK_LAYOUT(sb_recorder_opts, when_full);
CHECK_LAYOUT(sb_recorder_stats, dropped);
CHECK_LAYOUT(sb_save_opts, shards);
CHECK_LAYOUT(sb_saver_opts, no_state);
CHECK_LAYOUT(sb_manager_opts, save);
CHECK_LAYOUT(sb_variable, full_name);
CHECK_LAYOUT(sb_reader_table_opts, flags);
CHECK_LAYOUT(sb_writer_opts, trouble);
CHECK_LAYOUT(sb_writer_stats, pending);

static sb_status read_size(size_t *out, const void *from, const char *type, sb_err *err) {
    memcpy(out, from, sizeof *out);
    if (*out == 0)
        return sb_fail(err, SB_INVALID, 0, "%s.size is 0; create the struct with SB_INIT(%s, ...)",
                       type, type);
    if (*out < sizeof *out || *out > MAX_SIZE)
        return sb_fail(err, SB_INVALID, 0,
                       "%s.size is %zu, which cannot be right; create the struct with "
                       "SB_INIT(%s, ...)",
                       type, *out, type);
    return SB_OK;
}

sb_status sb_sized_read(void *to, size_t size, const void *first, size_t i, const char *type,
                        sb_err *err) {
    size_t given, own;
    sb_status status = read_size(&given, first, type, err);
    if (status != SB_OK) return status;
    const uint8_t *from = (const uint8_t *)first + i * given;
    memcpy(&own, from, sizeof own);
    if (own != given)
        return sb_fail(err, SB_INVALID, 0,
                       "element %zu of an array of %s has another size than element 0; create all "
                       "of them with SB_INIT(%s, ...)",
                       i, type, type);
    for (size_t k = size; k < given; k++)
        if (from[k])
            return sb_fail(err, SB_INVALID, 0,
                           "%s: the program sets a field that libseaboard " SB_VERSION
                           " does not know; a newer libseaboard is needed",
                           type);
    size_t shared = given < size ? given : size;
    memcpy(to, from, shared);
    memset((uint8_t *)to + shared, 0, size - shared);
    memcpy(to, &size, sizeof size);
    return SB_OK;
}

sb_status sb_sized_write(void *to, const void *from, size_t size, const char *type, sb_err *err) {
    size_t given;
    sb_status status = read_size(&given, to, type, err);
    if (status != SB_OK) return status;
    size_t shared = given < size ? given : size;
    memcpy(to, from, shared);
    memcpy(to, &given, sizeof given);
    if (given > size) memset((uint8_t *)to + size, 0, given - size);
    return SB_OK;
}
