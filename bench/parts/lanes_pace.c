/* lanes_pace.c - what step size control of lanes costs beside a whole try of a step.

       lanes_pace [small]      a row (JSON) for each model and elimination: nanoseconds a lane of the three functions
                               that are step size control (aim, propose, take), and nanoseconds a lane and try of a
                               forward run

   Both are measured in turns in one process.  The functions are internal ones of the room lanes, called in a batch as
   the ensemble makes it, whose lanes all have members; their errors go through a cycle with accepted and rejected
   steps. */
#include "lanes.h"

#include "lanes/setup.h"

enum { TURNS = 9, CYCLE = 8 };

static batch *batch_of(const lane_case *c, const costate_problem *P, const costate_options *o, int lanes)
{
    const char *why = "";
    lane_task task = {.method = costate_method_find(c->method), .P = P, .o = o, .maps = lane_maps_for(c, lanes)};
    batch *b = lanes_new(&task, &why);
    if (!b) {
        fprintf(stderr, "%s: %s\n", c->name, why);
        exit(1);
    }
    for (int l = 0; l < lanes; l++) {
        lane_clock *k = &b->clock;
        k->t[l] = k->low[l] = k->h_old[l] = k->log_old[l] = 0;
        k->t1[l] = 1e9;
        k->dir[l] = 1;
        k->hmin[l] = 1e-6;
        k->hmax[l] = 1 + 0.1 * l;
        k->h_free[l] = 1e-3;
        k->rejected[l] = 0;
        k->cautious[l] = 1;
    }
    b->active = (1 << lanes) - 1;
    return b;
}

/* seconds of so many calls; one lane in eight is rejected */
static double paced(batch *b, int lanes, long calls)
{
    double err[CYCLE][LANES_MOST];
    int taken[CYCLE] = {0};
    for (int i = 0; i < CYCLE; i++)
        for (int l = 0; l < LANES_MOST; l++) {
            err[i][l] = (i + 3 * l) % CYCLE ? 0.3 + 0.08 * ((i + l) % CYCLE) : 1.7;
            if (l < lanes) taken[i] |= (err[i][l] <= 1) << l;
        }
    double start = clock_now();
    for (long k = 0; k < calls; k++) {
        b->code->aim(b);
        memcpy(b->clock.err, err[k % CYCLE], sizeof b->clock.err);
        b->code->propose(b);
        b->code->take(b, taken[k % CYCLE]);
    }
    return clock_now() - start;
}

static void measure(const lane_case *c, int own, int small)
{
    int turns = small ? 1 : TURNS, lanes = costate_lanes();
    long calls = small ? 1000 : 50000;
    double rtol = lane_rtols[0], pace[TURNS], whole[TURNS], share[TURNS];
    const costate_options o = {.rtol = rtol, .atol = 1e-3 * rtol * c->size, .backend = own ? c->backend() : NULL,
                               .solver = own ? COSTATE_LS_AUTO : COSTATE_LS_DENSE};
    costate_problem P = *c->problem();
    lane_members m = lane_members_of(c, small ? 40 : c->count);
    batch *b = batch_of(c, &P, &o, lanes);
    for (int turn = 0; turn < turns; turn++) {
        lane_run r = lane_run_of(c, &m, rtol, 0, own, lanes, 1);
        double tries = (double)r.report.stats.steps / r.report.active;         /* of all lanes */
        pace[turn] = 1e9 * paced(b, lanes, calls) / (double)calls / lanes;
        whole[turn] = 1e9 * r.seconds / tries / lanes;
        share[turn] = pace[turn] / whole[turn];
    }
    json row = {stdout, 0};
    json_text(&row, "model", c->name);
    json_text(&row, "method", c->method);
    json_text(&row, "elimination", own ? "own" : "dense");
    json_count(&row, "lanes", lanes);
    json_number(&row, "control", median(pace, turns));
    json_number(&row, "try", median(whole, turns));
    json_number(&row, "share", median(share, turns));
    json_number(&row, "share_most", share[turns - 1]);
    json_end(&row);
    lanes_free(b);
    lane_members_free(&m);
}

int main(int argc, char **argv)
{
    int small = argc > 1 && !strcmp(argv[1], "small");
    if (costate_lanes() == 1) return 0;
    for (int k = 0; k < LANE_CASES; k++)
        for (int own = 0; own <= (lane_cases[k].backend != NULL); own++) measure(&lane_cases[k], own, small);
    return 0;
}
