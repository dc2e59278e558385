/* text_format_test.c: the text format, as Google's Python library writes and takes it. */
#include "codec/proto/text_format.h"

#include "codec/proto/proto.h"
#include "support/fault_alloc.h"
#include "unit/codec/fixtures.h"
#include "unit/codec/hostile.h"
#include "base/banned.h"

static sb_buf new_buf(void) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    return b;
}

/* Text to bytes; the expected ones in hex. */
static void expect_parse(sb_message_id id, const char *text, const char *hex) {
    uint8_t room[512];
    sb_buf b = new_buf();
    sb_err err;
    sb_status status = sb_text_parse(&b, id, sb_slice_str(text), &err);
    if (status != SB_OK) fail_msg("%s: %s", text, err.text);
    sb_slice want = sb_test_bytes(room, sizeof room, hex);
    if (!sb_slice_eq(sb_buf_slice(&b), want)) fail_msg("%s: other bytes", text);
    sb_buf_fini(&b);
}

static void expect_refusal(sb_message_id id, const char *text, const char *reason) {
    sb_buf b = new_buf();
    sb_err err = {0};
    if (sb_text_parse(&b, id, sb_slice_str(text), &err) != SB_CORRUPT) fail_msg("took: %s", text);
    if (!strstr(err.text, reason)) fail_msg("%s: \"%s\" lacks \"%s\"", text, err.text, reason);
    sb_buf_fini(&b);
}

static void expect_write(sb_message_id id, const char *hex, const char *text) {
    uint8_t room[512];
    sb_buf b = new_buf();
    sb_err err;
    assert_ok(sb_text_write(&b, id, sb_test_bytes(room, sizeof room, hex), &err), &err);
    assert_slice_is(sb_buf_slice(&b), text);
    sb_buf_fini(&b);
}

/* ---- parsing --------------------------------------------------------------------------------- */

static void blocks_have_many_spellings(void **state) {
    (void)state;
    expect_parse(SB_MSG_PROJECTOR, "", "");
    expect_parse(SB_MSG_PROJECTOR, "embeddings { } embeddings: { } embeddings < >",
                 "1200 1200 1200");
    expect_parse(SB_MSG_PROJECTOR, "embeddings: [{}, {tensor_name:\"x\"}]", "1200 1203 0a0178");
    expect_parse(SB_MSG_PROJECTOR, "embeddings [{}]", "1200");
    expect_parse(SB_MSG_PROJECTOR, "embeddings { sprite: {}, }, ", "1202 2a00");
    expect_parse(SB_MSG_PROJECTOR, "embeddings{sprite<>tensor_name:'a'}", "1205 2a00 0a0161");
    expect_parse(SB_MSG_SESSION_START, "hparams { key: 'a' value { number_value: 1 } }",
                 "0a0e 0a0161 1209 11000000000000f03f");
}

static void lists_comments_and_separators_are_taken(void **state) {
    (void)state;
    expect_parse(SB_MSG_EMBEDDING, "tensor_shape: [1,2,3] tensor_shape: 4", "2001 2002 2003 2004");
    expect_parse(SB_MSG_EMBEDDING, "tensor_shape: []", "");
    expect_parse(SB_MSG_EMBEDDING, "tensor_shape: 1, tensor_shape: 2; ", "2001 2002");
    expect_parse(SB_MSG_EMBEDDING, "# first\ntensor_shape: # here\n 1 # last", "2001");
}

static void texts_are_joined_and_unescaped(void **state) {
    (void)state;
    expect_parse(SB_MSG_PROJECTOR, "model_checkpoint_path: \"a\" 'b' # c\n \"d\"", "0a03 616264");
    expect_parse(SB_MSG_PROJECTOR,
                 "model_checkpoint_path: \"\\u00e9\\U0001F600\\x41\\101\\a\\n\\\\\\'\\\"\"",
                 "0a0d c3a9 f09f9880 41 41 07 0a 5c 27 22");
    expect_parse(SB_MSG_TENSOR, "tensor_content: '\\377\\0\\1234\\xfg'", "2206 ff 00 53 34 0f 67");
    expect_parse(SB_MSG_PROJECTOR, "model_checkpoint_path: ''", "0a00");
}

static void numbers_are_read_within_their_range(void **state) {
    (void)state;
    expect_parse(SB_MSG_EMBEDDING, "tensor_shape: 0x10 tensor_shape: 010 tensor_shape: 0",
                 "2010 2008 2000");
    expect_parse(SB_MSG_TENSOR, "int_val: -2147483648", "38 80808080f8ffffffff01");
    expect_parse(SB_MSG_TENSOR, "int64_val: -9223372036854775808", "50 80808080808080808001");
    expect_parse(SB_MSG_TENSOR, "uint64_val: 18446744073709551615", "8801 ffffffffffffffffff01");
    expect_parse(SB_MSG_TENSOR, "int_val: -0x10", "38 f0ffffffffffffffff01");
    expect_parse(SB_MSG_STACK_TRACE, "frame_id: 258", "11 0201000000000000");
    expect_refusal(SB_MSG_EMBEDDING, "tensor_shape: 4294967296", "out of range");
    expect_refusal(SB_MSG_EMBEDDING, "tensor_shape: -1", "out of range");
    expect_refusal(SB_MSG_TENSOR, "int_val: 2147483648", "out of range");
    expect_refusal(SB_MSG_TENSOR, "uint64_val: 18446744073709551616", "whole number");
    expect_refusal(SB_MSG_EMBEDDING, "tensor_shape: 09", "whole number");
    expect_refusal(SB_MSG_EMBEDDING, "tensor_shape: 1.0", "whole number");
    expect_refusal(SB_MSG_EMBEDDING, "tensor_shape: \"1\"", "whole number");
    expect_refusal(SB_MSG_EMBEDDING, "tensor_shape: 0x", "whole number");
    expect_refusal(SB_MSG_EMBEDDING, "tensor_shape: -", "whole number");
    expect_refusal(SB_MSG_EMBEDDING, "tensor_shape:1tensor_shape:2", "whole number");
}

static void reals_have_many_spellings(void **state) {
    (void)state;
    expect_parse(SB_MSG_HISTOGRAM, "min: 1", "09 000000000000f03f");
    expect_parse(SB_MSG_HISTOGRAM, "min: 1.5F", "09 000000000000f83f");
    expect_parse(SB_MSG_HISTOGRAM, "min: -inf", "09 000000000000f0ff");
    expect_parse(SB_MSG_HISTOGRAM, "min: Infinity", "09 000000000000f07f");
    expect_parse(SB_MSG_HISTOGRAM, "min: nan", "09 000000000000f87f");
    expect_parse(SB_MSG_HISTOGRAM, "min: -nan", "09 000000000000f8ff");
    expect_parse(SB_MSG_HISTOGRAM, "min: .5", "09 000000000000e03f");
    expect_parse(SB_MSG_HISTOGRAM, "min: 1e5", "09 00000000006af840");
    expect_parse(SB_MSG_HISTOGRAM, "min: 99999999999999999999999", "09 f64ae1c7022db544");
    expect_parse(SB_MSG_TENSOR, "float_val: 0.1 float_val: 1e40", "2d cdcccc3d 2d 0000807f");
    expect_refusal(SB_MSG_HISTOGRAM, "min: 0x10", "number");
    expect_refusal(SB_MSG_HISTOGRAM, "min: 010", "number");
    expect_refusal(SB_MSG_HISTOGRAM, "min: 1e", "number");
    expect_refusal(SB_MSG_HISTOGRAM, "min: true", "number");
    expect_refusal(SB_MSG_HISTOGRAM, "min: \"1\"", "number");
    expect_refusal(SB_MSG_HISTOGRAM, "min: - 3", "number");
    expect_refusal(SB_MSG_HISTOGRAM, "bucket: [1,2,]", "number");
    expect_refusal(SB_MSG_HISTOGRAM, "bucket: [1 2]", "expected");
}

static void enumerations_and_booleans_are_read(void **state) {
    (void)state;
    expect_parse(SB_MSG_TENSOR, "dtype: DT_FLOAT", "0801");
    expect_parse(SB_MSG_TENSOR, "dtype: 999", "08 e707");
    expect_parse(SB_MSG_TENSOR, "dtype: -1", "08 ffffffffffffffffff01");
    expect_refusal(SB_MSG_TENSOR, "dtype: FOO", "no such value");
    expect_refusal(SB_MSG_TENSOR, "dtype: \"DT_FLOAT\"", "whole number");
    expect_parse(SB_MSG_TENSOR, "bool_val: [true,false,1,0,t,f,True,False]",
                 "5801 5800 5801 5800 5801 5800 5801 5800");
    expect_refusal(SB_MSG_TENSOR, "bool_val: 2", "true or false");
    expect_refusal(SB_MSG_TENSOR, "bool_val: TRUE", "true or false");
}

static void what_is_not_the_format_is_refused(void **state) {
    (void)state;
    expect_refusal(SB_MSG_PROJECTOR, "nope: 1", "no such field: nope");
    expect_refusal(SB_MSG_PROJECTOR, "[foo.bar]: 1", "name of a field");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path: 'a' model_checkpoint_path: 'b'",
                   "more than once");
    expect_refusal(SB_MSG_PB_VALUE, "number_value: 1 bool_value: true", "more than once");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path: 5", "text in quotes");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path \"x\"", ": was expected");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path: [\"a\"]", "text in quotes");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path: \"\\xff\"", "UTF-8");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path: \"\\ud800\"", "escape");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path: \"\\x\"", "escape");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path: \"\\777\"", "escape");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path: \"a\nb\"", "does not end");
    expect_refusal(SB_MSG_PROJECTOR, "model_checkpoint_path: \"a\\", "does not end");
    expect_refusal(SB_MSG_PROJECTOR, "embeddings: {", "does not end");
    expect_refusal(SB_MSG_PROJECTOR, "embeddings { } }", "name of a field");
    expect_refusal(SB_MSG_PROJECTOR, "embeddings { >", "name of a field");
    expect_refusal(SB_MSG_PROJECTOR, "embeddings, {}", "{ was expected");
    expect_refusal(SB_MSG_PROJECTOR, "embeddings", "{ was expected");
    expect_refusal(SB_MSG_PROJECTOR, "embeddings {};;", "name of a field");
}

static void a_refusal_names_line_and_column(void **state) {
    (void)state;
    sb_buf b = new_buf();
    sb_err err = {0};
    sb_slice text = SB_LIT("embeddings {\n  tensor_name: \"a\"\n  wrong: 1\n}\n");
    assert_int_equal(sb_text_parse(&b, SB_MSG_PROJECTOR, text, &err), SB_CORRUPT);
    assert_string_equal(err.text, "line 3, column 3: no such field: wrong");
    assert_int_equal(err.offset, 34);
    sb_buf_fini(&b);
}

static sb_text_fault fault_in(const char *text) {
    sb_buf b = new_buf();
    sb_text_fault fault = {0};
    sb_err err = {0};
    sb_text_parse_watched(&b, SB_MSG_PROJECTOR, sb_slice_str(text), NULL, &fault, &err);
    sb_buf_fini(&b);
    return fault;
}

static void a_refusal_has_a_word_a_place_and_the_token(void **state) {
    (void)state;
    sb_text_fault fault = fault_in("embeddings {\n  wrong: 1 }");
    assert_string_equal(sb_text_reason_word(fault.reason), "field");
    assert_int_equal(fault.line, 2);
    assert_int_equal(fault.column, 3);
    assert_string_equal(fault.token, "wrong");
    fault = fault_in("embeddings {}");
    assert_int_equal(fault.line, 0);
    /* a character is whole, and a long token is cut between two */
    assert_string_equal(fault_in("\xe5\xb1\x82 {}").token, "\xe5\xb1\x82");
    char text[200] = "\"";
    for (size_t i = 1; i + 4 < sizeof text; i += 2) memcpy(text + i, "\xc3\xa9", 3);
    text[strlen(text)] = '"';
    fault = fault_in(text);
    assert_string_equal(sb_text_reason_word(fault.reason), "name");
    assert_int_equal(strlen(fault.token), sizeof fault.token - 1);
    assert_memory_equal(fault.token + sizeof fault.token - 3, "\xc3\xa9", 3);
}

static void nesting_is_bounded_both_ways(void **state) {
    (void)state;
    sb_err err = {0};
    for (int depth = 49; depth <= 51; depth++) {
        /* Each round is two levels: Value in ListValue in Value. */
        sb_buf text = new_buf(), b = new_buf(), back = new_buf();
        for (int i = 0; i < depth; i++) sb_buf_add_str(&text, "list_value { values { ");
        for (int i = 0; i < depth; i++) sb_buf_add_str(&text, "} } ");
        sb_status want = depth <= 50 ? SB_OK : SB_LIMIT;
        assert_int_equal(sb_text_parse(&b, SB_MSG_PB_VALUE, sb_buf_slice(&text), &err), want);
        if (want == SB_OK)
            assert_ok(sb_text_write(&back, SB_MSG_PB_VALUE, sb_buf_slice(&b), &err), &err);
        sb_buf_fini(&text);
        sb_buf_fini(&b);
        sb_buf_fini(&back);
    }
    sb_buf b = new_buf(), inner = new_buf(), out = new_buf();
    for (int i = 0; i < 200; i++) {
        sb_buf_clear(&b);
        sb_pb_add_bytes(&b, i % 2 ? SB_PB_VALUE_LIST_VALUE : SB_PB_LIST_VALUES,
                        sb_buf_slice(&inner));
        sb_buf_clear(&inner);
        sb_buf_add_slice(&inner, sb_buf_slice(&b));
    }
    assert_int_equal(sb_text_write(&out, SB_MSG_PB_VALUE, sb_buf_slice(&inner), &err), SB_LIMIT);
    sb_buf_fini(&b);
    sb_buf_fini(&inner);
    sb_buf_fini(&out);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void messages_are_printed_as_google_prints_them(void **state) {
    (void)state;
    expect_write(SB_MSG_PROJECTOR, "", "");
    expect_write(SB_MSG_PROJECTOR,
                 "0a18 6122622763 5c640a090d01c3a97fe280a8f09f988020 2f41 1200"
                 "1213 0a0178 12016d 2202 0304 2a07 0a0173 1202 0102 3a00",
                 "model_checkpoint_path: \"a\\\"b\\'c\\\\d\\n\\t\\r\\001\xC3\xA9\\177\xE2\x80\xA8"
                 "\xF0\x9F\x98\x80 /A\"\n"
                 "embeddings {\n}\nembeddings {\n  tensor_name: \"x\"\n  metadata_path: \"m\"\n"
                 "  tensor_shape: 3\n  tensor_shape: 4\n  sprite {\n    image_path: \"s\"\n"
                 "    single_image_dim: 1\n    single_image_dim: 2\n  }\n}\n");
    expect_write(SB_MSG_TENSOR,
                 "084d 2207 00ff220a206127 2a08 cdcccc3d 000080ff 5a02 0100 6a01 05 5201 01"
                 " 520a ffffffffffffffffff01",
                 "dtype: 77\ntensor_content: \"\\000\\377\\\"\\n a\\'\"\nfloat_val: 0.1\n"
                 "float_val: -inf\nint64_val: 1\nint64_val: -1\nbool_val: true\nbool_val: false\n"
                 "half_val: 5\n");
    expect_write(SB_MSG_HISTOGRAM, "09 0000000000000080 11 000000000000f87f 19 0000000000000000",
                 "min: -0.0\nmax: nan\n");
}

static void parts_of_one_message_are_merged(void **state) {
    (void)state;
    expect_write(SB_MSG_EMBEDDING, "2a03 0a0173 0a0178 2a02 1007 2a03 0a0174",
                 "tensor_name: \"x\"\nsprite {\n  image_path: \"t\"\n  single_image_dim: 7\n}\n");
    /* Of a oneof the last member counts, with what came of it since. */
    expect_write(SB_MSG_CHART, "1203 0a0161 1a00 1203 0a0162 1203 0a0163",
                 "multiline {\n  tag: \"b\"\n  tag: \"c\"\n}\n");
}

static void malformed_messages_are_not_printed(void **state) {
    (void)state;
    uint8_t room[64];
    sb_buf b = new_buf();
    sb_err err = {0};
    sb_slice cut = sb_test_bytes(room, sizeof room, "1205 0a01");
    assert_int_equal(sb_text_write(&b, SB_MSG_PROJECTOR, cut, &err), SB_CORRUPT);
    assert_non_null(strstr(err.text, "tensorboard.projector.ProjectorConfig"));
    sb_slice inside = sb_test_bytes(room, sizeof room, "1202 0a05");
    assert_int_equal(sb_text_write(&b, SB_MSG_PROJECTOR, inside, &err), SB_CORRUPT);
    sb_buf_fini(&b);
}

/* ---- real files ------------------------------------------------------------------------------ */

/* Files that the real programs wrote come back byte for byte. */
static void configs_and_checkpoint_files_come_back(void **state) {
    (void)state;
    static const struct {
        const char *path;
        sb_message_id id;
    } files[] = {
        {SB_FIXTURES "/tf/projector/projector_config.pbtxt", SB_MSG_PROJECTOR},
        {SB_FIXTURES "/tf/keras/logs/projector_config.pbtxt", SB_MSG_PROJECTOR},
        {SB_FIXTURES "/torch_writer/run/projector_config.pbtxt", SB_MSG_PROJECTOR},
        {SB_FIXTURES "/tf/v1/checkpoint", SB_MSG_CHECKPOINT_STATE},
        {SB_FIXTURES "/tf/ckpt/checkpoint", SB_MSG_CHECKPOINT_STATE},
        {SB_FIXTURES "/tf/ckpt_sharded/checkpoint", SB_MSG_CHECKPOINT_STATE},
        {SB_FIXTURES "/tf/projector/checkpoint", SB_MSG_CHECKPOINT_STATE},
    };
    for (size_t i = 0; i < SB_COUNT(files); i++) {
        sb_slice text = fixture_load(files[i].path);
        sb_buf bytes = new_buf(), back = new_buf();
        sb_err err;
        assert_ok(sb_text_parse(&bytes, files[i].id, text, &err), &err);
        assert_true(sb_message_valid(files[i].id, sb_buf_slice(&bytes), 10));
        assert_ok(sb_text_write(&back, files[i].id, sb_buf_slice(&bytes), &err), &err);
        /* torch writes one empty line too many. */
        while (text.n > 1 && text.p[text.n - 2] == '\n') text.n--;
        assert_slice_equal(sb_buf_slice(&back), text);
        fixture_free(text);
        sb_buf_fini(&bytes);
        sb_buf_fini(&back);
    }
}

/* ---- hostile --------------------------------------------------------------------------------- */

/* What is taken can be printed, and what is printed is taken and printed the same. */
static void parse_and_print(sb_slice text) {
    static const sb_message_id ids[] = {SB_MSG_PROJECTOR, SB_MSG_CHECKPOINT_STATE, SB_MSG_PB_VALUE};
    for (size_t i = 0; i < SB_COUNT(ids); i++) {
        sb_buf bytes = new_buf(), printed = new_buf(), again = new_buf(), last = new_buf();
        sb_err err = {0};
        sb_status status = sb_text_parse(&bytes, ids[i], text, &err);
        assert_true(status == SB_OK || status == SB_CORRUPT || status == SB_LIMIT);
        if (status == SB_OK) {
            assert_ok(sb_text_write(&printed, ids[i], sb_buf_slice(&bytes), &err), &err);
            assert_ok(sb_text_parse(&again, ids[i], sb_buf_slice(&printed), &err), &err);
            assert_ok(sb_text_write(&last, ids[i], sb_buf_slice(&again), &err), &err);
            assert_slice_equal(sb_buf_slice(&printed), sb_buf_slice(&last));
        } else {
            assert_true(err.offset <= text.n);
        }
        sb_buf_fini(&bytes);
        sb_buf_fini(&printed);
        sb_buf_fini(&again);
        sb_buf_fini(&last);
    }
}

static void print(sb_slice input) {
    sb_buf b = new_buf();
    (void)sb_text_write(&b, SB_MSG_PROJECTOR, input, NULL);
    sb_buf_clear(&b);
    (void)sb_text_write(&b, SB_MSG_TENSOR, input, NULL);
    sb_buf_fini(&b);
}

static void damaged_texts_are_survived(void **state) {
    (void)state;
    sb_slice text = SB_LIT("model_checkpoint_path: \"a\\x41\" 'b' # c\n embeddings { tensor_shape: "
                           "[1, 0x2] sprite < image_path: \"\\u00e9\" > }, list_value { values { "
                           "number_value: -1.5e3 } }");
    hostile_cuts(text, parse_and_print);
    hostile_flips(text, parse_and_print);
    text = fixture_load(SB_FIXTURES "/torch_writer/run/projector_config.pbtxt");
    hostile_cuts(text, parse_and_print);
    fixture_free(text);
    hostile_noise(9, 3000, parse_and_print);
}

static void damaged_messages_are_survived(void **state) {
    (void)state;
    uint8_t room[64];
    sb_slice good =
        sb_test_bytes(room, sizeof room, "1213 0a0178 12016d 2202 0304 2a07 0a0173 1202 0102 3a00");
    hostile_cuts(good, print);
    hostile_flips(good, print);
    hostile_noise(10, 5000, print);
}

static sb_status there_and_back(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_buf bytes, text;
    sb_err err = {0};
    sb_buf_init(&bytes, alloc, 1 << 16);
    sb_buf_init(&text, alloc, 1 << 16);
    sb_slice input = SB_LIT("model_checkpoint_path: 'a long enough text to need some memory, and "
                            "more of it than the first block has' embeddings { sprite { } }");
    sb_status status = sb_text_parse(&bytes, SB_MSG_PROJECTOR, input, &err);
    /* The sprite comes in a second part, so that merging needs memory too. */
    if (status == SB_OK) sb_buf_add_slice(&bytes, SB_LIT("\x12\x06\x2a\x00\x2a\x02\x10\x07"));
    if (status == SB_OK) status = sb_buf_check(&bytes, "a test", &err);
    if (status == SB_OK)
        status = sb_text_write(&text, SB_MSG_PROJECTOR, sb_buf_slice(&bytes), &err);
    sb_buf_fini(&bytes);
    sb_buf_fini(&text);
    return status;
}

static void lack_of_memory_is_reported(void **state) {
    (void)state;
    sb_fault_alloc_sweep(there_and_back, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_many_spellings),
        cmocka_unit_test(lists_comments_and_separators_are_taken),
        cmocka_unit_test(texts_are_joined_and_unescaped),
        cmocka_unit_test(numbers_are_read_within_their_range),
        cmocka_unit_test(reals_have_many_spellings),
        cmocka_unit_test(enumerations_and_booleans_are_read),
        cmocka_unit_test(what_is_not_the_format_is_refused),
        cmocka_unit_test(a_refusal_names_line_and_column),
        cmocka_unit_test(a_refusal_has_a_word_a_place_and_the_token),
        cmocka_unit_test(nesting_is_bounded_both_ways),
        cmocka_unit_test(messages_are_printed_as_google_prints_them),
        cmocka_unit_test(parts_of_one_message_are_merged),
        cmocka_unit_test(malformed_messages_are_not_printed),
        cmocka_unit_test(configs_and_checkpoint_files_come_back),
        cmocka_unit_test(damaged_texts_are_survived),
        cmocka_unit_test(damaged_messages_are_survived),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
