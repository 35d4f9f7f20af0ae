"""What the C files of models on grids with a splitting share: the values of its parts, along lines or in patterns."""

MEMBERS = """\
    costate_part part[PARTS];          /* of the splitting */
"""
BLOCK_MEMBERS = """\
    costate_pattern blocks;            /* of what is local: all states of a cell, with */
    int *block_column, *block_row;
"""

TABLE = """\
/* What the parts of the splitting consist of: values of each cell, in the row of an equation and in the column of a
   state at these offsets.  side: of the offset; balanced: the value is subtracted at the cell itself, so that the rows
   of a part have the sum 0. */
static const struct { int part, row, column, side, balanced; signed char offset[AXES]; } coupling[COUPLINGS] = {
"""
VALUES = """\
static void couplings_of(const @NAME_grid *G, const double *p, int cell, const int *at, double *value)
{
    (void)G, (void)p, (void)cell, (void)at;
"""
PUT_LINE = """\
typedef struct { double *lower, *diagonal, *upper; } along_lines;

static void put_on_line(const @NAME_grid *G, void *to, int row, int column, int side, double value)
{
    const along_lines *const lines = to;
    double *const values = row == column ? lines->diagonal : side < 0 ? lines->lower : lines->upper;
    values[row] += value;
    (void)G;
}

"""
PUT_ENTRY = """\
typedef struct { const costate_pattern *pattern; double *A; } in_pattern;

static void put_in_pattern(const @NAME_grid *G, void *to, int row, int column, int side, double value)
{
    const in_pattern *const matrix = to;
    const costate_pattern *const S = matrix->pattern;
    for (int e = S->col[column]; e < S->col[column + 1]; e++)
        if (S->row[e] == row) matrix->A[e] += value;
    (void)G, (void)side;
}

"""
FORM = """\
/* Hands each value of a part to `put`; what is read beyond a boundary has no column. */
static void form_part(const @NAME_grid *G, int part, const double *p, void *to,
                      void (*put)(const @NAME_grid *G, void *to, int row, int column, int side, double value))
{
    double value[COUPLINGS];
    int at[AXES];
    for (int cell = 0; cell < G->cells; cell++) {
        indices_of(G, cell, at);
        couplings_of(G, p, cell, at, value);
        for (int l = 0; l < COUPLINGS; l++) {
            if (coupling[l].part != part) continue;
            const int row = @ROW;
            const int there = image_at(G, coupling[l].column, at, coupling[l].offset);
            if (coupling[l].balanced) put(G, to, row, @OWN, 0, -value[l]);
            if (there >= 0) put(G, to, row, @COLUMN, coupling[l].side, value[l]);
        }
    }
}

"""
LINES = """\
static int lines_@PART(const costate_point *x, double *lower, double *diagonal, double *upper, void *ctx)
{
    along_lines to = {lower, diagonal, upper};
    form_part(ctx, @PART, x->p, &to, put_on_line);
    return 0;
}

"""
MATRIX = """\
static int matrix_@PART(const costate_point *x, double *A, void *ctx)
{
    const @NAME_grid *const G = ctx;
    in_pattern to = {&G->@PATTERN, A};
    form_part(G, @PART, x->p, &to, put_in_pattern);
    return 0;
}

"""
NEW_BLOCKS = """\
static int new_blocks(@NAME_grid *G)
{
    const size_t n = (size_t)G->problem.n;
    int entries = 0;
    G->block_column = malloc((n + 1) * sizeof *G->block_column);
    G->block_row = malloc(n * FIELDS * sizeof *G->block_row);
    if (!G->block_column || !G->block_row) return 0;
    for (int c = 0; c < G->problem.n; c++) {
        const int cell = @CELL_OF_C;
        G->block_column[c] = entries;
        for (int f = 0; f < FIELDS; f++) G->block_row[entries++] = @STATE;
    }
    G->block_column[n] = entries;
    G->blocks = (costate_pattern){G->problem.n, G->block_column, G->block_row};
    return 1;
}

"""
SET_PARTS = """\
static void set_parts(@NAME_grid *G)
{
"""
PARTS = """\
const costate_part *@NAME_parts(const @NAME_grid *G, int *count)
{
    *count = PARTS;
    return G->part;
}

"""
HEADER = """
/* Approximate matrix factorisation for W-methods: the parts of f_y along the axes that depend on parameters only, and
   the splitting made of them, which uses the grid.  Free it with costate_splitting_free after the solvers that use it,
   and before the grid. */
const costate_part *@NAME_parts(const @NAME_grid *, int *count);
static inline costate_splitting *@NAME_splitting(const @NAME_grid *grid)
{
    int count;
    const costate_part *parts = @NAME_parts(grid, &count);
    return costate_splitting_new(@NAME_problem(grid), count, parts);
}
"""
