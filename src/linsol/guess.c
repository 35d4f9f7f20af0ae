/* guess.c - initial guesses for the systems of a step or a sweep, from pairs of earlier ones: one pool per column
   (mathematics, eq. 8.11).

   The right-hand sides of the stages of a step resemble each other, and so do those of the same stage in two steps.  No
   product is needed:  J x = sigma M x - (b - r).  A guess is judged by its true residual, like any solution. */
#include <string.h>
#include "linsol/guess.h"

/* Pairs of the last solves, about those of this step and the previous one.  Measured, rodas4 on the 2-D Brusselator
   with krylov_tol 1e-4: between 6 and 16 pairs, iterations differ by 3 %. */
enum { PAIRS = 12 };

void guesses_layout(guesses *g, cursor *at, maps *p, int m)
{
    g->maps = p;
    g->columns = m < GUESSES ? m : GUESSES;
    for (int j = 0; j < g->columns; j++) {
        g->of[j].space = &p->space;
        pairs_layout(&g->of[j], at, (size_t)p->n, PAIRS, equation_plain(p));
    }
    guesses_clear(g);
}

void guesses_clear(guesses *g)
{
    for (int j = 0; j < g->columns; j++) {
        pairs_clear(&g->of[j]);
        g->amplified[j] = 1;
    }
}

int guesses_make(guesses *g, int j, double sigma, const double *b, double *x, int *good)
{
    *good = 0;
    return j < g->columns ? pairs_guess(&g->of[j], PAIRS, sigma, b, x, good) : 0;
}

int guesses_add(guesses *g, int j, const solved_system *s, const double *w, const double *b, const double *r,
                const double *x)
{
    double *p, *u, *v;
    if (j >= g->columns) return 0;
    size_t n = (size_t)g->maps->n;
    pairs_next(&g->of[j], &p, &u, &v);
    memcpy(p, x, n * sizeof *p);
    if (r) add_scaled(n, v, b, -1, r);
    else memcpy(v, b, n * sizeof *v);
    return pair_of_solution(&g->of[j], g->maps, PAIRS, s, w);
}

int pair_of_solution(pairs *pool, maps *p, int use, const solved_system *s, const double *w)
{
    size_t n = (size_t)p->n;
    double *x, *u, *v;
    pairs_next(pool, &x, &u, &v);
    if (u != x) {
        memset(u, 0, n * sizeof *u);
        TRY(equation_mass(p, s->at, s->transpose, 1, x, u, pool->b));
    }
    for (size_t i = 0; i < n; i++) v[i] = -v[i];
    axpy(n, s->sigma, u, v);
    return pairs_add(pool, use, w);
}
