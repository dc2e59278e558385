/* ckpt_state_fuzz.c: state files. What is parsed and written again is parsed to the same. */
#include <math.h>
#include <stdlib.h>

#include "base/slice.h"
#include "ckpt/state.h"
#include "base/banned.h"

static void check(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_arena arena;
    sb_ckpt_state state, again;
    sb_err err;
    sb_buf text;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, (size_t)64 << 20);
    sb_buf_init(&text, &sb_alloc_libc, (size_t)16 << 20);
    if (sb_ckpt_state_parse(&state, sb_slice_of(data, size), &sb_alloc_libc, &arena, &err) ==
            SB_OK &&
        sb_ckpt_state_format(&text, &state, &sb_alloc_libc, &err) == SB_OK) {
        check(sb_ckpt_state_parse(&again, sb_buf_slice(&text), &sb_alloc_libc, &arena, &err) ==
              SB_OK);
        check(sb_slice_eq(state.newest, again.newest) && state.count == again.count &&
              state.time_count == again.time_count);
        for (size_t i = 0; i < state.count; i++) check(sb_slice_eq(state.all[i], again.all[i]));
        for (size_t i = 0; i < state.time_count; i++)
            check(state.times[i] == again.times[i] || isnan(state.times[i]));
    }
    sb_buf_fini(&text);
    sb_arena_fini(&arena);
    return 0;
}
