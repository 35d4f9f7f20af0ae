/* swe_wave.h - one cell of the shallow-water equations along one direction, with all derivatives.

   With u = hu/h, v = hv/h, c = sqrt(g h), g = 9.80616:

       dU/dt = - sum_k r_k e_k (l_k . D_k U) - (the same in y, with u and v, hu and hv exchanged)

       e_1 = u      r_1 = (0, 0, 1)         l_1 = (-v, 0, 1)
       e_2 = u - c  r_2 = (1, u - c, v)     l_2 = (1 + u/c, -1/c, 0) / 2
       e_3 = u + c  r_3 = (1, u + c, v)     l_3 = (1 - u/c,  1/c, 0) / 2

   D_k U = (2 U_{i+1} + 3 U_i - 6 U_{i-1} + U_{i-2})/(6 dx) where e_k >= 0, its mirror image where e_k < 0.
   (Characteristic form and numbers: the shallow-water test of FATODE: H. Zhang, A. Sandu, SIAM J. Sci. Comput.
   36 (2014) C504-C523.)

   One direction of one cell is a small function, the wave: from the state of the cell (m the momentum along the
   direction, o across) and six differences to the rates of h, m, o.  With F = u/c, A = c (F^2 - 1)/2, B = F/2:

       s2 = e_2 l_2.D_2 U =  A D_2 h + (1/2 - B) D_2 m        rate of h = -(s2 + s3)
       s3 = e_3 l_3.D_3 U = -A D_3 h + (1/2 + B) D_3 m                m = -((u - c) s2 + (u + c) s3)
       s1 = e_1 l_1.D_1 U =  u (D_1 o - v D_1 h)                      o = -(v (s2 + s3) + s1)

   Its tangent, adjoint and second derivatives are written out below; everything else gathers differences from
   neighbours or scatters their adjoints.  The upwind switch is taken from the state and not differentiated. */
#ifndef PROBLEMS_SWE_WAVE_H
#define PROBLEMS_SWE_WAVE_H

#include <math.h>

static const double gravity = 9.80616;

/* ---- differences ------------------------------------------------------------------------------------------ */

/* A cell and its neighbours: b behind, a ahead, along x and y. */
typedef struct { int o, xb2, xb1, xa1, xa2, yb2, yb1, ya1, ya2; } cell;

/* Both upwind differences times 6 dx: c - e from behind, c + e from ahead. */
typedef struct { double c, e; } slope;

static inline slope slope_of(const double *U, int b2, int b1, int o, int a1, int a2)
{
    return (slope){4 * (U[a1] - U[b1]) - 0.5 * (U[a2] - U[b2]),
                   2 * (U[a1] + U[b1]) - 0.5 * (U[a2] + U[b2]) - 3 * U[o]};
}
static inline slope slope_x(const double *U, cell k) { return slope_of(U, k.xb2, k.xb1, k.o, k.xa1, k.xa2); }
static inline slope slope_y(const double *U, cell k) { return slope_of(U, k.yb2, k.yb1, k.o, k.ya1, k.ya2); }

/* the transpose: U += slope_of^T d */
static inline void scatter(double *U, int b2, int b1, int o, int a1, int a2, slope d)
{
    U[a1] += 2 * d.e + 4 * d.c;
    U[b1] += 2 * d.e - 4 * d.c;
    U[a2] -= 0.5 * (d.e + d.c);
    U[b2] -= 0.5 * (d.e - d.c);
    U[o] -= 3 * d.e;
}
static inline void scatter_x(double *U, cell k, slope d) { scatter(U, k.xb2, k.xb1, k.o, k.xa1, k.xa2, d); }
static inline void scatter_y(double *U, cell k, slope d) { scatter(U, k.yb2, k.yb1, k.o, k.ya1, k.ya2, d); }

/* The state of a cell seen along a direction: velocities along and across, speed of the wave. */
typedef struct { double u, v, c; } local;

/* For each e_k the sign of e in its difference: -1 from behind (e_k >= 0), 1 from ahead. */
typedef struct { double s1, s2, s3; } switches;

static inline switches upwind(local q)
{
    return (switches){q.u >= 0 ? -1 : 1, q.u >= q.c ? -1 : 1, q.u >= -q.c ? -1 : 1};
}

/* D_k h, D_k m, D_1 o, all times 6 dx: the rates are linear in them, so that they or their weights are scaled */
typedef struct { double h1, h2, h3, m2, m3, o1; } differences;

static inline differences differ(switches s, slope h, slope m, slope o)
{
    return (differences){h.c + s.s1 * h.e, h.c + s.s2 * h.e, h.c + s.s3 * h.e,
                         m.c + s.s2 * m.e, m.c + s.s3 * m.e, o.c + s.s1 * o.e};
}
static inline slope slope_h(switches s, differences d)
{
    return (slope){d.h1 + d.h2 + d.h3, s.s1 * d.h1 + s.s2 * d.h2 + s.s3 * d.h3};
}
static inline slope slope_m(switches s, differences d)
{
    return (slope){d.m2 + d.m3, s.s2 * d.m2 + s.s3 * d.m3};
}
static inline slope slope_o(switches s, differences d) { return (slope){d.o1, s.s1 * d.o1}; }

/* ---- the state of a cell --------------------------------------------------------------------------------- */

static inline local local_of(double h, double hu, double hv)
{
    double i = 1 / h;
    return (local){hu * i, hv * i, sqrt(gravity * h)};
}
static inline local local_tangent(local q, double i, double dh, double dhu, double dhv)   /* i = 1/h */
{
    return (local){(dhu - q.u * dh) * i, (dhv - q.v * dh) * i, 0.5 * q.c * dh * i};
}
static inline local local_tangent2(local q, double i, local qa, double ha, local qb, double hb)
{
    return (local){-(qb.u * ha + qa.u * hb) * i, -(qb.v * ha + qa.v * hb) * i, -0.25 * q.c * ha * hb * i * i};
}
/* Adjoints carry a bar: w is the adjoint of q. */
static inline void local_adjoint(local q, double i, local w, double *h, double *hu, double *hv)
{
    *h += (0.5 * w.c * q.c - w.u * q.u - w.v * q.v) * i;
    *hu += w.u * i;
    *hv += w.v * i;
}
static inline void local_adjoint_tangent(local q, double i, local w, local qa, double ha, local wa,
                                         double *h, double *hu, double *hv)
{
    double k = 0.5 * w.c * q.c - w.u * q.u - w.v * q.v;
    double ka = 0.5 * (wa.c * q.c + w.c * qa.c) - wa.u * q.u - w.u * qa.u - wa.v * q.v - w.v * qa.v;
    *h += (ka - k * ha * i) * i;
    *hu += (wa.u - w.u * ha * i) * i;
    *hv += (wa.v - w.v * ha * i) * i;
}
/* along a and b; wa, wb, wab: the tangents of w, qab as by local_tangent2 */
static inline void local_adjoint_tangent2(local q, double i, local w, local qa, double ha, local wa, local qb,
                                          double hb, local wb, local qab, local wab, double *h, double *hu, double *hv)
{
    double k = 0.5 * w.c * q.c - w.u * q.u - w.v * q.v;
    double ka = 0.5 * (wa.c * q.c + w.c * qa.c) - wa.u * q.u - w.u * qa.u - wa.v * q.v - w.v * qa.v;
    double kb = 0.5 * (wb.c * q.c + w.c * qb.c) - wb.u * q.u - w.u * qb.u - wb.v * q.v - w.v * qb.v;
    double kab = 0.5 * (wab.c * q.c + wa.c * qb.c + wb.c * qa.c + w.c * qab.c)
               - (wab.u * q.u + wa.u * qb.u + wb.u * qa.u + w.u * qab.u)
               - (wab.v * q.v + wa.v * qb.v + wb.v * qa.v + w.v * qab.v);
    double xa = ha * i, xb = hb * i, x = 2 * xa * xb;
    *h += (kab - ka * xb - kb * xa + k * x) * i;
    *hu += (wab.u - wa.u * xb - wb.u * xa + w.u * x) * i;
    *hv += (wab.v - wa.v * xb - wb.v * xa + w.v * x) * i;
}
/* the other direction */
static inline local turned(local q) { return (local){q.v, q.u, q.c}; }

/* ---- the wave -------------------------------------------------------------------------------------------------- */

/* sum = s2 + s3, dif = s3 - s2, t = D_1 o - v D_1 h, s1 = u t;  i = 1/c */
typedef struct { double i, F, A, B, sum, dif, t, s1; } wave;
typedef struct { double h, m, o; } rates;

static inline wave wave_of(local q, differences d)
{
    double i = 1 / q.c, F = q.u * i, A = 0.5 * q.c * (F * F - 1), B = 0.5 * F;
    double s2 = A * d.h2 + (0.5 - B) * d.m2, s3 = (0.5 + B) * d.m3 - A * d.h3, t = d.o1 - q.v * d.h1;
    return (wave){i, F, A, B, s2 + s3, s3 - s2, t, q.u * t};
}
static inline rates rates_of(local q, wave w)
{
    return (rates){-w.sum, -(q.u * w.sum + q.c * w.dif), -(q.v * w.sum + w.s1)};
}

/* along (qa, da): the same struct, i unused */
static inline wave wave_tangent(local q, differences d, wave w, local qa, differences da)
{
    double f = qa.u - w.F * qa.c;                                      /* c times the tangent of F */
    double Fa = f * w.i, Aa = w.F * f + 0.5 * (w.F * w.F - 1) * qa.c, Ba = 0.5 * Fa;
    double s2 = Aa * d.h2 + w.A * da.h2 - Ba * d.m2 + (0.5 - w.B) * da.m2;
    double s3 = Ba * d.m3 + (0.5 + w.B) * da.m3 - Aa * d.h3 - w.A * da.h3;
    double t = da.o1 - qa.v * d.h1 - q.v * da.h1;
    return (wave){0, Fa, Aa, Ba, s2 + s3, s3 - s2, t, qa.u * w.t + q.u * t};
}
static inline rates rates_tangent(local q, wave w, local qa, wave wa)
{
    return (rates){-wa.sum, -(qa.u * w.sum + q.u * wa.sum + qa.c * w.dif + q.c * wa.dif),
                   -(qa.v * w.sum + q.v * wa.sum + wa.s1)};
}

/* along (qa, da) and (qb, db), with the mixed qab; differences are linear */
static inline wave wave_tangent2(local q, differences d, wave w, local qa, differences da, wave wa,
                                 local qb, differences db, wave wb, local qab)
{
    double f = qab.u - w.F * qab.c, g = wa.F * qb.c + wb.F * qa.c;
    double F = (f - g) * w.i, B = 0.5 * F;
    double A = w.F * f + 0.5 * (w.F * w.F - 1) * qab.c + q.c * wa.F * wb.F;
    double s2 = A * d.h2 + wa.A * db.h2 + wb.A * da.h2 - B * d.m2 - wa.B * db.m2 - wb.B * da.m2;
    double s3 = B * d.m3 + wa.B * db.m3 + wb.B * da.m3 - A * d.h3 - wa.A * db.h3 - wb.A * da.h3;
    double t = -(qab.v * d.h1 + qa.v * db.h1 + qb.v * da.h1);
    return (wave){0, F, A, B, s2 + s3, s3 - s2, t, qab.u * w.t + qa.u * wb.t + qb.u * wa.t + q.u * t};
}
static inline rates rates_tangent2(local q, wave w, local qa, wave wa, local qb, wave wb, local qab, wave wab)
{
    double m = qab.u * w.sum + qa.u * wb.sum + qb.u * wa.sum + q.u * wab.sum
             + qab.c * w.dif + qa.c * wb.dif + qb.c * wa.dif + q.c * wab.dif;
    double o = qab.v * w.sum + qa.v * wb.sum + qb.v * wa.sum + q.v * wab.sum + wab.s1;
    return (rates){-wab.sum, -m, -o};
}

/* from weights r of the rates to the adjoints of q and d */
typedef struct { local q; differences d; } wave_bar;

/* On the way: the adjoints of s2, s3, t, and those by A and by u through B, where A and B are held apart. */
typedef struct { double s2, s3, t, A, B; } inner_bar;

static inline inner_bar inner_adjoint(local q, differences d, wave w, rates r)
{
    double sum = -(r.h + q.u * r.m + q.v * r.o), dif = -q.c * r.m, t = -q.u * r.o;
    double s2 = sum - dif, s3 = sum + dif;
    return (inner_bar){s2, s3, t, d.h2 * s2 - d.h3 * s3, 0.5 * w.i * (d.m3 * s3 - d.m2 * s2)};
}
/* its tangent, r fixed; B = G/(2 c), so that Ba = (Ga/2 - B ca)/c */
static inline inner_bar inner_tangent(differences d, wave w, inner_bar b, local qa, differences da, rates r)
{
    double sum = -(qa.u * r.m + qa.v * r.o), dif = -qa.c * r.m, t = -qa.u * r.o;
    double s2 = sum - dif, s3 = sum + dif;
    return (inner_bar){
        s2, s3, t, da.h2 * b.s2 + d.h2 * s2 - da.h3 * b.s3 - d.h3 * s3,
        0.5 * w.i * (da.m3 * b.s3 + d.m3 * s3 - da.m2 * b.s2 - d.m2 * s2) - b.B * qa.c * w.i
    };
}
/* along a and b, with the mixed qab; ba, bb: the tangents */
static inline inner_bar inner_tangent2(differences d, wave w, inner_bar b, local qa, differences da, inner_bar ba,
                                       local qb, differences db, inner_bar bb, local qab, rates r)
{
    double sum = -(qab.u * r.m + qab.v * r.o), dif = -qab.c * r.m, t = -qab.u * r.o;
    double s2 = sum - dif, s3 = sum + dif;
    double A = da.h2 * bb.s2 + db.h2 * ba.s2 + d.h2 * s2 - da.h3 * bb.s3 - db.h3 * ba.s3 - d.h3 * s3;
    double G = da.m3 * bb.s3 + db.m3 * ba.s3 + d.m3 * s3 - da.m2 * bb.s2 - db.m2 * ba.s2 - d.m2 * s2;
    return (inner_bar){s2, s3, t, A, (0.5 * G - ba.B * qb.c - bb.B * qa.c - b.B * qab.c) * w.i};
}

static inline wave_bar wave_adjoint(local q, differences d, wave w, rates r)
{
    inner_bar b = inner_adjoint(q, d, w, r);
    return (wave_bar){
        {w.F * b.A + b.B - r.m * w.sum - r.o * w.t, -r.o * w.sum - d.h1 * b.t,
         -0.5 * (w.F * w.F + 1) * b.A - w.F * b.B - r.m * w.dif},
        {-q.v * b.t, w.A * b.s2, -w.A * b.s3, (0.5 - w.B) * b.s2, (0.5 + w.B) * b.s3, b.t}
    };
}
/* its tangent along (qa, da), r fixed */
static inline wave_bar wave_adjoint_tangent(local q, differences d, wave w, local qa, differences da, wave wa, rates r)
{
    inner_bar b = inner_adjoint(q, d, w, r), ba = inner_tangent(d, w, b, qa, da, r);
    return (wave_bar){
        {wa.F * b.A + w.F * ba.A + ba.B - r.m * wa.sum - r.o * wa.t, -r.o * wa.sum - da.h1 * b.t - d.h1 * ba.t,
         -w.F * wa.F * b.A - 0.5 * (w.F * w.F + 1) * ba.A - wa.F * b.B - w.F * ba.B - r.m * wa.dif},
        {-qa.v * b.t - q.v * ba.t, wa.A * b.s2 + w.A * ba.s2, -wa.A * b.s3 - w.A * ba.s3,
         (0.5 - w.B) * ba.s2 - wa.B * b.s2, (0.5 + w.B) * ba.s3 + wa.B * b.s3, ba.t}
    };
}
/* and of that along (qb, db), with the mixed qab and wab */
static inline wave_bar wave_adjoint_tangent2(local q, differences d, wave w, local qa, differences da, wave wa,
                                             local qb, differences db, wave wb, local qab, wave wab, rates r)
{
    inner_bar b = inner_adjoint(q, d, w, r);
    inner_bar ba = inner_tangent(d, w, b, qa, da, r), bb = inner_tangent(d, w, b, qb, db, r);
    inner_bar bab = inner_tangent2(d, w, b, qa, da, ba, qb, db, bb, qab, r);
    double E = 0.5 * (w.F * w.F + 1), Ea = w.F * wa.F, Eb = w.F * wb.F, Eab = wa.F * wb.F + w.F * wab.F;
    return (wave_bar){
        {wab.F * b.A + wa.F * bb.A + wb.F * ba.A + w.F * bab.A + bab.B - r.m * wab.sum - r.o * wab.t,
         -r.o * wab.sum - da.h1 * bb.t - db.h1 * ba.t - d.h1 * bab.t,
         -(Eab * b.A + Ea * bb.A + Eb * ba.A + E * bab.A)
         - (wab.F * b.B + wa.F * bb.B + wb.F * ba.B + w.F * bab.B) - r.m * wab.dif},
        {-(qab.v * b.t + qa.v * bb.t + qb.v * ba.t + q.v * bab.t),
         wab.A * b.s2 + wa.A * bb.s2 + wb.A * ba.s2 + w.A * bab.s2,
         -(wab.A * b.s3 + wa.A * bb.s3 + wb.A * ba.s3 + w.A * bab.s3),
         (0.5 - w.B) * bab.s2 - wa.B * bb.s2 - wb.B * ba.s2 - wab.B * b.s2,
         (0.5 + w.B) * bab.s3 + wa.B * bb.s3 + wb.B * ba.s3 + wab.B * b.s3, bab.t}
    };
}

/* ---- entries of the Jacobian --------------------------------------------------------------------------------- */

static const double weight_behind[5] = {1, -6, 3, 2, 0}, weight_ahead[5] = {0, -2, -3, 6, -1};

/* r times the wave's rates by the fields of neighbour k: e = h by h, m by h, o by h, h by m, m by m, o by m,
   o by o */
static inline void by_neighbour(local q, wave w, switches s, double r, int k, double *e)
{
    double A = r * w.A, B2 = r * (w.B - 0.5), B3 = -r * (w.B + 0.5), u = r * q.u;
    double w1 = (s.s1 < 0 ? weight_behind : weight_ahead)[k];
    double w2 = (s.s2 < 0 ? weight_behind : weight_ahead)[k];
    double w3 = (s.s3 < 0 ? weight_behind : weight_ahead)[k];
    double h2 = -A * w2, h3 = A * w3, m2 = B2 * w2, m3 = B3 * w3;
    e[0] = h2 + h3;
    e[1] = q.u * e[0] + q.c * (h3 - h2);
    e[2] = q.v * (e[0] + u * w1);
    e[3] = m2 + m3;
    e[4] = q.u * e[3] + q.c * (m3 - m2);
    e[5] = q.v * e[3];
    e[6] = -u * w1;
}

/* the wave's rates by u, v, c of the cell, the differences fixed */
typedef struct { rates u, v, c; } by_local;

static inline by_local by_local_of(local q, differences d, wave w)
{
    double b = 0.5 * w.i, Ac = -0.5 * (w.F * w.F + 1), Bc = -w.F * b;
    double s2u = w.F * d.h2 - b * d.m2, s3u = b * d.m3 - w.F * d.h3;
    double s2c = Ac * d.h2 - Bc * d.m2, s3c = Bc * d.m3 - Ac * d.h3;
    double su = s2u + s3u, sc = s2c + s3c;
    return (by_local){
        {-su, -(w.sum + q.u * su + q.c * (s3u - s2u)), -(q.v * su + w.t)},
        {0, 0, q.u * d.h1 - w.sum},
        {-sc, -(q.u * sc + w.dif + q.c * (s3c - s2c)), -q.v * sc}
    };
}

/* block += that times i h, by the columns h, hu, hv; m: 1 for x, where m is hu; 2 for y */
static inline void add_local(local q, double i, by_local b, int m, double block[9])
{
    int o = 3 - m;
    double kc = 0.5 * q.c * i, ku = -q.u * i, kv = -q.v * i;
    block[0] += kc * b.c.h + ku * b.u.h;
    block[m] += kc * b.c.m + ku * b.u.m;
    block[o] += kc * b.c.o + ku * b.u.o + kv * b.v.o;
    block[3 * m] += i * b.u.h;
    block[3 * m + m] += i * b.u.m;
    block[3 * m + o] += i * b.u.o;
    block[3 * o + o] += i * b.v.o;
}

/* Entries of one direction: 28 for the neighbours, and the cell's own part of the block; r = 1/(6 dx), i = 1/h. */
static inline void along(local q, double i, double r, differences d, switches s, int m, double *e, double block[9])
{
    wave w = wave_of(q, d);
    double own[7];
    int o = 3 - m;
    by_neighbour(q, w, s, r, 0, e);
    by_neighbour(q, w, s, r, 1, e + 7);
    by_neighbour(q, w, s, r, 3, e + 14);
    by_neighbour(q, w, s, r, 4, e + 21);
    by_neighbour(q, w, s, r, 2, own);
    block[0] += own[0];
    block[m] += own[1];
    block[o] += own[2];
    block[3 * m] += own[3];
    block[3 * m + m] += own[4];
    block[3 * m + o] += own[5];
    block[3 * o + o] += own[6];
    add_local(q, r * i, by_local_of(q, d, w), m, block);
}

#endif
