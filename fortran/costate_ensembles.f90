! costate_ensembles.f90 - ensemble.h for Fortran: many runs of one problem in threads; it uses the module costate.
!
! The same names as in C, and the same meanings: ensemble.h says what they are.  (The module's name is not that of its
! function, costate_ensemble.)  Compile it with your program, behind costate.f90, whose types and conventions it takes:
!
!     gfortran -c INCLUDEDIR/costate/costate.f90 INCLUDEDIR/costate/costate_ensembles.f90
!     gfortran program.f90 costate_ensembles.o costate.o -lcostate
!
! Procedures that several threads call at the same time keep nothing in saved variables: gfortran's -frecursive.
!
! tests/packaging/test_fortran.py compares sizes, offsets and procedures with ensemble.h.  For something new there: a
! member is one in its type (same place), a function an interface.
module costate_ensembles
    use, intrinsic :: iso_c_binding
    use costate
    implicit none

    integer(c_int), parameter :: COSTATE_ENSEMBLE_TEXT = 256
    integer(c_int), parameter :: COSTATE_SAME_P = 1, COSTATE_SAME_VP = 2, COSTATE_OWN_OBSERVED = 4

    ! ---- structs --------------------------------------------------------------------------------------------

    type, bind(c) :: costate_members
        integer(c_int) :: count = 0
        integer(c_int) :: threads = 0
        integer(c_int) :: pin = 0
        integer(c_int) :: same = 0
        real(c_double) :: t0 = 0
        real(c_double) :: t1 = 0
        type(c_ptr) :: t0_each = c_null_ptr
        type(c_ptr) :: t1_each = c_null_ptr
        type(c_ptr) :: y = c_null_ptr
        type(c_ptr) :: p = c_null_ptr
        integer(c_int) :: directions = 0
        type(c_ptr) :: V = c_null_ptr
        type(c_ptr) :: Vp = c_null_ptr
        type(c_ptr) :: along = c_null_ptr                       ! costate_times
        integer(c_int) :: m = 0
        type(c_ptr) :: lambda = c_null_ptr
        type(c_ptr) :: mu = c_null_ptr
        type(c_ptr) :: times = c_null_ptr                       ! costate_times
        type(c_funptr) :: seed = c_null_funptr                  ! costate_member_seed
        type(c_ptr) :: status = c_null_ptr                      ! c_int
        type(c_ptr) :: message = c_null_ptr                     ! character(kind=c_char) (COSTATE_ENSEMBLE_TEXT, count)
        type(c_ptr) :: ctx = c_null_ptr
        type(c_funptr) :: each_thread = c_null_funptr           ! costate_each_thread
        type(c_funptr) :: on_member = c_null_funptr             ! costate_on_member
        integer(c_int) :: tape = 0
        type(c_funptr) :: progress = c_null_funptr              ! costate_members_progress
        type(c_ptr) :: lanes = c_null_ptr                       ! costate_lane_maps of C (lanes.h)
        integer(c_int) :: observations = 0
        type(c_ptr) :: observed = c_null_ptr
        type(c_funptr) :: observe = c_null_funptr               ! costate_member_observe
        type(c_ptr) :: lambda2 = c_null_ptr
        type(c_ptr) :: mu2 = c_null_ptr
        type(c_funptr) :: seed2 = c_null_funptr                 ! costate_member_seed2
        type(c_funptr) :: observe2 = c_null_funptr              ! costate_member_observe2
    end type

    type, bind(c) :: costate_ensemble_report
        integer(c_int) :: done = 0
        integer(c_int) :: failed = 0
        integer(c_int) :: first = 0
        integer(c_int) :: threads = 0
        type(costate_stats) :: stats
        character(kind=c_char) :: text(512) = c_null_char
        integer(c_int) :: lanes = 0
        integer(c_int) :: in_lanes = 0
        real(c_double) :: active = 0
        real(c_double) :: accepted = 0
        character(kind=c_char) :: alone(128) = c_null_char
    end type

    ! ---- interfaces of the user's procedures: bind(c) functions; members and threads count from 0 -----------------

    abstract interface
        integer(c_int) function costate_member_seed(member, t1, y, p, m, lambda, mu, ctx) bind(c)
            import
            integer(c_int), value :: member, m
            real(c_double), value :: t1
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            real(c_double), intent(inout) :: lambda(*)
            real(c_double), intent(inout), optional :: mu(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_member_observe(member, k, t, y, m, w, ctx) bind(c)
            import
            integer(c_int), value :: member, k, m
            real(c_double), value :: t
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(inout) :: w(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_member_seed2(member, t1, y, p, m, V, Vp, lambda, mu, lambda2, mu2, ctx) bind(c)
            import
            integer(c_int), value :: member, m
            real(c_double), value :: t1
            real(c_double), intent(in) :: y(*), V(*)
            real(c_double), intent(in), optional :: p(*), Vp(*)
            real(c_double), intent(inout) :: lambda(*), lambda2(*)
            real(c_double), intent(inout), optional :: mu(*), mu2(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_member_observe2(member, k, t, y, m, V, w, w2, ctx) bind(c)
            import
            integer(c_int), value :: member, k, m
            real(c_double), value :: t
            real(c_double), intent(in) :: y(*), V(*)
            real(c_double), intent(inout) :: w(*), w2(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_each_thread(thread, problem, options, ctx) bind(c)
            import
            integer(c_int), value :: thread
            type(costate_problem), intent(inout) :: problem
            type(costate_options), intent(inout) :: options
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_on_member(member, thread, c, tape, ctx) bind(c)
            import
            integer(c_int), value :: member, thread
            type(c_ptr), value :: c, tape, ctx
        end function
        integer(c_int) function costate_members_progress(done, failed, count, ctx) bind(c)
            import
            integer(c_int), value :: done, failed, count
            type(c_ptr), value :: ctx
        end function
    end interface

    ! ---- functions ------------------------------------------------------------------------------------------

    interface
        integer(c_int) function costate_ensemble_sized(options_size, method, problem, options, members, report) bind(c)
            import
            integer(c_size_t), value :: options_size
            type(c_ptr), value :: method
            type(costate_problem), intent(in) :: problem
            type(costate_options), intent(in), optional :: options
            type(costate_members), intent(in) :: members
            type(costate_ensemble_report), intent(inout), optional :: report
        end function
        integer(c_int) function costate_check_lanes(problem, lanes, x, report) bind(c)
            import
            type(costate_problem), intent(in) :: problem
            type(c_ptr), value :: lanes
            type(costate_point), intent(in) :: x
            type(costate_report), intent(inout) :: report
        end function
        integer(c_int) function costate_cores() bind(c)
            import
        end function
    end interface

contains

    ! tells the library how long the options of this module are, as the macro of C does
    integer(c_int) function costate_ensemble(method, problem, options, members, report)
        type(c_ptr), intent(in) :: method
        type(costate_problem), intent(in) :: problem
        type(costate_options), intent(in), optional :: options
        type(costate_members), intent(in) :: members
        type(costate_ensemble_report), intent(inout), optional :: report
        type(costate_options) :: one
        costate_ensemble = costate_ensemble_sized(c_sizeof(one), method, problem, options, members, report)
    end function

    ! Are the types above those of the library that the program runs with?  Those of costate.f90 as well.
    logical function costate_ensemble_library_fits()
        type(costate_members) :: members
        type(costate_ensemble_report) :: report
        costate_ensemble_library_fits = costate_library_fits() .and. all([ &
            fits('costate_members', c_sizeof(members)), fits('costate_ensemble_report', c_sizeof(report))])
    end function
end module
