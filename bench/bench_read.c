/* bench_read.c: splitting a log that TensorFlow wrote into records, and decoding its events.
 *
 * In: scalars.tfevents in the folder (see peers/make_log.py). Both checksums of every record are
 * verified; the file is in memory, as it is in the page cache for the peers. */
#include <stdio.h>

#include "codec/event.h"
#include "codec/record.h"
#include "codec/summary.h"
#include "harness.h"
#include "seaboard/reader.h"

#include "base/banned.h"

typedef struct log_data {
    sb_slice bytes;
    size_t left; /* bytes behind the last good record */
    size_t records;
    size_t scalars;
    double sum; /* of all values, so that the work is not optimised away */
} log_data;

static void scan(void *ud) {
    log_data *log = ud;
    sb_slice rest = log->bytes;
    sb_record record;
    log->records = 0;
    while (sb_record_read(&record, rest) == SB_OK) {
        log->records++;
        rest.p += record.size;
        rest.n -= record.size;
    }
    log->left = rest.n;
}

static void decode(void *ud) {
    log_data *log = ud;
    sb_slice rest = log->bytes;
    sb_record record;
    log->records = log->scalars = 0;
    log->sum = 0;
    while (sb_record_read(&record, rest) == SB_OK) {
        log->records++;
        rest.p += record.size;
        rest.n -= record.size;
        sb_event event;
        if (sb_event_read(&event, record.payload) != SB_OK || event.what != SB_WHAT_SUMMARY)
            continue;
        sb_summary_walk values = sb_summary_over(event.body);
        sb_value value;
        while (sb_summary_next(&values, &value) == SB_OK) {
            double number;
            if (!sb_scalar_of(&value, &number, NULL)) continue;
            log->scalars++;
            log->sum += number;
        }
    }
}

/* The same file through the public interface: event by event, and all points as columns. */
typedef struct file_data {
    char path[4096];
    size_t points;
    double sum;
} file_data;

static void read_events(void *ud) {
    file_data *file = ud;
    sb_reader *r;
    const sb_reader_event *event;
    const sb_reader_value *value;
    sb_err err;
    file->points = 0;
    if (sb_reader_open(&r, file->path, NULL, &err) != SB_OK) return;
    while (sb_reader_next(r, &event, &err) == SB_OK)
        while (sb_reader_next_value(r, &value) == SB_OK) {
            file->points++;
            file->sum += value->scalar;
        }
    sb_reader_close(r);
}

static void read_columns(void *ud) {
    file_data *file = ud;
    sb_reader_table *table;
    sb_err err;
    file->points = 0;
    if (sb_reader_table_read(&table, file->path, NULL, &err) != SB_OK) return;
    const sb_reader_columns *c;
    for (size_t i = 0; (c = sb_reader_table_at(table, i)); i++) {
        file->points += c->count;
        file->sum += c->values[c->count - 1];
    }
    sb_reader_table_free(table);
}

int main(int argc, char **argv) {
    sb_bench b;
    if (!sb_bench_begin(&b, argc, argv)) return 2;
    log_data log = {0};
    log.bytes.p = sb_bench_read_file(&b, "scalars.tfevents", &log.bytes.n);
    if (!log.bytes.p) return sb_bench_end(&b);

    double ns = sb_bench_best_ns(&b, scan, &log);
    if (log.records < 2 || log.left) sb_bench_fail(&b, "the log is not whole");
    sb_bench_report("read", "record scan", "GB/s", (double)log.bytes.n / ns);
    sb_bench_report("read", "record, each", "ns", ns / (double)log.records);

    ns = sb_bench_best_ns(&b, decode, &log);
    if (log.scalars + 1 != log.records) sb_bench_fail(&b, "not every event is a scalar");
    sb_bench_report("read", "scalar event, each", "ns", ns / (double)log.records);

    file_data file = {.points = 0};
    snprintf(file.path, sizeof file.path, "%s/scalars.tfevents", b.folder);
    ns = sb_bench_best_ns(&b, read_events, &file);
    if (file.points != log.scalars) sb_bench_fail(&b, "the reader lost points");
    sb_bench_report("read", "reader, point", "ns", ns / (double)file.points);
    ns = sb_bench_best_ns(&b, read_columns, &file);
    if (file.points != log.scalars) sb_bench_fail(&b, "the columns lack points");
    sb_bench_report("read", "columns, point", "ns", ns / (double)file.points);
    return log.sum + file.sum == 1 ? 1 : sb_bench_end(&b);
}
