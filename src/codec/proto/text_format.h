/* text_format.h: protobuf's text format, for projector_config.pbtxt and checkpoint state files.
 *
 *     model_checkpoint_path: "model.ckpt-16"
 *     embeddings {
 *       tensor_name: "embedding"
 *       tensor_shape: [50, 8]   # also: one line a number
 *     }
 *
 * Both ways go by the descriptors of messages.h. The writer's text is what Google's Python library
 * prints. The parser takes what that takes: `a: 1`, `a {}`, `a: {}`, `a <>`, lists, comments,
 * separators `,` and `;`, texts in either quote with escapes and one after the other, enumerations
 * by name or number, decimal, hexadecimal and octal integers; and refuses what that refuses:
 * unknown names, a single field given twice, numbers out of range, invalid UTF-8 in text.
 *
 * Threads: no state.  Cost: one pass; no memory but the output's. */
#ifndef SB_CODEC_PROTO_TEXT_FORMAT_H
#define SB_CODEC_PROTO_TEXT_FORMAT_H

#include "base/buf.h"
#include "codec/proto/messages.h"

/* Deeper nesting than this is refused by both; Google's own bound. */
#define SB_TEXT_MAX_DEPTH 100

/* Appends the message as text. SB_CORRUPT for a malformed one, SB_LIMIT for one nested too deep,
 * else what sb_buf_check(out) says. Map entries come in stored order. */
sb_status sb_text_write(sb_buf *out, sb_message_id id, sb_slice payload, sb_err *err);

/* Appends the encoded message. SB_CORRUPT when the text is not one: err->offset is the byte, and
 * the message begins with line and column. SB_LIMIT for too deep nesting, and when the output is
 * over its cap. What was appended before a failure stays there. */
sb_status sb_text_parse(sb_buf *out, sb_message_id id, sb_slice text, sb_err *err);

/* Why a text is refused: its name here, a word for which the page has a sentence in the reader's
 * language, and what the message says before the token. */
#define SB_TEXT_REASON_MAP(X)                                                                      \
    X(QUOTE, "quote", "a text does not end")                                                       \
    X(QUOTED, "quoted", "a text in quotes was expected, not")                                      \
    X(ESCAPE, "escape", "a bad escape in")                                                         \
    X(UTF8, "utf8", "a text is not valid UTF-8")                                                   \
    X(WHOLE, "whole", "a whole number was expected, not")                                          \
    X(RANGE, "range", "out of range:")                                                             \
    X(NUMBER, "number", "a number was expected, not")                                              \
    X(FLAG, "flag", "true or false was expected, not")                                             \
    X(VALUE, "value", "no such value:")                                                            \
    X(BRACE, "brace", "{ was expected, not")                                                       \
    X(DEEP, "deep", "nested too deep")                                                             \
    X(LIST, "list", ", or ] was expected, not")                                                    \
    X(NAME, "name", "the name of a field was expected, not")                                       \
    X(FIELD, "field", "no such field:")                                                            \
    X(TWICE, "twice", "given more than once:")                                                     \
    X(COLON, "colon", ": was expected, not")                                                       \
    X(BLOCK, "block", "a block does not end")

#define SB_TEXT_REASON_ENUM(name, word, text) SB_TEXT_##name,
typedef enum sb_text_reason { SB_TEXT_REASON_MAP(SB_TEXT_REASON_ENUM) } sb_text_reason;
#undef SB_TEXT_REASON_ENUM

const char *sb_text_reason_word(sb_text_reason reason);

/* The place where a text was refused, both counted from 1. */
typedef struct sb_text_fault {
    sb_text_reason reason;
    size_t line, column; /* line 0: nothing was refused */
    char token[80];      /* what stands there, cut if it is longer; empty: nothing */
} sb_text_fault;

/* How much of a long text is parsed, told about every megabyte; false: it is not wanted any more,
 * and the parser answers SB_CANCELLED. */
typedef struct sb_text_watch {
    bool (*progress)(void *ud, uint64_t done, uint64_t total);
    void *ud;
} sb_text_watch;
/* The same; watch may be NULL. fault (may be NULL) is set where the text itself is refused. */
sb_status sb_text_parse_watched(sb_buf *out, sb_message_id id, sb_slice text,
                                const sb_text_watch *watch, sb_text_fault *fault, sb_err *err);

#endif
