"""What the C files of all models on grids share: the pattern of the Jacobian, NAME_new and NAME_free."""

PATTERN = """/* what is needed while the pattern is built */
typedef struct {
    int *last, *next;          /* of each column: its latest row, and the place of its next entry */
    int *number;               /* of each cell in the list; -1: of the interior, and not listed */
} building;

/* Counts the entries of each column (fill 0), or writes their rows and places (fill 1).  Rows come in increasing order,
   so that each column is sorted; neighbours with the same image share an entry. */
static void build_pattern(@NAME_grid *G, int fill, const building *b)
{
    int at[AXES];
    for (int c = 0; c < G->problem.n; c++) b->last[c] = -1;
    for (int row = 0; row < G->problem.n; row++) {
        const int cell = @CELL, equation = @EQUATION;
        indices_of(G, cell, at);
        for (int l = 0; l < ENTRIES; l++) {
            if (entry[l].row != equation) continue;
            const int there = image_at(G, entry[l].column, at, entry[l].offset);
            if (there < 0) continue;
            const int c = @STATE;
            if (b->last[c] != row) {
                b->last[c] = row;
                if (fill) G->row[b->next[c]] = row;
                b->next[c]++;
            }
            if (fill) *@PLACE = b->next[c] - 1;
        }
    }
}

static int new_pattern(@NAME_grid *G)
{
    const size_t n = (size_t)G->problem.n, cells = (size_t)G->cells, listed = (size_t)G->listed * ENTRIES;
    building b = {malloc(n * sizeof *b.last), calloc(n, sizeof *b.next), malloc(cells * sizeof *b.number)};
    G->column = calloc(n + 1, sizeof *G->column);
    G->place = malloc(cells * ENTRIES * sizeof *G->place);
    G->edge_place = malloc((listed + 1) * sizeof *G->edge_place);
    int done = b.last && b.next && b.number && G->column && G->place && G->edge_place;
    if (done) {
        for (size_t l = 0; l < listed; l++) G->edge_place[l] = -1;
        for (int cell = 0; cell < G->cells; cell++) b.number[cell] = -1;
        for (int m = 0; m < @LAST; m++) b.number[G->cell[m]] = m;
        build_pattern(G, 0, &b);
        for (size_t c = 0; c < n; c++) {
            G->column[c + 1] = G->column[c] + b.next[c];
            b.next[c] = G->column[c];
        }
        G->row = malloc(((size_t)G->column[n] + 1) * sizeof *G->row);
        done = G->row != NULL;
    }
    if (done) build_pattern(G, 1, &b);
    free(b.last);
    free(b.next);
    free(b.number);
    G->pattern = (costate_pattern){G->problem.n, G->column, G->row};
    return done;
}

"""
BY_ROWS = """/* Each cell computes the rows of its equations. */
static int *place_of(const @NAME_grid *G, int number, int cell, int l)
{
    return number < 0 ? G->place + ENTRIES*cell + l : G->edge_place + ENTRIES*number + l;
}

"""
BY_COLUMNS = """\
/* Each cell of the interior computes the columns of its states; other columns come from the rows of listed cells. */
static int *place_of(const @NAME_grid *G, int number, int there, int there_number, int l)
{
    const int interior = there_number < 0 || there_number >= G->edges;
    return interior ? G->place + ENTRIES*there + l : G->edge_place + ENTRIES*number + l;
}

"""

MASS = """/* the mass matrix: 1 for equations of derivatives in time, 0 for constraints */
static int mass(double *M, void *ctx)
{
    static const unsigned char differential[FIELDS] = {@DIFFERENTIAL};
    const @NAME_grid *const G = ctx;
    for (int c = 0; c < G->problem.n; c++)
        for (int e = G->column[c]; e < G->column[c + 1]; e++) M[e] = G->row[e] == c && differential[@STATE_OF_C];
    return 0;
}

"""
INDEX = """static int new_index(@NAME_grid *G)
{
    static const int order[FIELDS] = {@ORDERS};
    G->index = malloc((size_t)G->problem.n * sizeof *G->index);
    if (!G->index) return 0;
    for (int c = 0; c < G->problem.n; c++) G->index[c] = order[@STATE_OF_C];
    G->problem.index = G->index;
    return 1;
}

"""
NEW = """static int new_lists(@NAME_grid *G)
{
    list_cells(G, 0);
    const size_t count = (size_t)G->listed + 1;
    G->cell = malloc(count * sizeof *G->cell);
    G->at = malloc(count * AXES * sizeof *G->at);
    G->image = malloc(count * LOADS * sizeof *G->image);
    G->covered = malloc((size_t)G->cells);
    G->zeros = calloc((size_t)G->problem.n, sizeof *G->zeros);
    if (!G->cell || !G->at || !G->image || !G->covered || !G->zeros) return 0;
    list_cells(G, 1);
    memset(G->covered, 1, (size_t)G->cells);
    for (int m = G->covered_edges; m < G->edges; m++) G->covered[G->cell[m]] = 0;
    return 1;
}

/* 0: a size is too small for the neighbours that are read, or there are more unknowns or entries than fit into int */
static int measure(@NAME_grid *G)
{
    long long cells = 1;
    for (int a = 0; a < AXES; a++) {
        const int n = G->n[a], margin = is_periodic[a] && a < AXES - 1 ? 0 : reach[a];
        if (n < least[a]) return 0;
        cells *= n;
        if (cells > INT_MAX / @LARGEST) return 0;
        G->low[a] = margin;
        G->high[a] = n - margin;
    }
    G->cells = (int)cells;
    return 1;
}

@NAME_grid *@NAME_new(@ARGUMENTS)
{
    @NAME_grid *G = calloc(1, sizeof *G);
    if (!G) return NULL;
    @SIZES
    if (!measure(G)) {
        free(G);
        return NULL;
    }
    G->problem = (costate_problem){@PROBLEM;
    @START
    if (!new_lists(G) || !new_pattern(G)@NEW_INDEX@NEW_BLOCKS) {
        @NAME_free(G);
        return NULL;
    }
    @SET_PARTS
    return G;
}

void @NAME_free(@NAME_grid *G)
{
    if (!G) return;
    free(G->cell);
    free(G->at);
    free(G->image);
    free(G->covered);
    free(G->column);
    free(G->row);
    free(G->place);
    free(G->edge_place);
    free(G->zeros);
    @FREE_INDEX
    @FREE_BLOCKS
    free(G);
}

const costate_problem *@NAME_problem(const @NAME_grid *G)
{
    return &G->problem;
}

"""
FREE_BLOCKS = """\
    free(G->block_column);
    free(G->block_row);
"""

START = """\
const costate_map *@NAME_start_map(const @NAME_grid *G)
{
    return &G->start;
}

void @NAME_start(const @NAME_grid *G, double t, const double *p, double *y)
{
    start_value(&(costate_point){.t = t, .p = p}, y, G->problem.ctx);
}

"""
