/* describe.c: messages as JSON, by descriptor. See describe.h. */
#include "codec/proto/describe.h"

#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "codec/plugin.h"
#include "codec/proto/scan_int.h"
#include "base/banned.h"

typedef struct describer {
    sb_json json;
    sb_describe_opts opts;
} describer;

enum { HEAD_BYTES = 16 };

static sb_status show_message(describer *d, sb_message_id id, sb_slice payload, uint32_t depth);

/* ---- single values ----------------------------------------------------------------------------
 */

static void show_base64(sb_json *j, sb_slice s) {
    sb_json_raw(j, SB_LIT("\"")); /* the rest of the value goes straight into the buffer */
    sb_base64_add(j->out, s, SB_BASE64);
    sb_buf_add_byte(j->out, '"');
}

static void show_bytes(describer *d, sb_slice s) {
    static const char digits[] = "0123456789abcdef";
    if (s.n <= d->opts.max_bytes) {
        show_base64(&d->json, s);
        return;
    }
    char head[2 * HEAD_BYTES];
    size_t n = s.n < HEAD_BYTES ? s.n : HEAD_BYTES;
    for (size_t i = 0; i < n; i++) {
        head[2 * i] = digits[s.p[i] >> 4];
        head[2 * i + 1] = digits[s.p[i] & 15];
    }
    sb_json_begin_object(&d->json);
    sb_json_key_str(&d->json, "bytes");
    sb_json_uint(&d->json, s.n);
    sb_json_key_str(&d->json, "head");
    sb_json_text(&d->json, sb_slice_of(head, 2 * n));
    sb_json_end_object(&d->json);
}

/* A whole number as text: so do JSON's users keep 64 bits, and so are keys of maps written. */
static sb_slice number_text(char *room, const sb_field_info *field, const sb_pb_field *f) {
    switch ((sb_field_type)field->type) {
    case SB_TYPE_BOOL:
        return f->u64 ? SB_LIT("true") : SB_LIT("false");
    case SB_TYPE_INT64:
        return sb_slice_of(room, sb_print_int64(room, sb_pb_int64(f)));
    case SB_TYPE_INT32:
        return sb_slice_of(room, sb_print_int64(room, sb_pb_int32(f)));
    case SB_TYPE_UINT32:
    case SB_TYPE_FIXED32:
        return sb_slice_of(room, sb_print_uint64(room, (uint32_t)f->u64));
    default:
        return sb_slice_of(room, sb_print_uint64(room, f->u64));
    }
}

static void show_enum(sb_json *j, const sb_field_info *field, int32_t number) {
    const char *name = sb_enum_name((sb_enum_id)field->sub, number);
    if (field->sub == SB_ENUM_NULL_VALUE)
        sb_json_null(j);
    else if (name)
        sb_json_str(j, name);
    else
        sb_json_int(j, number);
}

/* A value of a field that is not a message. */
static void show_scalar(describer *d, const sb_field_info *field, const sb_pb_field *f) {
    char room[SB_NUMBER_ROOM];
    sb_json *j = &d->json;
    switch ((sb_field_type)field->type) {
    case SB_TYPE_DOUBLE:
        sb_json_double(j, sb_pb_double(f));
        break;
    case SB_TYPE_FLOAT:
        sb_json_float(j, sb_pb_float(f));
        break;
    case SB_TYPE_INT64:
    case SB_TYPE_UINT64:
    case SB_TYPE_FIXED64:
        sb_json_text(j, number_text(room, field, f));
        break;
    case SB_TYPE_INT32:
        sb_json_int(j, sb_pb_int32(f));
        break;
    case SB_TYPE_UINT32:
    case SB_TYPE_FIXED32:
        sb_json_uint(j, (uint32_t)f->u64);
        break;
    case SB_TYPE_BOOL:
        sb_json_bool(j, f->u64 != 0);
        break;
    case SB_TYPE_ENUM:
        show_enum(j, field, sb_pb_int32(f));
        break;
    case SB_TYPE_STRING:
        sb_json_text(j, f->bytes);
        break;
    case SB_TYPE_BYTES:
        show_bytes(d, f->bytes);
        break;
    case SB_TYPE_MESSAGE:
        break;
    }
}

/* ---- fields -----------------------------------------------------------------------------------
 */

/* One field, single or merged: a number, a text or a message. */
static sb_status show_single(describer *d, const sb_pb_scan *scan, const sb_field_info *field,
                             uint32_t depth) {
    if (field->type != SB_TYPE_MESSAGE) {
        sb_pb_field f = sb_pb_scan_last(scan, field);
        show_scalar(d, field, &f);
        return SB_OK;
    }
    sb_buf scratch;
    sb_buf_init(&scratch, d->json.out->alloc, d->json.out->cap);
    sb_slice body = sb_pb_scan_merged(scan, field, &scratch);
    sb_status status = scratch.failed;
    if (status == SB_OK) status = show_message(d, (sb_message_id)field->sub, body, depth + 1);
    sb_buf_fini(&scratch);
    return status;
}

static sb_status show_list(describer *d, const sb_pb_scan *scan, const sb_field_info *field,
                           uint32_t depth) {
    sb_pb_scan_walk walk = sb_pb_scan_begin(scan, field);
    sb_pb_field f;
    sb_status status = SB_OK;
    uint32_t wire = sb_field_wire(field);
    sb_json_begin_array(&d->json);
    while (status == SB_OK && sb_pb_scan_next(&walk, &f)) {
        if (field->type == SB_TYPE_MESSAGE) {
            status = show_message(d, (sb_message_id)field->sub, f.bytes, depth + 1);
        } else if (wire == SB_PB_BYTES) {
            show_scalar(d, field, &f);
        } else {
            sb_pb_many many = sb_pb_many_of(&f, wire);
            sb_pb_field one = {.number = f.number, .wire = wire};
            while (sb_pb_many_next(&many, &one.u64) == SB_PB_FIELD) show_scalar(d, field, &one);
        }
    }
    if (status == SB_OK) sb_json_end_array(&d->json);
    return status;
}

/* A map's entry as a member of an object. Key and value are shown even where they are defaults. */
static sb_status show_entry(describer *d, sb_message_id id, sb_slice entry, uint32_t depth) {
    char room[SB_NUMBER_ROOM];
    sb_pb_scan scan;
    if (sb_pb_scan_read(&scan, id, entry) != SB_OK) return SB_CORRUPT;
    const sb_field_info *key = &scan.info->fields[0], *value = &scan.info->fields[1];
    sb_pb_field f = sb_pb_scan_last(&scan, key);
    bool is_text = key->type == SB_TYPE_STRING;
    sb_json_key(&d->json, is_text ? f.bytes : number_text(room, key, &f));
    return show_single(d, &scan, value, depth);
}

static sb_status show_map(describer *d, const sb_pb_scan *scan, const sb_field_info *field,
                          uint32_t depth) {
    sb_pb_scan_walk walk = sb_pb_scan_begin(scan, field);
    sb_pb_field f;
    sb_status status = SB_OK;
    sb_json_begin_object(&d->json);
    while (status == SB_OK && sb_pb_scan_next(&walk, &f))
        status = show_entry(d, (sb_message_id)field->sub, f.bytes, depth + 1);
    if (status == SB_OK) sb_json_end_object(&d->json);
    return status;
}

/* ---- bytes that hold a message ----------------------------------------------------------------
 */

/* Which message is inside this bytes field? */
static sb_message_id message_inside(const sb_pb_scan *scan, const sb_field_info *field) {
    const sb_message_info *info = scan->info;
    if (info == sb_message_get(SB_MSG_EVENT)) {
        if (field->number == SB_EVENT_GRAPH_DEF) return SB_MSG_GRAPH;
        if (field->number == SB_EVENT_META_GRAPH_DEF) return SB_MSG_META_GRAPH;
    }
    if (info == sb_message_get(SB_MSG_TAGGED_RUN_METADATA) &&
        field->number == SB_TAGGED_RUN_METADATA_RUN_METADATA)
        return SB_MSG_RUN_METADATA;
    if (info == sb_message_get(SB_MSG_PLUGIN_DATA) && field->number == SB_PLUGIN_DATA_CONTENT)
        return sb_plugin_content_message(sb_pb_scan_last(scan, &info->fields[0]).bytes);
    return SB_MSG_NONE;
}

static bool show_inside(describer *d, const sb_pb_scan *scan, const sb_field_info *field,
                        uint32_t depth) {
    if (!d->opts.expand || field->type != SB_TYPE_BYTES) return false;
    sb_message_id id = message_inside(scan, field);
    sb_slice bytes = sb_pb_scan_last(scan, field).bytes;
    if (id == SB_MSG_NONE || !sb_message_valid(id, bytes, SB_DESCRIBE_MAX_DEPTH)) return false;
    sb_json before = d->json;
    size_t n = d->json.out->n;
    if (show_message(d, id, bytes, depth + 1) == SB_OK) return true;
    d->json = before; /* nested too deep after all: show the bytes */
    if (d->json.out->failed == SB_OK) d->json.out->n = n;
    return false;
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static sb_status show_field(describer *d, const sb_pb_scan *scan, const sb_field_info *field,
                            uint32_t depth) {
    if (field->label == SB_LABEL_MAP) return show_map(d, scan, field, depth);
    if (sb_field_repeated(field)) return show_list(d, scan, field, depth);
    if (show_inside(d, scan, field, depth)) return SB_OK;
    return show_single(d, scan, field, depth);
}

static sb_status show_object(describer *d, const sb_pb_scan *scan, uint32_t depth) {
    sb_status status = SB_OK;
    sb_json_begin_object(&d->json);
    for (size_t i = 0; i < scan->info->count && status == SB_OK; i++) {
        if (!sb_pb_scan_has(scan, i)) continue;
        sb_json_key_str(&d->json, scan->info->fields[i].name);
        status = show_field(d, scan, &scan->info->fields[i], depth);
    }
    if (status == SB_OK) sb_json_end_object(&d->json);
    return status;
}

/* The messages that are JSON values themselves: what is in them stands for them. */
static sb_status show_bare(describer *d, sb_message_id id, const sb_pb_scan *scan, uint32_t depth) {
    for (size_t i = 0; i < scan->info->count; i++)
        if (sb_pb_scan_has(scan, i)) return show_field(d, scan, &scan->info->fields[i], depth);
    const char *nothing = id == SB_MSG_PB_STRUCT ? "{}"
                          : id == SB_MSG_PB_LIST ? "[]"
                          : id == SB_MSG_PB_BOOL ? "false"
                                                 : "null";
    sb_json_raw(&d->json, sb_slice_str(nothing));
    return SB_OK;
}

static sb_status show_message(describer *d, sb_message_id id, sb_slice payload, uint32_t depth) {
    sb_pb_scan scan;
    if (depth > SB_DESCRIBE_MAX_DEPTH) return SB_LIMIT;
    if (d->json.out->failed != SB_OK)
        return d->json.out->failed; /* the output has failed: the rest is not needed */
    if (sb_pb_scan_read(&scan, id, payload) != SB_OK) return SB_CORRUPT;
    bool bare = id == SB_MSG_PB_VALUE || id == SB_MSG_PB_STRUCT || id == SB_MSG_PB_LIST ||
                id == SB_MSG_PB_BOOL;
    return bare ? show_bare(d, id, &scan, depth) : show_object(d, &scan, depth);
}

sb_status sb_describe(sb_buf *out, sb_message_id id, sb_slice payload, const sb_describe_opts *opts,
                      sb_err *err) {
    describer d = {.opts = {.max_bytes = SIZE_MAX}};
    if (opts) d.opts = *opts;
    sb_json_init(&d.json, out, &(sb_json_opts){.utf8 = true});
    sb_status status = show_message(&d, id, payload, 0);
    const char *name = sb_message_get(id)->name;
    switch (status) {
    case SB_OK:
        return sb_json_finish(&d.json, "a message as JSON", err);
    case SB_NOMEM:
        return sb_fail_nomem(err, "describing a message");
    case SB_LIMIT:
        return sb_fail(err, SB_LIMIT, 0, "%s is nested too deep or too large to describe", name);
    default:
        return sb_fail(err, status, 0, "not a well-formed %s", name);
    }
}
