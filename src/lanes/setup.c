/* setup.c (lanes) - creates and frees the lanes of a thread: solvers of each lane, work space, linear algebra. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/invariant.h"
#include "lanes/aligned.h"
#include "lanes/setup.h"
#include "lanes/tape.h"
#include "linsol/backends.h"
#include "linsol/layout.h"
#include "ros/ros.h"
#include "run/control.h"
#include "run/damping.h"

/* ---- the code for this processor ---- */

#ifdef COSTATE_LANE_CODE_2
extern const lane_code lane_code_2;
#endif
#ifdef COSTATE_LANE_CODE_4
extern const lane_code lane_code_4;
#endif
#ifdef COSTATE_LANE_CODE_8
extern const lane_code lane_code_8;
#endif

const lane_code *lane_code_for(int lanes)
{
#ifdef COSTATE_LANE_CODE_8
    if (lanes == 8 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) return &lane_code_8;
#endif
#ifdef COSTATE_LANE_CODE_4
    if (lanes == 4 && __builtin_cpu_supports("avx2")) return &lane_code_4;
#endif
#ifdef COSTATE_LANE_CODE_2
    if (lanes == 2) return &lane_code_2;
#endif
    return (void)lanes, NULL;
}

int costate_lanes(void)
{
    for (int lanes = LANES_MOST; lanes > 1; lanes /= 2) if (lane_code_for(lanes)) return lanes;
    return 1;
}

const costate_lane_maps *lane_maps_of(const costate_lane_maps *list)
{
    const costate_lane_maps *best = NULL;
    for (; list && list->lanes > 0; list++)
        if (lane_code_for(list->lanes) && (!best || list->lanes > best->lanes)) best = list;
    return best;
}

/* ---- work space ---- */

/* count numbers of each lane, at a multiple of 64 bytes */
static double *take_lanes(const batch *b, cursor *at, size_t count)
{
    return take(at, (count * (size_t)b->code->lanes + 7) / 8 * 8);
}

static void layout_matrix(const batch *b, cursor *at, lane_matrix *E)
{
    size_t n = (size_t)b->n, own = n * (size_t)b->code->lanes;
    E->J = take_lanes(b, at, (size_t)E->entries);
    E->A = take_lanes(b, at, E->size);
    E->LU = take_lanes(b, at, E->printed ? (size_t)b->maps->entries : E->size);
    E->sigma = take_lanes(b, at, 1);
    E->pivot = (int64_t *)(void *)take_lanes(b, at, n);
    E->one = take(at, (E->size > own ? E->size : own) + 7);
}

static void layout_matrices(batch *b, cursor *at)
{
    layout_matrix(b, at, &b->E);
    layout_matrix(b, at, &b->after.E);
    b->after.h = take_lanes(b, at, 1);
    b->after.raw = take_lanes(b, at, (size_t)b->N);
    b->after.change = take_lanes(b, at, (size_t)b->N);
}

static void layout_step(batch *b, cursor *at)
{
    size_t n = (size_t)b->n, N = (size_t)b->N, nq = (size_t)b->nq, s = (size_t)b->s;
    b->step.y = take_lanes(b, at, N);
    b->now.X = take_lanes(b, at, s * n);
    b->step.y1 = take_lanes(b, at, N);
    b->step.err = take_lanes(b, at, N);
    b->p = take_lanes(b, at, (size_t)b->np);
    b->step.K0 = b->m->is & COSTATE_FSAL ? take_lanes(b, at, n) : NULL;
    b->step.Y = take_lanes(b, at, n);
    b->step.v = take_lanes(b, at, N);
    b->step.w = take_lanes(b, at, n);
    b->step.r = take_lanes(b, at, nq);
    b->step.rq = take_lanes(b, at, nq);
    b->step.T = take_lanes(b, at, 1);
    b->step.dt = take_lanes(b, at, 1);
    b->step.unit = take_lanes(b, at, 1);
    b->step.ft = take_lanes(b, at, n);
}

static int has_mu(const lane_task *t) { return t->with_mu || t->with_mu2; }

static void layout_derivatives(batch *b, cursor *at, const lane_task *t)
{
    size_t n = (size_t)b->n, N = (size_t)b->N, np = (size_t)b->np, s = (size_t)b->s;
    size_t d = (size_t)b->d, k = (size_t)b->k;
    b->sweep.V = take_lanes(b, at, N * d);
    b->sweep.V1 = take_lanes(b, at, N * d);
    b->sweep.Vp = t->with_Vp && d ? take_lanes(b, at, np * d) : NULL;
    b->sweep.Xd = take_lanes(b, at, s * n * d);
    b->sweep.lambda = take_lanes(b, at, N * k);
    b->sweep.kept_lambda = take_lanes(b, at, N * k);
    b->sweep.mu = has_mu(t) && k ? take_lanes(b, at, np * k) : NULL;
    b->sweep.kept_mu = has_mu(t) && k ? take_lanes(b, at, np * k) : NULL;
    b->sweep.Yb = take_lanes(b, at, s * n * k);
    b->sweep.U = take_lanes(b, at, s * n * k);
    b->sweep.sum = take_lanes(b, at, n * k);
    b->sweep.spare_mu = has_mu(t) && k && t->observations ? take_lanes(b, at, np * k) : NULL;
    b->seen.seeds = take_lanes(b, at, t->observations ? s * n * k : 0);
    b->seen.sum = take_lanes(b, at, t->observations ? n * k : 0);
    b->seen.X = take(at, t->observations ? s * n : 0);
    b->seen.w = take(at, t->observations ? n * k : 0);
    b->seen.y = take(at, t->observations ? n : 0);
    b->sweep.v0 = take_lanes(b, at, n);
    b->sweep.r0 = take_lanes(b, at, (size_t)b->nq);
    b->sweep.along = take_lanes(b, at, n);
    b->seen.V = take(at, t->observations && t->second ? (N + s * n) * d : 0);
    b->seen.Vt = take(at, t->observations && t->second ? n * d : 0);
}

static void layout_members(batch *b, cursor *at, const lane_task *t)
{
    size_t N = (size_t)b->N, np = (size_t)b->np, d = (size_t)b->d, k = (size_t)b->k;
    for (int i = 0; i < CHUNK_MEMBERS; i++) {
        place_of_member *m = &b->driver.chunk.place[i];
        m->y = take(at, N);
        m->V = take(at, N * d);
        m->lambda = take(at, N * k);
        m->mu = has_mu(t) && k ? take(at, np * k) : NULL;
        m->direct = t->second ? take(at, np * k) : NULL;
    }
}

static void layout_all(batch *b, cursor *at, const lane_task *t)
{
    layout_step(b, at);
    layout_derivatives(b, at, t);
    if (b->E.size) layout_matrices(b, at);
    layout_members(b, at, t);
    b->tableau.At = take(at, (size_t)(b->s * b->s));
    b->tableau.Ct = take(at, (size_t)(b->s * b->s));
    b->driver.gathered = take(at, (size_t)b->N);
}

static int allocate(batch *b, const lane_task *t)
{
    cursor at = {0};
    if (!(b->driver.chunk.place = calloc(CHUNK_MEMBERS, sizeof *b->driver.chunk.place))) return COSTATE_NO_MEMORY;
    layout_all(b, &at, t);
    size_t doubles = at.used;
    if (!(b->driver.block = aligned_new(doubles * sizeof(double)))) return COSTATE_NO_MEMORY;
    at = (cursor){b->driver.block, 0};
    layout_all(b, &at, t);
    INVARIANT(at.used == doubles);
    b->now.t = b->clock.t;
    b->now.h = b->clock.h;
    b->now.end = b->clock.end;
    b->now.y = b->step.y;
    return 0;
}

/* ---- linear algebra ---- */

static int *places(const size_t *from, size_t count)
{
    int *to = from ? malloc((count + 1) * sizeof *to) : NULL;
    for (size_t k = 0; to && k < count; k++) to[k] = (int)from[k];
    return to;
}

/* where the diagonal of J is, in its pattern or densely; -1: nowhere */
static int *diagonal_of_J(int n, const costate_pattern *a)
{
    int *to = malloc((size_t)n * sizeof *to);
    for (int j = 0; to && j < n; j++) {
        to[j] = a ? -1 : j * n + j;
        for (int k = a ? a->col[j] : 0; a && k < a->col[j + 1]; k++) if (a->row[k] == j) to[j] = k;
    }
    return to;
}

static int solvers_of_lanes(const batch *b, lane_matrix *E)
{
    int status = 0;
    for (int l = 0; status == 0 && l < b->code->lanes; l++)
        status = E->backend->init(&E->self[l], b->n, E->backend->dense ? NULL : &E->lay->pattern, 0, NULL);
    return status;
}

static int prepare_matrix(batch *b, const lane_task *t)
{
    const costate *c = b->driver.solver[0];
    lane_matrix *E = &b->E;
    if (!(c->st.F->is & IMPLICIT)) return 0;
    E->backend = c->st.sh->backend;
    E->printed = E->backend != &LS_dense;
    layout *lay = NULL;
    int status = layout_new(&lay, b->n, t->P->pattern, E->backend->dense);
    if (status == 0) {
        E->entries = (int)lay->entries;
        E->size = lay->size;
        E->at = places(lay->at, lay->entries);
        E->diagonal = places(lay->diagonal, (size_t)b->n);
        E->of_J = diagonal_of_J(b->n, t->P->pattern);
        if ((lay->at && !E->at) || !E->diagonal || !E->of_J) status = COSTATE_NO_MEMORY;
    }
    E->lay = lay;
    b->after.E = *E;
    if (status == 0) status = solvers_of_lanes(b, E);
    if (status == 0) status = solvers_of_lanes(b, &b->after.E);
    return status ? COSTATE_NO_MEMORY : 0;
}

/* their tables are the same */
static void free_matrices(lane_matrix *E, const lane_matrix *after)
{
    for (int l = 0; l < LANES_MOST; l++) if (E->self[l]) E->backend->free(E->self[l]);
    for (int l = 0; l < LANES_MOST; l++) if (after->self[l]) after->backend->free(after->self[l]);
    if (E->lay) layout_free(E->lay);
    free(E->at);
    free(E->diagonal);
    free(E->of_J);
}

/* ---- both together ---- */

static void tables(batch *b)
{
    const costate_method *m = b->m;
    for (int i = 0; i < m->s; i++) {
        b->tableau.used[i] = m->b[i] != 0;
        for (int k = 0; k < m->s; k++) {
            b->tableau.At[i * m->s + k] = k > i ? m->A[k * m->s + i] : 0;
            if (b->tableau.At[i * m->s + k] != 0) b->tableau.used[i] = 1;
            b->tableau.Ct[i * m->s + k] = k > i && m->C ? m->C[k * m->s + i] : 0;
        }
    }
}

static int sizes(batch *b, const lane_task *t)
{
    const costate *c = b->driver.solver[0];
    b->steps = &b->code->of[c->st.F->lanes];
    b->m = c->st.m;
    b->o = c->st.o;
    b->n = c->st.n;
    b->np = c->st.np;
    b->nq = c->st.nq;
    b->N = c->st.N;
    b->s = c->st.s;
    b->d = t->d;
    b->k = t->second ? 1 + t->d : t->k;
    b->jet = t->second ? t->d : 0;
    b->ctx = t->P->ctx;
    b->seen.count = t->observations;
    b->by = law_of(&c->st);
    int measured = c->st.spectrum.v && spectrum_products(&c->maps);
    b->driver.limited = c->st.F->longest && (spectrum_given(&c->st) || measured);
    b->driver.damps = t->k > 0 && damping_looks(c);
    TRY(prepare_matrix(b, t));
    TRY(allocate(b, t));
    if (c->st.F->is & IMPLICIT) {
        b->tableau.error_b = ((const ros_work *)c->st.own)->error_b;
        b->tableau.extends = ((const ros_work *)c->st.own)->extends;
    }
    b->driver.chunk.doubles = lane_tape_doubles(b);
    tables(b);
    return 0;
}

static int solvers(batch *b, const lane_task *t)
{
    for (int l = 0; l < b->code->lanes; l++)
        if (!(b->driver.solver[l] = costate_new(t->method, t->P, t->o))) return COSTATE_NO_MEMORY;
    return 0;
}

batch *lanes_new(const lane_task *t, const char **why)
{
    if ((*why = lanes_refuse_task(t))) return NULL;
    batch *b = aligned_new(sizeof *b);
    *why = "there is no memory for lanes";
    if (!b) return NULL;
    b->code = lane_code_for(t->maps->lanes);
    b->maps = t->maps;
    const char *refused = NULL;
    if (solvers(b, t) || (refused = lanes_refuse(b->driver.solver[0], t)) || sizes(b, t)) {
        if (refused) *why = refused;
        lanes_free(b);
        return NULL;
    }
    *why = NULL;
    return b;
}

void lanes_free(batch *b)
{
    if (!b) return;
    for (int l = 0; l < LANES_MOST; l++) costate_free(b->driver.solver[l]);
    free_matrices(&b->E, &b->after.E);
    lane_tape_free(b);
    free(b->driver.chunk.place);
    aligned_free(b->driver.block);
    aligned_free(b);
}
