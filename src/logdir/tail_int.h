/* tail_int.h: what the three parts of the tail reader share.
 *
 *   tail.c         the records one after the other
 *   tail_window.c  the window over the file: reading ahead, the end of the file, which file it is
 *   tail_search.c  finding the next valid record behind damage
 *
 * The window holds bytes base .. base + n of the file; `at` is the place in it that is looked at.
 * Outside of a search base + at is where the next record begins. While the reader is lost (no
 * record begins where one should) or finished, the window is empty between calls. */
#ifndef SB_LOGDIR_TAIL_INT_H
#define SB_LOGDIR_TAIL_INT_H

#include "codec/record.h"
#include "fsio/fs.h"
#include "fsio/gz.h"
#include "logdir/tail.h"

#define SB_TAIL_HEAD 64 /* so much of the file's beginning is remembered */
#define SB_TAIL_LARGE ((uint64_t)16 << 20)
#define SB_TAIL_WAITING 4 /* good headers whose payload may still come */

typedef struct sb_tail_place {
    uint64_t offset, size;
} sb_tail_place;

struct sb_tail {
    const sb_alloc *alloc;
    const sb_fs *fs;
    char *path;
    size_t path_size; /* with its NUL */
    int file;         /* -1: not open now */
    size_t window;    /* as asked for */
    uint64_t max_payload;
    uint64_t search; /* opts.search; UINT64_MAX: to the end */

    uint8_t *p; /* the window */
    size_t room, n, at;
    uint64_t base;
    bool was_filled; /* the last read took all the room there was */

    sb_gz *gz; /* not NULL: the file is an archive */
    bool is_archive;
    bool archive_ended; /* its last byte was seen: */
    bool archive_cut;   /*   before its end mark */
    bool archive_damaged;
    bool replaced;
    uint64_t archive_size; /* unpacked, when it has ended */

    /* Which file it is, and how it was when its end was last seen. */
    sb_file_info seen;
    bool was_at_end; /* nothing was read since its end was seen */
    uint64_t start;  /* opts.offset */
    uint8_t head[SB_TAIL_HEAD];
    size_t head_n;
    sb_tail_place last; /* the last good record */
    uint32_t last_crc;

    /* Lost: there should be a record at lost_at, and there is none. The memory of what was searched
     * outlives a second look at that place. */
    bool lost;
    sb_status lost_kind;
    uint64_t lost_at;
    uint64_t lost_size; /* of the frame, when only its payload is bad */
    uint32_t lost_crc;  /* as stored behind that payload */
    bool search_done;   /* up to the end of the file, which was then at */
    uint64_t search_end;
    uint64_t searched; /* no record begins between lost_at and here */
    uint64_t spent;    /* bytes of payloads whose checksum was computed and did not match */
    uint32_t waiting_n;
    sb_tail_place waiting[SB_TAIL_WAITING];

    sb_tail_counts counts;
};

static inline uint64_t sb_tail_offset(const sb_tail *t) {
    return t->lost ? t->lost_at : t->base + t->at;
}

static inline sb_slice sb_tail_ahead(const sb_tail *t) {
    return (sb_slice){t->p ? t->p + t->at : NULL, t->n - t->at};
}

/* Looks at another place of the file; keeps what the window has of it. */
void sb_tail_move(sb_tail *t, uint64_t offset);
/* Forgets what is in the window, so that it is read again. */
static inline void sb_tail_forget(sb_tail *t) {
    t->base += t->at;
    t->at = t->n = 0;
}

/* Opens the file when it is not open. SB_REPLACED when it is another one by now. */
sb_status sb_tail_wake(sb_tail *t, sb_err *err);
/* Makes the window hold `need` bytes from `at` on. SB_OK; SB_MORE when the file ends before that;
 * SB_REPLACED, SB_CORRUPT, SB_IO, SB_NOT_FOUND or SB_NOMEM. */
sb_status sb_tail_fill(sb_tail *t, uint64_t need, sb_err *err);
/* Does the file go as far as `end`? SB_OK, or as sb_tail_fill. Loads nothing. */
sb_status sb_tail_reach(sb_tail *t, uint64_t end, sb_err *err);
/* Exactly n bytes at a place, past the window: false when they can't be had. */
bool sb_tail_peek(const sb_tail *t, void *to, size_t n, uint64_t offset);
/* A frame so large that memory for it is taken only when its checksum was found to hold. Archives
 * are unpacked as they come; there room grows with the bytes. */
static inline bool sb_tail_is_large(const sb_tail *t, uint64_t size) {
    return size > SB_TAIL_LARGE && size > t->room && !t->is_archive;
}
/* Reads a whole frame in small pieces and compares its payload with its checksum, which goes to
 * *crc. The file must reach as far. 1, 0 or a negative errno. */
int sb_tail_check_frame(const sb_tail *t, uint64_t offset, uint64_t size, uint32_t *crc);
/* How large is the file now? An archive: as far as it was unpacked, or the largest number. */
uint64_t sb_tail_size_now(const sb_tail *t);
/* Does the open file still begin and go on as the records that were read from it did? 1, 0 or a
 * negative errno. */
int sb_tail_same_content(const sb_tail *t, int file);
/* SB_MORE, after looking whether the path still leads to this file; or SB_REPLACED. */
sb_status sb_tail_at_end(sb_tail *t, sb_err *err);
/* The same for an archive that has been read to its end; SB_CORRUPT when that was no good one. */
sb_status sb_tail_archive_over(sb_tail *t, sb_err *err);
sb_status sb_tail_say_replaced(sb_tail *t, sb_err *err, const char *how);

/* From now on there is no record at this place. record: the frame with the bad payload, for
 * SB_BAD_PAYLOAD. SB_OK, or SB_REPLACED when the whole file was written anew. */
sb_status sb_tail_lose(sb_tail *t, sb_status kind, const sb_record *record, sb_err *err);
/* Is there budget left to compute the checksum of so many bytes, which may not match? Counts them.
 * */
bool sb_tail_may_spend(sb_tail *t, uint64_t bytes);
/* Lost: SB_OK when a record was found, at base + at; SB_MORE; or an error. *again: the lost place
 * itself may be good now, and is to be read as usual. */
sb_status sb_tail_find_way(sb_tail *t, bool *again, sb_err *err);

#endif
