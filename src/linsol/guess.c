/* guess.c - first guesses for the systems of a step or a sweep, by pairs of the last ones: a pool a column
   (mathematics, eq. 8.11).

   The right-hand sides of a step's stages have much in common, and those of the same stage of two steps, too.  No
   product is spent:  J x = sigma M x - (b - r).  What has been guessed is judged by its true residual like all else. */
#include <string.h>
#include "linsol/guess.h"

/* Pairs of the last solves: of the step before, about, and of this one.  rodas4 on 2-D Brusselator at krylov_tol 1e-4:
   6 to 16 make iterations differ by 3 %. */
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

void guesses_clear(guesses *g) { for (int j = 0; j < g->columns; j++) pairs_clear(&g->of[j]); }

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
