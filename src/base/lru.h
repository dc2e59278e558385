/* lru.h: the order in which the entries of a cache were used, newest first, as a list whose links
 * are members of the entries themselves. Nothing is allocated, and every call takes constant time.
 *
 *     typedef struct entry { sb_lru_link use; ... } entry;
 *     sb_lru_add(&cache->lru, &e->use);                    a new entry
 *     sb_lru_touch(&cache->lru, &e->use);                  an entry was used again
 *     while (cache->bytes > limit && cache->lru.oldest)    evict
 *         evict(cache, SB_LRU_ENTRY(cache->lru.oldest, entry, use));
 *
 * A zeroed sb_lru is empty. Threads: the owner of the cache locks. */
#ifndef SB_BASE_LRU_H
#define SB_BASE_LRU_H

#include <stddef.h>

typedef struct sb_lru_link {
    struct sb_lru_link *newer, *older; /* NULL at the ends */
} sb_lru_link;

typedef struct sb_lru {
    sb_lru_link *newest, *oldest; /* NULL when empty */
} sb_lru;

/* The entry that a link is a member of. The link is not NULL. */
#define SB_LRU_ENTRY(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* The link becomes the newest; it is in no list. */
static inline void sb_lru_add(sb_lru *lru, sb_lru_link *link) {
    link->newer = NULL;
    link->older = lru->newest;
    *(lru->newest ? &lru->newest->newer : &lru->oldest) = link;
    lru->newest = link;
}

static inline void sb_lru_remove(sb_lru *lru, sb_lru_link *link) {
    *(link->newer ? &link->newer->older : &lru->newest) = link->older;
    *(link->older ? &link->older->newer : &lru->oldest) = link->newer;
    link->newer = link->older = NULL;
}

/* The link, which is in the list, becomes the newest. */
static inline void sb_lru_touch(sb_lru *lru, sb_lru_link *link) {
    if (lru->newest == link) return;
    sb_lru_remove(lru, link);
    sb_lru_add(lru, link);
}

#endif
