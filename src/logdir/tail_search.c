/* tail_search.c: finds the next valid record behind damage (resynchronisation).
 *
 * Every byte behind the bad place may begin the next record. Nearly all of them are refused by one
 * comparison, since the number there is no length a record can have; what is left must pass the
 * checksum of the length, then that of the payload, and be an Event.
 *
 * A good header whose payload runs past the end of the file may be a record that is still being
 * written: a few of those are remembered and looked at again when the file is long enough.
 *
 * A file can be made on purpose in which each of many headers claims a large payload. What is
 * checked without success is therefore bounded by four times the place that was reached, plus a
 * start. */
#include "logdir/tail_int.h"

#include "base/bytes.h"
#include "base/slice.h"
#include "codec/event.h"
#include "base/banned.h"

#define SPEND_START ((uint64_t)64 << 20)
#define SPEND_RATE 4
#define ZERO_LENGTH_CRC 0x07980329u /* the masked checksum of eight zeros */

/* An Event without any field is legal, though nothing but its frame tells it from noise. */
static bool is_event(sb_slice payload) {
    return payload.n == 0 || sb_event_looks_valid(payload);
}

bool sb_tail_may_spend(sb_tail *t, uint64_t bytes) {
    uint64_t reached = t->base + t->n > t->seen.size ? t->base + t->n : t->seen.size;
    if (t->spent + bytes > SPEND_START + SPEND_RATE * reached) return false;
    t->spent += bytes;
    return true;
}

sb_status sb_tail_lose(sb_tail *t, sb_status kind, const sb_record *record, sb_err *err) {
    uint64_t offset = t->base + t->at;
    if (t->last.size > 0 && !t->is_archive && t->file >= 0 && sb_tail_same_content(t, t->file) == 0)
        return sb_tail_say_replaced(t, err, "the file was written anew while it was being read");
    if (t->lost_at != offset || t->searched <= offset) {
        t->lost_at = offset;
        t->searched = offset + 1;
        t->waiting_n = 0;
    }
    t->lost = true;
    t->search_done = false;
    t->lost_kind = kind;
    t->lost_size = record ? record->size : 0;
    t->lost_crc = record ? record->payload_crc : 0;
    return SB_OK;
}

/* Goes on to the next place in the window that may begin a record; to the last 11 bytes when there
 * is none. */
static void skip_noise(sb_tail *t) {
    size_t i = t->at;
    for (; t->n - i >= SB_RECORD_HEADER; i++) {
        uint64_t length = sb_load64(t->p + i);
        if (length > t->max_payload) continue;
        if (length == 0 && sb_load32(t->p + i + 8) != ZERO_LENGTH_CRC) continue;
        sb_record record;
        if (sb_record_read_header(&record, sb_slice_of(t->p + i, t->n - i)) == SB_OK) break;
    }
    t->at = i;
}

static void remember_waiting(sb_tail *t, uint64_t offset, uint64_t size) {
    for (uint32_t i = 0; i < t->waiting_n; i++)
        if (t->waiting[i].offset == offset) return;
    if (t->waiting_n < SB_TAIL_WAITING) t->waiting[t->waiting_n++] = (sb_tail_place){offset, size};
}

/* A good header is at `at`: SB_OK when the rest is good too, SB_GARBAGE when not. */
static sb_status check_candidate(sb_tail *t, uint64_t size, sb_err *err) {
    sb_record record;
    record.size = size;
    if (!sb_tail_may_spend(t, size)) return SB_GARBAGE;
    if (sb_tail_is_large(t, size) &&
        sb_tail_check_frame(t, t->base + t->at, size, &record.payload_crc) == 0)
        return SB_GARBAGE;
    sb_status status = sb_tail_fill(t, size, err);
    if (status != SB_OK) return status;
    status = sb_record_read(&record, sb_tail_ahead(t));
    if (status != SB_OK || !is_event(record.payload)) return SB_GARBAGE;
    t->spent -= size;
    return SB_OK;
}

static bool fits(uint64_t file_size, uint64_t offset, uint64_t n) {
    return offset <= file_size && n <= file_size - offset;
}

/* From `at` to the end of the file, which had `size` bytes a moment ago. An archive is searched in
 * one go, since going back in it means unpacking it again. */
static sb_status search_window(sb_tail *t, uint64_t size, sb_err *err) {
    uint64_t begin = t->base + t->at;
    for (;;) {
        sb_record record;
        skip_noise(t);
        if (sb_record_read_header(&record, sb_tail_ahead(t)) != SB_OK) {
            if (!t->is_archive && t->base + t->at - begin >= t->search) return SB_TIMEOUT;
            sb_status status = sb_tail_fill(t, SB_RECORD_HEADER, err);
            if (status != SB_OK) return status;
            continue;
        }
        uint64_t offset = t->base + t->at;
        if (!fits(size, offset, record.size)) {
            remember_waiting(t, offset, record.size);
        } else {
            sb_status status = check_candidate(t, record.size, err);
            bool too_long = t->is_archive && (status == SB_MORE || status == SB_CORRUPT);
            if (status != SB_GARBAGE && !too_long) return status;
        }
        t->at++;
    }
}

/* The records that were still being written: SB_OK when one of them is there now. */
static sb_status look_at_waiting(sb_tail *t, uint64_t size, sb_err *err) {
    for (uint32_t i = 0; i < t->waiting_n;) {
        sb_tail_place place = t->waiting[i];
        if (!fits(size, place.offset, place.size)) {
            i++;
            continue;
        }
        sb_tail_move(t, place.offset);
        sb_status status = check_candidate(t, place.size, err);
        if (status != SB_GARBAGE) return status;
        t->waiting_n--;
        memmove(t->waiting + i, t->waiting + i + 1, (t->waiting_n - i) * sizeof t->waiting[0]);
    }
    return SB_GARBAGE;
}

/* Is it worth reading the lost place as usual again? */
static bool may_be_good_now(const sb_tail *t, bool changed) {
    uint8_t bytes[SB_RECORD_HEADER];
    sb_record record;
    if (!sb_tail_peek(t, bytes, sizeof bytes, t->lost_at)) return false;
    if (sb_record_read_header(&record, sb_slice_of(bytes, sizeof bytes)) != SB_OK) return false;
    if (t->lost_kind == SB_BAD_LENGTH || changed) return true;
    uint64_t footer = t->lost_at + t->lost_size - SB_RECORD_FOOTER;
    return sb_tail_peek(t, bytes, SB_RECORD_FOOTER, footer) && sb_load32(bytes) != t->lost_crc;
}

/* Zero bytes at the end may still become data: they do not count as searched. */
static uint64_t searched_until(const sb_tail *t) {
    size_t zeros = t->n;
    while (zeros > 0 && t->p[zeros - 1] == 0) zeros--;
    size_t kept = zeros > SB_RECORD_HEADER ? zeros - SB_RECORD_HEADER : 0;
    uint64_t until = t->base + (zeros < t->n && kept < t->at ? kept : t->at);
    return until > t->lost_at ? until : t->lost_at + 1;
}

/* Looks for a record behind what was searched. */
static sb_status search_on(sb_tail *t, sb_err *err) {
    if (t->searched <= t->lost_at) t->searched = t->lost_at + 1;
    uint64_t size = sb_tail_size_now(t);
    sb_status status = look_at_waiting(t, size, err);
    if (status == SB_GARBAGE) {
        sb_tail_move(t, t->searched);
        status = search_window(t, size, err);
        t->search_done = status == SB_MORE || status == SB_CORRUPT;
        t->search_end = t->base + t->n;
        if (status != SB_OK) t->searched = searched_until(t);
    }
    if (status != SB_OK) {
        t->base = t->lost_at;
        t->at = t->n = 0;
    }
    return status;
}

sb_status sb_tail_find_way(sb_tail *t, bool *again, sb_err *err) {
    *again = false;
    sb_status status = sb_tail_wake(t, err);
    if (status != SB_OK) return status;
    if (!t->search_done) return search_on(t, err);
    if (t->is_archive) return sb_tail_archive_over(t, err);
    sb_file_info before = t->seen;
    status = sb_tail_at_end(t, err);
    if (status != SB_MORE) return status;
    bool changed = t->seen.size != t->search_end || t->seen.mtime_ns != before.mtime_ns ||
                   t->seen.inode != before.inode;
    if (may_be_good_now(t, changed)) {
        t->lost = false;
        *again = true;
        return SB_OK;
    }
    return changed ? search_on(t, err) : SB_MORE;
}
