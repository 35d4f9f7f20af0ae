! costate_bvp.f90 - bvp.h for Fortran: boundary value problems, in addition to the module costate.
!
! The same names as in C, and the same meanings: bvp.h says what they are.  Compile it with your program, behind
! costate.f90, whose types and conventions it takes:
!
!     gfortran -c INCLUDEDIR/costate/costate.f90 INCLUDEDIR/costate/costate_bvp.f90
!     gfortran program.f90 costate_bvp.o costate.o -lcostate
!
! tests/packaging/test_fortran.py compares sizes, offsets and procedures with bvp.h.  For something new there: a
! member is one in its type (same place), a function an interface.
module costate_bvp
    use, intrinsic :: iso_c_binding
    use costate
    implicit none

    ! ---- structs --------------------------------------------------------------------------------------------

    type, bind(c) :: costate_conditions
        type(costate_map) :: map                                ! of x%y = (y(a), y(b)), 2n values
        integer(c_int) :: count = 0
        type(c_ptr) :: pattern = c_null_ptr                     ! costate_pattern
        type(c_ptr) :: ctx = c_null_ptr
    end type

    type, bind(c) :: costate_bvp_iteration
        integer(c_int) :: mesh = 0
        integer(c_int) :: iteration = 0
        integer(c_int) :: intervals = 0
        real(c_double) :: size = 0
        real(c_double) :: damping = 0
        real(c_double) :: error = 0
    end type

    type, bind(c) :: costate_bvp_options
        real(c_double) :: rtol = 0
        real(c_double) :: atol = 0
        type(c_ptr) :: atol_vector = c_null_ptr
        integer(c_int) :: nbreaks = 0
        type(c_ptr) :: breaks = c_null_ptr
        integer(c_int) :: intervals = 0
        integer(c_int) :: max_mesh = 0
        integer(c_int) :: fixed = 0
        integer(c_int) :: newton_max = 0
        integer(c_int) :: solver = 0
        type(c_ptr) :: backend = c_null_ptr
        integer(c_int) :: differences = 0
        type(c_funptr) :: on_iteration = c_null_funptr          ! costate_on_iteration
        type(c_ptr) :: on_iteration_ctx = c_null_ptr
    end type

    type, bind(c) :: costate_bvp_stats
        integer(c_int) :: meshes = 0
        integer(c_int) :: iterations = 0
        integer(c_int) :: damped = 0
        integer(c_long) :: decompositions = 0
        integer(c_long) :: solves = 0
        real(c_double) :: error = 0
        real(c_double) :: rcond = 0
        type(costate_stats) :: calls
    end type

    type, bind(c) :: costate_bvp_tangents
        integer(c_int) :: m = 0
        integer(c_int) :: points = 0
        type(c_ptr) :: t = c_null_ptr
        type(c_ptr) :: Vp = c_null_ptr
        type(c_ptr) :: Vends = c_null_ptr
        type(c_ptr) :: Vtimes = c_null_ptr
        type(c_ptr) :: Vc = c_null_ptr
        type(c_ptr) :: V = c_null_ptr
    end type

    type, bind(c) :: costate_bvp_adjoints
        integer(c_int) :: m = 0
        integer(c_int) :: points = 0
        type(c_ptr) :: t = c_null_ptr
        type(c_ptr) :: lambda = c_null_ptr
        type(c_ptr) :: mu = c_null_ptr
        type(c_ptr) :: ends = c_null_ptr
        type(c_ptr) :: times = c_null_ptr
        type(c_ptr) :: c = c_null_ptr
    end type

    type, bind(c) :: costate_bvp_second
        integer(c_int) :: m = 0
        integer(c_int) :: points = 0
        type(c_ptr) :: t = c_null_ptr
        type(c_ptr) :: Vp = c_null_ptr
        type(c_ptr) :: Vends = c_null_ptr
        type(c_ptr) :: Vtimes = c_null_ptr
        type(c_ptr) :: Vc = c_null_ptr
        type(c_funptr) :: seed = c_null_funptr                  ! costate_bvp_seed
        type(c_ptr) :: ctx = c_null_ptr
        type(c_ptr) :: mu = c_null_ptr
        type(c_ptr) :: ends = c_null_ptr
        type(c_ptr) :: times = c_null_ptr
        type(c_ptr) :: c = c_null_ptr
        type(c_ptr) :: mu2 = c_null_ptr
        type(c_ptr) :: ends2 = c_null_ptr
        type(c_ptr) :: times2 = c_null_ptr
        type(c_ptr) :: c2 = c_null_ptr
    end type

    ! ---- interfaces of the user's procedures: bind(c) functions ------------------------------------------------

    abstract interface
        integer(c_int) function costate_on_iteration(iteration, ctx) bind(c)
            import
            type(costate_bvp_iteration), intent(in) :: iteration
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_bvp_seed(points, t, X, p, m, V, Vp, lambda, mu, lambda2, mu2, ctx) bind(c)
            import
            integer(c_int), value :: points, m
            real(c_double), intent(in) :: t(*), X(*), V(*)
            real(c_double), intent(in), optional :: p(*), Vp(*)
            real(c_double), intent(inout) :: lambda(*), lambda2(*)
            real(c_double), intent(inout), optional :: mu(*), mu2(*)
            type(c_ptr), value :: ctx
        end function
    end interface

    ! ---- functions ------------------------------------------------------------------------------------------

    interface
        integer(c_int) function costate_bvp_method_count() bind(c)
            import
        end function
        type(c_ptr) function costate_bvp_method_at(k) bind(c)
            import
            integer(c_int), value :: k
        end function

        type(c_ptr) function costate_bvp_new_sized(options_size, method, problem, conditions, options) bind(c)
            import
            integer(c_size_t), value :: options_size
            type(c_ptr), value :: method
            type(costate_problem), intent(in) :: problem
            type(costate_conditions), intent(in) :: conditions
            type(costate_bvp_options), intent(in), optional :: options
        end function
        subroutine costate_bvp_free(b) bind(c)
            import
            type(c_ptr), value :: b
        end subroutine
        subroutine costate_bvp_abandon(b) bind(c)
            import
            type(c_ptr), value :: b
        end subroutine
        type(c_ptr) function costate_bvp_message(b) bind(c)                  ! costate_text makes a string of it
            import
            type(c_ptr), value :: b
        end function
        type(c_ptr) function costate_bvp_get_stats(b) bind(c)                ! costate_bvp_stats
            import
            type(c_ptr), value :: b
        end function

        integer(c_int) function costate_bvp_guess(b, points, t, y) bind(c)
            import
            type(c_ptr), value :: b
            integer(c_int), value :: points
            real(c_double), intent(in), optional :: t(*)
            real(c_double), intent(in) :: y(*)
        end function
        integer(c_int) function costate_bvp_mesh(b, points, t) bind(c)
            import
            type(c_ptr), value :: b
            integer(c_int), value :: points
            real(c_double), intent(in) :: t(*)
        end function
        integer(c_int) function costate_bvp_solve(b, from, to, p) bind(c)
            import
            type(c_ptr), value :: b
            real(c_double), value :: from, to
            real(c_double), intent(in), optional :: p(*)
        end function

        integer(c_int) function costate_bvp_intervals(b) bind(c)
            import
            type(c_ptr), value :: b
        end function
        integer(c_int) function costate_bvp_get(b, k, t, Y) bind(c)
            import
            type(c_ptr), value :: b
            integer(c_int), value :: k
            real(c_double), intent(inout), optional :: t, Y(*)
        end function
        integer(c_int) function costate_bvp_eval(b, t, Y) bind(c)
            import
            type(c_ptr), value :: b
            real(c_double), value :: t
            real(c_double), intent(inout) :: Y(*)
        end function

        integer(c_int) function costate_bvp_tangent(b, tangents) bind(c)
            import
            type(c_ptr), value :: b
            type(costate_bvp_tangents), intent(in) :: tangents
        end function
        integer(c_int) function costate_bvp_adjoint(b, adjoints) bind(c)
            import
            type(c_ptr), value :: b
            type(costate_bvp_adjoints), intent(in) :: adjoints
        end function
        integer(c_int) function costate_bvp_hessian(b, second) bind(c)
            import
            type(c_ptr), value :: b
            type(costate_bvp_second), intent(in) :: second
        end function

        integer(c_int) function costate_check_bvp(b, from, to, p, report) bind(c)
            import
            type(c_ptr), value :: b
            real(c_double), value :: from, to
            real(c_double), intent(in), optional :: p(*)
            type(costate_report), intent(inout) :: report
        end function
    end interface

contains

    ! tells the library how long the options of this module are, as the macro of C does
    type(c_ptr) function costate_bvp_new(method, problem, conditions, options)
        type(c_ptr), intent(in) :: method
        type(costate_problem), intent(in) :: problem
        type(costate_conditions), intent(in) :: conditions
        type(costate_bvp_options), intent(in), optional :: options
        type(costate_bvp_options) :: one
        costate_bvp_new = costate_bvp_new_sized(c_sizeof(one), method, problem, conditions, options)
    end function

    ! Are the types above those of the library that the program runs with?  Those of costate.f90 as well.
    logical function costate_bvp_library_fits()
        type(costate_conditions) :: conditions
        type(costate_bvp_options) :: options
        type(costate_bvp_stats) :: stats
        type(costate_bvp_tangents) :: tangents
        type(costate_bvp_adjoints) :: adjoints
        type(costate_bvp_second) :: second
        costate_bvp_library_fits = costate_library_fits() .and. all([ &
            fits('costate_conditions', c_sizeof(conditions)), fits('costate_bvp_options', c_sizeof(options)), &
            fits('costate_bvp_stats', c_sizeof(stats)), fits('costate_bvp_tangents', c_sizeof(tangents)), &
            fits('costate_bvp_adjoints', c_sizeof(adjoints)), fits('costate_bvp_second', c_sizeof(second))])
    end function
end module
