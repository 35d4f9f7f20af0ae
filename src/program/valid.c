/* valid.c - whether a routine reads and writes only what is there: every register that an operation reads has been
   written before, every input and result is one of the problem. */
#include <stdlib.h>
#include "program/operations.h"
#include "program/program.h"

typedef struct {
    const routine *f;
    const purpose *use;
    const costate_problem *P;
    int32_t *written;                       /* 0: not; 1: for all parts; guard + 1: in parts that may be left out */
} check;

/* how many values of a space there are; directions have those of the point */
static int length(const check *c, int space)
{
    if (space >= LOAD_DT && space < LOAD_W) space = (space - LOAD_DT) % (LOAD_ET - LOAD_DT);
    switch (space) {
    case LOAD_Y: return c->P->n;
    case LOAD_YP: return c->use->slopes ? c->P->n : 0;
    case LOAD_P: return c->P->np;
    case LOAD_M: return c->P->nm;
    case LOAD_RELATION: return c->P->nrelations;
    case LOAD_W: return c->use->values;
    default: return 1;
    }
}

static int is_there(const purpose *use, int space, int of_column)
{
    if (space < 0 || space >= SPACES || of_column != (space >= LOAD_DT)) return 0;
    if (space == LOAD_W) return use->backward;
    return space < LOAD_DT || (space < LOAD_ET ? use->first : use->second);
}

static int loads_valid(const check *c, const loads *all, int of_column, int *at)
{
    for (int k = 0; k < 3 * all->count; k += 3) {
        const int space = all->of[k], first = all->of[k + 1], count = all->of[k + 2];
        if (!is_there(c->use, space, of_column)) return 0;
        const int most = length(c, space);
        if (first < 0 || count < 1 || first > most || count > most - first) return 0;
        if (count > c->f->registers - *at) return 0;
        for (int i = 0; i < count; i++) c->written[(*at)++] = 1;
    }
    return 1;
}

static int readable(const check *c, int at, int mark)
{
    return at < c->f->registers && (c->written[at] == 1 || c->written[at] == mark);
}

static void write_register(const check *c, int at, int mark) { if (c->written[at] != 1) c->written[at] = mark; }

/* registers of the elements (i, j), first + i by_row + j by_column, of a matrix whose results are `size` registers from
   `out` on and are not among them */
static int matrix_readable(const check *c, int first, int by_row, int by_column, int rows, int columns, int out,
                           int size, int mark)
{
    if (!rows || !columns || columns > c->f->registers / rows) return 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            const int64_t at = first + (int64_t)i * by_row + (int64_t)j * by_column;
            if (at >= c->f->registers || (at >= out && at < out + size) || !readable(c, (int)at, mark)) return 0;
        }
    return 1;
}

static int array_writable(const check *c, int out, int size, int mark)
{
    if (size > c->f->registers - out) return 0;
    for (int k = 0; k < size; k++) write_register(c, out + k, mark);
    return 1;
}

static int times_valid(const check *c, const uint16_t *at, int mark)
{
    const int out = at[0], rows = at[6], columns = at[7];
    return matrix_readable(c, at[1], at[2], at[3], rows, columns, out, rows, mark) &&
           matrix_readable(c, at[4], 0, at[5], 1, columns, out, rows, mark) && array_writable(c, out, rows, mark);
}

/* the factors x y^T of a product, whose elements are in `size` registers from `out` on */
static int factors_valid(const check *c, const uint16_t *at, int out, int size, int mark)
{
    const int rows = at[4], columns = at[5];
    return matrix_readable(c, at[0], 0, at[1], 1, rows, out, size, mark) &&
           matrix_readable(c, at[2], 0, at[3], 1, columns, out, size, mark);
}

static int outer_valid(const check *c, const uint16_t *at, int mark)
{
    if (!at[5] || !at[6] || at[6] > c->f->registers / at[5]) return 0;
    const int size = at[5] * at[6];
    return factors_valid(c, at + 1, at[0], size, mark) && array_writable(c, at[0], size, mark);
}

/* operations of arrays; their end in *at */
static int arrays_valid(const check *c, const uint16_t *code, int words, int *at, int mark)
{
    const int width = code[*at] == TIMES ? TIMES_NUMBERS : OUTER_NUMBERS;
    const int times = code[*at] == TIMES, count = code[*at + 1];
    if (count > (words - *at - 2) / width) return 0;
    *at += 2;
    for (int k = 0; k < count; k++, *at += width)
        if (!(times ? times_valid(c, code + *at, mark) : outer_valid(c, code + *at, mark))) return 0;
    return 1;
}

static int code_valid(const check *c, const uint16_t *code, int words, int mark)
{
    for (int at = 0; at < words;) {
        if (words - at >= 2 && (code[at] == TIMES || code[at] == OUTER)) {
            if (!arrays_valid(c, code, words, &at, mark)) return 0;
            continue;
        }
        const int width = words - at < 2 ? 0 : operands(code[at]);
        if (!width || code[at + 1] > (words - at - 2) / (1 + width)) return 0;
        const int end = at + 2 + code[at + 1] * (1 + width);
        for (at += 2; at < end; at += 1 + width) {
            for (int k = 1; k <= width; k++)
                if (!readable(c, code[at + k], mark)) return 0;
            if (code[at] >= c->f->registers) return 0;
            write_register(c, code[at], mark);
        }
    }
    return 1;
}

static int gradient_valid(const check *c, const part *p, int mark)
{
    static const int space[GUARDS] = {-1, LOAD_T, LOAD_Y, LOAD_YP, LOAD_P, LOAD_M};
    const int most = p->guard == ALWAYS ? 0 : length(c, space[p->guard]);
    for (int k = 0; k < 2 * p->results; k += 2)
        if (p->result[k] >= most || !readable(c, p->result[k + 1], mark)) return 0;
    for (const uint16_t *at = p->product; at && at < p->product + p->products * OUTER_RESULT; at += OUTER_RESULT) {
        if (at[0] > 1 || !factors_valid(c, at + 1, 0, 0, mark) || (int64_t)at[5] * at[6] > most) return 0;
        if (at[7] + (int64_t)(at[5] - 1) * at[8] + (int64_t)(at[6] - 1) * at[9] >= most) return 0;
    }
    return 1;
}

/* all values, by the only part */
static int values_valid(const check *c, const part *p)
{
    if (p->guard != ALWAYS || p->results != c->use->values || p->products) return 0;
    for (int k = 0; k < p->results; k++)
        if (!readable(c, p->result[k], 1)) return 0;
    return 1;
}

static int parts_valid(const check *c)
{
    const routine *f = c->f;
    if (!c->use->backward && (f->parts > 1 || (!f->parts && c->use->values))) return 0;
    for (int k = 0; k < f->parts; k++) {
        const part *p = &f->part[k];
        const int mark = p->guard == ALWAYS ? 1 : p->guard + 1;
        if (!code_valid(c, p->code, p->words, mark)) return 0;
        if (!(c->use->backward ? gradient_valid(c, p, mark) : values_valid(c, p))) return 0;
    }
    return 1;
}

int routine_valid(struct costate_program *q, const routine *f, const purpose *use, int *no_memory)
{
    const check c = {f, use, &q->problem, calloc((size_t)f->registers + 1, sizeof *c.written)};
    if (!c.written) return *no_memory = 1, 0;
    int at = f->constants;
    for (int k = 0; k < at; k++) c.written[k] = 1;
    const int valid = loads_valid(&c, &f->point, 0, &at) && code_valid(&c, f->code, f->words, 1) &&
                      loads_valid(&c, &f->column, 1, &at) && parts_valid(&c);
    free(c.written);
    return valid;
}
