"""What the C files of all models on grids share: finding neighbours, boundaries, the pattern of the Jacobian."""

MACROS = """#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline))          /* so that the few cells near boundaries do not enlarge the loops */
#else
#define INLINE static inline
#define APART
#endif

"""

GRID = """struct NAME_grid {
    costate_problem problem;
    costate_pattern pattern;
    int n[AXES], cells;                /* cells along each axis, and in all */
    SIZES_OF_GRID
    int low[AXES], high[AXES];         /* the interior: cells whose neighbours are found without tests */
    int rim, covered_edges, edges, rim_end, listed;     /* ranges of the cells that are listed, see kind_of */
    int *cell, *at, *image;            /* of each cell that is listed: number, indices, images of its neighbours */
    unsigned char *covered;            /* of each cell: 1 where gradients are gathered */
    int *column, *row;                 /* the pattern of the Jacobian */
    int *place, *edge_place;           /* where its entries are, ENTRIES a cell: of the interior; of cells that are listed,
                                          -1: it has none */
    double *zeros;                     /* for directions that are NULL */
};

"""

ROWS = {
    2: """/* where the rows around row i begin */
INLINE rows rows_at(const NAME_grid *G, int i)
{
    const int n = G->n[0], m = G->n[1];
    (void)n;
    return (rows){MEMBERS};
}

""",
    3: """/* where the rows around row (i, j) begin */
INLINE rows rows_at(const NAME_grid *G, int i, int j)
{
    const int n = G->n[0], m = G->n[1], l = G->n[2];
    (void)n;
    return (rows){MEMBERS};
}

"""}

WRAPPED = """static inline int wrapped(int i, int n)
{
    return (i % n + n) % n;
}

"""

IMAGE = """/* The cell whose value is read for the one at these indices; -1 - k: value k outside of the grid */
static int image_of(const NAME_grid *G, int field, const int *at)
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

static void indices_of(const NAME_grid *G, int cell, int *at)
{
    for (int a = AXES - 1; a >= 0; a--) {
        at[a] = cell % G->n[a];
        cell /= G->n[a];
    }
}

static int image_at(const NAME_grid *G, int field, const int *at, const signed char *offset)
{
    int there[AXES];
    for (int a = 0; a < AXES; a++) there[a] = at[a] + offset[a];
    return image_of(G, field, there);
}

"""

LIST = """/* The kind of a cell: INTERIOR, and not listed.  Others are listed in the order of their kinds:
   0 near an end of a periodic axis; 1 also in the rim; 2 near another boundary; 3 of the interior, in the rim; 4 of the
   interior, as near to an end of a periodic axis.  Gradients are not gathered for cells of kind 2, but scattered to them
   from the rim, kinds 1 to 3. */
static int kind_of(const NAME_grid *G, const int *at)
{
    int edge = 0, wide_edge = 0, outer = 0, rim = 0;
    for (int a = 0; a < AXES; a++) {
        const int i = at[a], j = G->n[a] - 1 - i, distance = i < j ? i : j;
        if (!is_periodic[a]) {
            outer |= distance < reach[a];
            rim |= distance < RIM*reach[a];
        } else if (a == AXES - 1) {
            edge |= distance < reach[a];
            wide_edge |= distance < RIM*reach[a];
        }
    }
    return outer ? 2 : edge ? rim : rim ? 3 : wide_edge ? 4 : INTERIOR;
}

/* fill 0: counts the cells of each kind; 1: lists them */
static void list_cells(NAME_grid *G, int fill)
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

NEAR = """/* The neighbourhood of cell m of the list is copied to a patch of PATCH cells, whose middle is that cell. */
static void read_near(const NAME_grid *G, int m, const double *y, OUTSIDE_ARGdouble *restrict near)
{
    const int *image = G->image + LOADS*m;
    for (int l = 0; l < STATE_LOADS; l++) near[load[l].spot] = READ;
}

"""
READ_OWN = """static void read_own(const NAME_grid *G, int m, const double *w, double *restrict near)
{
    for (int f = 0; f < FIELDS; f++) near[OWN_SPOT] = w[OWN];
}

"""
READ_PARAMETER = """static void read_parameter(const NAME_grid *G, int m, const double *p, double *restrict near)
{
    const int *image = G->image + LOADS*m;
    for (int l = STATE_LOADS; l < LOADS; l++) near[load[l].spot] = p[image[l]];
}

"""
WRITE_OWN = """static void write_own(const NAME_grid *G, int m, const double *near, double *restrict out)
{
    for (int f = 0; f < FIELDS; f++) out[OWN] = near[OWN_SPOT];
}

"""
ADD_OWN = """static void add_own(const NAME_grid *G, int m, const double *near, double *restrict gy)
{
    for (int f = 0; f < FIELDS; f++) gy[OWN] += near[OWN_SPOT];
}

"""
ADD_NEAR = """/* What a patch holds for a gradient goes to the cells that it was copied from BARS_TOO*/
static void add_near(const NAME_grid *G, int m, const double *near, double *gyBAR_ARG)
{
    const int *image = G->image + LOADS*m;
    for (int l = 0; l < STATE_LOADS; l++) {
        const double a = near[load[l].spot];
        ADD
    }
}

"""
ADD_OPEN = """static void add_open(const NAME_grid *G, int m, const double *near, double *restrict gy)
{
    const int *image = G->image + LOADS*m;
    for (int l = 0; l < STATE_LOADS; l++) {
        const int c = image[l];
        if (c >= 0 && !G->covered[c]) gy[AT_C] += near[load[l].spot];
    }
}

"""
ADD_PARAMETER = """static void add_parameter(const NAME_grid *G, int m, const double *near, double *restrict gp)
{
    const int *image = G->image + LOADS*m;
    for (int l = STATE_LOADS; l < LOADS; l++) gp[image[l]] += near[load[l].spot];
}

"""
CLEAR = """static int clear(double *out, void *ctx)
{
    const NAME_grid *const G = ctx;
    memset(out, 0, (size_t)G->problem.n * sizeof *out);
    return 0;
}

"""

PATTERN = """/* what is needed while the pattern is built */
typedef struct {
    int *last, *next;          /* of each column: its latest row, and the place of its next entry */
    int *number;               /* of each cell in the list; -1: of the interior, and not listed */
} building;

/* Counts the entries of each column (fill 0), or writes their rows and places (fill 1).  Rows come in increasing order,
   so that each column is sorted; neighbours with the same image share an entry. */
static void build_pattern(NAME_grid *G, int fill, const building *b)
{
    int at[AXES];
    for (int c = 0; c < G->problem.n; c++) b->last[c] = -1;
    for (int row = 0; row < G->problem.n; row++) {
        const int cell = CELL_OF, equation = EQUATION_OF;
        indices_of(G, cell, at);
        for (int l = 0; l < ENTRIES; l++) {
            if (entry[l].row != equation) continue;
            const int there = image_at(G, entry[l].column, at, entry[l].offset);
            if (there < 0) continue;
            const int c = STATE_OF;
            if (b->last[c] != row) {
                b->last[c] = row;
                if (fill) G->row[b->next[c]] = row;
                b->next[c]++;
            }
            if (fill) *PLACE_OF = b->next[c] - 1;
        }
    }
}

static int new_pattern(NAME_grid *G)
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
        for (int m = 0; m < LAST_LISTED; m++) b.number[G->cell[m]] = m;
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
static int *place_of(const NAME_grid *G, int number, int cell, int l)
{
    return number < 0 ? G->place + ENTRIES*cell + l : G->edge_place + ENTRIES*number + l;
}

"""
BY_COLUMNS = """/* Each cell of the interior computes the columns of its states; other columns come from the rows of cells listed. */
static int *place_of(const NAME_grid *G, int number, int there, int there_number, int l)
{
    return there_number < 0 || there_number >= G->edges ? G->place + ENTRIES*there + l : G->edge_place + ENTRIES*number + l;
}

"""

NEW = """static int new_lists(NAME_grid *G)
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

/* 0: a size is too small for the neighbours that are read, or too large for int */
static int measure(NAME_grid *G)
{
    long long cells = 1;
    for (int a = 0; a < AXES; a++) {
        const int n = G->n[a], margin = is_periodic[a] && a < AXES - 1 ? 0 : reach[a];
        if (n < least[a]) return 0;
        cells *= n;
        if (cells > INT_MAX / LARGEST) return 0;
        G->low[a] = margin;
        G->high[a] = n - margin;
    }
    G->cells = (int)cells;
    return 1;
}

NAME_grid *NAME_new(PARAMETERS_OF_NEW)
{
    NAME_grid *G = calloc(1, sizeof *G);
    if (!G) return NULL;
    FILL_SIZES
    if (!measure(G)) {
        free(G);
        return NULL;
    }
    G->problem = (costate_problem){
        .n = FIELDS*G->cells, .np = NP, .ctx = G, .rhs = {CALLBACKS},
        .jac = jac, .pattern = &G->pattern};
    if (!new_lists(G) || !new_pattern(G)) {
        NAME_free(G);
        return NULL;
    }
    return G;
}

void NAME_free(NAME_grid *G)
{
    if (!G) return;
    free(G->cell);
    free(G->at);
    free(G->image);
    free(G->covered);
    free(G->zeros);
    free(G->column);
    free(G->row);
    free(G->place);
    free(G->edge_place);
    free(G);
}

const costate_problem *NAME_problem(const NAME_grid *G)
{
    return &G->problem;
}

"""
