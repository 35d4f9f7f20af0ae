/* bytes.h - numbers out of a fuzzer's bytes: hostile ones first. */
#ifndef TESTS_FUZZ_BYTES_H
#define TESTS_FUZZ_BYTES_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct { const uint8_t *at, *end; } bytes;

/* 0 behind the end */
static inline unsigned next_byte(bytes *b) { return b->at < b->end ? *b->at++ : 0; }
static inline int next_below(bytes *b, int most) { return (int)(next_byte(b) % (unsigned)most); }
static inline int next_bit(bytes *b) { return (int)(next_byte(b) & 1); }

/* mostly 0, the default of an option */
static inline int next_int(bytes *b)
{
    static const int hostile[] = {1, -1, 2, 3, 7, 100, INT32_MAX, INT32_MIN, -2, 4};
    unsigned k = next_byte(b);
    return k < 160 ? 0 : k < 200 ? hostile[k % (sizeof hostile / sizeof *hostile)] : (int)k - 228;
}

static inline double next_double(bytes *b)
{
    static const double hostile[] = {1, -1, NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-300, DBL_MIN, 5e-324, 1e-160,
                                     1e160, 1e-8, 0.1, 1e3, 1e9, 1.7e12, -0.0, DBL_EPSILON, DBL_MAX};
    unsigned k = next_byte(b);
    double x;
    if (k < 100) return 0;
    if (k < 180) return hostile[k % (sizeof hostile / sizeof *hostile)];
    if (k < 230 || b->end - b->at < (ptrdiff_t)sizeof x) return ((int)next_byte(b) - 128) / 32.0;
    memcpy(&x, b->at, sizeof x);
    b->at += sizeof x;
    return x;
}

#endif
