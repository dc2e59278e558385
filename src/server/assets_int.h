/* assets_int.h: the table of the web app's files, written at build time (ui/tools/embed.mjs). */
#ifndef SB_SERVER_ASSETS_INT_H
#define SB_SERVER_ASSETS_INT_H

#include <stddef.h>

#include "server/http/http.h"

typedef struct sb_asset {
    const char *path; /* "index.html", "assets/index-Ab12.js" */
    sb_http_asset body;
} sb_asset;

extern const sb_asset sb_asset_table[];
extern const size_t sb_asset_count; /* 0: built without the web app */

#endif
