/* option_table.h - the members of costate_options, one row each: kind, default, range, and what depends on it. */
#ifndef COSTATE_STEP_OPTION_TABLE_H
#define COSTATE_STEP_OPTION_TABLE_H

#include <costate/costate.h>

enum option_kind { OPTION_REAL, OPTION_INTEGER, OPTION_BYTES, OPTION_VECTOR, OPTION_TEXT, OPTION_POINTER };

enum {
    OPTION_STEPS = 1,           /* the steps of a run: a run in a file is resumed with the same value */
    OPTION_REPEATED = 2,        /* a step that is repeated from its state: sweeps over some tapes need the same value */
    OPTION_ITERATED = 4,        /* the same, if systems are solved iteratively */
    OPTION_WEIGHED = 8,         /* the same, if they are, or if J comes from differences */
    OPTION_SLOPED = 16,         /* the same, if the family needs f_t */
    OPTION_ALONE = 32,          /* lanes do not follow a pointer, or values above most_in_lanes: members run alone */
    OPTION_ALONE_TANGENTS = 64, /* the same, in runs with tangents */
    OPTION_ALONE_ADJOINTS = 128,    /* the same, in runs with gradients */
    OPTION_WATCHES = 256,       /* callbacks of the user's own runs: not called in those of checks and estimates */
    OPTION_ONE_RUN = 512,       /* of the user's own run alone: not in that with halved steps, which estimates errors */
};

typedef struct {
    const char *name, *alone;   /* alone: what an ensemble reports if lanes do not follow the option */
    size_t offset, size;        /* in costate_options */
    enum option_kind kind;
    double fallback, least, most;   /* of numbers: what 0 means, and the range; OPTION_BYTES: any */
    unsigned is;                /* OPTION_... */
    int most_in_lanes;
} option;

extern const option option_table[];                         /* in the order of costate_options; ends with name NULL */

double option_value(const costate_options *, const option *);       /* of a pointer: is it given? */
const void *option_pointer(const costate_options *, const option *);    /* of OPTION_VECTOR and OPTION_TEXT */
void options_clear(costate_options *, unsigned which);      /* members with one of these uses <- 0, the default */

#endif
