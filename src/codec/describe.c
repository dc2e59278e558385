/* describe.c: messages as JSON, by descriptor. See describe.h. */
#include "codec/describe.h"

#include <math.h>

#include "base/utf8.h"
#include "codec/decimal_int.h"
#include "codec/plugin.h"
#include "codec/scan_int.h"
#include "base/banned.h"

typedef struct describer {
    sb_buf *out;
    sb_describe_opts opts;
} describer;

enum { HEAD_BYTES = 16 };

static sb_status show_message(const describer *d, sb_message_id id, sb_slice payload,
                              uint32_t depth);

/* ---- single values ----------------------------------------------------------------------------
 */

static void add_text(sb_buf *out, sb_slice s) {
    sb_buf_add_byte(out, '"');
    for (size_t i = 0; i < s.n;) {
        uint8_t c = s.p[i];
        if (c >= 0x80) {
            size_t n = sb_utf8_char(sb_slice_of(s.p + i, s.n - i));
            if (n)
                sb_buf_add(out, s.p + i, n);
            else
                sb_buf_add_str(out, "\xEF\xBF\xBD");
            i += n ? n : 1;
            continue;
        }
        if (c == '"' || c == '\\') sb_buf_add_byte(out, '\\');
        if (c < 0x20 || c == 0x7F)
            sb_buf_printf(out, "\\u%04x", c);
        else
            sb_buf_add_byte(out, c);
        i++;
    }
    sb_buf_add_byte(out, '"');
}

static void add_base64(sb_buf *out, sb_slice s) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    sb_buf_add_byte(out, '"');
    for (size_t i = 0; i < s.n; i += 3) {
        size_t have = s.n - i < 3 ? s.n - i : 3;
        uint32_t bits = (uint32_t)s.p[i] << 16;
        if (have > 1) bits |= (uint32_t)s.p[i + 1] << 8;
        if (have > 2) bits |= s.p[i + 2];
        for (size_t k = 0; k < 4; k++)
            sb_buf_add_byte(out, k <= have ? (uint8_t)letters[bits >> (18 - 6 * k) & 63] : '=');
    }
    sb_buf_add_byte(out, '"');
}

static void add_bytes(const describer *d, sb_slice s) {
    if (s.n <= d->opts.max_bytes) {
        add_base64(d->out, s);
        return;
    }
    sb_buf_printf(d->out, "{\"bytes\":%zu,\"head\":\"", s.n);
    for (size_t i = 0; i < s.n && i < HEAD_BYTES; i++) sb_buf_printf(d->out, "%02x", s.p[i]);
    sb_buf_add_str(d->out, "\"}");
}

static void add_real(sb_buf *out, double x, bool is_float) {
    if (isnan(x))
        sb_buf_add_str(out, "\"NaN\"");
    else if (isinf(x))
        sb_buf_add_str(out, x < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    else if (is_float)
        sb_decimal_add_float(out, (float)x);
    else
        sb_decimal_add_double(out, x);
}

static void add_enum(sb_buf *out, const sb_field_info *field, int32_t number) {
    const char *name = sb_enum_name((sb_enum_id)field->sub, number);
    if (field->sub == SB_ENUM_NULL_VALUE)
        sb_buf_add_str(out, "null");
    else if (name)
        add_text(out, sb_slice_str(name));
    else
        sb_buf_printf(out, "%d", number);
}

/* A value of a field that is not a message. key: as the name of a member, which is always text. */
static void add_scalar(const describer *d, const sb_field_info *field, const sb_pb_field *f,
                       bool key) {
    const char *quote = key ? "\"" : "";
    switch ((sb_field_type)field->type) {
    case SB_TYPE_DOUBLE:
        add_real(d->out, sb_pb_double(f), false);
        break;
    case SB_TYPE_FLOAT:
        add_real(d->out, (double)sb_pb_float(f), true);
        break;
    case SB_TYPE_INT64:
        sb_buf_printf(d->out, "\"%lld\"", (long long)sb_pb_int64(f));
        break;
    case SB_TYPE_UINT64:
    case SB_TYPE_FIXED64:
        sb_buf_printf(d->out, "\"%llu\"", (unsigned long long)f->u64);
        break;
    case SB_TYPE_INT32:
        sb_buf_printf(d->out, "%s%d%s", quote, sb_pb_int32(f), quote);
        break;
    case SB_TYPE_UINT32:
    case SB_TYPE_FIXED32:
        sb_buf_printf(d->out, "%s%u%s", quote, (unsigned)f->u64, quote);
        break;
    case SB_TYPE_BOOL:
        sb_buf_printf(d->out, "%s%s%s", quote, f->u64 ? "true" : "false", quote);
        break;
    case SB_TYPE_ENUM:
        add_enum(d->out, field, sb_pb_int32(f));
        break;
    case SB_TYPE_STRING:
        add_text(d->out, f->bytes);
        break;
    case SB_TYPE_BYTES:
        add_bytes(d, f->bytes);
        break;
    case SB_TYPE_MESSAGE:
        break;
    }
}

/* ---- fields -----------------------------------------------------------------------------------
 */

/* One field that is present, single or merged: a number, a text or a message. */
static sb_status show_single(const describer *d, const sb_scan *scan, const sb_field_info *field,
                             uint32_t depth) {
    if (field->type != SB_TYPE_MESSAGE) {
        sb_pb_field f = sb_scan_last(scan, field);
        add_scalar(d, field, &f, false);
        return SB_OK;
    }
    sb_buf scratch;
    sb_buf_init(&scratch, d->out->alloc, d->out->cap);
    sb_slice body = sb_scan_merged(scan, field, &scratch);
    sb_status status = scratch.failed;
    if (status == SB_OK) status = show_message(d, (sb_message_id)field->sub, body, depth + 1);
    sb_buf_fini(&scratch);
    return status;
}

static void add_comma(const describer *d, bool *first) {
    if (!*first) sb_buf_add_byte(d->out, ',');
    *first = false;
}

static sb_status show_list(const describer *d, const sb_scan *scan, const sb_field_info *field,
                           uint32_t depth) {
    sb_scan_walk walk = sb_scan_begin(scan, field);
    sb_pb_field f;
    bool first = true;
    sb_status status = SB_OK;
    uint32_t wire = sb_field_wire(field);
    sb_buf_add_byte(d->out, '[');
    while (status == SB_OK && sb_scan_next(&walk, &f)) {
        if (wire == SB_PB_BYTES) {
            add_comma(d, &first);
            if (field->type == SB_TYPE_MESSAGE)
                status = show_message(d, (sb_message_id)field->sub, f.bytes, depth + 1);
            else
                add_scalar(d, field, &f, false);
            continue;
        }
        sb_pb_many many = sb_pb_many_of(&f, wire);
        sb_pb_field one = {.number = f.number, .wire = wire};
        while (sb_pb_many_next(&many, &one.u64) == SB_PB_FIELD) {
            add_comma(d, &first);
            add_scalar(d, field, &one, false);
        }
    }
    sb_buf_add_byte(d->out, ']');
    return status;
}

/* A map's entry as a member of an object. Key and value are shown even where they are defaults. */
static sb_status show_entry(const describer *d, sb_message_id id, sb_slice entry, uint32_t depth) {
    sb_scan scan;
    if (sb_scan_read(&scan, id, entry) != SB_OK) return SB_CORRUPT;
    const sb_field_info *key = &scan.info->fields[0], *value = &scan.info->fields[1];
    sb_pb_field f = sb_scan_last(&scan, key);
    add_scalar(d, key, &f, true);
    sb_buf_add_byte(d->out, ':');
    return show_single(d, &scan, value, depth);
}

static sb_status show_map(const describer *d, const sb_scan *scan, const sb_field_info *field,
                          uint32_t depth) {
    sb_scan_walk walk = sb_scan_begin(scan, field);
    sb_pb_field f;
    bool first = true;
    sb_status status = SB_OK;
    sb_buf_add_byte(d->out, '{');
    while (status == SB_OK && sb_scan_next(&walk, &f)) {
        add_comma(d, &first);
        status = show_entry(d, (sb_message_id)field->sub, f.bytes, depth + 1);
    }
    sb_buf_add_byte(d->out, '}');
    return status;
}

/* ---- bytes that hold a message ----------------------------------------------------------------
 */

/* Which message is inside this bytes field? */
static sb_message_id message_inside(const sb_scan *scan, const sb_field_info *field) {
    const sb_message_info *info = scan->info;
    if (info == sb_message_get(SB_MSG_EVENT)) {
        if (field->number == SB_EVENT_GRAPH_DEF) return SB_MSG_GRAPH;
        if (field->number == SB_EVENT_META_GRAPH_DEF) return SB_MSG_META_GRAPH;
    }
    if (info == sb_message_get(SB_MSG_TAGGED_RUN_METADATA) &&
        field->number == SB_TAGGED_RUN_METADATA_RUN_METADATA)
        return SB_MSG_RUN_METADATA;
    if (info == sb_message_get(SB_MSG_PLUGIN_DATA) && field->number == SB_PLUGIN_DATA_CONTENT)
        return sb_plugin_content_message(sb_scan_last(scan, &info->fields[0]).bytes);
    return SB_MSG_NONE;
}

static bool show_inside(const describer *d, const sb_scan *scan, const sb_field_info *field,
                        uint32_t depth) {
    if (!d->opts.expand || field->type != SB_TYPE_BYTES) return false;
    sb_message_id id = message_inside(scan, field);
    sb_slice bytes = sb_scan_last(scan, field).bytes;
    size_t before = d->out->n;
    if (id == SB_MSG_NONE || !sb_message_valid(id, bytes, SB_DESCRIBE_MAX_DEPTH)) return false;
    if (show_message(d, id, bytes, depth + 1) == SB_OK) return true;
    if (d->out->failed == SB_OK) d->out->n = before;
    return false;
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static sb_status show_field(const describer *d, const sb_scan *scan, const sb_field_info *field,
                            uint32_t depth) {
    if (field->label == SB_LABEL_MAP) return show_map(d, scan, field, depth);
    if (sb_field_repeated(field)) return show_list(d, scan, field, depth);
    if (show_inside(d, scan, field, depth)) return SB_OK;
    return show_single(d, scan, field, depth);
}

static sb_status show_object(const describer *d, const sb_scan *scan, uint32_t depth) {
    bool first = true;
    sb_status status = SB_OK;
    sb_buf_add_byte(d->out, '{');
    for (size_t i = 0; i < scan->info->count && status == SB_OK; i++) {
        if (!sb_scan_has(scan, i)) continue;
        add_comma(d, &first);
        sb_buf_printf(d->out, "\"%s\":", scan->info->fields[i].name);
        status = show_field(d, scan, &scan->info->fields[i], depth);
    }
    sb_buf_add_byte(d->out, '}');
    return status;
}

/* The messages that are JSON values themselves: what is in them stands for them. */
static sb_status show_bare(const describer *d, sb_message_id id, const sb_scan *scan,
                           uint32_t depth) {
    for (size_t i = 0; i < scan->info->count; i++)
        if (sb_scan_has(scan, i)) return show_field(d, scan, &scan->info->fields[i], depth);
    sb_buf_add_str(d->out, id == SB_MSG_PB_STRUCT ? "{}"
                           : id == SB_MSG_PB_LIST ? "[]"
                           : id == SB_MSG_PB_BOOL ? "false"
                                                  : "null");
    return SB_OK;
}

static sb_status show_message(const describer *d, sb_message_id id, sb_slice payload,
                              uint32_t depth) {
    sb_scan scan;
    if (depth > SB_DESCRIBE_MAX_DEPTH) return SB_LIMIT;
    if (d->out->failed != SB_OK) return d->out->failed; /* no use in going on */
    if (sb_scan_read(&scan, id, payload) != SB_OK) return SB_CORRUPT;
    bool bare = id == SB_MSG_PB_VALUE || id == SB_MSG_PB_STRUCT || id == SB_MSG_PB_LIST ||
                id == SB_MSG_PB_BOOL;
    return bare ? show_bare(d, id, &scan, depth) : show_object(d, &scan, depth);
}

sb_status sb_describe(sb_buf *out, sb_message_id id, sb_slice payload, const sb_describe_opts *opts,
                      sb_err *err) {
    describer d = {.out = out, .opts = {.max_bytes = SIZE_MAX}};
    if (opts) d.opts = *opts;
    sb_status status = show_message(&d, id, payload, 0);
    const char *name = sb_message_get(id)->name;
    switch (status) {
    case SB_OK:
        return sb_buf_check(out, "a message as JSON", err);
    case SB_NOMEM:
        return sb_fail_nomem(err, "describing a message");
    case SB_LIMIT:
        return sb_fail(err, SB_LIMIT, 0, "%s is nested too deep or too large to describe", name);
    default:
        return sb_fail(err, status, 0, "not a well-formed %s", name);
    }
}
