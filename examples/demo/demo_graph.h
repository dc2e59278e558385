/* demo_graph.h: the graph of a vision transformer, and the times and memory of one of its steps. */
#ifndef DEMO_GRAPH_H
#define DEMO_GRAPH_H

#include "seaboard/seaboard.h"

/* Logs the graph, and the measurements of two steps on a GPU and a CPU. */
void demo_log_graph(sb_writer *w);

#endif
