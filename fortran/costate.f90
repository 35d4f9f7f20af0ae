! costate.f90 - costate.h for Fortran (2018: optional arguments of bind(c) procedures) with iso_c_binding.
!
! Names and meanings are those of C: costate.h documents them.  Compile this file with your program, because module
! files of different compilers are not compatible:
!
!     gfortran -c INCLUDEDIR/costate/costate.f90 && gfortran program.f90 costate.o -lcostate
!
! Pointers to solvers, tapes, methods and steps are type(c_ptr), passed by value; c_null_ptr for NULL.  Structs are
! types with the members' names, all zero unless set; an array member is c_loc of a target, a procedure member
! c_funloc of a bind(c) function with one of the abstract interfaces below.  Arguments that may be NULL in C are
! optional.  Matrices are stored as in Fortran: V(N, m) can be passed directly.
!
! tests/packaging/test_fortran.py compares constants, sizes, offsets and procedures with costate.h.  If costate.h
! grows: a constant is a line in "constants", a member is a line of its type (in the same place), a function is an
! interface.
module costate
    use, intrinsic :: iso_c_binding
    implicit none

    ! ---- constants ------------------------------------------------------------------------------------------

    integer(c_int), parameter :: &
        COSTATE_OK = 0, COSTATE_BAD_ARGUMENT = -1, COSTATE_MISSING = -2, COSTATE_NO_MEMORY = -3, COSTATE_BACKEND = -4, &
        COSTATE_MAX_STEPS = -5, COSTATE_STEP_TOO_SMALL = -6, COSTATE_SINGULAR = -7, COSTATE_NEWTON = -8, &
        COSTATE_CALLBACK = -9, COSTATE_NOT_FINITE = -10, COSTATE_TAPE_LIMIT = -11, COSTATE_BAD_TAPE = -12, &
        COSTATE_STOPPED = -13, COSTATE_STAGNATED = -14, COSTATE_OUT_OF_RANGE = -15, &
        COSTATE_CHECK_FAILED = -16, COSTATE_INCONSISTENT = -17, COSTATE_VERSION_MISMATCH = -18, &
        COSTATE_GRAZING = -19, COSTATE_TOO_MANY_EVENTS = -20, COSTATE_BAD_EVENT = -21, &
        COSTATE_MESH_LIMIT = -22, COSTATE_IO = -23, COSTATE_ACCURACY = -24, &
        COSTATE_NO_LIMIT = -25
    integer(c_int), parameter :: COSTATE_ANY_MODE = -1, COSTATE_SAME_MODE = -2
    integer(c_int), parameter :: COSTATE_START_DEFAULT = 0, COSTATE_START_FIRE = 1, COSTATE_START_IGNORE = 2
    integer(c_int), parameter :: COSTATE_ZERO_FALSE = 3, COSTATE_ZERO_TRUE = 4
    integer(c_int), parameter :: COSTATE_SLIDES = -2147483647
    integer(c_int), parameter :: &
        COSTATE_ERK = 0, COSTATE_SDIRK = 1, COSTATE_FIRK = 2, COSTATE_ROS = 3, COSTATE_RKC = 4, &
        COSTATE_COLLOCATION = 5, COSTATE_COMPOSITE = 6
    integer(c_int), parameter :: COSTATE_MEMBERS_MOST = 8
    integer(c_int), parameter :: &
        COSTATE_FSAL = 1, COSTATE_STIFFLY_ACCURATE = 2, COSTATE_A_STABLE = 4, COSTATE_L_STABLE = 8, COSTATE_DAE = 16, &
        COSTATE_W_METHOD = 32, COSTATE_EXPLICIT_FIRST = 64
    integer(c_int), parameter :: &
        COSTATE_AUTO = 0, COSTATE_ELEMENTARY = 1, COSTATE_PI = 2, COSTATE_GUSTAFSSON = 3, COSTATE_FIXED = 4, &
        COSTATE_STABILITY_ON = 0, COSTATE_STABILITY_OFF = 1, &
        COSTATE_ESTIMATE_ON = 0, COSTATE_ESTIMATE_LOCAL = 1, COSTATE_ESTIMATE_OFF = 2
    integer(c_int), parameter :: COSTATE_EST_CLASSICAL = 0, COSTATE_EST_SDIRK = 1
    integer(c_int), parameter :: COSTATE_STAGE_AUTO = 0, COSTATE_STAGE_DIRECT = 1, COSTATE_STAGE_ITERATIVE = 2
    integer(c_int), parameter :: COSTATE_ALL_STAGES = 0, COSTATE_STATES_ONLY = 1, COSTATE_CHECKPOINTS = 2
    integer(c_int), parameter :: COSTATE_PREDICT = 0, COSTATE_PREDICT_NONE = 1
    integer(c_int), parameter :: COSTATE_CONSISTENT_START = 1, COSTATE_CONSISTENT_END = 2, &
        COSTATE_CONSISTENT_NONE = -1
    integer(c_int), parameter :: &
        COSTATE_LS_AUTO = 0, COSTATE_LS_DENSE = 1, COSTATE_LS_BAND = 2, COSTATE_LS_UMFPACK = 3, &
        COSTATE_LS_SUPERLU = 4, COSTATE_LS_KLU = 5, COSTATE_LS_GMRES = 6, &
        COSTATE_LS_PRECONDITIONER = 7, COSTATE_LS_SPARSE = 8
    integer(c_int), parameter :: COSTATE_RIGHT = 0, COSTATE_REMARK = 1, COSTATE_WRONG = 2

    ! ---- structs --------------------------------------------------------------------------------------------

    type, bind(c) :: costate_point
        real(c_double) :: t = 0
        type(c_ptr) :: y = c_null_ptr
        type(c_ptr) :: p = c_null_ptr
        type(c_ptr) :: yp = c_null_ptr
        type(c_ptr) :: m = c_null_ptr
        integer(c_int) :: mode = 0
        integer(c_int) :: side = 0                              ! -1, 1: t is just below, above a stop
        type(c_ptr) :: relation = c_null_ptr                    ! c_int, nrelations: values of relations
    end type

    type, bind(c) :: costate_gradient
        type(c_ptr) :: t = c_null_ptr
        type(c_ptr) :: y = c_null_ptr
        type(c_ptr) :: p = c_null_ptr
        type(c_ptr) :: yp = c_null_ptr
        type(c_ptr) :: m = c_null_ptr
    end type

    type, bind(c) :: costate_map
        type(c_funptr) :: value = c_null_funptr                 ! costate_value
        type(c_funptr) :: tangent = c_null_funptr               ! costate_along
        type(c_funptr) :: adjoint = c_null_funptr               ! costate_back
        type(c_funptr) :: tangent2 = c_null_funptr              ! costate_along2
        type(c_funptr) :: adjoint_tangent = c_null_funptr       ! costate_back_along
        type(c_funptr) :: tangents = c_null_funptr              ! costate_along_all
        type(c_funptr) :: adjoints = c_null_funptr              ! costate_back_all
        type(c_funptr) :: prepare = c_null_funptr               ! costate_prepare
        type(c_funptr) :: adjoint_tangent2 = c_null_funptr      ! costate_back_along2
    end type

    type, bind(c) :: costate_pattern
        integer(c_int) :: n = 0
        type(c_ptr) :: col = c_null_ptr                         ! c_int, counted from 0
        type(c_ptr) :: row = c_null_ptr
    end type

    type, bind(c) :: costate_event
        type(costate_map) :: guard
        integer(c_int) :: ntimes = 0
        type(c_ptr) :: times = c_null_ptr
        type(costate_map) :: jump
        type(costate_map) :: cost
        integer(c_int) :: direction = 0
        integer(c_int) :: from = 0                              ! mode 0: COSTATE_ANY_MODE is to be said
        integer(c_int) :: to = 0                                ! likewise COSTATE_SAME_MODE
        integer(c_int) :: terminal = 0
        integer(c_int) :: passes = 0
        type(c_ptr) :: ctx = c_null_ptr
        integer(c_int) :: slopes = 0                            ! of a residual: y' is given
        type(costate_map) :: transition                         ! instead of jump: (y+, y), (y'+, y')
        integer(c_int) :: at_start = 0                          ! COSTATE_START_DEFAULT, FIRE or IGNORE
    end type

    type, bind(c) :: costate_relation
        type(costate_map) :: guard
        integer(c_int) :: whole = 0                             ! 1: the value is floor(guard)
        integer(c_int) :: sign = 0                              ! 1: the value is 1, 0 or -1
        type(c_ptr) :: ctx = c_null_ptr
    end type

    type, bind(c) :: costate_after_step                          ! a map after each accepted step
        type(costate_map) :: map                                ! n + nm values
        type(c_funptr) :: acts = c_null_funptr                  ! costate_acts
        type(costate_map) :: start                              ! the same for initial values
        type(c_ptr) :: ctx = c_null_ptr
        type(costate_map) :: invariant                          ! instead of map: 1 value (relaxation)
    end type

    type, bind(c) :: costate_problem
        integer(c_int) :: n = 0
        integer(c_int) :: np = 0
        integer(c_int) :: nq = 0
        type(c_ptr) :: ctx = c_null_ptr
        type(costate_map) :: rhs
        type(costate_map) :: cost
        type(c_funptr) :: jac = c_null_funptr                   ! costate_value: J
        type(c_funptr) :: mass = c_null_funptr                  ! costate_mass
        type(c_ptr) :: pattern = c_null_ptr
        type(costate_map) :: residual
        type(c_funptr) :: jac_yp = c_null_funptr                ! costate_value: dF/dy'
        type(c_ptr) :: index = c_null_ptr                       ! c_int, n
        type(costate_map) :: start
        integer(c_int) :: nm = 0
        integer(c_int) :: nevents = 0
        type(c_ptr) :: event = c_null_ptr                       ! costate_event, nevents
        integer(c_int) :: jac_is_w = 0
        type(costate_after_step) :: after_step
        integer(c_int) :: nstops = 0
        type(c_ptr) :: stops = c_null_ptr                       ! c_double, nstops: times at which maps jump
        integer(c_int) :: nrelations = 0
        type(c_ptr) :: relation = c_null_ptr                    ! costate_relation, nrelations
    end type

    type, bind(c) :: costate_method_info
        type(c_ptr) :: name = c_null_ptr                        ! costate_text makes a string of it
        type(c_ptr) :: title = c_null_ptr
        type(c_ptr) :: source = c_null_ptr
        integer(c_int) :: family = 0
        integer(c_int) :: stages = 0
        integer(c_int) :: order = 0
        integer(c_int) :: embedded = 0
        integer(c_int) :: dense = 0
        integer(c_int) :: properties = 0
        real(c_double) :: r_infinity = 0
    end type

    type, bind(c) :: costate_preconditioner
        type(c_funptr) :: setup = c_null_funptr
        type(c_funptr) :: solve = c_null_funptr
        type(c_ptr) :: ctx = c_null_ptr
        type(c_funptr) :: solves = c_null_funptr
        integer(c_size_t) :: splits = 0
    end type

    type, bind(c) :: costate_options
        real(c_double) :: rtol = 0
        real(c_double) :: atol = 0
        type(c_ptr) :: rtol_vector = c_null_ptr
        type(c_ptr) :: atol_vector = c_null_ptr
        integer(c_int) :: cost_error = 0
        integer(c_int) :: tangent_error = 0
        real(c_double) :: h0 = 0
        real(c_double) :: hmin = 0
        real(c_double) :: hmax = 0
        integer(c_int) :: max_steps = 0
        integer(c_int) :: controller = 0
        real(c_double) :: safety = 0
        real(c_double) :: fac_min = 0
        real(c_double) :: fac_max = 0
        real(c_double) :: fac_reject = 0
        real(c_double) :: q_min = 0
        real(c_double) :: q_max = 0
        integer(c_int) :: estimator = 0
        integer(c_int) :: autonomous = 0
        integer(c_int) :: warm = 0
        integer(c_int) :: newton_max = 0
        real(c_double) :: newton_tol = 0
        real(c_double) :: theta_reuse = 0
        integer(c_int) :: predictor = 0
        integer(c_int) :: derivative_mode = 0
        integer(c_int) :: solver = 0
        integer(c_int) :: stage_solve = 0
        type(c_ptr) :: backend = c_null_ptr
        real(c_double) :: krylov_tol = 0
        type(c_ptr) :: preconditioner = c_null_ptr
        integer(c_int) :: keep_factors = 0
        integer(c_int) :: ilu = 0
        integer(c_int) :: differences = 0
        integer(c_int) :: degree_max = 0
        type(c_funptr) :: spectral_radius = c_null_funptr       ! costate_radius
        real(c_double) :: spectral_bound = 0
        integer(c_int) :: storage = 0
        integer(c_int) :: checkpoints = 0
        integer(c_size_t) :: tape_limit = 0
        type(c_funptr) :: on_step = c_null_funptr               ! costate_on_step
        type(c_ptr) :: on_step_ctx = c_null_ptr
        integer(c_int) :: consistent = 0
        integer(c_int) :: mode = 0
        integer(c_int) :: max_events = 0
        integer(c_int) :: event_samples = 0
        integer(c_int) :: sliding = 0
        type(c_funptr) :: on_event = c_null_funptr              ! costate_on_event
        type(c_ptr) :: on_event_ctx = c_null_ptr
        type(c_funptr) :: sum = c_null_funptr                   ! costate_sum
        type(c_ptr) :: sum_ctx = c_null_ptr
        integer(c_int) :: tangent_count = 0
        type(c_ptr) :: tangent_rtol = c_null_ptr                ! tangent_count
        type(c_ptr) :: tangent_atol = c_null_ptr                ! tangent_count
        type(c_ptr) :: tangent_atol_vector = c_null_ptr         ! n, tangent_count
        type(c_funptr) :: on_back = c_null_funptr               ! costate_on_back
        type(c_ptr) :: on_back_ctx = c_null_ptr
        integer(c_int) :: stability = COSTATE_STABILITY_ON
        integer(c_int) :: gradient_control = 0
        integer(c_int) :: gradient_estimate = COSTATE_ESTIMATE_ON
        integer(c_int) :: accurate_inside = 0
        type(c_ptr) :: members = c_null_ptr                     ! c_char, ends with c_null_char
        type(c_funptr) :: step_bound = c_null_funptr            ! costate_value: the longest step
    end type

    type, bind(c) :: costate_stats
        integer(c_long) :: steps = 0
        integer(c_long) :: accepted = 0
        integer(c_long) :: rejected = 0
        integer(c_long) :: newton_failures = 0
        integer(c_long) :: f = 0
        integer(c_long) :: jac = 0
        integer(c_long) :: jac_products = 0
        integer(c_long) :: tangents = 0
        integer(c_long) :: adjoints = 0
        integer(c_long) :: tangents2 = 0
        integer(c_long) :: adjoints2 = 0
        integer(c_long) :: differences = 0
        integer(c_long) :: decompositions = 0
        integer(c_long) :: complex_decompositions = 0
        integer(c_long) :: solves = 0
        integer(c_long) :: complex_solves = 0
        integer(c_long) :: newton = 0
        integer(c_long) :: krylov = 0
        integer(c_long) :: products = 0
        integer(c_long) :: power = 0
        integer(c_long) :: stage_direct = 0
        integer(c_long) :: stage_iterative = 0
        integer(c_size_t) :: tape_bytes = 0
        integer(c_long) :: factors_kept = 0
        integer(c_long) :: factors_not_kept = 0
        real(c_double) :: krylov_error = 0
        real(c_double) :: gradient_error = 0
        integer(c_long) :: events = 0
        integer(c_long) :: guards = 0
        integer(c_long) :: located = 0
        integer(c_long) :: adjoints3 = 0
        integer(c_long) :: tangents_again = 0
        integer(c_long) :: remade = 0
        integer(c_long) :: corrections = 0
        real(c_double) :: correction = 0
        integer(c_long) :: switches = 0
        integer(c_long) :: member_steps(COSTATE_MEMBERS_MOST) = 0   ! of member k at k + 1
    end type

    type, bind(c) :: costate_times
        type(c_ptr) :: t0 = c_null_ptr
        type(c_ptr) :: t1 = c_null_ptr
        type(c_ptr) :: defect = c_null_ptr
        type(c_ptr) :: end = c_null_ptr
        type(c_ptr) :: events = c_null_ptr
    end type

    type, bind(c) :: costate_observations
        integer(c_int) :: count = 0
        type(c_ptr) :: t = c_null_ptr
        type(c_funptr) :: value = c_null_funptr                 ! costate_observe
        type(c_funptr) :: seed = c_null_funptr                  ! costate_weigh
        type(c_ptr) :: dt = c_null_ptr
        type(c_ptr) :: ctx = c_null_ptr
        type(c_funptr) :: seed2 = c_null_funptr                 ! costate_weigh2
    end type

    type, bind(c) :: costate_second
        integer(c_int) :: m = 0
        type(c_ptr) :: V = c_null_ptr
        type(c_ptr) :: Vp = c_null_ptr
        type(c_ptr) :: along = c_null_ptr                       ! costate_times
        type(c_funptr) :: seed = c_null_funptr                  ! costate_seed2
        type(c_ptr) :: ctx = c_null_ptr
        type(c_ptr) :: observations = c_null_ptr                ! costate_observations
        type(c_ptr) :: lambda = c_null_ptr
        type(c_ptr) :: mu = c_null_ptr
        type(c_ptr) :: times = c_null_ptr                       ! costate_times
        type(c_ptr) :: lambda2 = c_null_ptr
        type(c_ptr) :: mu2 = c_null_ptr
        type(c_ptr) :: times2 = c_null_ptr                      ! costate_times
        integer(c_int) :: correct = 0
    end type

    type, bind(c) :: costate_forecast
        integer(c_int) :: steps = 0
        integer(c_size_t) :: bytes = 0
        integer(c_long) :: remade_back = 0
        integer(c_long) :: remade_forward = 0
    end type

    type, bind(c) :: costate_report
        real(c_double) :: tangent = 0
        real(c_double) :: adjoint = 0
        real(c_double) :: tangent2 = 0
        real(c_double) :: adjoint_tangent = 0
        real(c_double) :: jac = 0
        real(c_double) :: transpose = 0
        real(c_double) :: taylor = 0
        character(kind=c_char) :: text(512) = c_null_char
        real(c_double) :: adjoint_tangent2 = 0
        real(c_double) :: symmetry = 0
        real(c_double) :: hessian = 0
        real(c_double) :: accuracy = 0
        real(c_double) :: linear = 0
        real(c_double) :: repeats = 0
        real(c_double) :: softness = 0
        real(c_double) :: smooth = 0
    end type

    type, bind(c) :: costate_finding                            ! of a costate_review, which is a type(c_ptr)
        integer(c_int) :: severity = 0                          ! COSTATE_RIGHT, REMARK or WRONG
        integer(c_int) :: component = 0
        type(c_ptr) :: topic = c_null_ptr                       ! costate_text(finding%topic)
        type(c_ptr) :: text = c_null_ptr
        real(c_double) :: t = 0
        real(c_double) :: number = 0
    end type

    ! ---- interfaces of the user's procedures: bind(c) functions ------------------------------------------------
    ! c_f_pointer(x%y, y, [n]) makes an array of a member; c_associated(g%p): it is requested (or not zero).

    abstract interface
        integer(c_int) function costate_value(x, out, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x
            real(c_double), intent(out) :: out(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_acts(x, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_along(x, dx, dout, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x, dx
            real(c_double), intent(out) :: dout(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_back(x, w, g, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x
            real(c_double), intent(in) :: w(*)
            type(costate_gradient), intent(in) :: g
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_along2(x, dx1, dx2, ddout, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x, dx1, dx2
            real(c_double), intent(out) :: ddout(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_back_along(x, dx, w, g, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x, dx
            real(c_double), intent(in) :: w(*)
            type(costate_gradient), intent(in) :: g
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_back_along2(x, dx1, dx2, w, g, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x, dx1, dx2
            real(c_double), intent(in) :: w(*)
            type(costate_gradient), intent(in) :: g
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_along_all(x, count, dx, dout, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x
            integer(c_int), value :: count
            type(costate_point), intent(in) :: dx(*)
            real(c_double), intent(out) :: dout(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_back_all(x, count, w, g, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x
            integer(c_int), value :: count
            real(c_double), intent(in) :: w(*)
            type(costate_gradient), intent(in) :: g(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_prepare(x, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_mass(M, ctx) bind(c)
            import
            real(c_double), intent(out) :: M(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_radius(x, rho, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x
            real(c_double), intent(out) :: rho
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_sum(count, x, ctx) bind(c)
            import
            integer(c_int), value :: count
            real(c_double), intent(inout) :: x(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_on_step(step, ctx) bind(c)
            import
            type(c_ptr), value :: step, ctx
        end function
        integer(c_int) function costate_on_event(event, t, before, after, ctx) bind(c)
            import
            integer(c_int), value :: event
            real(c_double), value :: t
            real(c_double), intent(in) :: before(*), after(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_on_back(step, t, h, y, m, lambda, mu, ctx) bind(c)
            import
            integer(c_int), value :: step, m
            real(c_double), value :: t, h
            real(c_double), intent(in) :: y(*), lambda(*)
            type(c_ptr), value :: mu, ctx                       ! mu: np by m, or c_null_ptr
        end function
        integer(c_int) function costate_observe(k, t, y, m, V, ctx) bind(c)
            import
            integer(c_int), value :: k, m
            real(c_double), value :: t
            real(c_double), intent(in) :: y(*), V(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_weigh(k, t, y, m, w, ctx) bind(c)
            import
            integer(c_int), value :: k, m
            real(c_double), value :: t
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(inout) :: w(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_weigh2(k, t, y, m, V, w, w2, ctx) bind(c)
            import
            integer(c_int), value :: k, m
            real(c_double), value :: t
            real(c_double), intent(in) :: y(*), V(*)
            real(c_double), intent(inout), optional :: w(*)
            real(c_double), intent(inout) :: w2(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_seed(t1, y, p, m, lambda, mu, ctx) bind(c)
            import
            real(c_double), value :: t1
            real(c_double), intent(in) :: y(*), p(*)
            integer(c_int), value :: m
            real(c_double), intent(inout) :: lambda(*), mu(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_seed2(t1, y, p, m, V, Vp, lambda, mu, lambda2, mu2, ctx) bind(c)
            import
            real(c_double), value :: t1
            real(c_double), intent(in) :: y(*), V(*)
            real(c_double), intent(in), optional :: p(*), Vp(*)
            integer(c_int), value :: m
            real(c_double), intent(inout), optional :: lambda(*), mu(*)
            real(c_double), intent(inout) :: lambda2(*)
            real(c_double), intent(inout), optional :: mu2(*)
            type(c_ptr), value :: ctx
        end function
    end interface

    ! ---- functions ------------------------------------------------------------------------------------------

    interface
        type(c_ptr) function costate_version() bind(c)                       ! costate_text makes a string of it
            import
        end function
        integer(c_size_t) function costate_sizeof(type) bind(c)              ! see costate_library_fits
            import
            character(kind=c_char), intent(in) :: type(*)
        end function

        integer(c_int) function costate_method_count() bind(c)
            import
        end function
        type(c_ptr) function costate_method_at(k) bind(c)
            import
            integer(c_int), value :: k
        end function
        type(c_ptr) function costate_method_find(name) bind(c)               ! costate_method_named ends the name
            import
            character(kind=c_char), intent(in) :: name(*)
        end function
        type(c_ptr) function costate_method_near(name, k) bind(c)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), value :: k
        end function
        integer(c_int) function costate_method_describe(method, info) bind(c)
            import
            type(c_ptr), value :: method
            type(costate_method_info), intent(out) :: info
        end function
        type(c_ptr) function costate_method_member(method, k) bind(c)
            import
            type(c_ptr), value :: method
            integer(c_int), value :: k
        end function

        type(c_ptr) function costate_new_sized(options_size, method, problem, options) bind(c)
            import
            integer(c_size_t), value :: options_size
            type(c_ptr), value :: method
            type(costate_problem), intent(in) :: problem
            type(costate_options), intent(in), optional :: options
        end function
        subroutine costate_free(c) bind(c)
            import
            type(c_ptr), value :: c
        end subroutine
        integer(c_int) function costate_status(c) bind(c)
            import
            type(c_ptr), value :: c
        end function
        type(c_ptr) function costate_message(c) bind(c)
            import
            type(c_ptr), value :: c
        end function
        type(c_ptr) function costate_status_name(status) bind(c)
            import
            integer(c_int), value :: status
        end function
        real(c_double) function costate_time(c) bind(c)
            import
            type(c_ptr), value :: c
        end function
        type(c_ptr) function costate_get_stats(c) bind(c)                    ! of a costate_stats: c_f_pointer
            import
            type(c_ptr), value :: c
        end function
        subroutine costate_abandon(c) bind(c)
            import
            type(c_ptr), value :: c
        end subroutine
        subroutine costate_reset_stats(c) bind(c)
            import
            type(c_ptr), value :: c
        end subroutine
        type(c_ptr) function costate_solver_name(c) bind(c)
            import
            type(c_ptr), value :: c
        end function

        integer(c_int) function costate_consistent(c, t, y, yp, p) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), value :: t
            real(c_double), intent(inout) :: y(*)
            real(c_double), intent(inout), optional :: yp(*)
            real(c_double), intent(in) :: p(*)
        end function
        integer(c_int) function costate_continue(c, tape, t1, y) bind(c)
            import
            type(c_ptr), value :: c, tape
            real(c_double), value :: t1
            real(c_double), intent(inout) :: y(*)
        end function
        integer(c_int) function costate_mode(c) bind(c)
            import
            type(c_ptr), value :: c
        end function
        integer(c_int) function costate_integrate(c, t0, t1, y, p, tape) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), value :: t0, t1
            real(c_double), intent(inout) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            type(c_ptr), value :: tape
        end function
        integer(c_int) function costate_integrate_tlm(c, t0, t1, y, p, m, V, Vp, times, tape) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), value :: t0, t1
            real(c_double), intent(inout) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            integer(c_int), value :: m
            real(c_double), intent(inout) :: V(*)
            real(c_double), intent(in), optional :: Vp(*)
            type(costate_times), intent(in), optional :: times
            type(c_ptr), value :: tape
        end function
        integer(c_int) function costate_integrate_adj(c, t0, t1, y, p, m, lambda, mu, times, seed, seed_ctx) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), value :: t0, t1
            real(c_double), intent(inout) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            integer(c_int), value :: m
            real(c_double), intent(inout) :: lambda(*)
            real(c_double), intent(inout), optional :: mu(*)
            type(costate_times), intent(in), optional :: times
            type(c_funptr), value :: seed                                    ! costate_seed
            type(c_ptr), value :: seed_ctx
        end function
        integer(c_int) function costate_adjoint(c, tape, m, lambda, mu, times, observations) bind(c)
            import
            type(c_ptr), value :: c, tape
            integer(c_int), value :: m
            real(c_double), intent(inout) :: lambda(*)
            real(c_double), intent(inout), optional :: mu(*)
            type(costate_times), intent(in), optional :: times
            type(costate_observations), intent(in), optional :: observations
        end function
        integer(c_int) function costate_tangent(c, tape, m, V, Vp, times, observations) bind(c)
            import
            type(c_ptr), value :: c, tape
            integer(c_int), value :: m
            real(c_double), intent(inout) :: V(*)
            real(c_double), intent(in), optional :: Vp(*)
            type(costate_times), intent(in), optional :: times
            type(costate_observations), intent(in), optional :: observations
        end function
        integer(c_int) function costate_replay(c, tape, y, p) bind(c)
            import
            type(c_ptr), value :: c, tape
            real(c_double), intent(inout) :: y(*)
            real(c_double), intent(in), optional :: p(*)
        end function

        integer(c_int) function costate_replay_onto(c, tape, y, p, onto) bind(c)
            import
            type(c_ptr), value :: c, tape, onto
            real(c_double), intent(inout) :: y(*)
            real(c_double), intent(in), optional :: p(*)
        end function
        integer(c_int) function costate_hessian(c, tape, second) bind(c)
            import
            type(c_ptr), value :: c, tape
            type(costate_second), intent(in) :: second
        end function
        integer(c_int) function costate_gauss_newton(c, tape, second) bind(c)
            import
            type(c_ptr), value :: c, tape
            type(costate_second), intent(in) :: second
        end function

        type(c_ptr) function costate_tape_new() bind(c)
            import
        end function
        subroutine costate_tape_free(tape) bind(c)
            import
            type(c_ptr), value :: tape
        end subroutine
        type(c_ptr) function costate_tape_open(path) bind(c)
            import
            character(kind=c_char), intent(in) :: path(*)
        end function
        integer(c_int) function costate_tape_read(c, tape) bind(c)
            import
            type(c_ptr), value :: c, tape
        end function
        integer(c_int) function costate_resume(c, tape, y) bind(c)
            import
            type(c_ptr), value :: c, tape
            real(c_double), intent(inout) :: y(*)
        end function
        integer(c_int) function costate_tape_forecast(tape, forecast) bind(c)
            import
            type(c_ptr), value :: tape
            type(costate_forecast), intent(out) :: forecast
        end function
        integer(c_int) function costate_tape_steps(tape) bind(c)
            import
            type(c_ptr), value :: tape
        end function
        integer(c_size_t) function costate_tape_bytes(tape) bind(c)
            import
            type(c_ptr), value :: tape
        end function
        integer(c_int) function costate_tape_get(tape, k, t, h, y) bind(c)
            import
            type(c_ptr), value :: tape
            integer(c_int), value :: k
            real(c_double), intent(out), optional :: t, h
            real(c_double), intent(inout), optional :: y(*)
        end function
        integer(c_int) function costate_tape_events(tape) bind(c)
            import
            type(c_ptr), value :: tape
        end function
        integer(c_int) function costate_tape_event(tape, k, t, event, before, after) bind(c)
            import
            type(c_ptr), value :: tape
            integer(c_int), value :: k
            real(c_double), intent(out), optional :: t
            integer(c_int), intent(out), optional :: event
            real(c_double), intent(inout), optional :: before(*), after(*)
        end function
        integer(c_int) function costate_tape_eval(c, tape, t, y) bind(c)
            import
            type(c_ptr), value :: c, tape
            real(c_double), value :: t
            real(c_double), intent(inout) :: y(*)
        end function

        real(c_double) function costate_step_start(step) bind(c)
            import
            type(c_ptr), value :: step
        end function
        real(c_double) function costate_step_end(step) bind(c)
            import
            type(c_ptr), value :: step
        end function
        type(c_ptr) function costate_step_state(step) bind(c)                ! of N values: c_f_pointer
            import
            type(c_ptr), value :: step
        end function
        integer(c_int) function costate_step_eval(step, t, y) bind(c)
            import
            type(c_ptr), value :: step
            real(c_double), value :: t
            real(c_double), intent(inout) :: y(*)
        end function
        integer(c_int) function costate_progress(step, ctx) bind(c)          ! as on_step: c_funloc(costate_progress)
            import
            type(c_ptr), value :: step, ctx
        end function

        integer(c_int) function costate_pattern_detect(problem, x, out, report) bind(c)
            import
            type(costate_problem), intent(in) :: problem
            type(costate_point), intent(in) :: x
            type(c_ptr), intent(out) :: out                                  ! of a costate_pattern: problem%pattern
            type(costate_report), intent(inout) :: report
        end function
        integer(c_int) function costate_method_load(path, out, report) bind(c)
            import
            character(kind=c_char), intent(in) :: path(*)                    ! ends with c_null_char
            type(c_ptr), intent(out) :: out
            type(costate_report), intent(inout) :: report
        end function
        subroutine costate_method_unload(method) bind(c)
            import
            type(c_ptr), value :: method
        end subroutine
        subroutine costate_pattern_free(pattern) bind(c)
            import
            type(c_ptr), value :: pattern
        end subroutine
        integer(c_int) function costate_check_map(map, n, np, k, x, ctx, report) bind(c)
            import
            type(costate_map), intent(in) :: map
            integer(c_int), value :: n, np, k
            type(costate_point), intent(in) :: x
            type(c_ptr), value :: ctx
            type(costate_report), intent(inout) :: report
        end function
        integer(c_int) function costate_check_problem(problem, x, rhs, cost) bind(c)
            import
            type(costate_problem), intent(in) :: problem
            type(costate_point), intent(in) :: x
            type(costate_report), intent(inout) :: rhs
            type(costate_report), intent(inout), optional :: cost
        end function
        integer(c_int) function costate_check_adjoint(c, t0, t1, y, p, report) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), value :: t0, t1
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            type(costate_report), intent(inout) :: report
        end function
        integer(c_int) function costate_check_matrix(c, t, h, y, p, report) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), value :: t, h
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            type(costate_report), intent(inout) :: report
        end function
        type(c_ptr) function costate_review_new() bind(c)
            import
        end function
        subroutine costate_review_free(review) bind(c)
            import
            type(c_ptr), value :: review
        end subroutine
        type(c_ptr) function costate_review_text(review) bind(c)                ! costate_text makes a string of it
            import
            type(c_ptr), value :: review
        end function
        integer(c_int) function costate_review_count(review) bind(c)
            import
            type(c_ptr), value :: review
        end function
        integer(c_int) function costate_review_get(review, k, finding) bind(c)
            import
            type(c_ptr), value :: review
            integer(c_int), value :: k
            type(costate_finding), intent(inout) :: finding
        end function
        integer(c_int) function costate_check_run(c, t0, t1, y, p, review) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), value :: t0, t1
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            type(c_ptr), value :: review
        end function
        integer(c_int) function costate_check_hessian(c, t0, t1, y, p, seed, ctx, report) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), value :: t0, t1
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            type(c_funptr), value :: seed                                    ! costate_seed2
            type(c_ptr), value :: ctx
            type(costate_report), intent(inout) :: report
        end function
    end interface

contains

    ! costate_new: tells the library how long the options of this module are, as the macro of C does.
    type(c_ptr) function costate_new(method, problem, options)
        type(c_ptr), intent(in) :: method
        type(costate_problem), intent(in) :: problem
        type(costate_options), intent(in), optional :: options
        type(costate_options) :: one
        costate_new = costate_new_sized(c_sizeof(one), method, problem, options)
    end function

    ! Do the types above match the library that the program runs with?  Check once; if not, call nothing of it.
    logical function costate_library_fits()
        type(costate_point) :: point
        type(costate_event) :: event
        type(costate_relation) :: relation
        type(costate_problem) :: problem
        type(costate_options) :: options
        type(costate_stats) :: stats
        type(costate_times) :: times
        type(costate_observations) :: observations
        type(costate_second) :: second
        type(costate_report) :: report
        type(costate_finding) :: finding
        costate_library_fits = all([ &
            fits('costate_point', c_sizeof(point)), fits('costate_event', c_sizeof(event)), &
            fits('costate_relation', c_sizeof(relation)), fits('costate_problem', c_sizeof(problem)), &
            fits('costate_options', c_sizeof(options)), fits('costate_stats', c_sizeof(stats)), &
            fits('costate_times', c_sizeof(times)), fits('costate_observations', c_sizeof(observations)), &
            fits('costate_second', c_sizeof(second)), fits('costate_report', c_sizeof(report)), &
            fits('costate_finding', c_sizeof(finding))])
    end function

    logical function fits(name, bytes)
        character(*), intent(in) :: name
        integer(c_size_t), intent(in) :: bytes
        fits = costate_sizeof(name // c_null_char) == bytes
    end function

    ! costate_method_find of a Fortran string: without trailing blanks, and terminated.  c_null_ptr: no such method.
    type(c_ptr) function costate_method_named(name)
        character(*), intent(in) :: name
        costate_method_named = costate_method_find(trim(name) // c_null_char)
    end function

    ! costate_tape_open of a Fortran string, in the same way.
    type(c_ptr) function costate_tape_in(path)
        character(*), intent(in) :: path
        costate_tape_in = costate_tape_open(trim(path) // c_null_char)
    end function

    ! The string at a char pointer, as costate_message returns it.
    function costate_text(from) result(text)
        type(c_ptr), intent(in) :: from
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: i
        interface
            integer(c_size_t) function strlen(text) bind(c)
                import
                type(c_ptr), value :: text
            end function
        end interface
        if (.not. c_associated(from)) then
            text = ''
            return
        end if
        call c_f_pointer(from, letters, [strlen(from)])
        allocate (character(size(letters)) :: text)
        do i = 1, size(letters)
            text(i:i) = letters(i)
        end do
    end function
end module
