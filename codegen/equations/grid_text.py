"""What the C files of all models on grids share: finding neighbours, boundaries, the pattern of the Jacobian."""

MACROS = """#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline))          /* so that the few cells near boundaries do not enlarge the loops */
#else
#define INLINE static inline
#define APART
#endif

"""

GRID = """struct @NAME_grid {
    costate_problem problem;
    costate_pattern pattern;
    @START
    int n[AXES], cells;                /* cells along each axis, and in all */
    @SIZES
    int low[AXES], high[AXES];         /* the interior: cells whose neighbours are found without tests */
    int rim, covered_edges, edges, rim_end, listed;     /* ranges of the cells that are listed, see kind_of */
    int *cell, *at, *image;            /* of each cell that is listed: number, indices, images of its neighbours */
    unsigned char *covered;            /* of each cell: 1 where gradients are gathered */
    int *column, *row;                 /* the pattern of the Jacobian */
    int *place, *edge_place;           /* where its entries are, ENTRIES a cell: for the interior; for cells that are
                                          listed, -1: nowhere */
    double *zeros;                     /* for directions that are NULL */
    @INDEX
    @PARTS
};

"""

ENDS = """\
/* what is beyond the low and the high end of each axis: a boundary condition, or the number of a value outside; for
   each state, and last for parameters */
static const signed char ends[FIELDS + 1][AXES][2] = {
"""

NUMBERS = """\
/* what is the same for all cells; d_, e_: along the first and second direction; once_: computed from the others */
typedef struct {
"""

NUMBERS_AT = """INLINE numbers numbers_at(const @NAME_grid *G, const costate_point *x, const costate_point *dx,
                          const costate_point *ex)
{
    numbers p = {0};
    (void)G, (void)x, (void)dx, (void)ex;
"""

WRAPPED = """static inline int wrapped(int i, int n)
{
    return (i % n + n) % n;
}

"""

IMAGE = """/* The cell whose value is read for the one at these indices; -1 - k: value k outside of the grid */
static int image_of(const @NAME_grid *G, int field, const int *at)
{
    int cell = 0;
    for (int a = 0; a < AXES; a++) {
        const int n = G->n[a];
        int i = at[a];
        if (i < 0 || i >= n) {
            const int end = ends[field][a][i >= n];
            if (end >= 0) return -1 - end;
            i = end == PERIODIC ? wrapped(i, n) : i < 0 ? -1 - i : 2*n - 1 - i;
        }
        cell = cell*n + i;
    }
    return cell;
}

static void indices_of(const @NAME_grid *G, int cell, int *at)
{
    for (int a = AXES - 1; a >= 0; a--) {
        at[a] = cell % G->n[a];
        cell /= G->n[a];
    }
}

static int image_at(const @NAME_grid *G, int field, const int *at, const signed char *offset)
{
    int there[AXES];
    for (int a = 0; a < AXES; a++) there[a] = at[a] + offset[a];
    return image_of(G, field, there);
}

"""

LIST = """/* The kind of a cell: INTERIOR, and not listed.  Others are listed in the order of their kinds:
   0 near an end of a periodic axis; 1 also in the rim; 2 near another boundary; 3 of the interior, in the rim; 4 of
   the interior, as near to an end of a periodic axis.  Gradients are not gathered for cells of kind 2, but scattered to
   them from the rim, kinds 1 to 3. */
static int kind_of(const @NAME_grid *G, const int *at)
{
    int edge = 0, wide_edge = 0, outer = 0, rim = 0;
    for (int a = 0; a < AXES; a++) {
        const int i = at[a], j = G->n[a] - 1 - i, distance = i < j ? i : j;
        if (!is_periodic[a]) {
            outer |= distance < reach[a];
            rim |= distance < @RIM*reach[a];
        } else if (a == AXES - 1) {
            edge |= distance < reach[a];
            wide_edge |= distance < @RIM*reach[a];
        }
    }
    return outer ? 2 : edge ? rim : rim ? 3 : wide_edge ? 4 : INTERIOR;
}

/* fill 0: counts the cells of each kind; 1: lists them */
static void list_cells(@NAME_grid *G, int fill)
{
    int next[INTERIOR + 1] = {0, G->rim, G->covered_edges, G->edges, G->rim_end}, at[AXES];
    for (int cell = 0; cell < G->cells; cell++) {
        indices_of(G, cell, at);
        const int kind = kind_of(G, at), m = next[kind]++;
        if (!fill || kind == INTERIOR) continue;
        G->cell[m] = cell;
        memcpy(G->at + AXES*m, at, sizeof at);
        for (int l = 0; l < LOADS; l++) G->image[LOADS*m + l] = image_at(G, load[l].field, at, load[l].offset);
    }
    if (fill) return;
    G->rim = next[0];
    G->covered_edges = G->rim + next[1];
    G->edges = G->covered_edges + next[2];
    G->rim_end = G->edges + next[3];
    G->listed = G->rim_end + next[4];
}

"""

# Functions for cell m of the list.  A patch is a neighbourhood of PATCH cells, whose middle is that cell.
# @IF ... @ELSE ... @END: with values outside of the grid, and without
NEAR = ["""static void read_near(const @NAME_grid *G, int m, const double *y, @OUTSIDEdouble *restrict near)
{
    const int *image = G->image + LOADS*m;
    for (int l = 0; l < STATE_LOADS; l++) {
        const int c = image[l];
        near[load[l].spot] = @IFc < 0 ? outside[-1 - c] : @ELSE@END@READ;
    }
}

""", """static void read_own(const @NAME_grid *G, int m, const double *w, double *restrict near)
{
    for (int f = 0; f < FIELDS; f++) near[@SPOT] = w[@OWN];
}

""", """static void read_parameter(const @NAME_grid *G, int m, const double *p, double *restrict near)
{
    const int *image = G->image + LOADS*m;
    for (int l = STATE_LOADS; l < LOADS; l++) near[load[l].spot] = p[image[l]];
}

""", """static void write_own(const @NAME_grid *G, int m, const double *near, double *restrict out)
{
    for (int f = 0; f < FIELDS; f++) out[@OWN] = near[@SPOT];
}

""", """static void add_own(const @NAME_grid *G, int m, const double *near, double *restrict gy)
{
    for (int f = 0; f < FIELDS; f++) gy[@OWN] += near[@SPOT];
}

""", """@IF/* What a patch holds for a gradient goes to the cells that it was copied from, and to the weights of values
   outside. */
static void add_near(const @NAME_grid *G, int m, const double *near, double *gy, double *bar)
{
    const int *image = G->image + LOADS*m;
    for (int l = 0; l < STATE_LOADS; l++) {
        const int c = image[l];
        if (c >= 0 && gy) gy[@AT] += near[load[l].spot];
        if (c < 0 && bar) bar[-1 - c] += near[load[l].spot];
    }
}

@ELSE/* What a patch holds for a gradient goes to the cells that it was copied from. */
static void add_near(const @NAME_grid *G, int m, const double *near, double *restrict gy)
{
    const int *image = G->image + LOADS*m;
    for (int l = 0; l < STATE_LOADS; l++) {
        const int c = image[l];
        gy[@AT] += near[load[l].spot];
    }
}

@END""", """/* The same, to cells for which gradients are not gathered */
static void add_open(const @NAME_grid *G, int m, const double *near, double *restrict gy)
{
    const int *image = G->image + LOADS*m;
    for (int l = 0; l < STATE_LOADS; l++) {
        const int c = image[l];
        if (c >= 0 && !G->covered[c]) gy[@AT] += near[load[l].spot];
    }
}

""", """static void add_parameter(const @NAME_grid *G, int m, const double *near, double *restrict gp)
{
    const int *image = G->image + LOADS*m;
    for (int l = STATE_LOADS; l < LOADS; l++) gp[image[l]] += near[load[l].spot];
}

"""]

CLEAR = """\
static int clear(double *out, void *ctx)
{
    const @NAME_grid *const G = ctx;
    memset(out, 0, (size_t)G->problem.n * sizeof *out);
    return 0;
}

"""
CLEAR_ALL = """\
/* with running costs */
static int clear_all(double *out, void *ctx)
{
    const @NAME_grid *const G = ctx;
    memset(out, 0, (size_t)(G->problem.n + G->problem.nq) * sizeof *out);
    return 0;
}

"""
