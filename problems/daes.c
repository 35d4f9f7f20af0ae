/* daes.c - the problems of daes.h: formulas over num, all callbacks from them.

   Definitions and values: shared oracles (two routes each, high precision).  eq31, eq32 are those of Cao, Li, Petzold
   and Serban (SISSC 24 (2003) 1076); I2A and I2P are of Hessenberg index 2: on a circle that grows, and a pendulum of
   moving length with its constraint on velocities. */
#include <string.h>
#include "daes.h"
#include "nums.h"

/* ---- eq31: index 0; p = y(0) ---- */

static void eq31_F(num t, const num *y, const num *yp, const num *p, num *out)
{
    (void)t, (void)p;
    out[0] = add(mul(y[0], yp[0]), mul(y[1], yp[1]));
    out[1] = add(sub(mul(y[0], yp[1]), mul(y[1], yp[0])), add(square(y[0]), square(y[1])));
}
static void start_is_p(const num *p, num *y) { y[0] = p[0]; y[1] = p[1]; }
static void sum_of_two(num t, const num *y, const num *p, num *out) { (void)t, (void)p; out[0] = add(y[0], y[1]); }
static const double eq31_p[] = {0, 1};
static const double eq31_dg[] = {-0.999203356221101294725121390178, 1.00079600964256794569593845747};
static const double eq31_dG[] = {0.000796009642567945695938457468681, 1.99920335622110129472512139018};

/* ---- eq32 with parameters: index 1; p = (y1(0), p1, p2) ---- */

static void eq32_F(num t, const num *y, const num *yp, const num *p, num *out)
{
    (void)t;
    out[0] = mul(y[1], add(yp[0], sub(y[1], p[1])));
    out[1] = sub(sub(y[1], y[0]), p[2]);
}
static void eq32_start(const num *p, num *y) { y[0] = p[0]; y[1] = add(p[0], p[2]); }
static const double eq32_p[] = {1, 1, 1};
static const double eq32_dg[] = {0.735758882342884643191047540323, 1.26424111765711535680895245968,
                                 -0.264241117657115356808952459677};
static const double eq32_dG[] = {1.26424111765711535680895245968, 0.735758882342884643191047540323,
                                 0.264241117657115356808952459677};

/* ---- I2A: index 2; y = (y1, y2, z) ---- */

static void I2A_F(num t, const num *y, const num *yp, const num *p, num *out)
{
    num turn = mul(p[2], plus(square(y[2]), 1));
    out[0] = sub(yp[0], sub(mul(y[2], y[0]), mul(turn, y[1])));
    out[1] = sub(yp[1], add(mul(y[2], y[1]), mul(turn, y[0])));
    out[2] = sub(add(square(y[0]), square(y[1])), add(p[0], mul(p[1], t)));
}
static num root(num x)
{
    double r = sqrt(x.v);
    return chain(x, r, 0.5 / r, -0.25 / (r * x.v), 0.375 / (r * x.v * x.v));
}
static void I2A_start(const num *p, num *y)
{
    y[0] = mul(root(p[0]), cosine(p[3]));
    y[1] = mul(root(p[0]), sine(p[3]));
    y[2] = times(0.5, over(p[1], p[0]));
}
static void I2A_g(num t, const num *y, const num *p, num *out)
{
    (void)t;
    out[0] = add(add(mul(y[0], y[2]), times(0.5, square(y[1]))),
                 add(mul(p[2], square(y[2])), mul3(p[0], y[0], y[1])));
}
static const double I2A_p[] = {2, 0.7, 1.25, 0.3};
static const double I2A_dg[] = {-1.987560367716264038333299, -1.366883253378804167096611, -5.113287498406068863546342,
                                -3.350355602960169180021549};
static const double I2A_dG[] = {1.410933731881335444517139, 0.3209211797756921634359737, -4.524082343690415190210379,
                                -3.295411669626768805023522};

static const double I2A_y[] = {-1.045556992560139459974642, 1.398860455981437941921034, 0.114754098360655737704918};
static const double I2A_dy[] = {
    -0.1277970656181538898966978, -0.3816919500625170717056073, -2.140428488691269900066467,
    -1.398860455981437941921034,
    0.2619138191001475264282069, 0.2508608425577484544344329, -1.599830750706262571235789, -1.045556992560139459974642,
    -0.0376242945444772910507928, 0.1074979844127922601451223, 0, 0};

/* ---- I2P: index 2; y = (x, y, u, v, lambda) ---- */

static void I2P_F(num t, const num *y, const num *yp, const num *p, num *out)
{
    num L = add(p[0], mul(p[1], sine(mul(p[2], t)))), dL = mul3(p[1], p[2], cosine(mul(p[2], t)));
    out[0] = sub(yp[0], y[2]);
    out[1] = sub(yp[1], y[3]);
    out[2] = add(yp[2], mul(y[0], y[4]));
    out[3] = add(yp[3], add(mul(y[1], y[4]), p[3]));
    out[4] = sub(add(mul(y[0], y[2]), mul(y[1], y[3])), mul(L, dL));
}
static void I2P_start(const num *p, num *y)
{
    num dL = mul(p[1], p[2]), s = sine(p[4]), c = cosine(p[4]), swing = mul(p[0], p[5]);
    y[0] = mul(p[0], s);
    y[1] = times(-1, mul(p[0], c));
    y[2] = add(mul(dL, s), mul(swing, c));
    y[3] = sub(mul(swing, s), mul(dL, c));
    num speed = add(square(y[2]), square(y[3]));
    y[4] = over(sub(sub(speed, mul(p[3], y[1])), square(dL)), square(p[0]));        /* L'' = 0 */
}
static void I2P_g(num t, const num *y, const num *p, num *out)
{
    (void)t;
    out[0] = add(y[4], add(mul(y[0], y[3]), mul3(p[1], y[4], y[2])));
}
static const double I2P_p[] = {1.1, 0.15, 1.7, 9.81, 0.6, -0.4};
static const double I2P_dg[] = {7.701816350895518181056735, 17.3439833269936836359529, 0.1031884801235399349463176,
                                -0.8833610022505769022939893, 4.375121108672737162728732, 3.73415541120370832069673};

static const double I2P_y[] = {
    0.5743714264062683793050385, -0.8928819513758460772329813, 0.6350667380233460546048513,
    0.701661806909949870578686, 8.407489435216615449557856};
static const double I2P_dy[] = {
    0.019548715066657747, -0.36485469318512226, -0.007815906029548462, 0.061936395903232654, 0.6577952945477405,
    -0.17057107168873026, -1.1764607960997546, 0.06914454184549249, 0.33983957183610647, 0.039842328548120184,
    0.4231453228845476, -0.10972463896099317, 4.050702751877931, 1.8053882873638392, -0.29223794670161957,
    -0.4170758952239498, 1.7092618805578044, 0.8578577177300091, 1.9712332461188558, 2.83988959774808,
    0.010898596507173092, -0.1929335579493375, 1.8999152190948188, 0.3442956350255415, 1.3215525171343305,
    7.626227631884262, 0.42999915387021836, -0.2647953021017303, 0.608735891345201, 2.350328289729064};

static const int index_0[] = {0, 0}, index_1[] = {0, 1}, index_a[] = {0, 0, 2}, index_p[] = {0, 0, 0, 0, 2};

static const dae table[] = {
    {"eq31", 2, 2, 0, index_0, 1.57, eq31_p, eq31_F, start_is_p, sum_of_two, 1.00079600964256794569593845747,
     1.99920335622110129472512139018, eq31_dg, eq31_dG, NULL, NULL},
    {"eq32", 2, 3, 1, index_1, 1, eq32_p, eq32_F, eq32_start, sum_of_two, 1.73575888234288464319104754032,
     2.26424111765711535680895245968, eq32_dg, eq32_dG, NULL, NULL},
    {"I2A", 3, 4, 2, index_a, 1.5, I2A_p, I2A_F, I2A_start, I2A_g, -2.050292696182925794707557,
     2.321449477972250366089594, I2A_dg, I2A_dG, I2A_y, I2A_dy},
    {"I2P", 5, 6, 2, index_p, 2, I2P_p, I2P_F, I2P_start, I2P_g, 9.611401461694597016083509,
     NAN, I2P_dg, NULL, I2P_y, I2P_dy},
};

const dae *dae_at(int k) { return k < (int)(sizeof table / sizeof *table) ? &table[k] : NULL; }

const dae *dae_find(const char *name)
{
    const dae *d;
    for (int k = 0; (d = dae_at(k)); k++) if (strcmp(d->name, name) == 0) return d;
    return NULL;
}

int dae_takes(const costate_method *m, const dae *d)
{
    costate_method_info i;
    if (costate_method_describe(m, &i) != COSTATE_OK || i.properties & COSTATE_EXPLICIT_FIRST) return 0;
    if (d->index == 2) return i.family == COSTATE_FIRK && i.properties & COSTATE_STIFFLY_ACCURATE;
    return (i.family == COSTATE_FIRK || i.family == COSTATE_SDIRK) && (d->index == 0 || i.properties & COSTATE_DAE);
}

/* ---- callbacks ---- */

static void residual_of(const void *of, const num_point *x, num *out)
{
    ((const dae *)of)->F(x->t, x->y, x->yp, x->p, out);
}
static void cost_of(const void *of, const num_point *x, num *out) { ((const dae *)of)->g(x->t, x->y, x->p, out); }

static num_map residual_map(const dae *d) { return (num_map){d->n, d->np, 0, d->n, residual_of, d}; }
static num_map cost_map(const dae *d) { return (num_map){d->n, d->np, 0, 1, cost_of, d}; }

#define MAP(part)                                                                                                      \
    static int part##_value(const costate_point *x, double *out, void *ctx)                                            \
    {                                                                                                                  \
        num_map F = part##_map(ctx);                                                                                   \
        return num_value(&F, x, out), 0;                                                                               \
    }                                                                                                                  \
    static int part##_tangent(const costate_point *x, const costate_point *dx, double *out, void *ctx)                 \
    {                                                                                                                  \
        num_map F = part##_map(ctx);                                                                                   \
        return num_tangent(&F, x, dx, NULL, out), 0;                                                                   \
    }                                                                                                                  \
    static int part##_adjoint(const costate_point *x, const double *w, const costate_gradient *g, void *ctx)           \
    {                                                                                                                  \
        num_map F = part##_map(ctx);                                                                                   \
        return num_adjoint(&F, x, NULL, w, g), 0;                                                                      \
    }
MAP(residual)
MAP(cost)

static int residual_tangent2(const costate_point *x, const costate_point *a, const costate_point *b, double *out,
                             void *ctx)
{
    num_map F = residual_map(ctx);
    return num_tangent(&F, x, a, b, out), 0;
}
static int residual_adjoint_tangent(const costate_point *x, const costate_point *dx, const double *w,
                                    const costate_gradient *g, void *ctx)
{
    num_map F = residual_map(ctx);
    return num_adjoint(&F, x, dx, w, g), 0;
}

static int columns(const costate_point *x, int slope, double *J, const dae *d)
{
    double e[DAE_N] = {0};
    num_map F = residual_map(d);
    for (int j = 0; j < d->n; j++) {
        costate_point dx = {.y = slope ? NULL : e, .yp = slope ? e : NULL};
        e[j] = 1;
        num_tangent(&F, x, &dx, NULL, J + j * d->n);
        e[j] = 0;
    }
    return 0;
}
static int jac(const costate_point *x, double *J, void *ctx) { return columns(x, 0, J, ctx); }
static int jac_yp(const costate_point *x, double *J, void *ctx) { return columns(x, 1, J, ctx); }

costate_problem dae_problem(const dae *d, int with_jacobians)
{
    costate_problem P = {.n = d->n, .np = d->np, .nq = 1, .ctx = (void *)d};
    P.residual = (costate_map){.value = residual_value, .tangent = residual_tangent, .adjoint = residual_adjoint,
                               .tangent2 = residual_tangent2, .adjoint_tangent = residual_adjoint_tangent};
    P.cost = (costate_map){.value = cost_value, .tangent = cost_tangent, .adjoint = cost_adjoint};
    P.jac = with_jacobians ? jac : NULL;
    P.jac_yp = with_jacobians ? jac_yp : NULL;
    P.index = d->of;
    return P;
}

void dae_start(const dae *d, const double *p, double *y, double *dy_dp)
{
    num q[DAE_P] = {{0}}, s[DAE_N];
    for (int j = -1; j < (dy_dp ? d->np : 0); j++) {
        for (int i = 0; i < d->np; i++) q[i] = moving(p[i], i == j, 0);
        d->start(q, s);
        for (int i = 0; i < d->n; i++) {
            y[i] = s[i].v;
            if (j >= 0) dy_dp[j * d->n + i] = s[i].a;
        }
    }
}

double dae_g(const dae *d, double t, const double *y, const double *p, double *dy, double *dp)
{
    costate_point x = {.t = t, .y = y, .p = p};
    num_map F = cost_map(d);
    double value;
    num_value(&F, &x, &value);
    memset(dy, 0, (size_t)d->n * sizeof *dy);
    memset(dp, 0, (size_t)d->np * sizeof *dp);
    num_adjoint(&F, &x, NULL, (const double[]){1}, &(costate_gradient){.y = dy, .p = dp});
    return value;
}
