/* maths.h: takes formulas out of a Markdown text before it is rendered, so that Markdown does not
 * take them apart: `a_1 + b_1` would become emphasis, `\(` an escaped bracket.
 *
 * In:  a Markdown text.  Out: the same text with a mark in place of each formula, and the formulas.
 *
 *   $$ ... $$   \[ ... \]   on lines of their own or within one: displayed
 *   $ ... $     \( ... \)   within a paragraph. A dollar opens before a character that is no blank,
 *                           and closes behind one and before no digit, so that prices stay prices
 *
 * Code keeps its dollars: between backticks, between fences, and in indented lines. A mark is
 * U+E000, the formula's number in decimals, U+E001; Markdown and the gate pass it on as text. Who
 * shows a formula must treat it as text from a log.
 *
 * Threads: no state.  Cost: one pass; looking for the end of a formula looks at most
 * SB_MATHS_LONGEST bytes ahead. */
#ifndef SB_MARKUP_MATHS_H
#define SB_MARKUP_MATHS_H

#include <stdbool.h>

#include "base/buf.h"

#define SB_MATHS_LONGEST 4096u
#define SB_MATHS_MOST 2000u /* formulas of one text; what comes after stays text */

typedef struct sb_formula {
    sb_slice tex; /* borrows from the text */
    bool display;
} sb_formula;

typedef struct sb_formulas {
    sb_formula *items;
    size_t n, room;
} sb_formulas;

/* Appends the text with marks to out, and to `found` the formulas; marks go on from found->n. Free
 * with SB_VEC_FREE. SB_OK, SB_NOMEM; failures of out stay in out. */
sb_status sb_maths_take(sb_buf *out, sb_slice text, sb_formulas *found, const sb_alloc *alloc);

#endif
