/* known.h - reference values of the test problems, as decimals longer than a double.

   End states, integrals and gradients were made in quadruple precision by two independent routes that agree to
   15 digits or more.  For problems.c alone. */
#ifndef PROBLEMS_KNOWN_H
#define PROBLEMS_KNOWN_H

#include "problems.h"

static const double rober_4e7_p0[] = {0.04, 10000, 30000000};
static const double rober_4e7_y0[] = {1, 0, 0};
static const double rober_4e7_y[] = {
    5.203071844120547144474e-5, 2.081335731892532672715e-10, 9.999479690734252213393e-1
};
static const double rober_4e7_dyk_dy0[] = {
    1.040131695421008920163e-4, 1.040131370525426472170e-4, 1.040131370558658777736e-4
};
static const double rober_4e7_dyk_dp[] = {
    -2.599143607314356511653e-3, 1.039651101171944817126e-8, -1.732755300543302038035e-12
};
static const double rober_4e7_dG_dy0[] = {
    3.996718366987293933940e+7, 3.996720866857216617503e+7, 3.996720866692806243295e+7
};
static const double rober_4e7_dG_dp[] = {
    7.683773266017378383357e+5, -3.068920919998589488256e+0, 5.114889978822644638121e-4
};
static const problem_reference rober_4e7_reference = {
    rober_4e7_y, 3.998252820913645730037e+7, 0, rober_4e7_dyk_dy0, rober_4e7_dyk_dp, rober_4e7_dG_dy0, rober_4e7_dG_dp
};

static const double orego_p0[] = {77.27, 8.375e-06, 0.161};
static const double orego_y0[] = {1, 2, 3};
static const double orego_y[] = {
    1.000814870318522716652e+0, 1.228178521549887426331e+3, 1.320554942846504546278e+2
};
static const double orego_dyk_dy0[] = {
    -6.208465540675481372288e-2, 4.001372400454920440779e+2, 3.454699638409667712975e+1
};
static const double orego_dyk_dp[] = {
    7.473753943659219423537e+1, -1.127303667792452550613e+8, -1.063966906815334137945e+4
};
static const double orego_dG_dy0[] = {
    6.391552219771841843358e-2, -3.973482624578974490818e+2, -3.322014926310477493146e+1
};
static const double orego_dG_dp[] = {
    -1.166627981718776271837e+2, -9.325865698588949250854e+9, 3.461796949431295207443e+4
};
static const problem_reference orego_reference = {
    orego_y, 7.925405114114514730628e+4, 2, orego_dyk_dy0, orego_dyk_dp, orego_dG_dy0, orego_dG_dp
};

static const double hires_p0[] = {1.71, 0.43, 8.32, 0.69, 0.035, 8.32, 280, 0.69, 0.69, 0.0007};
static const double hires_y0[] = {1, 0, 0, 0, 0, 0, 0, 0.0057};
static const double hires_y[] = {
    7.371312573325667820683e-4, 1.442485726316184584691e-4, 5.888729740967574672070e-5,
    1.175651343283149181759e-3, 2.386356198831329488564e-3, 6.238968252742792538255e-3,
    2.849998395185768123043e-3, 2.850001604814232082348e-3
};
static const double hires_dyk_dy0[] = {
    2.507597859832284580743e-1, 2.501874934402582266057e-1, 2.506981157687505084831e-1,
    2.496237548114114074678e-1, 2.479945139898849128160e-1, 2.386121944696808581375e-1,
    -5.565601412204713393965e+1, -5.586113262830704836468e+1
};
static const double hires_dyk_dp[] = {
    -9.294996402672613399597e-4, 1.178615042170554178972e-2, -4.638463057442521812192e-6,
    1.299999837780754573300e-4, 2.797392474626626712922e-3, -3.541418432379422988042e-8,
    -5.196557340697489131354e-5, 8.080035968783236915776e-3, -4.528016066276997980074e-1,
    8.476753956701650378729e+1
};
static const double hires_dG_dy0[] = {
    1.641970770508611184695e+0, 1.644210138888611496654e+0, 1.642212084728036443448e+0,
    1.646416035987099402029e+0, 1.652791220189564090763e+0, 1.689504034156279614876e+0,
    2.180453789786593284809e+2, 2.172248148647800781051e+2
};
static const double hires_dG_dp[] = {
    9.082164759614979108077e-3, 1.693749036265637187293e+0, 7.653231223918556110346e-5,
    5.486508958907052440736e-3, -2.710442314592952835983e-2, -4.073930414535721561329e-6,
    1.898021064802581014526e-4, 1.726605154843447751116e+0, -1.078084940917876712636e+0,
    5.061431634907199050071e+2
};
static const problem_reference hires_reference = {
    hires_y, 3.181307839866889336008e+0, 5, hires_dyk_dy0, hires_dyk_dp, hires_dG_dy0, hires_dG_dp
};

static const double vdpol_mild_p0[] = {0.001};
static const double vdpol_mild_y0[] = {2, -0.6666654321121172};
static const double vdpol_mild_y[] = {
    1.596980715831783866673e+0, -1.029103108272316693325e+0
};
static const double vdpol_mild_dyk_dy0[] = {
    1.543654662090689191712e+0, 5.146087561015533427934e-4
};
static const double vdpol_mild_dyk_dp[] = {2.115150091407169786887e-1};
static const double vdpol_mild_dG_dy0[] = {
    1.087239445957284883656e+0, 3.622311248349202086239e-4
};
static const double vdpol_mild_dG_dp[] = {5.707821671908065119434e-2};
static const problem_reference vdpol_mild_reference = {
    vdpol_mild_y, 8.248728851817469672622e-1, 0, vdpol_mild_dyk_dy0, vdpol_mild_dyk_dp,
    vdpol_mild_dG_dy0, vdpol_mild_dG_dp
};

static const double lv_p0[] = {1.5, 1, 3, 1};
static const double lv_y0[] = {1, 1};
static const double lv_y[] = {
    1.026344767575089319139e+0, 9.096910781360416175482e-1
};
static const double lv_dyk_dy0[] = {
    1.965996054728169080621e+0, 1.885687770780593063096e-1
};
static const double lv_dyk_dp[] = {
    2.160557523562618032039e+0, 1.885687770780593063096e-1, 5.631827941681977203545e-1,
    9.396512871530797614826e-1
};
static const double lv_dG_dy0[] = {
    -3.387700028871291873439e+1, -8.424269122940896861763e+0
};
static const double lv_dG_dp[] = {
    -1.333659230421151629482e-1, -8.424269122940896861763e+0, 3.707999904741045293628e+1,
    -1.332482461619165301227e+2
};
static const problem_reference lv_reference = {
    lv_y, 5.470694432136476204859e+1, 0, lv_dyk_dy0, lv_dyk_dp, lv_dG_dy0, lv_dG_dp
};

static const double detest_A3_p0[] = {1};
static const double detest_A3_y0[] = {1};
static const double detest_A3_y[] = {2.491650271850414523461e+0};
static const double detest_A3_dyk_dy0[] = {2.491650271850414523461e+0};
static const double detest_A3_dyk_dp[] = {2.274740282160038292557e+0};
static const double detest_A3_dG_dy0[] = {4.665945822575575756052e+1};
static const double detest_A3_dG_dp[] = {3.236152051635239077426e+1};
static const problem_reference detest_A3_reference = {
    detest_A3_y, 2.332972911287787878026e+1, 0, detest_A3_dyk_dy0, detest_A3_dyk_dp, detest_A3_dG_dy0, detest_A3_dG_dp
};

static const double detest_B2_p0[] = {1};
static const double detest_B2_y0[] = {2, 0, 1};
static const double detest_B2_y[] = {
    1.000000001030576811219e+0, 1.000000000000000000000e+0, 9.999999989694231887807e-1
};
static const double detest_B2_dyk_dy0[] = {
    3.333333343639101445526e-1, 3.333333333333333333333e-1, 3.333333323027565221141e-1
};
static const double detest_B2_dyk_dp[] = {-2.061153622438558260701e-8};
static const double detest_B2_dG_dy0[] = {
    2.033333333333333333227e+1, 1.983333333333333333333e+1, 1.983333333333333333440e+1
};
static const double detest_B2_dG_dp[] = {-2.499999999999999782272e-1};
static const problem_reference detest_B2_reference = {
    detest_B2_y, 3.024999999999999999947e+1, 0, detest_B2_dyk_dy0, detest_B2_dyk_dp, detest_B2_dG_dy0, detest_B2_dG_dp
};

#endif
