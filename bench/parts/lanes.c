/* lanes.c - what lanes save: members of an ensemble side by side, beside the same members one by one, and by CVODES.

       lanes runs [small]      a row (JSON) for each model, method, tolerance, mode and code: members a second, and how
                               many times as fast as one by one
       lanes filled [small]    active lanes by the number of members
       lanes threads [small]   two threads beside one: time on the wall, and of the processor

   Codes: elimination "dense", with pivots, or "own", that of the equation file without pivots and loops, as KPP prints
   it; with 1, 2, 4 or 8 lanes.  They take turns, one run of all members each, so that what else the machine does meets
   all of them; ratios are of one turn.  Ends with 1 if a member in a lane has other bits than one by one. */
#include "lanes.h"
#include "peer.h"

enum { TURNS = 7, CODES = 2 * (1 + LANE_WIDTHS), SMALL = 40 };
typedef struct { int own, lanes; } code;

typedef struct {                    /* of one code */
    double seconds[TURNS], over_dense[TURNS], over_own[TURNS];
    costate_ensemble_report report;
    int same;
} measured;

/* ---- the same bits ---- */

typedef struct { double *y, *lambda, *mu; } results;

static results results_of(const lane_members *m)
{
    size_t all = (size_t)m->count;
    return (results){lane_numbers(m->N * all), lane_numbers(m->N * all), lane_numbers(m->np * all)};
}

static void keep(const lane_members *m, results *r)
{
    size_t all = (size_t)m->count * sizeof(double);
    memcpy(r->y, m->y, m->N * all);
    memcpy(r->lambda, m->lambda, m->N * all);
    memcpy(r->mu, m->mu, m->np * all);
}

static int same(const lane_members *m, const results *r)
{
    size_t all = (size_t)m->count * sizeof(double);
    return !memcmp(r->y, m->y, m->N * all) && !memcmp(r->lambda, m->lambda, m->N * all) &&
           !memcmp(r->mu, m->mu, m->np * all);
}

static void results_free(results *r)
{
    free(r->y);
    free(r->lambda);
    free(r->mu);
}

/* ---- CVODES ---- */

typedef struct { double seconds; int members; const char *failed; } by_cvodes;

static const costate_problem *in_pattern;       /* whose Jacobian CVODES receives as a dense matrix */

static int dense_jacobian(const costate_point *x, double *J, void *ctx)
{
    static double values[2000];
    const costate_pattern *p = in_pattern->pattern;
    size_t n = (size_t)p->n;
    int status = in_pattern->jac(x, values, ctx);
    memset(J, 0, n * n * sizeof *J);
    for (size_t j = 0; j < n; j++)
        for (int k = p->col[j]; k < p->col[j + 1]; k++) J[j * n + (size_t)p->row[k]] = values[k];
    return status;
}

/* BDF with dense matrices for so many members from `first` on: states alone; of gradients those by y(0) alone.  A run
   before each measured one warms up; what CVODES allocates is not timed. */
static void race_members(const lane_case *c, const lane_members *m, double rtol, int gradient, int first, int count,
                         by_cvodes *sum)
{
    double weights[64];
    ivp b = {.P = *c->problem(), .t1 = c->t1, .atol = 1e-3 * c->size, .weights = weights};
    race_task task = {.code = "cvodes:bdf", .problem = c->name, .mode = gradient ? RACE_ADJ : RACE_FORWARD,
                      .solver = COSTATE_LS_DENSE, .rtol = rtol, .atol = 1e-3 * rtol * c->size, .tf = c->t1,
                      .repeat = 1, .budget = 1e9};
    in_pattern = c->problem();
    if (in_pattern->pattern) {
        b.P.pattern = NULL;
        b.P.jac = dense_jacobian;
    }
    b.P.nq = 0;
    for (int i = 0; i < 64; i++) weights[i] = 1;
    for (int k = first; k < first + count && k < m->count && !sum->failed; k++) {
        race_result r = {0};
        b.y0 = m->y0 + (size_t)k * m->N;
        b.p = m->p + (size_t)k * m->np;
        if (race_by(&task, &b, &r)) {
            fprintf(stderr, "CVODES, %s: %s\n", c->name, r.message);
            sum->failed = c->name;
        } else {
            sum->seconds += r.lap[0].forward + r.lap[0].backward;
            sum->members++;
        }
        race_result_free(&r);
    }
}

/* ---- rows ---- */

static void begin_row(json *row, const lane_case *c, double rtol, int gradient)
{
    *row = (json){stdout, 0};
    json_text(row, "model", c->name);
    json_text(row, "method", c->method);
    json_number(row, "rtol", rtol);
    json_text(row, "mode", gradient ? "gradient" : "forward");
}

static void put_ratio(json *row, const char *name, double *ratio, int turns)
{
    char least[40];
    snprintf(least, sizeof least, "%s_least", name);
    json_number(row, name, median(ratio, turns));
    json_number(row, least, ratio[0]);
}

static void put_code(const lane_case *c, const lane_members *m, double rtol, int gradient, const code *k, measured *x,
                     int turns)
{
    json row;
    begin_row(&row, c, rtol, gradient);
    json_text(&row, "elimination", k->own ? "own" : "dense");
    json_count(&row, "lanes", k->lanes);
    json_number(&row, "per_second", m->count / median(x->seconds, turns));
    put_ratio(&row, "over_dense", x->over_dense, turns);
    if (k->own) put_ratio(&row, "over_own", x->over_own, turns);
    json_number(&row, "active", x->report.active);
    json_number(&row, "accepted", x->report.accepted);
    json_count(&row, "in_lanes", x->report.in_lanes);
    json_count(&row, "members", m->count);
    json_count(&row, "same", x->same);
    json_end(&row);
}

static void put_cvodes(const lane_case *c, double rtol, int gradient, const by_cvodes *x)
{
    json row;
    if (x->failed || !x->members) return;
    begin_row(&row, c, rtol, gradient);
    json_text(&row, "elimination", "cvodes");
    json_number(&row, "per_second", x->members / x->seconds);
    json_end(&row);
}

static int codes_of(const lane_case *c, code *list)
{
    int count = 0;
    for (int own = 0; own <= (c->backend != NULL); own++) list[count++] = (code){own, 1};
    for (int own = 0; own <= (c->backend != NULL); own++)
        for (int lanes = 2; lanes <= COSTATE_LANES_MOST; lanes *= 2)
            if (lane_maps_for(c, lanes)) list[count++] = (code){own, lanes};
    return count;
}

static int race(const lane_case *c, double rtol, int gradient, int small)
{
    static measured found[CODES];
    code list[CODES];
    int codes = codes_of(c, list), turns = small ? 1 : TURNS, share = small ? 2 : 10, differ = 0;
    lane_members m = lane_members_of(c, small ? SMALL : c->count);
    results alone[2] = {results_of(&m), results_of(&m)};
    by_cvodes others = {0};
    for (int turn = 0; turn < turns; turn++) {
        for (int k = 0; k < codes; k++) {
            measured *x = &found[k];
            lane_run r = lane_run_of(c, &m, rtol, gradient, list[k].own, list[k].lanes, 1);
            if (list[k].lanes == 1) keep(&m, &alone[list[k].own]);
            x->same = (turn == 0 || x->same) && same(&m, &alone[list[k].own]);
            x->report = r.report;
            x->seconds[turn] = r.seconds;
            x->over_dense[turn] = found[0].seconds[turn] / r.seconds;
            x->over_own[turn] = found[1].seconds[turn] / r.seconds;
            differ |= !x->same;
        }
        race_members(c, &m, rtol, gradient, turn * share, share, &others);
    }
    for (int k = 0; k < codes; k++) put_code(c, &m, rtol, gradient, &list[k], &found[k], turns);
    put_cvodes(c, rtol, gradient, &others);
    if (differ) fprintf(stderr, "%s, %s: members in lanes have other bits than one by one\n", c->name, c->method);
    results_free(&alone[0]);
    results_free(&alone[1]);
    lane_members_free(&m);
    return differ;
}

static int runs(int small)
{
    int differ = 0;
    for (int k = 0; k < LANE_CASES; k++)
        for (int i = 0; i < LANE_RTOLS; i++)
            for (int gradient = 0; gradient < 2; gradient++) {
                differ |= race(&lane_cases[k], lane_rtols[i], gradient, small);
                fflush(stdout);
            }
    return differ;
}

/* ---- few members, and threads ---- */

static const lane_case *pollution_case(void)
{
    int k = 0;
    while (strcmp(lane_cases[k].name, "pollution") != 0) k++;
    return &lane_cases[k];
}

static int filled(int small)
{
    static const int counts[] = {1, 4, 8, 12, 16, 32, 400};
    const lane_case *c = pollution_case();
    int turns = small ? 1 : TURNS, lanes = costate_lanes();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (2 * counts[i] < lanes) continue;                            /* so few are run one by one */
        lane_members m = lane_members_of(c, counts[i]);
        for (int gradient = 0; gradient < 2; gradient++) {
            double ratio[TURNS];
            lane_run beside = {0};
            for (int turn = 0; turn < turns; turn++) {
                int repeat = counts[i] < 40 ? 40 / counts[i] : 1;
                double alone = 0, with = 0;
                for (int k = 0; k < repeat; k++) {
                    alone += lane_run_of(c, &m, lane_rtols[0], gradient, 0, 1, 1).seconds;
                    beside = lane_run_of(c, &m, lane_rtols[0], gradient, 0, lanes, 1);
                    with += beside.seconds;
                }
                ratio[turn] = alone / with;
            }
            json row;
            begin_row(&row, c, lane_rtols[0], gradient);
            json_count(&row, "members", counts[i]);
            json_count(&row, "lanes", lanes);
            json_number(&row, "active", beside.report.active);
            json_number(&row, "accepted", beside.report.accepted);
            put_ratio(&row, "over_dense", ratio, turns);
            json_end(&row);
        }
        lane_members_free(&m);
    }
    return 0;
}

static int threads(int small)
{
    const lane_case *c = pollution_case();
    int turns = small ? 1 : TURNS, widest = costate_lanes();
    lane_members m = lane_members_of(c, small ? SMALL : 10 * c->count);
    for (int k = 0; k < 4; k++) {
        double one[TURNS], two[TURNS], ratio[TURNS], processor[TURNS];
        int own = k % 2, lanes = k < 2 ? 1 : widest;
        for (int turn = 0; turn < turns; turn++) {
            lane_run a = lane_run_of(c, &m, lane_rtols[0], 1, own, lanes, 1);
            lane_run b = lane_run_of(c, &m, lane_rtols[0], 1, own, lanes, 2);
            one[turn] = a.wall;
            two[turn] = b.wall;
            ratio[turn] = a.wall / b.wall;
            processor[turn] = b.seconds / a.seconds;
        }
        json row;
        begin_row(&row, c, lane_rtols[0], 1);
        json_text(&row, "elimination", own ? "own" : "dense");
        json_count(&row, "lanes", lanes);
        json_number(&row, "one", m.count / median(one, turns));
        json_number(&row, "two", m.count / median(two, turns));
        put_ratio(&row, "faster", ratio, turns);
        json_number(&row, "faster_most", ratio[turns - 1]);
        json_number(&row, "processor", median(processor, turns));
        json_end(&row);
    }
    lane_members_free(&m);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct { const char *name; int (*part)(int small); } parts[] = {
        {"runs", runs}, {"filled", filled}, {"threads", threads}};
    int small = argc > 2 && !strcmp(argv[2], "small");
    for (int k = 0; argc > 1 && k < 3; k++) if (!strcmp(argv[1], parts[k].name)) return parts[k].part(small);
    fprintf(stderr, "usage: %s runs|filled|threads [small]\n", argv[0]);
    return 2;
}
