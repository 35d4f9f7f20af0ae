/* journal.c - writes the frames of a tape on a medium during the run. */
#include <string.h>
#include "step/option_table.h"
#include "tape/journal.h"

size_t words(size_t bytes) { return (bytes + 7) / 8 * 8; }
size_t counts_bytes(const stepper *c, int member)
{
    const member_method *by = &c->members[member];
    return by->F->is & IMPLICIT ? words((size_t)by->m->s) : 0;
}

static void add_options(summed *all, const stepper *c, unsigned which)
{
    for (const option *x = option_table; x->name; x++) {
        double value = option_value(c->options, x);
        if (!(x->is & which)) continue;
        words_add(all, &value, sizeof value);
        if (x->kind == OPTION_VECTOR && value != 0)
            words_add(all, option_pointer(c->options, x), (size_t)c->n * sizeof(double));
        if (x->kind != OPTION_TEXT || value == 0) continue;
        for (const char *at = option_pointer(c->options, x); *at; at++)
            words_add(all, &(int64_t){*at}, sizeof(int64_t));
    }
}

/* a checksum of everything on which the steps of a run depend, apart from the problem */
uint64_t journal_options(const stepper *c)
{
    summed all = words_begin();
    add_options(&all, c, OPTION_STEPS);
    return all.sum;
}

/* A recomputed step uses the decisions of the tape: h, which Jacobian, how many iterations.  It depends on weights if J
   comes from differences or if systems are solved iteratively, and on other options of iterations only in the latter
   case. */
solved_by solved_by_of(const stepper *c)
{
    const member_method *stiff = stiff_member(c);
    const shifts *sh = stiff->sh;
    solved_by x = {.solver = "none"};
    summed all = words_begin();
    int implicit = (stiff->F->is & IMPLICIT) != 0, loose = implicit && sh->matfree;
    int differenced = implicit && c->maps->form.differenced;
    const int form[] = {implicit ? (c->maps->user.w ? 2 : c->maps->user.jac != NULL) : 0, differenced};
    unsigned which = OPTION_REPEATED;
    if (loose) which |= OPTION_ITERATED;
    if (loose || differenced) which |= OPTION_WEIGHED;
    if (stiff->F->needs[FORWARD] & SLOPE_OF) which |= OPTION_SLOPED;
    words_add(&all, form, sizeof form);
    add_options(&all, c, which);
    x.options = all.sum;
    x.iterative = sh->matfree;
    x.exact = c->options->derivative_mode != 0;
    if (sh->backend) strncpy(x.solver, shifts_name(sh), sizeof x.solver - 1);
    return x;
}

static journal_head head_of(const stepper *c, const costate_tape *t)
{
    const costate_problem *P = &t->problem;
    journal_head h = {.n = P->n, .np = P->np, .nq = P->nq, .nm = P->nm, .nevents = P->nevents, .s = c->most,
                      .storage = t->kept->number, .checkpoints = t->most_states, .length = t->fresh.every,
                      .matfree = t->matfree,
                      .predict = t->from.predict, .words = (int)sizeof(journal_step),
                      .corrects = corrects(c->maps) + relaxes(c->maps), .nrelations = P->nrelations,
                       .options = journal_options(c),
                      .t0 = t->from.t0, .by = t->by};
    strncpy(h.version, COSTATE_VERSION, sizeof h.version - 1);
    strncpy(h.method, c->method->name, sizeof h.method - 1);
    return h;
}

int journal_begin(const stepper *c, costate_tape *t)
{
    if (!t->frames) return 0;
    journal_head h = head_of(c, t);
    const part parts[] = {{&h, sizeof h}, {t->p, (size_t)c->np * sizeof *t->p}};
    TRY(frames_create(t->frames, c->v));
    return frames_put(t->frames, c->v, HEAD, 0, parts, 2, NULL);
}

static size_t known_bytes(const fresh_run *x)
{
    size_t all = x->bytes;
    for (size_t k = 0; k < sizeof x->more / sizeof *x->more; k++) all += x->more[k].bytes;
    return all;
}

/* A process that is killed loses only the steps after this state. */
int tape_fresh(const stepper *c, costate_tape *t, const fresh_run *x)
{
    if (!t->frames) return 0;
    size_t slope = x->yp ? (size_t)c->n : 0;
    journal_fresh h = {x->t, x->t0, x->t1, known_bytes(x), x->source, t->count, t->maps.count, x->begins,
                       x->mode};
    const part parts[] = {{&h, sizeof h}, {x->y, (size_t)c->N * sizeof *x->y}, {x->yp, slope * sizeof *x->yp},
                          {x->known, x->bytes}, {x->more[0].at, x->more[0].bytes}, {x->more[1].at, x->more[1].bytes},
                          {x->more[2].at, x->more[2].bytes}, {x->more[3].at, x->more[3].bytes}};
    TRY(frames_put(t->frames, c->v, FRESH, (uint32_t)t->count, parts, 8, &t->fresh.at));
    t->fresh.bytes = t->frames->end - t->fresh.at;
    return frames_flush(t->frames, c->v);
}

int journal_step_taken(const stepper *c, costate_tape *t, const record *r, uint64_t *at)
{
    if (!t->frames) return 0;
    size_t n = (size_t)c->n, N = r->y ? (size_t)c->N : 0, slope = r->y && r->yp ? n : 0;
    size_t stages = r->X ? stage_doubles(c, method_of_step(c, r)->s) : 0;
    journal_step h = {r->t, r->h, r->end, r->part, r->held, r->jacobian, r->degree, (int)r->member, (int)r->mode,
                      (int)r->exact, (int)r->fresh, (int)r->corrected};
    const part parts[] = {{&h, sizeof h}, {r->iterations, counts_bytes(c, (int)r->member)}, {r->y, N * sizeof *r->y},
                          {r->yp, slope * sizeof *r->yp}, {r->X, stages * sizeof *r->X}};
    return frames_put(t->frames, c->v, TAKEN, (uint32_t)t->count, parts, 5, at);
}

size_t situation_bytes(const stepper *c)
{
    size_t count = (size_t)c->maps->nrelations;
    return count > 0 ? words(sizeof(situation) + count * sizeof(int)) : 0;
}

int journal_mapped(const stepper *c, costate_tape *t, const mapped *e, const void *memory, size_t bytes)
{
    if (!t->frames) return 0;
    journal_map h = {e->t, e->slope, e->miss, e->f.t, e->h, e->level, e->before, e->event, e->timed, e->number,
                     e->from, e->to, e->f.given, e->f.only_values, e->f.placed, e->f.moved};
    const situation *s = t->situations.count > 0 ? t->situations.list[e->to] : NULL;
    const part parts[] = {{&h, sizeof h}, {memory, words(bytes)}, {s, situation_bytes(c)}};
    return frames_put(t->frames, c->v, MAPPED, (uint32_t)t->maps.count, parts, 3, NULL);
}

int journal_ended(const stepper *c, costate_tape *t, int complete)
{
    if (!t->frames || !t->frames->open) return 0;
    journal_end h = {t->from.t1, t->count, t->maps.count, complete, t->mode};
    const part parts[] = {{&h, sizeof h}, {t->end, (size_t)c->N * sizeof *t->end}};
    TRY(frames_put(t->frames, c->v, ENDED, (uint32_t)t->count, parts, 2, NULL));
    return frames_flush(t->frames, c->v);
}

int tape_cut(const stepper *c, costate_tape *t) { return frames_cut(t->frames, c->v, t->fresh.at); }
