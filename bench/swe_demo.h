/* swe_demo.h - the demonstration: all families forward, their tangents and adjoints, data for two pictures. */
#ifndef BENCH_SWE_DEMO_H
#define BENCH_SWE_DEMO_H

int swe_demo(const char *directory, const char *reference);   /* exit status; writes height.dat, sensitivity.dat */

#endif
