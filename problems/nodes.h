/* nodes.h - controls that are linear between equidistant nodes: the interval that a time lies in. */
#ifndef PROBLEMS_NODES_H
#define PROBLEMS_NODES_H

/* The interval of [0, end] between `nodes` nodes, at least two, that holds t, and the part of it before t.  The last
   node belongs to the last interval. */
static inline int nodes_interval(double end, int nodes, double t, double *part)
{
    double x = t / end * (nodes - 1);
    int k = x <= 0 ? 0 : x >= nodes - 2 ? nodes - 2 : (int)x;
    *part = x - k;
    return k;
}

#endif
