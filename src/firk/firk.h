/* firk.h - the block algebra of fully implicit Runge-Kutta methods: all stages coupled. */
#ifndef COSTATE_FIRK_H
#define COSTATE_FIRK_H

#include "irk/irk.h"

int firk_solve(stepper *, const factors *f, int transpose, int m, const accuracy *, double *Z);
int firk_exact_factor(const stage_system *);
int firk_exact_solve(const stage_system *, int m, int from, int to, double *X);
void firk_free(void *own);
/* 0, or COSTATE_BACKEND: patterns count with int */
int coupled_fits(verdict *, size_t block, size_t n, size_t entries);

#endif
