/* file_name.c: what the name of a file says: the format of the trace in it, the host or worker, and
 * torch's timestamp. */
#include "profile/find/walk_int.h"
#include "base/banned.h"

static bool cut_end(sb_slice *name, const char *end) {
    if (!sb_slice_ends(*name, sb_slice_str(end))) return false;
    name->n -= strlen(end);
    return true;
}

/* Nanoseconds; older versions of torch write milliseconds. What no clock says is the latest. */
static int64_t read_stamp(sb_slice digits) {
    int64_t stamp = 0;
    bool is_off = false;
    for (size_t i = 0; i < digits.n; i++)
        is_off |= __builtin_mul_overflow(stamp, 10, &stamp) ||
                  __builtin_add_overflow(stamp, digits.p[i] - '0', &stamp);
    if (digits.n <= 13) is_off |= __builtin_mul_overflow(stamp, 1000000, &stamp);
    return is_off ? INT64_MAX : stamp;
}

bool sb_read_trace_name(const char *file, sb_trace_file_name *out) {
    sb_slice name = sb_slice_str(file);
    *out = (sb_trace_file_name){0};
    cut_end(&name, ".gz");
    /* XSpaces in Riegeli records are not read: they are listed, and refused with that reason */
    if (cut_end(&name, ".xplane.pb") || cut_end(&name, ".xplane.riegeli")) {
        out->format = SB_FORMAT_XSPACE;
        out->is_session = true;
    } else if (cut_end(&name, ".pt.trace.json")) {
        out->format = SB_FORMAT_KINETO;
        out->is_torch = true;
        size_t n = name.n;
        while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
        if (n && name.p[n - 1] == '.' && name.n - n >= 10 && name.n - n <= 19) {
            out->stamp = read_stamp(sb_slice_of(name.p + n, name.n - n));
            name.n = n - 1;
        }
    } else if (cut_end(&name, ".trace.json")) {
        out->format = SB_FORMAT_CHROME;
        out->is_session = true;
    } else if (cut_end(&name, "chrome_trace.json") || cut_end(&name, "trace.json")) {
        out->format = SB_FORMAT_CHROME;
        while (name.n && (name.p[name.n - 1] == '_' || name.p[name.n - 1] == '.')) name.n--;
        /* it repeats the events of the other files */
        if (sb_slice_ends(name, SB_LIT("perfetto"))) return false;
    } else if (cut_end(&name, ".json")) {
        out->is_unsure = true;
    } else {
        return false;
    }
    out->host = name.n ? name : SB_LIT(SB_UNNAMED_HOST);
    return true;
}
