/* json_load.c: counting, then jansson. */
#include "server/json_load.h"

#include <stdbool.h>
#include <string.h>

#include "base/slice.h"
#include "base/banned.h"

/* No fewer than the text holds, if it is JSON: each value but the first comes behind one of
 * these. */
static size_t count_values(sb_slice text) {
    size_t n = 1;
    bool quoted = false;
    for (size_t i = 0; i < text.n; i++) {
        uint8_t c = text.p[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted)
            n += c == ',' || c == '[' || c == '{';
    }
    return n;
}

sb_status sb_json_load(json_t **out, sb_slice text, size_t flags, sb_err *err) {
    *out = NULL;
    if (count_values(text) > SB_JSON_MOST_VALUES)
        return sb_fail(err, SB_LIMIT, 0, "the JSON holds more than %zu values; ask in parts",
                       SB_JSON_MOST_VALUES);
    json_error_t error = {.line = 1};
    *out = json_loadb(text.n ? (const char *)text.p : "", text.n, flags, &error);
    if (*out) return SB_OK;
    return sb_fail(err, SB_INVALID, (uint64_t)(error.position > 0 ? error.position : 0),
                   "%s (line %d, column %d)", error.text, error.line, error.column);
}
