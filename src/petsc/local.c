/* local.c - ghost cells: copies values of neighbouring processes beside the local ones, and the transpose of that. */
#include "petsc/petsc.h"

/* v uses y as its array from begin to end */
static int local_begin(DM dm, const double *y, Vec *v)
{
    ASK(DMGetGlobalVector(dm, v));
    return -(int)VecPlaceArray(*v, y);
}

static int end(DM dm, Vec *v)
{
    ASK(VecResetArray(*v));
    return -(int)DMRestoreGlobalVector(dm, v);
}

static int fetch(DM dm, const double *y, Vec local)
{
    Vec v;
    TRY(local_begin(dm, y, &v));
    PetscErrorCode code = DMGlobalToLocal(dm, v, INSERT_VALUES, local);
    TRY(end(dm, &v));
    return -(int)code;
}

static int add(DM dm, Vec local, double *g)
{
    Vec v;
    TRY(local_begin(dm, g, &v));
    PetscErrorCode code = DMLocalToGlobal(dm, local, ADD_VALUES, v);
    TRY(end(dm, &v));
    return -(int)code;
}

int costate_petsc_local(DM dm, const double *y, Vec local)
{
    ASK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    int status = fetch(dm, y, local);
    ASK(PetscPopErrorHandler());
    return status;
}

int costate_petsc_add(DM dm, Vec local, double *g)
{
    ASK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    int status = add(dm, local, g);
    ASK(PetscPopErrorHandler());
    return status;
}
