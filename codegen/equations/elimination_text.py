"""The C text around the elimination of one model: arithmetic, and the functions of a costate_backend."""

FUNCTIONS = """/* LU of a %(kind)s matrix; whether it may be used */
static int factor_%(kind)s(const %(type)s *restrict A, %(type)s *restrict LU)
{
    int safe = 1;
%(factor)s
    return safe;
}

static void solve_%(kind)s(const %(type)s *restrict LU, int nrhs, %(type)s *restrict x)
{
    for (int j = 0; j < nrhs; j++, x += %(n)d) {
%(solve)s
    }
}

static void transposed_%(kind)s(const %(type)s *restrict LU, int nrhs, %(type)s *restrict x)
{
    for (int j = 0; j < nrhs; j++, x += %(n)d) {
%(transposed)s
    }
}
"""

LOOPS = """/* For each entry of LU: its element of A, or -1; the pivot that it is divided by, itself if it is one,
   or -1; and the products of two entries before it that are subtracted. */
%(tables)s

/* LU of a complex matrix; whether it may be used */
static int factor_complex(const number *restrict A, number *restrict LU)
{
    int safe = 1;
    for (int e = 0; e < %(entries)d; e++) {
        const number start = lu_from[e] < 0 ? (number){0, 0} : A[lu_from[e]];
        number value = start;
        for (int k = lu_first[e]; k < lu_first[e + 1]; k++) value = less(value, LU[lu_left[k]], LU[lu_right[k]]);
        if (lu_pivot[e] < 0) LU[e] = value;
        else if (lu_pivot[e] != e) {
            LU[e] = times(value, LU[lu_pivot[e]]);
            safe &= modulus(LU[e]) <= 1e3;
        } else {
            double size = modulus(start);
            for (int k = lu_first[e]; k < lu_first[e + 1]; k++)
                size += modulus(LU[lu_left[k]])*modulus(LU[lu_right[k]]);
            safe &= size < 1e11*modulus(value);
            LU[e] = inverse(value);
        }
    }
    return safe;
}

/* out[to] = in[from] less products of entries and out, times the inverse pivot if there is one */
typedef struct { const int *from, *to, *pivot, *first, *entry, *other; } triangle;

static void substitute(const triangle *of, const number *restrict LU, const number *restrict in,
                       number *restrict out)
{
    for (int i = 0; i < %(n)d; i++) {
        number value = in[of->from[i]];
        for (int k = of->first[i]; k < of->first[i + 1]; k++) value = less(value, LU[of->entry[k]], out[of->other[k]]);
        out[of->to[i]] = of->pivot ? times(value, LU[of->pivot[i]]) : value;
    }
}

%(triangles)s

/* L U y = b with the rows in the order of the pivots, or U^T L^T y = b */
static void solve_complex(const number *restrict LU, int nrhs, number *restrict x)
{
    number y[%(n)d];
    for (int j = 0; j < nrhs; j++, x += %(n)d) {
        substitute(&forward, LU, x, y);
        substitute(&backward, LU, y, x);
    }
}

static void transposed_complex(const number *restrict LU, int nrhs, number *restrict x)
{
    number y[%(n)d];
    for (int j = 0; j < nrhs; j++, x += %(n)d) {
        substitute(&transposed_forward, LU, x, y);
        substitute(&transposed_backward, LU, y, x);
    }
}
"""

HELPERS = {                                 # name: text; those that are used, in this order
    "less": """static inline number less(number a, number b, number c)          /* a - b c */
{
    return (number){a.re - (b.re*c.re - b.im*c.im), a.im - (b.re*c.im + b.im*c.re)};
}
""",
    "less4": """static inline number less4(number a, number b, number c, number d, number e, number f, number g,
                           number h, number i)
{
    return less(less(less(less(a, b, c), d, e), f, g), h, i);
}
""",
    "times": """static inline number times(number a, number b)
{
    return (number){a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re};
}
""",
    "modulus": """static inline double modulus(number a) { return fabs(a.re) + fabs(a.im); }
""",
    "inverse": """static inline number inverse(number a)                           /* Smith, CACM 5 (1962) 435 */
{
    if (fabs(a.re) >= fabs(a.im)) {
        const double r = a.im / a.re, d = a.re + a.im*r;
        return (number){1 / d, -r / d};
    }
    const double r = a.re / a.im, d = a.re*r + a.im;
    return (number){r / d, -1 / d};
}
""",
}

TEMPLATE = """/* %(products)d products a factorisation; pivots are stored as their inverses */

typedef struct { double re, im; } number;

%(helpers)s
%(real)s
%(complex)s
typedef struct {
    int is_complex, mine;                  /* mine: the pattern is that of the model */
    int elsewhere;                         /* the last matrix went to `other` */
    const costate_pattern *pattern;
    const costate_backend *other;          /* for other patterns, and for matrices that need other pivots */
    void *self;                            /* its object; NULL: it was not needed yet */
    number LU[%(entries)d];
} eliminated;

%(column)s
%(row)s

static void lu_free(void *self)
{
    eliminated *e = self;
    if (!e) return;
    if (e->self) e->other->free(e->self);
    free(e);
}

static int prepare_other(eliminated *e, int n)
{
    if (e->self) return COSTATE_LS_OK;
    if (!(e->other = costate_backend_find("klu"))) e->other = costate_backend_find("sparse");
    return e->other->init(&e->self, n, e->pattern, e->is_complex, NULL);
}

static int lu_init(void **self, int n, const costate_pattern *of, int is_complex, const void *like)
{
    (void)like;
    if (!of) return COSTATE_LS_UNSUPPORTED;
    eliminated *e = *self = calloc(1, sizeof *e);
    if (!e) return COSTATE_LS_NO_MEMORY;
    e->is_complex = is_complex;
    e->pattern = of;
    e->mine = n == %(n)d && !memcmp(of->col, lu_column, sizeof lu_column) && !memcmp(of->row, lu_row, sizeof lu_row);
    return e->mine ? COSTATE_LS_OK : prepare_other(e, n);            /* coupled stages, for example */
}

static int factor_other(eliminated *e, const double *A)
{
    int status = prepare_other(e, e->pattern->n);
    return status ? status : e->other->factor(e->self, A);
}

static int lu_factor(void *self, const double *A)
{
    eliminated *e = self;
    if (e->mine && (e->is_complex ? factor_complex((const number *)(const void *)A, e->LU)
                                  : factor_real(A, (double *)(void *)e->LU)))
        return e->elsewhere = 0, COSTATE_LS_OK;
    e->elsewhere = 1;
    return factor_other(e, A);
}

static int lu_solve(void *self, int transpose, int nrhs, double *X)
{
    const eliminated *e = self;
    if (e->elsewhere) return e->other->solve(e->self, transpose, nrhs, X);
    number *Z = (number *)(void *)X;
    const double *LU = (const double *)(const void *)e->LU;
    if (e->is_complex && transpose) transposed_complex(e->LU, nrhs, Z);
    else if (e->is_complex) solve_complex(e->LU, nrhs, Z);
    else if (transpose) transposed_real(LU, nrhs, X);
    else solve_real(LU, nrhs, X);
    return COSTATE_LS_OK;
}

static size_t lu_bytes(const void *self)
{
    const eliminated *e = self;
    return sizeof *e + (e->elsewhere && e->other->bytes ? e->other->bytes(e->self) : 0);
}
"""

BACKEND = """
const costate_backend *%(name)s_backend(void)
{
    static const costate_backend backend = {"%(name)s", 0, lu_init, lu_factor, lu_solve, lu_bytes, lu_free};
    return &backend;
}
"""

BACKEND_OF_LANES = """
static const costate_backend backend = {"%(name)s", 0, lu_init, lu_factor, lu_solve, lu_bytes, lu_free};

const costate_backend *%(name)s_backend(void)
{
    return &backend;
}
"""

LANE_FUNCTIONS = """
/* LU of L matrices side by side; the bits of those that may not be used */
LANE_CODE int factor_lanes(const int L, const double *restrict A, double *restrict LU)
{
    double checked[COSTATE_LANES_MOST];
#pragma omp simd
    for (int l = 0; l < L; l++) {
        double safe = 1.0;
%(factor)s
        checked[l] = safe;
    }
    int others = 0;
    for (int l = 0; l < L; l++) others |= (checked[l] == 0) << l;
    return others;
}

LANE_CODE void solve_lanes(const int L, const double *restrict LU, double *restrict x)
{
#pragma omp simd
    for (int l = 0; l < L; l++) {
%(solve)s
    }
}

LANE_CODE void transposed_lanes(const int L, const double *restrict LU, double *restrict x)
{
#pragma omp simd
    for (int l = 0; l < L; l++) {
%(transposed)s
    }
}

#define LINEAR_SYSTEMS(L) \\
COSTATE_LANES_##L static int factor_##L(const double *A, double *LU) { return factor_lanes(L, A, LU); } \\
COSTATE_LANES_##L static void solve_##L(const double *LU, int transpose, double *x) \\
{ \\
    if (transpose) transposed_lanes(L, LU, x); \\
    else solve_lanes(L, LU, x); \\
}

%(instances)s"""
