/* setup.h - what lanes_new needs: reasons why lanes do not serve, and the code for this processor. */
#ifndef COSTATE_LANES_SETUP_H
#define COSTATE_LANES_SETUP_H

#include "lanes/lanes.h"

const char *lanes_refuse_task(const lane_task *);       /* NULL: the problem and the options as given are served */
const char *lanes_refuse(costate *, const lane_task *); /* so are the method and the callbacks of this solver */
const lane_code *lane_code_for(int lanes);              /* NULL: not for this processor, or not built in */

#endif
