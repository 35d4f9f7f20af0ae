/* test_store.c - a store of tapes is a file of sixty lines against tape.h: this one keeps steps in a file alone, and
   sweeps over it give the bits of sweeps over a tape in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tape/tape.h"

/* ---- the store ---------------------------------------------------------------------------------------------- */

typedef struct {                /* room for a step on its way to the file, and for one on its way back */
    FILE *file;
    size_t doubles, counts;     /* N + s n, s */
    double *out, *in;
} disk;

static int slot(const stepper *c, costate_tape *t, const double *y, const place *spare, record *r, place *to)
{
    disk *d = t->own;
    (void)spare;
    *to = (place){d->out + c->N, (unsigned char *)(d->out + d->doubles)};
    memcpy(d->out, y, (size_t)c->N * sizeof *y);
    *r = (record){.y = d->out, .X = to->X, .iterations = to->iterations};
    return 0;
}

static int put(const stepper *c, costate_tape *t, const record *r)
{
    disk *d = t->own;
    size_t size = d->doubles * sizeof(double) + d->counts;
    record *kept = &t->list[t->count];
    *kept = *r;                 /* times and the name of the Jacobian stay in memory */
    kept->y = kept->X = NULL;
    kept->iterations = NULL;
    if (fseek(d->file, (long)size * t->count, SEEK_SET) == 0 && fwrite(d->out, 1, size, d->file) == size) return 0;
    return fail(c->v, COSTATE_TAPE_LIMIT, "The file of the tape could not be written.");
}

static int get(const costate_tape *t, int k, const reader *who, int stages, record *r)
{
    (void)who, (void)stages;
    disk *d = t->own;
    size_t size = d->doubles * sizeof(double) + d->counts, N = (size_t)(t->problem.n + t->problem.nq);
    *r = t->list[k];
    if (fseek(d->file, (long)size * k, SEEK_SET) != 0) return COSTATE_BAD_TAPE;
    if (fread(d->in, 1, size, d->file) != size) return COSTATE_BAD_TAPE;
    r->y = d->in;
    r->X = d->in + N;
    r->iterations = (unsigned char *)(d->in + d->doubles);
    return 0;
}

static void clear(costate_tape *t)
{
    disk *d = t->own;
    if (!d) return;
    fclose(d->file);
    free(d->out);
    free(d);
    t->own = NULL;
}

static const store file_store = {.slot = slot, .put = put, .get = get, .clear = clear};

/* ---- the test: a run of fixed steps onto a tape with this store --------------------------------------------- */

#include "run/run.h"      /* before cmocka, which has a macro fail */
#include "common.h"

static disk *disk_new(const stepper *c)
{
    disk *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->doubles = (size_t)c->N + (size_t)(c->s * c->n);
    d->counts = (size_t)c->s;
    assert_non_null(d->file = tmpfile());
    assert_non_null(d->out = calloc(2, d->doubles * sizeof *d->out + 64));
    d->in = d->out + d->doubles + 8;
    return d;
}

enum { STEPS = 20, N_MOST = 5, M = 2 };

static void run_onto(costate *c, costate_tape *tape, const store *s, const problem *b, double *y)
{
    const place *spare = c->work.scratch;
    origin from = {c->self, c->stamp, 0, b->t0, b->t1};
    double h = (b->t1 - b->t0) / STEPS;
    maps_bind(&c->maps, b->p0);
    if (c->st.F->restart) c->st.F->restart(&c->st);
    assert_int_equal(tape_start(&c->st, tape, s, &b->P, &from), 0);
    if (s == &file_store) tape->own = disk_new(&c->st);
    for (int k = 0; k < STEPS; k++) {
        record r = {.t = 0};
        trial by = {.serial = k + 1, .y1 = c->work.y1, .err = c->work.err};
        assert_int_equal(tape_slot(&c->st, tape, y, &spare[k & 1], &r, &by.to), 0);
        r.t = b->t0 + k * h;
        r.h = h;
        r.end = r.t + h;
        weights(&c->st, r.y, c->st.w);
        int status = c->st.F->forward(&c->st, &r, &by);
        if (status == RETRY) status = c->st.F->forward(&c->st, &r, &by);      /* an old Jacobian is given up */
        assert_int_equal(status, 0);
        assert_int_equal(tape_commit(&c->st, tape, &r), 0);
        memcpy(y, c->work.y1, (size_t)c->st.N * sizeof *y);
    }
    tape_end(&c->st, tape, 1, b->t1, y, 0);
}

static void same_sweeps(void **state)
{
    for (int mass = MASS_IDENTITY; mass <= MASS_SINGULAR; mass++) {
        const problem *b = problem_synthetic(mass, 0, 2, 2, 0);
        double V[2][M * N_MOST], lambda[2][M * N_MOST], mu[2][M * 2] = {{0}}, y[2][N_MOST] = {{0}};
        if (!method_takes(*state, mass)) continue;
        for (int k = 0; k < 2; k++) {
            costate_options o = {.rtol = 1e-5, .atol = 1e-5, .controller = COSTATE_FIXED, .h0 = 0.05,
                                 .keep_factors = -1};
            costate *c = costate_new(*state, &b->P, &o);
            costate_tape *tape = costate_tape_new();
            unsigned seed = 3;
            random_fill(&seed, M * N_MOST, V[k]);
            random_fill(&seed, M * N_MOST, lambda[k]);
            memcpy(y[k], b->y0, 3 * sizeof *y[k]);
            CHECK_OK(c, costate_status(c));
            run_onto(c, tape, k ? &file_store : store_for(COSTATE_ALL_STAGES, 0), b, y[k]);
            CHECK_OK(c, costate_tangent(c, tape, M, V[k], NULL, NULL, NULL));
            CHECK_OK(c, costate_adjoint(c, tape, M, lambda[k], mu[k], NULL, NULL));
            assert_int_equal(costate_tape_steps(tape), STEPS);
            costate_tape_free(tape);
            costate_free(c);
        }
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_memory_equal(V[0], V[1], sizeof V[0]);
        assert_memory_equal(lambda[0], lambda[1], sizeof lambda[0]);
        assert_memory_equal(mu[0], mu[1], sizeof mu[0]);
    }
}

int main(void) { return run_by_method("a store on a file", same_sweeps); }
