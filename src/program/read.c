/* read.c - the bytes of a program become routines and a problem; codegen/equations/byte_code.py says what they are.

   Counts and lengths are compared with what is left before anything is read; what routines do is checked in valid.c. */
#include <string.h>
#include "program/program.h"

enum { MAGIC = 0x62736f63, VERSION = 1, MOST = 0xffff };
enum head { HEAD_MAGIC, HEAD_VERSION, HEAD_DOUBLES, HEAD_WORDS, HEAD_NUMBERS, HEAD_CHECK, HEADS };

/* what is left to be read */
typedef struct {
    struct costate_program *q;
    const double *doubles;
    const int32_t *words;
    const uint16_t *numbers;
    size_t ndoubles, nwords, nnumbers;
    int damaged;                            /* something was asked for that is not there */
    int memory;                             /* malloc failed */
} reader;

/* ---- numbers ---- */

static int damage(reader *r) { return r->damaged = 1, 0; }

/* an integer from least to most */
static int word(reader *r, int least, int most)
{
    if (!r->nwords || r->words[0] < least || r->words[0] > most) return damage(r);
    r->nwords--;
    return *r->words++;
}

static const int32_t *word_list(reader *r, size_t count)
{
    if (count > r->nwords) return damage(r), NULL;
    const int32_t *list = r->words;
    r->words += count;
    r->nwords -= count;
    return list;
}

static const double *double_list(reader *r, size_t count)
{
    if (count > r->ndoubles) return damage(r), NULL;
    if (!count) return NULL;
    const double *list = r->doubles;
    r->doubles += count;
    r->ndoubles -= count;
    return list;
}

static const uint16_t *number_list(reader *r, size_t count)
{
    if (count > r->nnumbers) return damage(r), NULL;
    const uint16_t *list = r->numbers;
    r->numbers += count;
    r->nnumbers -= count;
    return list;
}

/* how many of what takes `each` words or more there can be */
static int count_of(reader *r, int each)
{
    const size_t most = r->nwords / (size_t)each;
    return word(r, 0, most < INT32_MAX ? (int)most : INT32_MAX);
}

static void *array(reader *r, int count, size_t size)
{
    void *found = r->damaged ? NULL : program_own(r->q, (size_t)count, size);
    if (!found && !r->damaged) r->memory = r->damaged = 1;
    return found;
}

/* ---- routines ---- */

static loads read_loads(reader *r)
{
    const int count = count_of(r, 3);
    return (loads){count, word_list(r, 3 * (size_t)count)};
}

static void read_routine(reader *r, routine *f, const purpose *use)
{
    f->registers = word(r, 0, MOST);
    f->constants = word(r, 0, f->registers);
    f->constant = double_list(r, (size_t)f->constants);
    f->point = read_loads(r);
    f->column = read_loads(r);
    f->words = word(r, 0, INT32_MAX);
    f->parts = count_of(r, 4);
    f->code = number_list(r, (size_t)f->words);
    f->part = array(r, f->parts, sizeof *f->part);
    const int each = use->backward ? 2 : 1;
    for (int k = 0; k < f->parts && !r->damaged; k++) {
        part *p = &f->part[k];
        p->guard = word(r, 0, GUARDS - 1);
        p->words = word(r, 0, INT32_MAX);
        p->results = word(r, 0, INT32_MAX);
        p->products = word(r, 0, INT32_MAX / OUTER_RESULT);
        p->code = number_list(r, (size_t)p->words);
        p->result = number_list(r, (size_t)p->results * (size_t)each);
        p->product = number_list(r, (size_t)p->products * OUTER_RESULT);
    }
    if (f->registers > r->q->most) r->q->most = f->registers;
    if (!r->damaged && !routine_valid(r->q, f, use, &r->memory)) r->damaged = 1;
}

static void read_product(reader *r, versions *v, const purpose *use)
{
    const int kinds = word(r, 0, 2);
    if (!kinds || !(v->all = array(r, kinds, sizeof *v->all))) return;
    read_routine(r, v->all, use);
    if (kinds == 1) return;
    if (!use->first) damage(r);
    v->others = word(r, 1, OTHER_T | OTHER_P | OTHER_M);
    v->states = v->all + 1;
    read_routine(r, v->states, use);
}

/* whether there is a map, which has this number of values */
static int read_map(reader *r, unit *u, int slot, costate_map *to, int values, int slopes)
{
    if (!word(r, 0, values)) return 0;
    if (!r->damaged && r->words[-1] != values) return damage(r);
    map_routines *map = &u->map[slot];
    map->values = values;
    for (int k = 0; k < PRODUCTS && !r->damaged; k++) {
        const purpose use = {.values = values, .slopes = slopes, .first = k != VALUE && k != ADJOINT && k != ADJOINTS,
                         .second = k == TANGENT2 || k == ADJOINT_TANGENT2,
                         .backward = k == ADJOINT || k == ADJOINT_TANGENT || k == ADJOINTS || k == ADJOINT_TANGENT2};
        read_product(r, &map->product[k], &use);
    }
    if (!map->product[VALUE].all) return damage(r);
    *to = map_of(map, slot);
    return 1;
}

/* ---- the linear solver ---- */

/* pairs of numbers below these two */
static void read_terms(reader *r, int first, int second)
{
    for (int k = count_of(r, 2); k > 0 && !r->damaged; k--) {
        word(r, 0, first - 1);
        word(r, 0, second - 1);
    }
}

static const int32_t *read_factor(reader *r, const elimination *e)
{
    const int32_t *list = r->words;
    for (int k = 0; k < e->entries && !r->damaged; k++) {
        word(r, -1, k);
        word(r, -1, e->col[e->n] - 1);
        read_terms(r, k, k);
    }
    return list;
}

/* forward: y[k] from those before it; else x from all of y */
static const int32_t *read_solve(reader *r, const elimination *e, int forward)
{
    const int32_t *list = r->words;
    for (int i = 0; i < e->n && !r->damaged; i++) {
        const int k = word(r, forward ? i : 0, forward ? i : e->n - 1);
        word(r, 0, e->n - 1);
        word(r, 0, e->entries - 1);
        read_terms(r, e->entries, forward ? k : e->n);
    }
    return list;
}

/* columns and rows of a pattern with this number of entries */
static void read_columns(reader *r, int n, int entries, const int32_t **col, const int32_t **row)
{
    *col = word_list(r, (size_t)n + 1);
    *row = word_list(r, (size_t)entries);
    if (r->damaged || (*col)[0] || (*col)[n] != entries) damage(r);
    for (int j = 0; j < n && !r->damaged; j++) {
        if ((*col)[j] > (*col)[j + 1] || (*col)[j + 1] > entries) damage(r);
        for (int k = (*col)[j]; k < (*col)[j + 1] && !r->damaged; k++)
            if ((*row)[k] < 0 || (*row)[k] >= n || (k > (*col)[j] && (*row)[k - 1] >= (*row)[k])) damage(r);
    }
}

static void read_elimination(reader *r)
{
    elimination *e = &r->q->elimination;
    if (!(e->entries = word(r, 0, MOST * MOST_ROWS))) return;
    e->n = r->q->problem.n;
    if (e->n > MOST_ROWS) {
        damage(r);
        return;
    }
    read_columns(r, e->n, word(r, 0, e->n * e->n), &e->col, &e->row);
    e->factor = read_factor(r, e);
    for (int transposed = 0; transposed < 2; transposed++) {
        e->forward[transposed] = read_solve(r, e, 1);
        e->backward[transposed] = read_solve(r, e, 0);
    }
    e->backend = elimination_backend();
    e->program = r->q;
}

/* ---- the problem ---- */

static void read_sizes(reader *r)
{
    struct costate_program *q = r->q;
    costate_problem *P = &q->problem;
    P->n = word(r, 1, MOST);
    P->np = word(r, 0, MOST);
    P->nq = word(r, 0, MOST);
    P->nm = word(r, 0, MOST);
    q->outputs = word(r, 0, MOST);
    q->implicit = word(r, 0, 1);
    P->nevents = word(r, 0, MOST);
    P->nrelations = word(r, 0, MOST);
    P->nstops = word(r, 0, MOST);
}

static void read_maps(reader *r)
{
    struct costate_program *q = r->q;
    costate_problem *P = &q->problem;
    P->ctx = &q->unit;
    q->unit.program = q;
    if (!read_map(r, &q->unit, RHS, q->implicit ? &P->residual : &P->rhs, P->n, q->implicit)) damage(r);
    read_map(r, &q->unit, COST, &P->cost, P->nq, 0);
    if (!read_map(r, &q->unit, START, &q->start, P->n + P->nq + P->nm, 0)) damage(r);
    if (read_map(r, &q->unit, OUTPUT, &q->output, q->outputs, 0) != (q->outputs > 0)) damage(r);
}

/* whether the program has a Jacobian; else the library forms it from products */
static int read_pattern(reader *r)
{
    struct costate_program *q = r->q;
    const int n = q->problem.n;
    q->entries = word(r, 0, INT32_MAX);
    enum { DENSE, SPARSE, PRODUCTS_ONLY };
    const int kind = word(r, DENSE, PRODUCTS_ONLY);
    if (kind != SPARSE) {
        if (q->entries != (int64_t)n * n) damage(r);
        return kind == DENSE;
    }
    const int32_t *col, *row;
    read_columns(r, n, q->entries, &col, &row);
    q->pattern = (costate_pattern){n, col, row};
    q->problem.pattern = &q->pattern;
    return 1;
}

static void read_jacobians(reader *r)
{
    struct costate_program *q = r->q;
    costate_problem *P = &q->problem;
    if (!read_pattern(r)) {
        if (q->implicit) damage(r);
        return;
    }
    const purpose use = {.values = q->entries, .slopes = q->implicit};
    read_routine(r, &q->jac, &use);
    P->jac = program_jac;
    if (!q->implicit) return;
    read_routine(r, &q->jac_yp, &use);
    P->jac_yp = program_jac_yp;
}

static void read_matrices(reader *r)
{
    struct costate_program *q = r->q;
    costate_problem *P = &q->problem;
    read_jacobians(r);
    q->masses = count_of(r, 1);
    q->mass_place = word_list(r, (size_t)q->masses);
    q->mass = double_list(r, (size_t)q->masses);
    for (int k = 0; k < q->masses && !r->damaged; k++)
        if (q->mass_place[k] < 0 || q->mass_place[k] >= q->entries) damage(r);
    if (q->masses) P->mass = program_mass;
    read_elimination(r);
}

static void read_index(reader *r)
{
    costate_problem *P = &r->q->problem;
    if (!word(r, 0, 1)) return;
    P->index = word_list(r, (size_t)P->n);
    for (int k = 0; k < P->n && !r->damaged; k++)
        if (P->index[k] < 0 || P->index[k] > 2) damage(r);
}

static void read_event(reader *r, costate_event *e, unit *u)
{
    const costate_problem *P = &r->q->problem;
    e->ntimes = word(r, 0, INT32_MAX);
    e->times = double_list(r, (size_t)e->ntimes);
    e->direction = word(r, -1, 1);
    e->from = word(r, COSTATE_ANY_MODE, INT32_MAX);
    e->to = word(r, COSTATE_SAME_MODE, INT32_MAX);
    e->terminal = word(r, 0, 1);
    e->passes = word(r, 0, 1);
    e->slopes = word(r, 0, 1);
    e->at_start = word(r, COSTATE_START_DEFAULT, COSTATE_ZERO_TRUE);
    e->ctx = u;
    u->program = r->q;
    read_map(r, u, GUARD, &e->guard, 1, e->slopes);
    read_map(r, u, JUMP, &e->jump, P->n + P->nm, e->slopes);
    read_map(r, u, EVENT_COST, &e->cost, P->nq, e->slopes);
}

static void read_events(reader *r)
{
    struct costate_program *q = r->q;
    costate_problem *P = &q->problem;
    if ((size_t)(P->nevents + P->nrelations) > r->nwords) damage(r);
    costate_event *event = array(r, P->nevents, sizeof *event);
    costate_relation *relation = array(r, P->nrelations, sizeof *relation);
    unit *units = array(r, P->nevents + P->nrelations, sizeof *units);
    for (int k = 0; k < P->nevents && !r->damaged; k++) read_event(r, &event[k], &units[k]);
    for (int k = 0; k < P->nrelations && !r->damaged; k++) {
        unit *u = &units[P->nevents + k];
        u->program = q;
        relation[k].ctx = u;
        int kind = word(r, 0, 2);
        relation[k].whole = kind == 1;
        relation[k].sign = kind == 2;
        if (!read_map(r, u, GUARD, &relation[k].guard, 1, 0)) damage(r);
    }
    P->event = P->nevents ? event : NULL;
    P->relation = P->nrelations ? relation : NULL;
}

/* ---- the file ---- */

/* CRC-32 (ISO 3309), as zlib has it */
static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    uint32_t crc = 0xffffffffu;
    for (size_t k = 0; k < size; k++) {
        crc ^= bytes[k];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static int refused(struct costate_program *q, const char *why)
{
    return fail(&q->v, COSTATE_BAD_ARGUMENT, "The bytes are not a program that this library can run: %s. Write the "
                "program again with the costate-model of this version, %s.", why, COSTATE_VERSION);
}

/* whether the head describes the bytes; then what it describes */
static int read_head(struct costate_program *q, const unsigned char *bytes, size_t size, reader *r)
{
    uint32_t head[HEADS];
    if (!bytes || size < sizeof head) return refused(q, "they are too few");
    memcpy(head, bytes, sizeof head);
    if (head[HEAD_MAGIC] != MAGIC) return refused(q, "they begin otherwise, or are of a machine with another order of "
                                                     "bytes");
    if (head[HEAD_VERSION] != VERSION) return refused(q, "they are of another version");
    const uint64_t needed = sizeof head + 8 * (uint64_t)head[HEAD_DOUBLES] + 4 * (uint64_t)head[HEAD_WORDS] +
                            2 * (uint64_t)head[HEAD_NUMBERS];
    if (needed != size) return refused(q, "there are more or fewer than their head says");
    if (checksum(bytes + sizeof head, size - sizeof head) != head[HEAD_CHECK])
        return refused(q, "they are damaged, as their checksum says");
    r->ndoubles = head[HEAD_DOUBLES];
    r->nwords = head[HEAD_WORDS];
    r->nnumbers = head[HEAD_NUMBERS];
    double *copy = program_own(q, size - sizeof head, 1);
    if (!copy) return fail(&q->v, COSTATE_NO_MEMORY, "No memory for a program of %zu bytes.", size);
    memcpy(copy, bytes + sizeof head, size - sizeof head);
    r->doubles = copy;
    r->words = (const int32_t *)(const void *)(copy + r->ndoubles);
    r->numbers = (const uint16_t *)(const void *)(r->words + r->nwords);
    return 0;
}

int program_read(struct costate_program *q, const void *bytes, size_t size)
{
    reader r = {.q = q};
    TRY(read_head(q, bytes, size, &r));
    read_sizes(&r);
    read_maps(&r);
    read_matrices(&r);
    read_index(&r);
    read_events(&r);
    q->problem.stops = double_list(&r, (size_t)q->problem.nstops);
    q->defaults = double_list(&r, (size_t)q->problem.np);
    if (r.memory) return fail(&q->v, COSTATE_NO_MEMORY, "No memory for a program of %zu bytes.", size);
    if (r.damaged || r.ndoubles || r.nwords || r.nnumbers) return refused(q, "their contents do not fit together");
    return 0;
}
