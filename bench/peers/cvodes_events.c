/* cvodes_events.c - rooms with thermostats by CVODES: root finding, restarted by hand at each switching; the gradient
   by forward sensitivities, one a threshold, with their exact jumps.

   As its best user would: guards of all rooms in one call; energy exactly, as constant powers times lengths, not
   integrated; f is linear, so that the products are those of a stencil; a switching changes f in one room alone, so
   that one entry of each sensitivity jumps:

       T_i(t*) = threshold:  t*' = (threshold' - s_i)/T_i',   s_i += (f_i before - f_i after) t*'

   (S. Galan, W. F. Feehery, P. I. Barton, Applied Numerical Mathematics 31 (1999) 17). */
#include "cvodes.h"

#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "rooms.h"

typedef struct {
    cvodes_rider c;
    const rooms *r;
    double *m, *energy_p;        /* n; np */
    int *found;                  /* n: whose guards are zero */
    double energy, since;        /* until that time */
} rider;

static int failed(int status) { return status < 0; }
static int sensitive(const rider *q) { return q->c.s.of.task.mode == RACE_ADJ; }
static int how(const rider *q) { return q->c.s.of.task.simultaneous ? CV_SIMULTANEOUS : CV_STAGGERED; }

/* ---- the problem as CVODES wants it ------------------------------------------------------------------------------ */

static int guards(realtype t, N_Vector y, realtype *out, void *data)
{
    rider *q = data;
    (void)t;
    q->c.s.of.count.guards++;
    rooms_guards(q->r, sun_values(y), q->m, q->c.s.of.b->p, out);
    return 0;
}

static int spread_all(int count, realtype t, N_Vector y, N_Vector ydot, N_Vector *s, N_Vector *out, void *data,
                      N_Vector tmp1, N_Vector tmp2)
{
    rider *q = data;
    (void)t, (void)y, (void)ydot, (void)tmp1, (void)tmp2;
    q->c.s.of.count.tangents += count;
    for (int k = 0; k < count; k++) rooms_spread(q->r, sun_values(s[k]), sun_values(out[k]));
    return 0;
}

static int times(N_Vector v, N_Vector out, realtype t, N_Vector y, N_Vector fy, void *data, N_Vector tmp)
{
    rider *q = data;
    (void)t, (void)y, (void)fy, (void)tmp;
    q->c.s.of.count.products++;
    rooms_spread(q->r, sun_values(v), sun_values(out));
    return 0;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static int attach_sensitivities(rider *q)
{
    int np = q->c.s.of.b->P.np;
    if (!cvodes_adams(&q->c)) return CV_SUCCESS;
    q->c.sensitivities = q->c.s.of.task.simultaneous ? SUNNonlinSol_FixedPointSens(np + 1, q->c.y, 0, q->c.s.context)
                                               : SUNNonlinSol_FixedPointSens(np, q->c.y, 0, q->c.s.context);
    if (!q->c.sensitivities) return CV_MEM_FAIL;
    return q->c.s.of.task.simultaneous ? CVodeSetNonlinearSolverSensSim(q->c.memory, q->c.sensitivities)
                                   : CVodeSetNonlinearSolverSensStg(q->c.memory, q->c.sensitivities);
}

static int make_sensitivities(rider *q)
{
    int status, np = q->c.count = q->c.s.of.b->P.np;
    if (!(q->c.tangents = N_VCloneVectorArray(np, q->c.y))) return CV_MEM_FAIL;
    for (int k = 0; k < np; k++) N_VConst(0, q->c.tangents[k]);
    if (failed(status = CVodeSensInit(q->c.memory, np, how(q), spread_all, q->c.tangents))) return status;
    if (failed(status = CVodeSensEEtolerances(q->c.memory))) return status;
    if (failed(status = CVodeSetSensErrCon(q->c.memory, q->c.s.of.task.sensitivity_error))) return status;
    return attach_sensitivities(q);
}

static void start(rider *q)
{
    size_t n = (size_t)q->r->n;
    memcpy(sun_values(q->c.y), q->c.s.of.b->y0, n * sizeof(double));
    memcpy(q->m, q->c.s.of.b->y0 + n + 1, n * sizeof(double));
    memset(q->energy_p, 0, (size_t)q->c.s.of.b->P.np * sizeof(double));
    memset(q->found, 0, n * sizeof *q->found);
    for (int k = 0; q->c.tangents && k < q->c.s.of.b->P.np; k++) N_VConst(0, q->c.tangents[k]);
    q->energy = q->since = 0;
}

static int make(rider *q)
{
    void **memory = &q->c.memory;
    int status;
    if (failed(status = cvodes_make(&q->c, times, 1))) return status;       /* 4 % faster with 400 sensitivities */
    start(q);
    if (failed(status = CVodeRootInit(*memory, q->r->n, guards))) return status;
    for (int i = 0; i < q->r->n; i++) q->found[i] = -1;
    if (failed(status = CVodeSetRootDirection(*memory, q->found))) return status;
    CVodeSetNoInactiveRootWarn(*memory);
    return sensitive(q) ? make_sensitivities(q) : status;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static int restart(rider *q, realtype t)
{
    int status = CVodeReInit(q->c.memory, t, q->c.y);
    if (failed(status) || !sensitive(q)) return status;
    return CVodeSensReInit(q->c.memory, how(q), q->c.tangents);
}

static double power(const rider *q)
{
    double sum = 0;
    for (int i = 0; i < q->r->n; i++) sum += q->r->power[i] * q->m[i];
    return sum;
}

static void spend(rider *q, realtype t)
{
    q->energy += power(q) * (t - q->since);
    q->since = t;
}

static void jump_tangents(rider *q, int i, realtype t)
{
    double rate = rooms_rate(q->r, i, t, sun_values(q->c.y), q->m), change = q->r->power[i] * (2 * q->m[i] - 1);
    int threshold = rooms_threshold(q->r, i, q->m);
    for (int k = 0; k < q->c.s.of.b->P.np; k++) {
        double *s = sun_values(q->c.tangents[k]) + i, by_t = change * ((k == threshold) - *s) / rate;
        *s += by_t;
        q->energy_p[k] += by_t;
    }
}

static int switch_rooms(rider *q, realtype t)
{
    int status = CVodeGetRootInfo(q->c.memory, q->found);
    if (!failed(status) && sensitive(q)) status = CVodeGetSens(q->c.memory, &t, q->c.tangents);
    if (failed(status)) return status;
    spend(q, t);
    for (int i = 0; i < q->r->n; i++) {
        if (!q->found[i]) continue;
        if (sensitive(q)) jump_tangents(q, i, t);
        q->m[i] = 1 - q->m[i];
        q->c.s.of.count.events++;
    }
    return restart(q, t);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static int integrate(rider *q)
{
    realtype t = 0;
    int status;
    while ((status = CVode(q->c.memory, q->c.s.of.task.tf, q->c.y, &t, CV_NORMAL)) == CV_ROOT_RETURN) {
        cvodes_count(&q->c, q->c.memory);
        if (failed(status = switch_rooms(q, t))) return status;
    }
    if (failed(status)) return status;
    cvodes_count(&q->c, q->c.memory);
    spend(q, q->c.s.of.task.tf);
    return sensitive(q) ? CVodeGetSens(q->c.memory, &t, q->c.tangents) : status;
}

static int run(void *rides, race_lap *lap)
{
    rider *q = rides;
    int status = COSTATE_OK;
    if (!q->c.memory) status = make(q);
    else start(q), status = restart(q, 0);
    q->c.s.of.count = (costate_stats){0};
    start(q);
    double begin = clock_now();
    if (!failed(status)) status = integrate(q);
    lap->forward = clock_now() - begin;
    return sun_status(&q->c.s, "CVODES failed", status);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void keep_gradient(rider *q, double *w)
{
    int n = q->r->n, N = ivp_length(q->c.s.of.b);
    double *gradient = q->c.s.of.r->derivative + N;
    ivp_seed(q->c.s.of.b, q->c.s.of.r->y, w);
    for (int k = 0; k < q->c.s.of.b->P.np; k++) {
        const double *s = sun_values(q->c.tangents[k]);
        gradient[k] = q->energy_p[k];
        for (int i = 0; i < n; i++) gradient[k] += w[i] * s[i];
    }
}

static void keep(void *rides)
{
    rider *q = rides;
    race_result *r = q->c.s.of.r;
    size_t n = (size_t)q->r->n;
    double *w = malloc((size_t)ivp_length(q->c.s.of.b) * sizeof *w);
    r->stats = q->c.s.of.count;
    memcpy(r->y, sun_values(q->c.y), n * sizeof *r->y);
    memcpy(r->y + n + 1, q->m, n * sizeof *r->y);
    r->y[n] = q->energy - q->c.s.of.task.tf * power(q);     /* as the goal has it */
    if (!w) race_fail(r, COSTATE_NO_MEMORY, "out of memory");
    else if (sensitive(q)) keep_gradient(q, w);
    free(w);
}

static int ready(void *rides)
{
    rider *q = rides;
    q->r = rooms_of(q->c.s.of.b);
    if (!q->r || q->c.s.of.task.mode == RACE_TLM)
        return race_fail(q->c.s.of.r, COSTATE_BAD_ARGUMENT, "CVODES races rooms, forward and gradient");
    size_t n = (size_t)q->r->n;
    if (cvodes_open(&q->c) != COSTATE_OK) return q->c.s.of.r->status;
    q->c.m = q->m = calloc(n + (size_t)q->c.s.of.b->P.np, sizeof *q->m);
    q->found = calloc(n, sizeof *q->found);
    if (!q->m || !q->found) return race_fail(q->c.s.of.r, COSTATE_NO_MEMORY, "out of memory");
    q->energy_p = q->m + n;
    return COSTATE_OK;
}

static void drop(void *rides)
{
    rider *q = rides;
    cvodes_free(&q->c);
    sun_close(&q->c.s);
    free(q->found);
    free(q->m);
}

const peer peer_cvodes_events = {.size = sizeof(rider), .open = ready, .run = run, .keep = keep, .close = drop};
