/* pick_int.h: reads the plain fields of a message into a struct, and writes them back, by table.
 *
 *     static const sb_pick picks[] = {
 *         SB_PICK(sb_session_log, status, SB_SESSION_LOG_STATUS),
 *         SB_PICK(sb_session_log, message, SB_SESSION_LOG_MSG),
 *     };
 *     return SB_PICK_READ(out, body, picks);
 *
 * How a field is read follows from the member's C type: sb_slice for text, bytes and messages,
 * int32_t, uint32_t, int64_t, bool, float, double; size_t counts the length-delimited fields of
 * that number. The last field of a number wins; one with a foreign wire type is ignored, as
 * protobuf does. For the views that no hot path needs: each field costs a scan of the table.
 * Private to src/codec. */
#ifndef SB_CODEC_PROTO_PICK_INT_H
#define SB_CODEC_PROTO_PICK_INT_H

#include "codec/proto/proto.h"

typedef enum sb_pick_kind {
    SB_PICK_BYTES,
    SB_PICK_INT32,
    SB_PICK_UINT32,
    SB_PICK_INT64,
    SB_PICK_BOOL,
    SB_PICK_FLOAT,
    SB_PICK_DOUBLE,
    SB_PICK_COUNT,
} sb_pick_kind;

typedef struct sb_pick {
    uint32_t number;
    uint16_t offset;
    uint8_t kind;
} sb_pick;

#define SB_PICK_KIND(member)                                                                       \
    _Generic((member), sb_slice                                                                    \
             : SB_PICK_BYTES, int32_t                                                              \
             : SB_PICK_INT32, uint32_t                                                             \
             : SB_PICK_UINT32, int64_t                                                             \
             : SB_PICK_INT64, bool                                                                 \
             : SB_PICK_BOOL, float                                                                 \
             : SB_PICK_FLOAT, double                                                               \
             : SB_PICK_DOUBLE, size_t                                                              \
             : SB_PICK_COUNT)

#define SB_PICK(type, member, field_number)                                                        \
    { field_number, offsetof(type, member), SB_PICK_KIND(((type *)0)->member) }

/* Fills the members; those without a field keep what they hold. SB_OK or SB_CORRUPT. */
sb_status sb_pick_read(void *out, sb_slice message, const sb_pick *picks, size_t n);
#define SB_PICK_READ(out, message, picks)                                                          \
    sb_pick_read(out, message, picks, sizeof(picks) / sizeof *(picks))

/* Sets one member from a field of its number; for views that handle the rest of a message by hand.
 */
void sb_pick_set(void *out, const sb_pick *pick, const sb_pb_field *f);

/* Appends the members that do not hold their default, in the table's order, which should ascend.
 * Counts are not written. */
void sb_pick_add(sb_buf *b, const void *from, const sb_pick *picks, size_t n);
#define SB_PICK_ADD(b, from, picks) sb_pick_add(b, from, picks, sizeof(picks) / sizeof *(picks))

/* Defines name_read and name_add of a message that is nothing but its picks. */
#define SB_PICK_CODEC(type, name, picks)                                                           \
    sb_status name##_read(type *out, sb_slice message) {                                           \
        *out = (type){0};                                                                          \
        return SB_PICK_READ(out, message, picks);                                                  \
    }                                                                                              \
    void name##_add(sb_buf *b, const type *from) {                                                 \
        SB_PICK_ADD(b, from, picks);                                                               \
    }

#endif
