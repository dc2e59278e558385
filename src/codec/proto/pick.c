/* pick.c: plain fields between messages and structs, by table. See pick_int.h. */
#include "codec/proto/pick_int.h"

#include "base/banned.h"

static const uint8_t wire_of[] = {
    [SB_PICK_BYTES] = SB_PB_BYTES,    [SB_PICK_INT32] = SB_PB_VARINT,
    [SB_PICK_UINT32] = SB_PB_VARINT,  [SB_PICK_INT64] = SB_PB_VARINT,
    [SB_PICK_BOOL] = SB_PB_VARINT,    [SB_PICK_FLOAT] = SB_PB_FIXED32,
    [SB_PICK_DOUBLE] = SB_PB_FIXED64, [SB_PICK_COUNT] = SB_PB_BYTES,
};

void sb_pick_set(void *out, const sb_pick *pick, const sb_pb_field *f) {
    void *member = (uint8_t *)out + pick->offset;
    if (f->wire != wire_of[pick->kind]) return;
    switch ((sb_pick_kind)pick->kind) {
    case SB_PICK_BYTES:
        *(sb_slice *)member = f->bytes;
        break;
    case SB_PICK_INT32:
        *(int32_t *)member = sb_pb_int32(f);
        break;
    case SB_PICK_UINT32:
        *(uint32_t *)member = (uint32_t)f->u64;
        break;
    case SB_PICK_INT64:
        *(int64_t *)member = sb_pb_int64(f);
        break;
    case SB_PICK_BOOL:
        *(bool *)member = f->u64 != 0;
        break;
    case SB_PICK_FLOAT:
        *(float *)member = sb_pb_float(f);
        break;
    case SB_PICK_DOUBLE:
        *(double *)member = sb_pb_double(f);
        break;
    case SB_PICK_COUNT:
        (*(size_t *)member)++;
        break;
    }
}

sb_status sb_pick_read(void *out, sb_slice message, const sb_pick *picks, size_t n) {
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD)
        for (size_t i = 0; i < n; i++)
            if (picks[i].number == f.number) sb_pick_set(out, &picks[i], &f);
    return step == SB_PB_END ? SB_OK : SB_CORRUPT;
}

void sb_pick_add(sb_buf *b, const void *from, const sb_pick *picks, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const void *member = (const uint8_t *)from + picks[i].offset;
        uint32_t number = picks[i].number;
        switch ((sb_pick_kind)picks[i].kind) {
        case SB_PICK_BYTES:
            sb_pb_add_bytes_nz(b, number, *(const sb_slice *)member);
            break;
        case SB_PICK_INT32:
            sb_pb_add_int_nz(b, number, *(const int32_t *)member);
            break;
        case SB_PICK_UINT32:
            sb_pb_add_uint_nz(b, number, *(const uint32_t *)member);
            break;
        case SB_PICK_INT64:
            sb_pb_add_int_nz(b, number, *(const int64_t *)member);
            break;
        case SB_PICK_BOOL:
            sb_pb_add_uint_nz(b, number, *(const bool *)member);
            break;
        case SB_PICK_FLOAT:
            sb_pb_add_float_nz(b, number, *(const float *)member);
            break;
        case SB_PICK_DOUBLE:
            sb_pb_add_double_nz(b, number, *(const double *)member);
            break;
        case SB_PICK_COUNT:
            break;
        }
    }
}
