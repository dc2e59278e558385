/* state.c: the SQLite file behind state.h. */
#include "server/state.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "base/banned.h"

#define BUSY_MS 2000
#define TOMBSTONE_REVISIONS 1000

struct sb_state {
    const sb_alloc *alloc;
    pthread_mutex_t mutex;
    sqlite3 *db;
    bool is_persistent;
    char hint[200];
    char *set;
    size_t set_n;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS sets(name TEXT PRIMARY KEY, revision INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS items(name TEXT NOT NULL, key TEXT NOT NULL, value TEXT,"
    " revision INTEGER NOT NULL, PRIMARY KEY(name, key)) WITHOUT ROWID;"
    "PRAGMA user_version=1;";

/* ---- opening --------------------------------------------------------------------------------- */

static bool open_database(sb_state *s, const char *path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
    if (sqlite3_open_v2(path, &s->db, flags, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(s->db, BUSY_MS);
        if (sqlite3_exec(s->db, schema, NULL, NULL, NULL) == SQLITE_OK) return true;
    }
    snprintf(s->hint, sizeof s->hint, "%.100s: %.80s", path,
             s->db ? sqlite3_errmsg(s->db) : "out of memory");
    sqlite3_close(s->db);
    s->db = NULL;
    return false;
}

sb_status sb_state_open(sb_state **out, const sb_alloc *alloc, const char *path, sb_slice set,
                        sb_err *err) {
    sb_state *s = sb_alloc_zeroed(alloc, 1, sizeof *s);
    char *name = sb_alloc_get(alloc, set.n + 1);
    if (!s || !name) {
        sb_alloc_put(alloc, s, sizeof *s);
        sb_alloc_put(alloc, name, set.n + 1);
        return sb_fail_nomem(err, "for people's notes");
    }
    memcpy(name, set.p, set.n);
    name[set.n] = 0;
    s->alloc = alloc;
    s->set = name;
    s->set_n = set.n;
    pthread_mutex_init(&s->mutex, NULL);
    s->is_persistent = path && open_database(s, path);
    if (!path) snprintf(s->hint, sizeof s->hint, "there is no place to keep notes");
    if (!s->is_persistent && !open_database(s, ":memory:")) {
        sb_state_close(s);
        return sb_fail_nomem(err, "for people's notes");
    }
    if (s->is_persistent) s->hint[0] = 0;
    *out = s;
    return SB_OK;
}

void sb_state_close(sb_state *s) {
    if (!s) return;
    sqlite3_close(s->db);
    pthread_mutex_destroy(&s->mutex);
    sb_alloc_put(s->alloc, s->set, s->set_n + 1);
    sb_alloc_put(s->alloc, s, sizeof *s);
}

bool sb_state_is_persistent(const sb_state *s) {
    return s->is_persistent;
}

const char *sb_state_hint(const sb_state *s) {
    return s->hint;
}

/* ---- statements ------------------------------------------------------------------------------ */

static sb_status fail_sqlite(sb_state *s, sb_err *err) {
    return sb_fail(err, SB_IO, 0, "the notes can't be read or written: %s", sqlite3_errmsg(s->db));
}

/* A statement whose first parameter is the set's name; NULL on failure. */
static sqlite3_stmt *prepare_sql(sb_state *s, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK) return NULL;
    sqlite3_bind_text64(statement, 1, s->set, s->set_n, SQLITE_STATIC, SQLITE_UTF8);
    return statement;
}

static void bind(sqlite3_stmt *statement, int at, sb_slice text) {
    if (text.p)
        sqlite3_bind_text64(statement, at, (const char *)text.p, text.n, SQLITE_STATIC,
                            SQLITE_UTF8);
    else
        sqlite3_bind_null(statement, at);
}

/* One number; 0 when there is no row. */
static sb_status read_sql_number(sb_state *s, const char *sql, uint64_t *out, sb_err *err) {
    sqlite3_stmt *statement = prepare_sql(s, sql);
    *out = 0;
    int result = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    if (result == SQLITE_ROW) *out = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return result == SQLITE_ROW || result == SQLITE_DONE ? SB_OK : fail_sqlite(s, err);
}

static sb_status revision_of(sb_state *s, uint64_t *out, sb_err *err) {
    return read_sql_number(s, "SELECT revision FROM sets WHERE name=?1", out, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static sb_slice column(sqlite3_stmt *statement, int at, sb_arena *arena) {
    const void *text = sqlite3_column_text(statement, at);
    return sb_arena_dup(arena, sb_slice_of(text, (size_t)sqlite3_column_bytes(statement, at)));
}

static sb_status read_items(sb_state *s, sb_arena *arena, sb_state_item *items, size_t room,
                            size_t *n, sb_err *err) {
    sqlite3_stmt *statement = prepare_sql(
        s, "SELECT key, value FROM items WHERE name=?1 AND value IS NOT NULL ORDER BY key");
    sb_status status = statement ? SB_OK : fail_sqlite(s, err);
    *n = 0;
    while (status == SB_OK && *n < room && sqlite3_step(statement) == SQLITE_ROW) {
        sb_state_item item = {column(statement, 0, arena), column(statement, 1, arena)};
        if (!item.key.p || !item.value.p)
            status = sb_fail_nomem(err, "for people's notes");
        else
            items[(*n)++] = item;
    }
    sqlite3_finalize(statement);
    return status;
}

sb_status sb_state_read(sb_state *s, sb_arena *arena, sb_state_item **items, size_t *n,
                        uint64_t *revision, sb_err *err) {
    pthread_mutex_lock(&s->mutex);
    uint64_t count = 0;
    *n = 0;
    sb_status status = revision_of(s, revision, err);
    if (status == SB_OK)
        status = read_sql_number(
            s, "SELECT COUNT(*) FROM items WHERE name=?1 AND value IS NOT NULL", &count, err);
    *items = status == SB_OK ? sb_arena_zeroed(arena, (size_t)count, sizeof **items) : NULL;
    if (status == SB_OK && !*items) status = sb_fail_nomem(err, "for people's notes");
    if (status == SB_OK) status = read_items(s, arena, *items, (size_t)count, n, err);
    pthread_mutex_unlock(&s->mutex);
    return status;
}

/* ---- changing -------------------------------------------------------------------------------- */

static sb_status check(const sb_state_item *items, size_t n, sb_err *err) {
    for (size_t i = 0; i < n; i++) {
        if (items[i].key.n == 0 || items[i].key.n > SB_STATE_MAX_KEY)
            return sb_fail(err, SB_LIMIT, 0, "a key must have 1 to %zu bytes", SB_STATE_MAX_KEY);
        if (items[i].value.n > SB_STATE_MAX_VALUE)
            return sb_fail(err, SB_LIMIT, 0, "the value of '%.*s' has more than %zu bytes",
                           SB_SHOWN(items[i].key), SB_STATE_MAX_VALUE);
    }
    return SB_OK;
}

/* Was one of the keys changed after that revision? */
static sb_status check_seen(sb_state *s, const sb_state_item *items, size_t n, uint64_t seen,
                            sb_err *err) {
    sqlite3_stmt *statement = prepare_sql(s, "SELECT revision FROM items WHERE name=?1 AND key=?2");
    sb_status status = statement ? SB_OK : fail_sqlite(s, err);
    for (size_t i = 0; status == SB_OK && i < n; i++) {
        sqlite3_reset(statement);
        bind(statement, 2, items[i].key);
        if (sqlite3_step(statement) == SQLITE_ROW &&
            (uint64_t)sqlite3_column_int64(statement, 0) > seen)
            status = sb_fail(err, SB_REPLACED, 0, "'%.*s' was changed by somebody else meanwhile",
                             SB_SHOWN(items[i].key));
    }
    sqlite3_finalize(statement);
    return status;
}

/* A removed key stays as a tombstone, a row without a value, so that a late change of it is
 * noticed. Removing a key that does not exist leaves none. */
static sb_status write_items(sb_state *s, const sb_state_item *items, size_t n, uint64_t revision,
                             sb_err *err) {
    sqlite3_stmt *put = prepare_sql(
        s, "INSERT OR REPLACE INTO items(name, key, value, revision) VALUES(?1, ?2, ?3, ?4)");
    sqlite3_stmt *remove =
        prepare_sql(s, "UPDATE items SET value=?3, revision=?4 WHERE name=?1 AND key=?2");
    sb_status status = put && remove ? SB_OK : fail_sqlite(s, err);
    for (size_t i = 0; status == SB_OK && i < n; i++) {
        sqlite3_stmt *statement = items[i].value.p ? put : remove;
        sqlite3_reset(statement);
        bind(statement, 2, items[i].key);
        bind(statement, 3, items[i].value);
        sqlite3_bind_int64(statement, 4, (sqlite3_int64)revision);
        if (sqlite3_step(statement) != SQLITE_DONE) status = fail_sqlite(s, err);
    }
    sqlite3_finalize(put);
    sqlite3_finalize(remove);
    return status;
}

/* Tombstones expire after TOMBSTONE_REVISIONS further changes. */
static sb_status drop_old_tombstones(sb_state *s, uint64_t revision, sb_err *err) {
    if (revision <= TOMBSTONE_REVISIONS) return SB_OK;
    sqlite3_stmt *statement =
        prepare_sql(s, "DELETE FROM items WHERE name=?1 AND value IS NULL AND revision<?2");
    if (statement)
        sqlite3_bind_int64(statement, 2, (sqlite3_int64)(revision - TOMBSTONE_REVISIONS));
    bool ok = statement && sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return ok ? SB_OK : fail_sqlite(s, err);
}

static sb_status put_revision(sb_state *s, uint64_t revision, sb_err *err) {
    sqlite3_stmt *statement =
        prepare_sql(s, "INSERT OR REPLACE INTO sets(name, revision) VALUES(?1, ?2)");
    if (statement) sqlite3_bind_int64(statement, 2, (sqlite3_int64)revision);
    bool ok = statement && sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return ok ? SB_OK : fail_sqlite(s, err);
}

static sb_status check_size(sb_state *s, sb_err *err) {
    uint64_t all;
    sb_status status =
        read_sql_number(s,
                        "SELECT TOTAL(LENGTH(CAST(key AS BLOB)) + LENGTH(CAST(value AS BLOB)))"
                        " FROM items WHERE name=?1 AND value IS NOT NULL",
                        &all, err);
    if (status == SB_OK && all > SB_STATE_MAX_ALL)
        return sb_fail(err, SB_LIMIT, 0, "all notes together would be over %zu bytes",
                       SB_STATE_MAX_ALL);
    return status;
}

sb_status sb_state_change(sb_state *s, const sb_state_item *items, size_t n, uint64_t seen,
                          uint64_t *revision, sb_err *err) {
    sb_status status = check(items, n, err);
    if (status != SB_OK) return status;
    pthread_mutex_lock(&s->mutex);
    if (sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        status = fail_sqlite(s, err);
    bool is_begun = status == SB_OK;
    if (status == SB_OK) status = revision_of(s, revision, err);
    if (status == SB_OK) status = check_seen(s, items, n, seen, err);
    if (status == SB_OK) status = write_items(s, items, n, *revision + 1, err);
    if (status == SB_OK) status = put_revision(s, *revision + 1, err);
    if (status == SB_OK) status = drop_old_tombstones(s, *revision + 1, err);
    if (status == SB_OK) status = check_size(s, err);
    if (status == SB_OK && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        status = fail_sqlite(s, err);
    if (status == SB_OK)
        (*revision)++;
    else if (is_begun)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    pthread_mutex_unlock(&s->mutex);
    return status;
}
