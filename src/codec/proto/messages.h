/* messages.h: names for the field numbers of all messages, and descriptors for generic work.
 *
 * From messages.def come
 *   SB_<MESSAGE>_<FIELD>   field numbers: SB_EVENT_WALL_TIME = 1, SB_VALUE_SIMPLE_VALUE = 2
 *   SB_MSG_<MESSAGE>       which message: the key of the descriptors below
 *   SB_<ENUM>_<VALUE>      values of enumerations: SB_SESSION_STATUS_START = 1
 * Views (event.h, summary.h, ...) read by hand with the numbers; dumping, validation and the text
 * format work by descriptor. All tables are const. */
#ifndef SB_CODEC_PROTO_MESSAGES_H
#define SB_CODEC_PROTO_MESSAGES_H

#include <stdbool.h>

#include "seaboard/types.h"

#define SB_MESSAGE(id, full_name)
#define SB_MESSAGE_END(id)
#define SB_FIELD(id, name, number, text, type, label, sub) SB_##id##_##name = number,
enum sb_field_number {
#include "codec/proto/messages.def"
};
#undef SB_MESSAGE
#undef SB_FIELD

#define SB_MESSAGE(id, full_name) SB_MSG_##id,
#define SB_FIELD(id, name, number, text, type, label, sub)
typedef enum sb_message_id {
    SB_MSG_NONE,
#include "codec/proto/messages.def"
    SB_MSG_COUNT
} sb_message_id;
#undef SB_MESSAGE
#undef SB_MESSAGE_END
#undef SB_FIELD

#define SB_ENUM(id, full_name)
#define SB_ENUM_END(id)
#define SB_ENUM_VALUE(id, name, number, text) SB_##id##_##name = number,
enum sb_enum_number {
#include "codec/proto/messages_enums.def"
};
#undef SB_ENUM
#undef SB_ENUM_VALUE

#define SB_ENUM(id, full_name) SB_ENUM_##id,
#define SB_ENUM_VALUE(id, name, number, text)
typedef enum sb_enum_id {
    SB_ENUM_NONE,
    SB_ENUM_DATA_TYPE,
#include "codec/proto/messages_enums.def"
    SB_ENUM_COUNT
} sb_enum_id;
#undef SB_ENUM
#undef SB_ENUM_END
#undef SB_ENUM_VALUE

/* The numbers are those of FieldDescriptorProto.Type. */
typedef enum sb_field_type {
    SB_TYPE_DOUBLE = 1,
    SB_TYPE_FLOAT = 2,
    SB_TYPE_INT64 = 3,
    SB_TYPE_UINT64 = 4,
    SB_TYPE_INT32 = 5,
    SB_TYPE_FIXED64 = 6,
    SB_TYPE_FIXED32 = 7,
    SB_TYPE_BOOL = 8,
    SB_TYPE_STRING = 9,
    SB_TYPE_MESSAGE = 11,
    SB_TYPE_BYTES = 12,
    SB_TYPE_UINT32 = 13,
    SB_TYPE_ENUM = 14,
} sb_field_type;

typedef enum sb_field_label {
    SB_LABEL_ONE,
    SB_LABEL_OPTIONAL,
    SB_LABEL_ONEOF,
    SB_LABEL_MANY,
    SB_LABEL_PACKED,
    SB_LABEL_MAP,
} sb_field_label;

typedef struct sb_field_info {
    const char *name;
    uint32_t number;
    uint8_t type;  /* sb_field_type */
    uint8_t label; /* sb_field_label */
    uint16_t sub;  /* sb_message_id or sb_enum_id */
} sb_field_info;

typedef struct sb_message_info {
    const char *name;            /* full name, e.g. "tensorflow.Event" */
    const sb_field_info *fields; /* ascending by number */
    size_t count;
} sb_message_info;

/* Never NULL for an id below SB_MSG_COUNT; SB_MSG_NONE has no fields. */
const sb_message_info *sb_message_get(sb_message_id id);

/* NULL when the message has no such field. */
const sb_field_info *sb_field_by_number(const sb_message_info *message, uint32_t number);
const sb_field_info *sb_field_by_name(const sb_message_info *message, sb_slice name);

/* The wire type of one element. */
uint32_t sb_field_wire(const sb_field_info *field);
static inline bool sb_field_repeated(const sb_field_info *field) {
    return field->label >= SB_LABEL_MANY;
}

/* The proto name of an enumeration's value; NULL when the number is unknown. */
const char *sb_enum_name(sb_enum_id id, int32_t number);
bool sb_enum_number(sb_enum_id id, sb_slice name, int32_t *number);

/* Is `payload` a well-formed message of this kind all the way down? Known fields must have the
 * right wire type; unknown fields are allowed. Messages nested deeper than max_depth are refused.
 * Cost: one pass, no allocation. */
bool sb_message_valid(sb_message_id id, sb_slice payload, uint32_t max_depth);

#endif
