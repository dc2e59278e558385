/* assets.h: the web app's files, which are part of the program.
 *
 * Names under assets/ contain a hash of the content, so browsers may cache them for ever. The page
 * itself is revalidated each time ("not modified").
 * Threads: constants only. Cost: a walk over some twenty names, no copy. */
#ifndef SB_SERVER_ASSETS_H
#define SB_SERVER_ASSETS_H

#include "server/http/http.h"

/* Puts the page into the reply, in the language that the browser prefers; false when this program
 * was built without it. */
bool sb_assets_page(const sb_http_request *q, sb_http_reply *r);
/* Route "/assets/" and a star. */
sb_status sb_assets_file(sb_http_request *q, sb_http_reply *r, void *app);

#endif
