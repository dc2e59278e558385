/* classify.c: what a span is, from its name and category. */
#include "profile/trace/classify.h"

#include "base/banned.h"

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

bool sb_text_holds(sb_slice text, sb_slice part) {
    for (size_t i = 0; i + part.n <= text.n; i++) {
        size_t k = 0;
        while (k < part.n && lower(text.p[i + k]) == lower(part.p[k])) k++;
        if (k == part.n) return true;
    }
    return false;
}

bool sb_text_has(sb_slice text, const char *part) {
    return sb_text_holds(text, sb_slice_str(part));
}

bool sb_text_begins(sb_slice text, const char *prefix) {
    return sb_slice_starts(text, sb_slice_str(prefix));
}

static bool has_any(sb_slice text, const char *const *parts) {
    for (; *parts; parts++)
        if (sb_text_has(text, *parts)) return true;
    return false;
}

bool sb_is_collective(sb_slice name) {
    static const char *const parts[] = {
        "nccl",       "allreduce",          "all_reduce",           "allgather",
        "all_gather", "reducescatter",      "reduce_scatter",       "all-reduce",
        "all-gather", "alltoall",           "all_to_all",           "reduce-scatter",
        "all-to-all", "collective-permute", "collective-broadcast", "record_param_comms",
        NULL};
    return sb_text_begins(name, "gloo:") || sb_text_begins(name, "nccl:") || has_any(name, parts);
}

bool sb_is_communication_call(sb_slice name) {
    return sb_text_begins(name, "c10d::") || sb_text_begins(name, "c10d_functional::") ||
           sb_text_begins(name, "_c10d_functional::");
}

static sb_span_kind classify_annotation(sb_slice name) {
    if (sb_text_begins(name, SB_TORCH_STEP)) return SB_SPAN_STEP;
    if (sb_text_begins(name, "Optimizer.")) return SB_SPAN_OPTIMIZER;
    if (sb_text_begins(name, "enumerate(DataLoader)") || sb_text_has(name, "DataLoaderIter") ||
        sb_text_begins(name, "enumerate(DataPipe)"))
        return SB_SPAN_INPUT;
    if (sb_text_begins(name, "nccl:") || sb_text_begins(name, "gloo:") ||
        sb_text_begins(name, "mpi:") || sb_text_begins(name, "ucc:"))
        return SB_SPAN_COMM;
    return SB_SPAN_ANNOTATION;
}

bool sb_is_input_wait(sb_slice name) {
    return sb_text_begins(name, "IteratorGetNext") || sb_text_begins(name, "enumerate(Data") ||
           sb_text_has(name, "DataLoaderIter");
}

static bool is_sync_call(sb_slice name) {
    return sb_text_has(name, "Synchronize") || sb_text_has(name, "StreamWaitEvent");
}

sb_span_kind sb_classify_kineto(sb_slice category, sb_slice name) {
    static const struct {
        const char *category;
        sb_span_kind kind;
    } table[] = {
        {"cpu_op", SB_SPAN_OP},
        {"Operator", SB_SPAN_OP},
        {"Op", SB_SPAN_OP}, /* of TensorFlow 1's Timeline */
        {"python_function", SB_SPAN_PYTHON},
        {"kernel", SB_SPAN_KERNEL},
        {"Kernel", SB_SPAN_KERNEL},
        {"gpu_memcpy", SB_SPAN_COPY},
        {"gpu_memset", SB_SPAN_COPY},
        {"Memcpy", SB_SPAN_COPY},
        {"Memset", SB_SPAN_COPY},
        {"overhead", SB_SPAN_OVERHEAD},
        {"cuda_sync", SB_SPAN_SYNC},
        {"cuda_event", SB_SPAN_SYNC},
        {"Runtime", SB_SPAN_RUNTIME},
        {"collective_comm", SB_SPAN_COMM},
        {"cpu_instant_event", SB_SPAN_MARKER},
        {"Trace", SB_SPAN_MARKER}, /* the window of the whole capture */
        {"hpu_op", SB_SPAN_KERNEL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!sb_slice_eq(category, sb_slice_str(table[i].category))) continue;
        sb_span_kind kind = table[i].kind;
        if (kind == SB_SPAN_KERNEL && sb_text_begins(name, "nccl")) return SB_SPAN_COMM;
        if (kind == SB_SPAN_PYTHON && sb_text_begins(name, "nn.Module: ")) return SB_SPAN_MODULE;
        if (kind == SB_SPAN_RUNTIME && is_sync_call(name)) return SB_SPAN_SYNC;
        if (kind == SB_SPAN_OP) {
            /* in older files annotations have the category of operators */
            sb_span_kind other = classify_annotation(name);
            if (other != SB_SPAN_ANNOTATION) return other;
            if (sb_slice_eq(name, SB_LIT("record_param_comms"))) return SB_SPAN_COMM;
        }
        return kind;
    }
    if (sb_slice_eq(category, SB_LIT("user_annotation"))) return classify_annotation(name);
    if (sb_slice_eq(category, SB_LIT("gpu_user_annotation"))) {
        /* an annotation of the host, drawn around what it launched: only that communicates */
        sb_span_kind kind = classify_annotation(name);
        return kind == SB_SPAN_COMM ? SB_SPAN_ANNOTATION : kind;
    }
    if (sb_slice_ends(category, SB_LIT("_runtime")) || sb_slice_ends(category, SB_LIT("_driver")))
        return is_sync_call(name) ? SB_SPAN_SYNC : SB_SPAN_RUNTIME;
    /* a trace that was saved here has these words where the capture had no categories */
    for (int kind = SB_SPAN_OP; kind < SB_SPAN_KIND_COUNT; kind++)
        if (sb_slice_eq(category, sb_slice_str(sb_span_kind_name((sb_span_kind)kind))))
            return (sb_span_kind)kind;
    return SB_SPAN_OTHER;
}

bool sb_is_framework_op(sb_slice name) {
    size_t at = name.n;
    while (at > 0 && name.p[at - 1] != ':') {
        uint8_t c = name.p[at - 1];
        bool is_type =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!is_type) return false;
        at--;
    }
    if (at < 2 || at == name.n || name.p[at - 2] == ':') return false;
    uint8_t first = name.p[at];
    if (!((first >= 'A' && first <= 'Z') || first == '_')) return false;
    for (size_t i = 0; i + 1 < at; i++) {
        uint8_t c = name.p[i];
        bool is_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || c == '/' || c == '>' || c == '-';
        if (!is_name) return false;
    }
    return true;
}

sb_span_kind sb_classify_host(sb_slice name) {
    static const char *const compile[] = {
        "Compile", "Codegen", "OpToOpPassAdaptor", "PTX->CUBIN", "HloPass", "hlo_pass", NULL};
    if (name.n && name.p[0] == '$') return SB_SPAN_PYTHON;
    if (sb_text_begins(name, "Iterator::") || sb_text_begins(name, "IteratorGetNext") ||
        sb_text_begins(name, "PrefetchProduce") || sb_text_begins(name, "PrefetchConsume") ||
        sb_text_begins(name, "ParallelMapProduce") || sb_text_begins(name, "ParallelMapConsume"))
        return SB_SPAN_INPUT;
    if (sb_text_begins(name, "MemoryAllocation") || sb_text_begins(name, "MemoryDeallocation"))
        return SB_SPAN_MEMORY;
    if (sb_is_framework_op(name)) return SB_SPAN_OP;
    if (has_any(name, compile)) return SB_SPAN_COMPILE;
    if (sb_text_begins(name, "cuda") || sb_text_begins(name, "cuLaunch") ||
        sb_text_begins(name, "cuMem") || sb_text_begins(name, "cuGraph") ||
        sb_text_begins(name, "hip"))
        return is_sync_call(name) ? SB_SPAN_SYNC : SB_SPAN_RUNTIME;
    if (sb_text_begins(name, "ThreadpoolListener::")) return SB_SPAN_MARKER;
    return SB_SPAN_OTHER;
}

sb_span_kind sb_classify_device(sb_slice name) {
    if (sb_text_begins(name, "Memcpy") || sb_text_begins(name, "Memset") ||
        sb_text_begins(name, "MEMCPY") || sb_text_begins(name, "MEMSET"))
        return SB_SPAN_COPY;
    return sb_is_collective(name) ? SB_SPAN_COMM : SB_SPAN_KERNEL;
}

sb_span_kind sb_classify_hlo(sb_slice name) {
    return sb_is_collective(name) ? SB_SPAN_COMM : SB_SPAN_XLA_OP;
}

bool sb_kernel_uses_tensor_cores(sb_slice name) {
    static const char *const parts[] = {"16816",
                                        "h884",
                                        "s884",
                                        "h1688",
                                        "s1688",
                                        "c1688",
                                        "i8816",
                                        "i16832",
                                        "hmma",
                                        "xmma_gemm",
                                        "xmma_implicit_gemm",
                                        "xmma_sparse",
                                        "conv1x1",
                                        "conv2d_c1_k1",
                                        "direct_group",
                                        "first_layer_wgrad",
                                        "dgrad_1x1_stride_2x2",
                                        "wgmma",
                                        "sm90_xmma",
                                        "tensorop",
                                        NULL};
    return has_any(name, parts);
}

bool sb_op_may_use_tensor_cores(sb_slice name) {
    static const char *const parts[] = {
        "conv2d",      "conv3d",    "convolution",  "matmul",        "aten::mm",
        "aten::addmm", "aten::bmm", "aten::linear", "aten::baddbmm", "scaled_dot_product",
        "einsum",      "CudnnRNN",  "XlaDot",       "gemm",          NULL};
    return has_any(name, parts);
}
