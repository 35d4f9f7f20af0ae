/* firk.h - the block algebra of fully implicit Runge-Kutta methods: all stages coupled. */
#ifndef COSTATE_FIRK_H
#define COSTATE_FIRK_H

#include "irk/irk.h"

int firk_solve(stepper *, const factors *f, int transpose, int m, const accuracy *, double *Z);
int firk_exact_factor(const stage_system *);
int firk_exact_solve(const stage_system *, int m, int from, int to, double *X);
int firk_exact_column(const stage_system *, double *x);
void firk_exact_moduli(const stage_system *, const double *x, double *size);
int firk_exact_instead(const stage_system *, int *changed);
void firk_restart(void *own);
void firk_free(void *own);
/* 0, or COSTATE_BACKEND: patterns count with int */
int coupled_fits(verdict *, size_t block, size_t n, size_t entries);

/* iterated.c */
typedef struct iterated iterated;
int iterated_suits(const stepper *);
iterated *iterated_new(stepper *);                    /* NULL: no memory */
void iterated_free(iterated *);
int iterated_skips(iterated *);                       /* 1: the system is to be factored without a try */
void iterated_fails(iterated *);
void iterated_restart(iterated *);                    /* a sweep begins: failures are forgotten; NULL: nothing */
int iterated_factor(const stage_system *, iterated *);                /* RETRY: P is singular */
/* x <- B^-1 x, nearly; *done 0: the iteration converges slowly, and x is as before */
int iterated_solve(const stage_system *, iterated *, double *x, int *done);
int iterated_again(const stage_system *, iterated *, double *x);      /* x <- P^-1 x */
void iterated_moduli(const stage_system *, const iterated *, const double *x, double *size);     /* += |B| |x| */

#endif
