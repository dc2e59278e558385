/* scan.c: the fields of a message as protobuf means them. See scan_int.h. */
#include "codec/proto/scan_int.h"

#include "base/banned.h"

static bool wire_fits(const sb_field_info *field, const sb_pb_field *f) {
    uint32_t wire = sb_field_wire(field);
    return f->wire == wire || (sb_field_repeated(field) && f->wire == SB_PB_BYTES);
}

bool sb_pb_scan_elements_fit(const sb_field_info *field, const sb_pb_field *f) {
    uint32_t wire = sb_field_wire(field);
    if (wire == SB_PB_BYTES || f->wire != SB_PB_BYTES) return true;
    sb_pb_many many = sb_pb_many_of(f, wire);
    uint64_t bits;
    sb_pb_step step;
    while ((step = sb_pb_many_next(&many, &bits)) == SB_PB_FIELD) {
    }
    return step == SB_PB_END;
}

static bool is_default(const sb_field_info *field, const sb_pb_field *f) {
    if (f->wire == SB_PB_BYTES) return f->bytes.n == 0;
    switch ((sb_field_type)field->type) {
    case SB_TYPE_INT32:
    case SB_TYPE_UINT32:
    case SB_TYPE_ENUM:
        return (uint32_t)f->u64 == 0;
    default:
        return f->u64 == 0;
    }
}

sb_status sb_pb_scan_read(sb_pb_scan *out, sb_message_id id, sb_slice message) {
    *out = (sb_pb_scan){.info = sb_message_get(id), .message = message};
    sb_pb c = sb_pb_over(message);
    out->oneof_from = c.p;
    uint64_t oneof_members = 0;
    sb_pb_field f;
    sb_pb_step step;
    for (;;) {
        const uint8_t *at = c.p;
        if ((step = sb_pb_next(&c, &f)) != SB_PB_FIELD) break;
        const sb_field_info *field = sb_field_by_number(out->info, f.number);
        if (!field || !wire_fits(field, &f)) continue;
        if (!sb_pb_scan_elements_fit(field, &f)) return SB_CORRUPT;
        uint64_t bit = (uint64_t)1 << (field - out->info->fields);
        if (field->label == SB_LABEL_ONEOF) {
            if (out->oneof != field->number) out->oneof_from = at;
            out->oneof = field->number;
            out->present = (out->present & ~oneof_members) | bit;
            oneof_members |= bit;
        } else if (field->label == SB_LABEL_ONE && field->type != SB_TYPE_MESSAGE &&
                   is_default(field, &f)) {
            out->present &= ~bit;
        } else if (sb_field_repeated(field) && f.wire == SB_PB_BYTES && f.bytes.n == 0 &&
                   sb_field_wire(field) != SB_PB_BYTES) {
            continue; /* a packed field without elements */
        } else {
            out->present |= bit;
        }
    }
    return step == SB_PB_END ? SB_OK : SB_CORRUPT;
}

sb_pb_scan_walk sb_pb_scan_begin(const sb_pb_scan *scan, const sb_field_info *field) {
    sb_pb c = sb_pb_over(scan->message);
    if (field->label == SB_LABEL_ONEOF) c.p = scan->oneof_from;
    return (sb_pb_scan_walk){c, field};
}

bool sb_pb_scan_next(sb_pb_scan_walk *walk, sb_pb_field *out) {
    while (sb_pb_next(&walk->c, out) == SB_PB_FIELD)
        if (out->number == walk->field->number && wire_fits(walk->field, out)) return true;
    return false;
}

sb_pb_field sb_pb_scan_last(const sb_pb_scan *scan, const sb_field_info *field) {
    sb_pb_scan_walk walk = sb_pb_scan_begin(scan, field);
    sb_pb_field f, last = {0};
    while (sb_pb_scan_next(&walk, &f)) last = f;
    return last;
}

sb_slice sb_pb_scan_merged(const sb_pb_scan *scan, const sb_field_info *field, sb_buf *scratch) {
    sb_pb_scan_walk walk = sb_pb_scan_begin(scan, field);
    sb_pb_field f, first;
    if (!sb_pb_scan_next(&walk, &first)) return sb_slice_of(NULL, 0);
    if (!sb_pb_scan_next(&walk, &f)) return first.bytes;
    sb_buf_add_slice(scratch, first.bytes);
    do sb_buf_add_slice(scratch, f.bytes);
    while (sb_pb_scan_next(&walk, &f));
    return sb_buf_slice(scratch);
}
