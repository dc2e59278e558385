/* html_allow_tree.c: the tree that the gate builds, its stack of open elements, and the list of
 * formatting elements that are opened again behind a block that cut them off.
 *
 * The rules are those of the HTML standard for the few elements of the table. Growth is bounded: at
 * most three equal formatting elements wait for being reopened, the stack has a limit, and the sum
 * of all memory has one. A failure is remembered in the tree; after it nothing more is built.
 * Threads: a tree belongs to one. Cost: a look through the stack for most tags. */
#include <string.h>

#include "base/checked.h"
#include "base/vec.h"
#include "markup/html_allow_int.h"
#include "base/banned.h"

enum { EQUAL_FORMATTING = 3, MARKS_AND_FORMATTING = 16 };

static size_t memory_used(const sb_html_tree *t) {
    return t->room * sizeof *t->nodes + t->attr_room * sizeof *t->attrs;
}

/* Room for one more in a full array; both arrays together stay within max_memory. NULL leaves the
 * failure in the tree. */
static void *grow_array(sb_html_tree *t, void *array, uint32_t *room, size_t size) {
    size_t used = memory_used(t), limit = t->limits.max_memory;
    size_t more = used < limit ? (limit - used) / size : 0, larger = *room;
    size_t most = more < UINT32_MAX / 2 - larger ? larger + more : UINT32_MAX / 2;
    void *p = sb_vec_grow(t->alloc, array, &larger, larger, 1, size, most);
    if (p)
        *room = (uint32_t)larger;
    else
        t->failed = larger < most ? SB_NOMEM : SB_LIMIT;
    return p;
}

static sb_html_id new_node(sb_html_tree *t, sb_html_tag tag) {
    if (t->failed != SB_OK) return SB_HTML_NO_NODE;
    if (t->count == t->room) {
        sb_html_node *nodes = grow_array(t, t->nodes, &t->room, sizeof *t->nodes);
        if (!nodes) return SB_HTML_NO_NODE;
        t->nodes = nodes;
    }
    t->nodes[t->count] = (sb_html_node){.tag = (uint8_t)tag};
    return t->count++;
}

static sb_html_id new_element(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs) {
    sb_html_id id = new_node(t, tag);
    if (id == SB_HTML_NO_NODE || !attrs) return id;
    if (t->attr_count == t->attr_room) {
        sb_html_attrs *all = grow_array(t, t->attrs, &t->attr_room, sizeof *t->attrs);
        if (!all) return SB_HTML_NO_NODE;
        t->attrs = all;
    }
    t->attrs[t->attr_count++] = *attrs;
    t->nodes[id].text.at = t->attr_count;
    return id;
}

static sb_html_id clone_of(sb_html_tree *t, sb_html_id id) {
    sb_html_id copy = new_node(t, (sb_html_tag)t->nodes[id].tag);
    if (copy != SB_HTML_NO_NODE) t->nodes[copy].text = t->nodes[id].text;
    return copy;
}

sb_status sb_html_tree_init(sb_html_tree *t, const sb_alloc *alloc, const sb_html_limits *limits) {
    *t = (sb_html_tree){.alloc = alloc, .limits = *limits, .failed = SB_OK};
    if (t->limits.max_depth < 8) t->limits.max_depth = 8;
    if (t->limits.max_depth > 4096) t->limits.max_depth = 4096;
    t->formatting_room = MARKS_AND_FORMATTING * t->limits.max_depth;
    t->open = sb_alloc_zeroed(alloc, t->limits.max_depth + 1, sizeof *t->open);
    t->formatting = sb_alloc_zeroed(alloc, t->formatting_room, sizeof *t->formatting);
    if (!t->open || !t->formatting) return SB_NOMEM;
    new_node(t, SB_HTML_NONE); /* number 0 is no node */
    sb_html_id root = new_node(t, SB_HTML_ROOT);
    if (t->failed != SB_OK) return t->failed;
    t->nodes[root].open = true;
    t->open[t->open_count++] = root;
    return SB_OK;
}

void sb_html_tree_fini(sb_html_tree *t) {
    sb_alloc_put(t->alloc, t->nodes, t->room * sizeof *t->nodes);
    sb_alloc_put(t->alloc, t->attrs, t->attr_room * sizeof *t->attrs);
    sb_alloc_put(t->alloc, t->open, (t->limits.max_depth + 1) * sizeof *t->open);
    sb_alloc_put(t->alloc, t->formatting, t->formatting_room * sizeof *t->formatting);
}

/* ---- children --------------------------------------------------------------------------------*/

/* Puts a node in front of another, or last when `where` is no node. */
static void insert(sb_html_tree *t, sb_html_id parent, sb_html_id id, sb_html_id where) {
    sb_html_node *n = t->nodes;
    sb_html_id before = where ? n[where].before : n[parent].last;
    n[id].parent = parent;
    n[id].before = before;
    n[id].after = where;
    *(before ? &n[before].after : &n[parent].first) = id;
    *(where ? &n[where].before : &n[parent].last) = id;
}

static void detach(sb_html_tree *t, sb_html_id id) {
    sb_html_node *n = t->nodes, *x = &n[id];
    if (!x->parent) return;
    *(x->before ? &n[x->before].after : &n[x->parent].first) = x->after;
    *(x->after ? &n[x->after].before : &n[x->parent].last) = x->before;
    x->parent = x->before = x->after = SB_HTML_NO_NODE;
}

static void move_children(sb_html_tree *t, sb_html_id from, sb_html_id to) {
    while (t->nodes[from].first) {
        sb_html_id child = t->nodes[from].first;
        detach(t, child);
        insert(t, to, child, SB_HTML_NO_NODE);
    }
}

/* ---- the stack of open elements --------------------------------------------------------------*/

sb_html_id sb_html_current(const sb_html_tree *t) {
    return t->open[t->open_count - 1];
}

sb_html_tag sb_html_current_tag(const sb_html_tree *t) {
    return (sb_html_tag)t->nodes[sb_html_current(t)].tag;
}

static sb_html_tag tag_at(const sb_html_tree *t, uint32_t place) {
    return (sb_html_tag)t->nodes[t->open[place]].tag;
}

void sb_html_pop(sb_html_tree *t) {
    if (t->open_count == 1) return; /* the root stays */
    t->nodes[t->open[--t->open_count]].open = false;
}

static void push_open(sb_html_tree *t, sb_html_id id, uint32_t place) {
    memmove(t->open + place + 1, t->open + place, (t->open_count - place) * sizeof *t->open);
    t->open[place] = id;
    t->open_count++;
    t->nodes[id].open = true;
}

void sb_html_drop_open(sb_html_tree *t, sb_html_id id) {
    for (uint32_t i = t->open_count; i-- > 1;) {
        if (t->open[i] != id) continue;
        memmove(t->open + i, t->open + i + 1, (t->open_count - i - 1) * sizeof *t->open);
        t->open_count--;
        t->nodes[id].open = false;
        return;
    }
}

bool sb_html_in_scope(const sb_html_tree *t, sb_html_tag tag, sb_html_scope scope) {
    for (uint32_t i = t->open_count; i-- > 0;) {
        sb_html_tag here = tag_at(t, i);
        if (here == tag) return true;
        if (here == SB_HTML_ROOT || here == SB_HTML_TABLE) return false;
        if (scope == SB_HTML_TABLE_SCOPE) continue;
        if (sb_html_traits[here].flags & SB_HTML_SCOPE) return false;
        if (scope == SB_HTML_LIST_SCOPE && (here == SB_HTML_OL || here == SB_HTML_UL)) return false;
    }
    return false;
}

void sb_html_pop_until(sb_html_tree *t, sb_html_tag tag) {
    while (t->open_count > 1) {
        sb_html_tag here = sb_html_current_tag(t);
        sb_html_pop(t);
        if (here == tag) return;
    }
}

void sb_html_close_implied(sb_html_tree *t, sb_html_tag except) {
    while ((sb_html_traits[sb_html_current_tag(t)].flags & SB_HTML_IMPLIED_END) &&
           sb_html_current_tag(t) != except)
        sb_html_pop(t);
}

/* Where a node goes that must not be inside a table: in front of the last open one. */
static sb_html_id foster_parent(const sb_html_tree *t, sb_html_id *where) {
    *where = SB_HTML_NO_NODE;
    for (uint32_t i = t->open_count; i-- > 1;) {
        if (tag_at(t, i) != SB_HTML_TABLE) continue;
        sb_html_id parent = t->nodes[t->open[i]].parent;
        if (!parent) return t->open[i - 1];
        *where = t->open[i];
        return parent;
    }
    return t->open[0];
}

static bool fostered(const sb_html_tree *t) {
    return t->from_table && (sb_html_traits[sb_html_current_tag(t)].flags & SB_HTML_TABLE_PART);
}

static void insert_node(sb_html_tree *t, sb_html_id id) {
    sb_html_id where = SB_HTML_NO_NODE, parent = sb_html_current(t);
    if (fostered(t)) parent = foster_parent(t, &where);
    insert(t, parent, id, where);
}

static bool open_node(sb_html_tree *t, sb_html_id id) {
    if (id == SB_HTML_NO_NODE) return false;
    insert_node(t, id);
    push_open(t, id, t->open_count);
    return true;
}

bool sb_html_open_element(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs) {
    if (t->open_count >= t->limits.max_depth) return false;
    bool keeps = tag == SB_HTML_A || tag == SB_HTML_IMG;
    return open_node(t, new_element(t, tag, keeps ? attrs : NULL));
}

void sb_html_add_text(sb_html_tree *t, sb_html_range text) {
    if (text.n == 0 || t->failed != SB_OK) return;
    sb_html_id where = SB_HTML_NO_NODE, parent = sb_html_current(t);
    if (fostered(t)) parent = foster_parent(t, &where);
    sb_html_id last = where ? t->nodes[where].before : t->nodes[parent].last;
    if (last && t->nodes[last].tag == SB_HTML_TEXT) {
        sb_html_range *r = &t->nodes[last].text;
        if (r->at + r->n == text.at) {
            r->n += text.n;
            return;
        }
    }
    sb_html_id id = new_node(t, SB_HTML_TEXT);
    if (id == SB_HTML_NO_NODE) return;
    t->nodes[id].text = text;
    insert(t, parent, id, where);
}

/* ---- formatting elements ---------------------------------------------------------------------*/

void sb_html_drop_formatting(sb_html_tree *t, sb_html_id id) {
    for (uint32_t i = t->formatting_count; i-- > 0;) {
        if (t->formatting[i] != id) continue;
        memmove(t->formatting + i, t->formatting + i + 1,
                (t->formatting_count - i - 1) * sizeof *t->formatting);
        t->formatting_count--;
        return;
    }
}

static void insert_formatting(sb_html_tree *t, uint32_t place_at, sb_html_id id) {
    if (t->formatting_count == t->formatting_room)
        return; /* the list is full: this element is not reopened */
    memmove(t->formatting + place_at + 1, t->formatting + place_at,
            (t->formatting_count - place_at) * sizeof *t->formatting);
    t->formatting[place_at] = id;
    t->formatting_count++;
}

void sb_html_push_formatting(sb_html_tree *t, sb_html_id id) {
    uint32_t equal = 0;
    for (uint32_t i = t->formatting_count; i-- > 0 && t->formatting[i];) {
        if (t->nodes[t->formatting[i]].tag != t->nodes[id].tag) continue;
        if (++equal < EQUAL_FORMATTING) continue;
        sb_html_drop_formatting(t, t->formatting[i]);
        break;
    }
    insert_formatting(t, t->formatting_count, id);
}

void sb_html_mark_formatting(sb_html_tree *t) {
    insert_formatting(t, t->formatting_count, SB_HTML_NO_NODE);
}

void sb_html_clear_formatting(sb_html_tree *t) {
    while (t->formatting_count && t->formatting[--t->formatting_count]) {
    }
}

sb_html_id sb_html_find_formatting(const sb_html_tree *t, sb_html_tag tag) {
    for (uint32_t i = t->formatting_count; i-- > 0 && t->formatting[i];) {
        if (t->nodes[t->formatting[i]].tag == tag) return t->formatting[i];
    }
    return SB_HTML_NO_NODE;
}

void sb_html_reopen_formatting(sb_html_tree *t) {
    uint32_t i = t->formatting_count;
    while (i > 0 && t->formatting[i - 1] && !t->nodes[t->formatting[i - 1]].open) i--;
    for (; i < t->formatting_count; i++) {
        if (t->open_count >= t->limits.max_depth) return;
        sb_html_id copy = clone_of(t, t->formatting[i]);
        if (!open_node(t, copy)) return;
        t->formatting[i] = copy;
    }
}

/* ---- end tags of formatting elements ---------------------------------------------------------*/

void sb_html_close_other(sb_html_tree *t, sb_html_tag tag) {
    for (uint32_t i = t->open_count; i-- > 1;) {
        sb_html_tag here = tag_at(t, i);
        if (here == tag) {
            sb_html_close_implied(t, tag);
            sb_html_pop_until(t, tag);
            return;
        }
        if (sb_html_traits[here].flags & SB_HTML_SPECIAL) return;
    }
}

static uint32_t place_of_element(const sb_html_id *list, uint32_t count, sb_html_id id) {
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == id) return i;
    }
    return count;
}

/* The copies of what stood between the formatting element and the block take the block over, one
 * inside the other; answers the outermost. *bookmark is where in the list the new element goes. */
static sb_html_id wrap_block(sb_html_tree *t, sb_html_id formatting, sb_html_id block,
                             uint32_t *bookmark) {
    sb_html_id last = block;
    uint32_t at = place_of_element(t->open, t->open_count, block);
    for (int round = 0; round < 3 && at > 1; round++) {
        sb_html_id node = t->open[--at];
        uint32_t listed = place_of_element(t->formatting, t->formatting_count, node);
        if (listed == t->formatting_count) {
            sb_html_drop_open(t, node);
            continue;
        }
        if (node == formatting) break;
        if (last == block) *bookmark = listed + 1;
        sb_html_id copy = clone_of(t, node);
        if (copy == SB_HTML_NO_NODE) return last;
        t->formatting[listed] = copy;
        t->nodes[node].open = false;
        t->nodes[copy].open = true;
        t->open[at] = copy;
        detach(t, last);
        insert(t, copy, last, SB_HTML_NO_NODE);
        last = copy;
    }
    return last;
}

/* One round of the standard's adoption agency. True when there may be another. */
static bool adopt(sb_html_tree *t, sb_html_tag tag) {
    sb_html_id formatting = sb_html_find_formatting(t, tag);
    if (!formatting ||
        (t->nodes[formatting].open && !sb_html_in_scope(t, tag, SB_HTML_ANY_SCOPE))) {
        sb_html_close_other(t, tag);
        return false;
    }
    if (!t->nodes[formatting].open) {
        sb_html_drop_formatting(t, formatting);
        return false;
    }
    uint32_t at = place_of_element(t->open, t->open_count, formatting), block_at = at;
    while (block_at < t->open_count &&
           !(sb_html_traits[tag_at(t, block_at)].flags & SB_HTML_SPECIAL))
        block_at++;
    if (block_at == t->open_count) {
        while (sb_html_current(t) != formatting) sb_html_pop(t);
        sb_html_pop(t);
        sb_html_drop_formatting(t, formatting);
        return false;
    }
    sb_html_id block = t->open[block_at], ancestor = t->open[at - 1], where = SB_HTML_NO_NODE;
    uint32_t bookmark = place_of_element(t->formatting, t->formatting_count, formatting);
    sb_html_id last = wrap_block(t, formatting, block, &bookmark);
    detach(t, last);
    if (sb_html_traits[t->nodes[ancestor].tag].flags & SB_HTML_TABLE_PART)
        ancestor = foster_parent(t, &where);
    insert(t, ancestor, last, where);
    sb_html_id copy = clone_of(t, formatting);
    if (copy == SB_HTML_NO_NODE) return false;
    move_children(t, block, copy);
    insert(t, block, copy, SB_HTML_NO_NODE);
    sb_html_drop_formatting(t, formatting);
    insert_formatting(t, bookmark < t->formatting_count ? bookmark : t->formatting_count, copy);
    sb_html_drop_open(t, formatting);
    push_open(t, copy, place_of_element(t->open, t->open_count, block) + 1);
    return true;
}

void sb_html_close_formatting(sb_html_tree *t, sb_html_tag tag) {
    for (int round = 0; round < 8 && t->failed == SB_OK; round++) {
        if (!adopt(t, tag)) return;
    }
}
