/* silent.c - what the Fortran of R's deSolve prints its complaints with: nothing.  Its statuses tell. */
#include <stddef.h>

void rprintf_(const char *, size_t);
void rprintfd1_(const char *, const double *, size_t);
void rprintfd2_(const char *, const double *, const double *, size_t);
void rprintfi1_(const char *, const int *, size_t);
void rprintfi2_(const char *, const int *, const int *, size_t);
void rprintfi3_(const char *, const int *, const int *, const int *, size_t);
void xerrwd_(const char *, const int *, const int *, const int *, const int *, const int *, const int *, const int *,
             const double *, const double *, size_t);

void rprintf_(const char *s, size_t n) { (void)s, (void)n; }
void rprintfd1_(const char *s, const double *a, size_t n) { (void)s, (void)a, (void)n; }
void rprintfd2_(const char *s, const double *a, const double *b, size_t n) { (void)s, (void)a, (void)b, (void)n; }
void rprintfi1_(const char *s, const int *a, size_t n) { (void)s, (void)a, (void)n; }
void rprintfi2_(const char *s, const int *a, const int *b, size_t n) { (void)s, (void)a, (void)b, (void)n; }
void rprintfi3_(const char *s, const int *a, const int *b, const int *c, size_t n)
{
    (void)s, (void)a, (void)b, (void)c, (void)n;
}

void xerrwd_(const char *s, const int *length, const int *number, const int *level, const int *ni, const int *i1,
             const int *i2, const int *nr, const double *r1, const double *r2, size_t n)
{
    (void)s, (void)length, (void)number, (void)level, (void)ni, (void)i1, (void)i2, (void)nr, (void)r1, (void)r2;
    (void)n;
}
