/* assets.h: the web app's files, which are part of the program.
 *
 * Names under assets/ carry a hash of their content, so they may be kept for ever; the page itself
 * is asked for again each time and answers "not modified".
 * Threads: constants only. Cost: a walk over some twenty names, no copy. */
#ifndef SB_SERVER_ASSETS_H
#define SB_SERVER_ASSETS_H

#include "server/http/http.h"

/* Puts the page into the reply; false when this program was built without it. */
bool sb_assets_page(sb_http_reply *r);
/* Route "/assets/" and a star. */
sb_status sb_assets_file(sb_http_request *q, sb_http_reply *r, void *app);

#endif
