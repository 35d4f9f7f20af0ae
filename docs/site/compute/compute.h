/* compute.h - the interface of compute.c, for module.js and for the test that compares both with the library. */
#ifndef COMPUTE_H
#define COMPUTE_H

#if defined __wasm__
#define EXPORTED(name) __attribute__((export_name(#name)))
#else
#define EXPORTED(name)
#endif

typedef struct computation computation;

/* where numbers are in the result: 1 if the run reached its end; the value and its error; six counts (accepted and
   rejected steps, calls of f, Jacobians, factorisations, Newton iterations); the gradient, and its errors; errors are
   NaN if they could not be estimated */
enum { COMPUTE_DONE, COMPUTE_VALUE, COMPUTE_ERROR, COMPUTE_COUNTS, COMPUTE_GRADIENT = COMPUTE_COUNTS + 6 };
enum { COMPUTE_MOST_STEPS = 100000 };       /* a tape of that many steps of a small model fits into a page's memory */

/* NULL: no memory.  If the bytes are no program, compute_run says why */
EXPORTED(compute_new) computation *compute_new(const unsigned char *bytes, int size);
EXPORTED(compute_free) void compute_free(computation *);
/* a status of costate.h; p: all parameters; pieces: rows of the curve in each step, >= 1 */
EXPORTED(compute_run) int compute_run(computation *, const char *method, int component, double t0, double t1,
                                      double rtol, double atol, const double *p, int pieces);
EXPORTED(compute_message) const char *compute_message(const computation *);
EXPORTED(compute_rows) int compute_rows(const computation *);
EXPORTED(compute_curve) const double *compute_curve(const computation *);     /* rows (t, y), the first at t0 */
EXPORTED(compute_result) const double *compute_result(const computation *);   /* NULL: the bytes are no program */
EXPORTED(compute_methods) int compute_methods(void);
EXPORTED(compute_method) const char *compute_method(int k);

#endif
