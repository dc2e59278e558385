/* messages.c: the descriptor tables, made from the .def files, and work that needs nothing else.
 *
 * Threads: const tables only.  Cost: a lookup by number is a short scan, as fields are few. */
#include "codec/proto/messages.h"

#include "base/slice.h"
#include "codec/proto/scan_int.h"
#include "base/banned.h"

#define SB_MESSAGE(id, full_name) static const sb_field_info fields_of_##id[] = {
#define SB_FIELD(id, name, number, text, type, label, sub)                                         \
    {text, number, SB_TYPE_##type, SB_LABEL_##label, sub},
#define SB_MESSAGE_END(id)                                                                         \
    }                                                                                              \
    ;
#include "codec/proto/messages.def"
#undef SB_MESSAGE
#undef SB_FIELD
#undef SB_MESSAGE_END

#define SB_MESSAGE(id, full_name)                                                                  \
    [SB_MSG_##id] = {full_name, fields_of_##id, sizeof fields_of_##id / sizeof *fields_of_##id},
#define SB_FIELD(id, name, number, text, type, label, sub)
#define SB_MESSAGE_END(id)
static const sb_message_info messages[SB_MSG_COUNT] = {
    [SB_MSG_NONE] = {"", NULL, 0},
#include "codec/proto/messages.def"
};
#undef SB_MESSAGE
#undef SB_FIELD
#undef SB_MESSAGE_END

typedef struct enum_value {
    const char *name;
    int32_t number;
} enum_value;

typedef struct enum_info {
    const enum_value *values;
    size_t count;
} enum_info;

#define DTYPE_VALUE(name, number, bytes, text) {number ? "DT_" #name : "DT_INVALID", number},
/* DT_INVALID (number 0) has no reference type; its row is repeated to keep the table regular. */
#define DTYPE_REF_VALUE(name, number, bytes, text)                                                 \
    {number ? "DT_" #name "_REF" : "DT_INVALID", number ? number + 100 : 0},
static const enum_value values_of_DATA_TYPE[] = {SB_DTYPE_MAP(DTYPE_VALUE)
                                                     SB_DTYPE_MAP(DTYPE_REF_VALUE)};

#define SB_ENUM(id, full_name) static const enum_value values_of_##id[] = {
#define SB_ENUM_VALUE(id, name, number, text) {text, number},
#define SB_ENUM_END(id)                                                                            \
    }                                                                                              \
    ;
#include "codec/proto/messages_enums.def"
#undef SB_ENUM
#undef SB_ENUM_VALUE
#undef SB_ENUM_END

#define SB_ENUM(id, full_name)                                                                     \
    [SB_ENUM_##id] = {values_of_##id, sizeof values_of_##id / sizeof *values_of_##id},
#define SB_ENUM_VALUE(id, name, number, text)
#define SB_ENUM_END(id)
static const enum_info enums[SB_ENUM_COUNT] = {[SB_ENUM_NONE] = {NULL, 0},
                                               SB_ENUM(DATA_TYPE, "tensorflow.DataType")
#include "codec/proto/messages_enums.def"
};
#undef SB_ENUM
#undef SB_ENUM_VALUE
#undef SB_ENUM_END

const sb_message_info *sb_message_get(sb_message_id id) {
    return &messages[(size_t)id < SB_MSG_COUNT ? id : SB_MSG_NONE];
}

const sb_field_info *sb_field_by_number(const sb_message_info *message, uint32_t number) {
    for (size_t i = 0; i < message->count; i++)
        if (message->fields[i].number == number) return &message->fields[i];
    return NULL;
}

const sb_field_info *sb_field_by_name(const sb_message_info *message, sb_slice name) {
    for (size_t i = 0; i < message->count; i++)
        if (sb_slice_eq(sb_slice_str(message->fields[i].name), name)) return &message->fields[i];
    return NULL;
}

uint32_t sb_field_wire(const sb_field_info *field) {
    switch ((sb_field_type)field->type) {
    case SB_TYPE_DOUBLE:
    case SB_TYPE_FIXED64:
        return SB_PB_FIXED64;
    case SB_TYPE_FLOAT:
    case SB_TYPE_FIXED32:
        return SB_PB_FIXED32;
    case SB_TYPE_STRING:
    case SB_TYPE_MESSAGE:
    case SB_TYPE_BYTES:
        return SB_PB_BYTES;
    case SB_TYPE_INT64:
    case SB_TYPE_UINT64:
    case SB_TYPE_INT32:
    case SB_TYPE_BOOL:
    case SB_TYPE_UINT32:
    case SB_TYPE_ENUM:
        break;
    }
    return SB_PB_VARINT;
}

static const enum_info *enum_get(sb_enum_id id) {
    return &enums[(size_t)id < SB_ENUM_COUNT ? id : SB_ENUM_NONE];
}

const char *sb_enum_name(sb_enum_id id, int32_t number) {
    const enum_info *e = enum_get(id);
    for (size_t i = 0; i < e->count; i++)
        if (e->values[i].number == number) return e->values[i].name;
    return NULL;
}

bool sb_enum_number(sb_enum_id id, sb_slice name, int32_t *number) {
    const enum_info *e = enum_get(id);
    for (size_t i = 0; i < e->count; i++) {
        if (!sb_slice_eq(sb_slice_str(e->values[i].name), name)) continue;
        *number = e->values[i].number;
        return true;
    }
    return false;
}

bool sb_message_valid(sb_message_id id, sb_slice payload, uint32_t max_depth) {
    const sb_message_info *message = sb_message_get(id);
    sb_pb c = sb_pb_over(payload);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        const sb_field_info *info = sb_field_by_number(message, f.number);
        if (!info) continue;
        uint32_t wire = sb_field_wire(info);
        bool packed = f.wire == SB_PB_BYTES && sb_field_repeated(info);
        if (f.wire != wire && !packed) return false;
        if (!sb_pb_scan_elements_fit(info, &f)) return false;
        if (info->type == SB_TYPE_MESSAGE &&
            (max_depth == 0 || !sb_message_valid((sb_message_id)info->sub, f.bytes, max_depth - 1)))
            return false;
    }
    return step == SB_PB_END;
}
