/* slow_modes.c - what a matrix of the user's that is not exact on slow modes makes of the gradients of a sweep
   (mathematics, section 6.9).

   A mode of lambda with the rate a that moves with a rate wrong by the part e gets the relative error e min(1, h a) in
   each step, always with the same sign.  If lambda is such a mode, or the share w of it is and the rest is exact,

       s <- s + e min(1, h a)    or    s <- (s + w e min(1, h a)) exp(-h a)             (mathematics, eq. 6.40)

   is its relative error: the larger of both counts.  e, a and w are measured for lambda itself at some of the steps,
   after it was made smooth: fast modes need to decay and nothing else.  Estimates of local errors do not see this
   error, because they are small, too, where e is large; nor does lambda^T y', which steps with a wrong rate conserve
   like others. */
#include <math.h>
#include <string.h>
#include "base/larger.h"
#include "sweeps/slow_modes.h"

/* A measurement takes five solves and two products, nearly a step: at every twentieth step, but at least LEAST and at
   most MOST times in a sweep. */
enum { APART = 20, LEAST = 4, MOST = 16 };
enum { SMOOTHED = 2 };          /* fast modes of a gradient with respect to one component are as large as slow ones */

void slow_modes_begin(slow_modes *s, costate *c, const costate_tape *tape, int m, double *room)
{
    int wanted = tape->count / APART;
    int places = wanted < LEAST ? LEAST : wanted > MOST ? MOST : wanted;
    *s = (slow_modes){.c = c, .apart = tape->count > places ? tape->count / places : 1, .due = tape->count - 2,
                      .of = (slow_mode (*)[2])room};
    memset(s->of, 0, (size_t)m * sizeof *s->of);
}

/* of functional j; what is not known there remains as it was */
static int measure(slow_modes *s, const sweep_state *w, int j)
{
    costate *c = s->c;
    smoothness found[2];
    double *v = c->d.w;
    memcpy(v, w->g.lambda + (size_t)j * (size_t)c->st.N, (size_t)c->st.n * sizeof *v);
    int status = c->st.F->smooth(&c->st, &w->now, 1, SMOOTHED, v, found);
    if (status) return status == RETRY ? 0 : status;
    for (int k = 0; k < 2; k++) {
        s->of[j][k].error = found[k].error;
        s->of[j][k].rate = found[k].rate;
    }
    return 0;
}

static void add(slow_modes *s, double h)
{
    for (int j = 0; j < s->c->d.columns; j++) {
        slow_mode *all = &s->of[j][0], *part = &s->of[j][1];
        all->sum += all->error * fmin(1, all->rate * h);
        part->sum = (part->sum + part->error * fmin(1, part->rate * h)) * exp(-part->rate * h);
    }
}

double slow_modes_error(const slow_modes *s, int j)
{
    return larger(s->of[j][0].sum, s->of[j][1].sum);
}

/* The last step compares the transposes first (ros/transposed.c), and counts when lambda has passed it. */
int slow_modes_step(slow_modes *s, const sweep_state *w, int step)
{
    if (!s->c->st.F->smooth) return 0;
    if (step == w->tape->count - 1) { s->passed = fabs(w->now.h); return 0; }
    if (step <= s->due) {
        for (int j = 0; j < w->g.m; j++) TRY(measure(s, w, j));
        s->due = step - s->apart;
        add(s, s->passed);
        s->passed = 0;
    }
    add(s, fabs(w->now.h));
    return 0;
}
