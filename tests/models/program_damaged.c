/* program_damaged.c - damaged programs, with the checksum of their damaged bytes, are refused, or touch only what there
   is: run with sanitizers, and with arrays that are just long enough.

       program_damaged SEED COUNT FILE...: so many damages of each file */
#include <costate/linsol.h>
#include <costate/program.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 24, MOST = 1 << 22 };

static unsigned seeded;
static unsigned drawn(unsigned below)
{
    seeded = seeded * 1664525u + 1013904223u;
    return (seeded >> 8) % below;
}

static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    static uint32_t table[256];
    for (uint32_t k = 0; k < 256 && !table[255]; k++) {
        uint32_t c = k;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        table[k] = c;
    }
    uint32_t crc = 0xffffffffu;
    for (size_t k = 0; k < size; k++) crc = crc >> 8 ^ table[(crc ^ bytes[k]) & 255];
    return ~crc;
}

/* ones, not one more than `count` */
static double *ones(int count)
{
    double *x = malloc((size_t)count * sizeof *x + !count);
    for (int k = 0; k < count; k++) x[k] = 1;
    return x;
}

static void call(const costate_problem *P, const costate_map *f, int values, int slopes, void *ctx)
{
    if (!f->value) return;
    double *y = ones(P->n), *p = ones(P->np), *m = ones(P->nm), *yp = ones(P->n), *w = ones(2 * values);
    double *gy = ones(P->n), *gp = ones(P->np), *gm = ones(P->nm), *gyp = ones(P->n), *out = ones(2 * values), gt = 0;
    int *relation = calloc((size_t)P->nrelations + !P->nrelations, sizeof *relation);
    const costate_point x = {.y = y, .p = p, .m = m, .yp = slopes ? yp : NULL, .relation = relation};
    const costate_point d[2] = {{.t = 1, .y = y, .p = p, .m = m, .yp = slopes ? yp : NULL}, {.y = y}};
    const costate_gradient one = {&gt, gy, gp, slopes ? gyp : NULL, gm}, g[2] = {one, {.y = gy}};
    f->value(&x, out, ctx);
    for (int k = 0; k < 2; k++) {
        if (f->tangent) f->tangent(&x, d + k, out, ctx);
        if (f->adjoint) f->adjoint(&x, w, g + k, ctx);
        if (f->tangent2) f->tangent2(&x, d, d + k, out, ctx);
        if (f->adjoint_tangent) f->adjoint_tangent(&x, d + k, w, g, ctx);
        if (f->adjoint_tangent2) f->adjoint_tangent2(&x, d, d + k, w, g, ctx);
    }
    if (f->tangents) f->tangents(&x, 2, d, out, ctx);
    if (f->adjoints) f->adjoints(&x, 2, w, g, ctx);
    void *all[] = {y, p, m, yp, w, gy, gp, gm, gyp, out, relation};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static void matrices(const costate_problem *P, int slopes)
{
    const int entries = P->pattern ? P->pattern->col[P->n] : P->n * P->n;
    double *y = ones(P->n), *p = ones(P->np), *m = ones(P->nm), *yp = ones(P->n), *J = ones(entries);
    int *relation = calloc((size_t)P->nrelations + !P->nrelations, sizeof *relation);
    const costate_point x = {.y = y, .p = p, .m = m, .yp = slopes ? yp : NULL, .relation = relation};
    if (P->jac) P->jac(&x, J, P->ctx);
    if (P->jac_yp) P->jac_yp(&x, J, P->ctx);
    if (P->mass) P->mass(J, P->ctx);
    void *all[] = {y, p, m, yp, J, relation};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

/* the pattern of the Jacobian, with the diagonal: what the library gives the linear solver */
static void eliminate(const costate_problem *P, const costate_backend *b)
{
    const int n = P->n;
    int *col = calloc((size_t)n + 1, sizeof *col), *row = calloc((size_t)n * (size_t)n, sizeof *row), at = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            int there = i == j || !P->pattern;
            for (int k = P->pattern ? P->pattern->col[j] : 0; P->pattern && k < P->pattern->col[j + 1]; k++)
                there |= P->pattern->row[k] == i;
            if (there) row[at++] = i;
        }
        col[j + 1] = at;
    }
    const costate_pattern pattern = {n, col, row};
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        double *A = ones(at * (1 + is_complex)), *X = ones(n * (1 + is_complex));
        void *self = (void *)(uintptr_t)b;
        if (!b->init(&self, n, &pattern, is_complex, NULL)) {
            if (!b->factor(self, A)) b->solve(self, 0, 1, X), b->solve(self, 1, 1, X);
            b->bytes(self);
        }
        b->free(self);
        free(A), free(X);
    }
    free(col), free(row);
}

static void use(const costate_program *q)
{
    const costate_problem *P = costate_program_problem(q);
    const int slopes = P->residual.value != NULL, n = P->n;
    int outputs;
    const costate_map *output = costate_program_outputs(q, &outputs);
    call(P, &P->rhs, n, 0, P->ctx);
    call(P, &P->residual, n, 1, P->ctx);
    call(P, &P->cost, P->nq, 0, P->ctx);
    call(P, costate_program_start(q), n + P->nq + P->nm, 0, P->ctx);
    if (output) call(P, output, outputs, 0, P->ctx);
    matrices(P, slopes);
    if (costate_program_backend(q)) eliminate(P, costate_program_backend(q));
    for (int k = 0; k < P->nevents; k++) {
        const costate_event *e = &P->event[k];
        call(P, &e->guard, 1, e->slopes, e->ctx);
        call(P, &e->jump, n + P->nm, e->slopes, e->ctx);
        call(P, &e->cost, P->nq, e->slopes, e->ctx);
    }
    for (int k = 0; k < P->nrelations; k++) call(P, &P->relation[k].guard, 1, 0, P->relation[k].ctx);
}

/* one to three numbers of 16 or 32 bits become others */
static void damage(unsigned char *bytes, size_t size)
{
    const int32_t usual[] = {0, 1, 2, 3, -1, 5, 17, 255, 0xffff, 1 << 20, INT32_MAX, INT32_MIN};
    for (unsigned k = 1 + drawn(3); k > 0; k--) {
        const size_t at = HEAD + 2 * drawn((unsigned)(size - HEAD - 4) / 2);
        int32_t value = usual[drawn(sizeof usual / sizeof *usual)];
        if (drawn(2)) {
            memcpy(&value, bytes + at, sizeof value);
            value ^= 1 << drawn(31);
        }
        memcpy(bytes + at, &value, drawn(2) ? 2 : 4);
    }
    const uint32_t sum = checksum(bytes + HEAD, size - HEAD);
    memcpy(bytes + 20, &sum, sizeof sum);
}

int main(int argc, char **argv)
{
    static unsigned char bytes[MOST];
    int refused = 0, used = 0;
    if (argc < 4) return 2;
    seeded = (unsigned)atoi(argv[1]);
    for (int f = 3; f < argc; f++) {
        FILE *file = fopen(argv[f], "rb");
        const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (size < HEAD + 8) return 2;
        fclose(file);
        for (int k = atoi(argv[2]); k > 0; k--) {
            unsigned char *copy = malloc(size);
            memcpy(copy, bytes, size);
            if (k > 1) damage(copy, size);
            costate_program *q = costate_program_new(copy, size);
            free(copy);
            if (costate_program_status(q)) refused++;
            else use(q), used++;
            costate_program_free(q);
        }
    }
    printf("%d %d\n", refused, used);
    return 0;
}
