/* cli.c: output that is safe for terminals, and the progress line. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

#include "base/slice.h"
#include "base/text/utf8.h"
#include "base/banned.h"

bool sb_cli_put(sb_cli *cli) {
    if (cli->line.n && !cli->out_error &&
        fwrite(cli->line.p, 1, cli->line.n, cli->out) != cli->line.n)
        cli->out_error = errno ? errno : EIO;
    sb_buf_clear(&cli->line);
    return cli->out_error == 0;
}

/* ---- text from outside ----------------------------------------------------------------------- */

static uint32_t code_point(const uint8_t *p, size_t n) {
    if (n == 1) return p[0];
    uint32_t c = p[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) c = c << 6 | (p[i] & 0x3Fu);
    return c;
}

static bool is_harmless(uint32_t c) {
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return false;
    bool direction = c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
                     (c >= 0x2066 && c <= 0x2069);
    return !direction && c != 0x2028 && c != 0x2029 && c != 0xFEFF;
}

static void add_escaped(sb_buf *out, uint32_t c) {
    static const char names[] = "abtnvfr"; /* 7 to 13 */
    if (c >= 7 && c <= 13)
        sb_buf_printf(out, "\\%c", names[c - 7]);
    else if (c < 0x80)
        sb_buf_printf(out, "\\x%02x", (unsigned)c);
    else
        sb_buf_printf(out, "\\u%04x", (unsigned)c);
}

void sb_cli_add_shown(sb_buf *out, sb_slice text, size_t max) {
    size_t shown = 0;
    while (text.n) {
        if (max && shown++ == max) {
            sb_buf_add_str(out, "...");
            return;
        }
        size_t n = sb_utf8_char(text);
        uint32_t c = n ? code_point(text.p, n) : 0;
        if (n == 0) {
            sb_buf_printf(out, "\\x%02x", text.p[0]);
            n = 1;
        } else if (is_harmless(c)) {
            sb_buf_add(out, text.p, n);
        } else {
            add_escaped(out, c);
        }
        text.p += n;
        text.n -= n;
    }
}

void sb_cli_add_path(sb_buf *out, const char *path) {
    sb_cli_add_shown(out, sb_slice_str(path), 0);
}

void sb_cli_add_count(sb_buf *out, uint64_t n) {
    char digits[32];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0) sb_buf_add_byte(out, ' ');
        sb_buf_add_byte(out, (uint8_t)digits[i]);
    }
}

int sb_cli_fail(sb_cli *cli, const sb_err *err) {
    sb_cli_progress_end(cli);
    fflush(cli->out);
    fprintf(cli->err, "seaboard: %s\n", err->text);
    return sb_status_exit_code(err->code);
}

/* ---- progress -------------------------------------------------------------------------------- */

bool sb_cli_progress_is_due(sb_cli *cli, double *seconds) {
    if (!cli->err_is_terminal) return false;
    uint64_t now = cli->env->clock->steady(cli->env->clock->ctx);
    if (cli->began_ns == 0) cli->began_ns = now;
    if (now - cli->began_ns < 1000000000u || now - cli->shown_ns < 200000000u) return false;
    cli->shown_ns = now;
    cli->progress_shown = true;
    *seconds = (double)(now - cli->began_ns) / 1e9;
    return true;
}

void sb_cli_progress(sb_cli *cli, const char *what, uint64_t done, uint64_t all, uint64_t bytes) {
    double seconds;
    if (!sb_cli_progress_is_due(cli, &seconds)) return;
    fprintf(cli->err, "\r%s: %llu of %llu files, %llu MB\033[K", what, (unsigned long long)done,
            (unsigned long long)all, (unsigned long long)(bytes / 1000000));
    fflush(cli->err);
}

void sb_cli_progress_end(sb_cli *cli) {
    if (!cli->progress_shown) return;
    fputs("\r\033[K", cli->err);
    fflush(cli->err);
    cli->progress_shown = false;
}
