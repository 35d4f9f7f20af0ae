/* reference.h - reference files: n rows of three columns, y, tangent, gradient, as little-endian doubles. */
#ifndef BENCH_REFERENCE_H
#define BENCH_REFERENCE_H

/* Both give 1 for a file that is there and whole; NULL never is. */
int reference_read(const char *file, int column, int n, double *out);
int reference_write(const char *file, int n, const double *y, const double *tangent, const double *gradient);
double reference_distance(int n, const double *x, const double *reference);      /* |x - reference| / |reference| */

#endif
