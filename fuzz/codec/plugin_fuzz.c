/* plugin_fuzz.c: the same bytes as the content of every plugin, as a layout, and as metadata; then
 * described as JSON by the tables, which must agree on what is well-formed. */
#include "../../tests/unit/codec/touch.h"
#include "base/text/utf8.h"
#include "codec/proto/describe.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const sb_message_id ids[] = {SB_MSG_EVENT,  SB_MSG_METADATA, SB_MSG_HPARAMS_PLUGIN,
                                        SB_MSG_LAYOUT, SB_MSG_GRAPH,    SB_MSG_MESH_PLUGIN};
    sb_slice input = sb_slice_of(data, size);
    touch_plugin(input);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        sb_buf b;
        sb_buf_init(&b, &sb_alloc_libc, 1 << 22);
        sb_status status = sb_describe(&b, ids[i], input, &(sb_describe_opts){32, true}, NULL);
        if (status == SB_OK) TOUCH_CHECK(sb_utf8_valid(sb_buf_slice(&b)));
        if (sb_message_valid(ids[i], input, 50)) TOUCH_CHECK(status == SB_OK || status == SB_LIMIT);
        sb_buf_fini(&b);
    }
    return 0;
}
