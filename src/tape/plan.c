/* plan.c - which states of a run to keep, so that its blocks can be recomputed from the last to the first
   (mathematics, eq. 14.1 to 14.5).

   If only states are kept, S of them with that of the first block, then reaching each of l blocks from the last to the
   first passes through

       a(l, S) = r l - C(S + r, r - 1),     r the least with C(S + r, S) >= l,

   blocks, and no plan needs fewer (Griewank & Walther, ACM TOMS 26 (2000), Algorithm 799: revolve).  Each block is then
   recomputed once more with its stages.  A block with its stages takes the memory of many states, but saves that
   repetition.  So w blocks are kept at the end of each way, l/w groups of blocks are passed through as above, and w is
   chosen with the least cost.  On average this costs 2 % more than the optimum, and it is the optimum if only one block
   fits (tests/tape/test_plan.c).  Zhang & Constantinescu, ACM TOMS 49 (2023), solve the same problem with dynamic
   programming.

   During the run its number of blocks is unknown.  A new state replaces the state whose two neighbours are nearest to
   each other.  A later gap counts up to twice its length, because fewer states are free there when the backward sweep
   begins.  If one block fits, this costs 3 % more than the best plan for a known number on average, and at most 9 %, up
   to 2 S^2 blocks (tests/tape/test_plan.c).  Wang, Moin & Iaccarino (SIAM J. Sci. Comput. 31 (2009)) keep the least
   number of repetitions instead. */
#include "tape/plan.h"

/* C(a, b), or more than any count of blocks */
static double binomial(double a, double b)
{
    double product = 1;
    if (b > a - b) b = a - b;
    for (int k = 1; k <= b && product < 1e15; k++) product *= (a - b + k) / k;
    return b < 0 ? 0 : product;
}

static double repetitions(double l, double S)
{
    double r = 0;
    if (S <= 1) return l - 1;
    while (binomial(S + r, r) < l - 0.5) r++;
    return r;
}

/* a(l, S) */
static double advances(double l, double S)
{
    double r = repetitions(l, S);
    if (l <= 1) return 0;
    return S <= 1 ? l * (l - 1) / 2 : r * l - binomial(S + r, r - 1);
}

/* The first group is passed through most often, and need not be full. */
double plan_cost(int count, int states, int whole)
{
    int groups = (count + whole - 1) / whole, missing = groups * whole - count;
    return count + whole * advances(groups, states + 1) - missing * repetitions(groups, states + 1);
}

static int states_beside(const plan_room *m, int whole)
{
    size_t taken = (size_t)whole * m->block, most = 1 << 30;
    size_t states = m->all > taken ? (m->all - taken) / m->state : 0;
    return (int)(states < most ? states : most);
}

/* how many blocks to keep with their stages at the end of a way */
static int best_whole(int count, const plan_room *m)
{
    int most = (int)(m->all / m->block < (size_t)count ? m->all / m->block : (size_t)count), best = 1;
    double least = plan_cost(count, states_beside(m, 1), 1);
    for (int w = 2; w <= most; w++) {
        double cost = plan_cost(count, states_beside(m, w), w);
        if (cost < least) { least = cost; best = w; }
    }
    return best;
}

/* The cost of a split is convex in k: the first k > 0 after which it no longer decreases. */
static int best_split(int groups, int states)
{
    int low = 1, high = groups - 1;
    while (low < high) {
        int k = low + (high - low) / 2;
        double here = k + advances(groups - k, states) + advances(k, states + 1);
        double next = k + 1 + advances(groups - k - 1, states) + advances(k + 1, states + 1);
        if (next < here) low = k + 1;
        else high = k;
    }
    return low;
}

int plan_split(int count, const plan_room *m)
{
    if ((size_t)count <= m->all / m->block) return 0;
    int whole = best_whole(count, m), states = states_beside(m, whole), groups = (count + whole - 1) / whole;
    if (states == 0 || groups < 2) return 0;
    /* only the first group may be incomplete */
    int split = count - (groups - best_split(groups, states)) * whole;
    return split > 0 ? split : 0;
}

int plan_least(const int *at, int count, int next)
{
    int best = 0;
    double least = 0;
    for (int i = 1; i < count; i++) {
        double gap = (i + 1 < count ? at[i + 1] : next) - at[i - 1], weighed = gap * (1 + (double)i / count);
        if (best == 0 || weighed < least) { best = i; least = weighed; }
    }
    return best;
}
