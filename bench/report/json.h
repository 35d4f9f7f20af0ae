/* json.h - one JSON object on one line, member by member. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <math.h>
#include <stdio.h>

typedef struct { FILE *file; int members; } json;

static inline void json_name(json *j, const char *name)
{
    fprintf(j->file, "%s\"%s\": ", j->members++ ? ", " : "{", name);
}
static inline void json_text(json *j, const char *name, const char *text)
{
    json_name(j, name);
    fputc('"', j->file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', j->file);
        if ((unsigned char)*text >= ' ') fputc(*text, j->file);
    }
    fputc('"', j->file);
}
static inline void json_count(json *j, const char *name, long n)
{
    json_name(j, name);
    fprintf(j->file, "%ld", n);
}
/* NaN and Inf are no JSON numbers: null */
static inline void json_number(json *j, const char *name, double x)
{
    json_name(j, name);
    if (isfinite(x)) fprintf(j->file, "%.6g", x);
    else fputs("null", j->file);
}
/* all digits of a double */
static inline void json_numbers(json *j, const char *name, int n, const double *x)
{
    json_name(j, name);
    for (int k = 0; k < n; k++) {
        fputs(k ? ", " : "[", j->file);
        if (isfinite(x[k])) fprintf(j->file, "%.17g", x[k]);
        else fputs("null", j->file);
    }
    fputs(n ? "]" : "[]", j->file);
}
static inline void json_end(json *j) { fputs(j->members ? "}\n" : "{}\n", j->file); }

#endif
