/* text_write.c: messages as text. See text_format.h. */
#include <math.h>

#include "base/text/number.h"
#include "base/text/utf8.h"
#include "codec/proto/scan_int.h"
#include "codec/proto/text_format.h"
#include "base/banned.h"

static void add_indent(sb_buf *out, uint32_t depth) {
    for (uint32_t i = 0; i < depth; i++) sb_buf_add(out, "  ", 2);
}

/* Quoted, with escapes. Text keeps its non-ASCII characters, bytes become octal. */
static void add_quoted(sb_buf *out, sb_slice s, bool is_text) {
    static const char named[] = "\n\r\t\"'\\";
    static const char letter[] = "nrt\"'\\";
    sb_buf_add_byte(out, '"');
    for (size_t i = 0; i < s.n;) {
        uint8_t c = s.p[i];
        const char *found = c ? strchr(named, c) : NULL;
        size_t wide = c >= 0x80 && is_text ? sb_utf8_char(sb_slice_of(s.p + i, s.n - i)) : 0;
        if (found)
            sb_buf_printf(out, "\\%c", letter[found - named]);
        else if (wide)
            sb_buf_add(out, s.p + i, wide);
        else if (c >= 0x20 && c < 0x7F)
            sb_buf_add_byte(out, c);
        else
            sb_buf_printf(out, "\\%03o", c);
        i += wide ? wide : 1;
    }
    sb_buf_add_byte(out, '"');
}

static void add_real(sb_buf *out, double x, bool is_float) {
    char text[SB_NUMBER_ROOM];
    if (isnan(x))
        sb_buf_add_str(out, "nan");
    else if (isinf(x))
        sb_buf_add_str(out, x < 0 ? "-inf" : "inf");
    else
        sb_buf_add(out, text, is_float ? sb_print_float(text, (float)x) : sb_print_double(text, x));
}

static void add_int(sb_buf *out, int64_t x) {
    char text[SB_NUMBER_ROOM];
    sb_buf_add(out, text, sb_print_int64(text, x));
}

static void add_uint(sb_buf *out, uint64_t x) {
    char text[SB_NUMBER_ROOM];
    sb_buf_add(out, text, sb_print_uint64(text, x));
}

static void add_scalar(sb_buf *out, const sb_field_info *field, const sb_pb_field *f) {
    switch ((sb_field_type)field->type) {
    case SB_TYPE_DOUBLE:
        add_real(out, sb_pb_double(f), false);
        break;
    case SB_TYPE_FLOAT:
        add_real(out, (double)sb_pb_float(f), true);
        break;
    case SB_TYPE_INT64:
        add_int(out, sb_pb_int64(f));
        break;
    case SB_TYPE_INT32:
        add_int(out, sb_pb_int32(f));
        break;
    case SB_TYPE_UINT64:
    case SB_TYPE_FIXED64:
        add_uint(out, f->u64);
        break;
    case SB_TYPE_UINT32:
    case SB_TYPE_FIXED32:
        add_uint(out, (uint32_t)f->u64);
        break;
    case SB_TYPE_BOOL:
        sb_buf_add_str(out, f->u64 ? "true" : "false");
        break;
    case SB_TYPE_ENUM: {
        const char *name = sb_enum_name((sb_enum_id)field->sub, sb_pb_int32(f));
        if (name)
            sb_buf_add_str(out, name);
        else
            add_int(out, sb_pb_int32(f));
        break;
    }
    case SB_TYPE_STRING:
    case SB_TYPE_BYTES:
        add_quoted(out, f->bytes, field->type == SB_TYPE_STRING);
        break;
    case SB_TYPE_MESSAGE:
        break;
    }
}

static void add_line(sb_buf *out, const sb_field_info *field, const sb_pb_field *f,
                     uint32_t depth) {
    add_indent(out, depth);
    sb_buf_add_str(out, field->name);
    sb_buf_add(out, ": ", 2);
    add_scalar(out, field, f);
    sb_buf_add_byte(out, '\n');
}

static sb_status write_message(sb_buf *out, sb_message_id id, sb_slice payload, uint32_t depth);

static sb_status write_block(sb_buf *out, const sb_field_info *field, sb_slice body,
                             uint32_t depth) {
    add_indent(out, depth);
    sb_buf_add_str(out, field->name);
    sb_buf_add(out, " {\n", 3);
    sb_status status = write_message(out, (sb_message_id)field->sub, body, depth + 1);
    add_indent(out, depth);
    sb_buf_add(out, "}\n", 2);
    return status;
}

static sb_status write_repeated(sb_buf *out, const sb_pb_scan *scan, const sb_field_info *field,
                                uint32_t depth) {
    sb_pb_scan_walk walk = sb_pb_scan_begin(scan, field);
    sb_pb_field f;
    while (sb_pb_scan_next(&walk, &f)) {
        if (field->type == SB_TYPE_MESSAGE) {
            sb_status status = write_block(out, field, f.bytes, depth);
            if (status != SB_OK) return status;
        } else if (sb_field_wire(field) == SB_PB_BYTES) {
            add_line(out, field, &f, depth);
        } else {
            sb_pb_many many = sb_pb_many_of(&f, sb_field_wire(field));
            sb_pb_field one = {.number = f.number, .wire = sb_field_wire(field)};
            while (sb_pb_many_next(&many, &one.u64) == SB_PB_FIELD)
                add_line(out, field, &one, depth);
        }
    }
    return SB_OK;
}

static sb_status write_single(sb_buf *out, const sb_pb_scan *scan, const sb_field_info *field,
                              uint32_t depth) {
    if (field->type != SB_TYPE_MESSAGE) {
        sb_pb_field f = sb_pb_scan_last(scan, field);
        add_line(out, field, &f, depth);
        return SB_OK;
    }
    sb_buf scratch;
    sb_buf_init(&scratch, out->alloc, out->cap);
    sb_slice body = sb_pb_scan_merged(scan, field, &scratch);
    sb_status status = scratch.failed;
    if (status == SB_OK) status = write_block(out, field, body, depth);
    sb_buf_fini(&scratch);
    return status;
}

static sb_status write_message(sb_buf *out, sb_message_id id, sb_slice payload, uint32_t depth) {
    sb_pb_scan scan;
    if (depth > SB_TEXT_MAX_DEPTH) return SB_LIMIT;
    if (out->failed != SB_OK)
        return out->failed; /* the output has failed: the rest is not needed */
    if (sb_pb_scan_read(&scan, id, payload) != SB_OK) return SB_CORRUPT;
    sb_status status = SB_OK;
    for (size_t i = 0; i < scan.info->count && status == SB_OK; i++) {
        const sb_field_info *field = &scan.info->fields[i];
        if (!sb_pb_scan_has(&scan, i)) continue;
        status = sb_field_repeated(field) ? write_repeated(out, &scan, field, depth)
                                          : write_single(out, &scan, field, depth);
    }
    return status;
}

sb_status sb_text_write(sb_buf *out, sb_message_id id, sb_slice payload, sb_err *err) {
    sb_status status = write_message(out, id, payload, 0);
    const char *name = sb_message_get(id)->name;
    switch (status) {
    case SB_OK:
        return sb_buf_check(out, "a message as text", err);
    case SB_NOMEM:
        return sb_fail_nomem(err, "printing a message");
    case SB_LIMIT:
        return sb_fail(err, SB_LIMIT, 0, "%s is nested too deep or too large to print", name);
    default:
        return sb_fail(err, status, 0, "not a well-formed %s", name);
    }
}
