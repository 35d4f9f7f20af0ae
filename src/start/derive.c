/* derive.c - tangents and adjoints of consistent values, from the equations in start.h at their solution
   (mathematics, eq. 11.5 to 11.8).

   With x = (t, y, k) that was found, g the guess, A_v and A_p Newton's matrices of `values` and `position`:

       A_p d'              =  E''(g)[d, (t', y', p')]  except in rows C  E'(x)(t', y'_D, p'),        y'_D += d'_D
       A_v (k'_D, y'_A)    =  E'(x)(t', y'_D, p')      except in rows C  E''(x)[(1, k_D), (t', y'_D, p')]

   E'' at g is only evaluated if y was moved by more than round-off; otherwise its factor is zero.  In the adjoint, E''
   in rows C is only evaluated if something depends on y_A. */
#include <string.h>
#include "base/vec.h"
#include "start/derive.h"

int derive_solve(const derivative *d, int transpose, int m)
{
    starter *s = d->s;
    s->maps->count->solves += m;
    int code = LS_Solve(s->lu, transpose, m, s->derived.V);
    if (code > 0) return start_singular(s, d->f);
    return code ? shifts_failure(s->sh, s->sh->backend, code) : 0;
}

void derive_part(int n, const unsigned char *which, int is, const double *from, double *to)
{
    for (int i = 0; i < n; i++) to[i] = which[i] == is ? from[i] : 0;
}

int derive_begin(derivative *d, starter *s, const start_values *f)
{
    int n = s->maps->n;
    *d = (derivative){.s = s, .f = f, .x = start_point(s, f)};
    d->g = equation_point(s->maps, f->t, f->before, s->zero);
    derive_part(n, f->unknown, 0, f->k, s->slope);
    derive_part(n, f->unknown, 1, f->along, s->algebraic);
    derive_part(n, f->unknown, 0, f->along, s->kept);
    d->slope = (costate_point){.t = s->maps->autonomous ? 0 : 1, .y = s->slope};
    d->along = (costate_point){.y = s->algebraic, .yp = s->maps->residual ? s->kept : NULL};
    return maps_have(s->maps, EXACT_JACOBIAN, 0, 0, 0);
}

static int moved_needs(const derivative *d, int there, const char *name)
{
    const maps *a = d->s->maps;
    if (!d->f->moved || there || a->differences) return 0;
    return fail(a->v, COSTATE_MISSING, "The start was moved onto the constraints of index 2, and derivatives of that "
                "need %s.%s (or options.differences = 1, or a start that costate_consistent gave).", a->rhs.name, name);
}

/* ---- tangents ---- */

/* b <- rows of E'(x) dx where hidden is `first`, rows of E''(at)[a, dx] elsewhere; a NULL: 0 */
static int right_side(derivative *d, int first, costate_point *dx, const costate_point *at, const costate_point *a,
                      double *b)
{
    starter *s = d->s;
    size_t n = (size_t)s->maps->n;
    double *second = s->work;
    costate_point whole = *dx;                           /* the second derivative uses all of its components */
    memset(second, 0, n * sizeof *second);
    if (a) TRY(equation_tangent2(s->maps, at, a, &whole, second));
    derive_part((int)n, d->f->unknown, 0, dx->y, s->r);
    dx->y = s->r;
    TRY(equation_tangents(s->maps, &d->x, 1, dx, NULL, 0, b, n));
    for (size_t i = 0; i < n; i++) if (d->f->hidden[i] != first) b[i] = second[i];
    return 0;
}

static costate_point direction(const derivative *d, const directed *x, int j)
{
    const maps *a = d->s->maps;
    return along_pm(a, x->dt[j], x->V + (size_t)j * x->ld, x->Vp, (size_t)j);
}

int derive_position(derivative *d, const directed *x)
{
    starter *s = d->s;
    size_t n = (size_t)s->maps->n;
    TRY(start_matrix_of_position(s, d->f));
    for (int j = 0; j < x->m; j++) {
        costate_point dx = direction(d, x, j);
        TRY(right_side(d, 1, &dx, &d->g, d->f->moved ? &d->along : NULL, s->derived.V + (size_t)j * n));
    }
    TRY(derive_solve(d, 0, x->m));
    for (int j = 0; j < x->m; j++)
        for (size_t i = 0; i < n; i++)
            if (!d->f->unknown[i]) x->V[(size_t)j * x->ld + i] += s->derived.V[(size_t)j * n + i];
    return 0;
}

int derive_values(derivative *d, const directed *x)
{
    starter *s = d->s;
    size_t n = (size_t)s->maps->n;
    TRY(start_matrix_of_values(s, d->f));
    for (int j = 0; j < x->m; j++) {
        double *kept = s->derived.extra + (size_t)j * n;
        costate_point dx = direction(d, x, j);
        derive_part((int)n, d->f->unknown, 0, dx.y, kept);
        dx.y = kept;
        TRY(right_side(d, 0, &dx, &d->x, s->maps->index ? &d->slope : NULL, s->derived.V + (size_t)j * n));
    }
    TRY(derive_solve(d, 0, x->m));
    for (int j = 0; j < x->m; j++)
        for (size_t i = 0; i < n; i++)
            if (d->f->unknown[i]) x->V[(size_t)j * x->ld + i] = s->derived.V[(size_t)j * n + i];
    return 0;
}

int start_tangent(starter *s, const start_values *f, int m, const double *dt, double *V, size_t ld, const double *Vp)
{
    derivative d;
    directed x = {m, dt, V, ld, Vp};
    TRY(starter_columns(s, m));
    if (f->given) return given_tangent(s, f, m, dt, V, ld, Vp);
    if (nothing_unknown(f, s->maps->n)) return 0;
    TRY(derive_begin(&d, s, f));
    TRY(moved_needs(&d, s->maps->rhs.user->tangent2 != NULL, "tangent2"));
    if (f->placed) TRY(derive_position(&d, &x));
    return derive_values(&d, &x);
}

/* ---- adjoints ---- */

/* gradients are added to t, p, and y, which is in s->dx */
static costate_gradient gradient(const derivative *d, const adjoined *x, int j)
{
    const maps *a = d->s->maps;
    memset(d->s->dx, 0, (size_t)a->n * sizeof(double));
    return into_pm(a, x->t ? x->t + j : NULL, d->s->dx, x->mu, (size_t)j);
}

/* lambda += s->dx, for kept components only, or for all */
static void take_over(const derivative *d, const adjoined *x, int j, int all)
{
    for (int i = 0; i < d->s->maps->n; i++)
        if (all || !d->f->unknown[i]) x->lambda[(size_t)j * x->ld + (size_t)i] += d->s->dx[i];
}

int derive_first(derivative *d, const adjoined *x, int j, int first, const double *u)
{
    starter *s = d->s;
    size_t n = (size_t)s->maps->n;
    costate_gradient g = gradient(d, x, j);
    derive_part((int)n, d->f->hidden, first, u, s->r);
    TRY(equation_adjoints(s->maps, &d->x, 1, s->r, n, &g, NULL, 0));
    take_over(d, x, j, 0);
    return 0;
}

int derive_second(derivative *d, const adjoined *x, int j, int second, const costate_point *at,
                        const costate_point *a, int all, const double *u)
{
    starter *s = d->s;
    size_t n = (size_t)s->maps->n;
    costate_gradient g = gradient(d, x, j);
    derive_part((int)n, d->f->hidden, second, u, s->r);
    if (sum_moduli(n, s->r) == 0) return 0;
    TRY(equation_adjoint_tangent(s->maps, at, a, s->r, &g));
    take_over(d, x, j, all);
    return 0;
}

/* V <- lambda of components for which unknown is `is`; for unknown slopes, their adjoint */
static void seed(const derivative *d, const adjoined *x, int is)
{
    size_t n = (size_t)d->s->maps->n;
    for (size_t j = 0; j < (size_t)x->m; j++) {
        double *to = d->s->derived.V + j * n;
        derive_part((int)n, d->f->unknown, is, x->lambda + j * x->ld, to);
        for (size_t i = 0; is && x->slopes && i < n; i++) if (!d->f->unknown[i]) to[i] = x->slopes[j * n + i];
    }
}

static int adjoint_of_values(derivative *d, const adjoined *x)
{
    starter *s = d->s;
    size_t n = (size_t)s->maps->n;
    TRY(start_matrix_of_values(s, d->f));
    seed(d, x, 1);
    TRY(derive_solve(d, 1, x->m));
    for (int j = 0; j < x->m; j++) {
        const double *u = s->derived.V + (size_t)j * n;
        for (size_t i = 0; i < n; i++) if (d->f->unknown[i]) x->lambda[(size_t)j * x->ld + i] = 0;
        TRY(derive_first(d, x, j, 0, u));
        TRY(derive_second(d, x, j, 1, &d->x, &d->slope, 0, u));
    }
    return 0;
}

static int adjoint_of_position(derivative *d, const adjoined *x)
{
    starter *s = d->s;
    size_t n = (size_t)s->maps->n;
    TRY(start_matrix_of_position(s, d->f));
    seed(d, x, 0);
    TRY(derive_solve(d, 1, x->m));
    for (int j = 0; j < x->m; j++) {
        const double *u = s->derived.V + (size_t)j * n;
        TRY(derive_first(d, x, j, 1, u));
        if (d->f->moved) TRY(derive_second(d, x, j, 0, &d->g, &d->along, 1, u));
    }
    return 0;
}

int start_adjoint(starter *s, const start_values *f, int m, double *lambda, size_t ld, double *mu, double *t)
{
    derivative d;
    adjoined x = {m, lambda, ld, mu, t, NULL};
    TRY(starter_columns(s, m));
    if (f->given) return given_adjoint(s, f, m, lambda, ld, mu, t);
    if (nothing_unknown(f, s->maps->n)) return 0;
    TRY(derive_begin(&d, s, f));
    TRY(moved_needs(&d, s->maps->rhs.user->adjoint_tangent != NULL, "adjoint_tangent"));
    TRY(adjoint_of_values(&d, &x));
    return f->placed ? adjoint_of_position(&d, &x) : 0;
}

/* ---- with the slopes ---- */

int start_slope_tangent(starter *s, const start_values *f, double dt, double *V, const double *Vp, double *K)
{
    derivative d;
    size_t n = (size_t)s->maps->n;
    directed x = {1, &dt, V, n, Vp};
    costate_point at = start_point(s, f), dx = along_pm(s->maps, dt, V, Vp, 0);
    if (equation_plain(s->maps)) return equation_tangents(s->maps, &at, 1, &dx, NULL, 0, K, n);
    TRY(starter_columns(s, 1));
    TRY(derive_begin(&d, s, f));
    TRY(derive_values(&d, &x));
    derive_part((int)n, f->unknown, 0, s->derived.V, K);
    return 0;
}

int start_slope_adjoint(starter *s, const start_values *f, double *lambda, const double *slopes, double *mu, double *t)
{
    derivative d;
    adjoined x = {1, lambda, (size_t)s->maps->n, mu, t, slopes};
    costate_point at = start_point(s, f);
    costate_gradient to = into_pm(s->maps, t, lambda, mu, 0);
    if (equation_plain(s->maps))
        return slopes ? equation_adjoints(s->maps, &at, 1, slopes, (size_t)s->maps->n, &to, NULL, 0) : 0;
    TRY(starter_columns(s, 1));
    TRY(derive_begin(&d, s, f));
    return adjoint_of_values(&d, &x);
}
