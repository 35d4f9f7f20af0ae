! costate_periodic.f90 - periodic.h for Fortran: periodic orbits, in addition to the module costate.
!
! The same names as in C, and the same meanings: periodic.h says what they are.  Compile it with your program, behind
! costate.f90, whose types and conventions it takes:
!
!     gfortran -c INCLUDEDIR/costate/costate.f90 INCLUDEDIR/costate/costate_periodic.f90
!     gfortran program.f90 costate_periodic.o costate.o -lcostate
!
! tests/packaging/test_fortran.py compares sizes, offsets and procedures with periodic.h.
module costate_periodic
    use, intrinsic :: iso_c_binding
    use costate
    implicit none

    type, bind(c) :: costate_periodic_options
        real(c_double) :: t0 = 0
        real(c_double) :: period = 0
        real(c_double) :: settle = 0
        type(c_ptr) :: invariants = c_null_ptr
        integer(c_int) :: ninvariants = 0
        integer(c_int) :: newton_max = 0
    end type

    ! The function that fills it has the name costate_periodic_orbit.
    type, bind(c) :: costate_orbit
        real(c_double) :: period = 0
        real(c_double) :: residual = 0
        real(c_double) :: sensitivity = 0
        real(c_double) :: multiplier = 0
        integer(c_int) :: stable = 0
        integer(c_int) :: iterations = 0
        integer(c_int) :: frozen = 0
        integer(c_int) :: steps = 0
    end type

    abstract interface
        integer(c_int) function costate_periodic_seed(X, p, m, V, Vp, lambda, mu, lambda2, mu2, ctx) bind(c)
            import
            integer(c_int), value :: m
            real(c_double), intent(in) :: X(*), V(*)
            real(c_double), intent(in), optional :: p(*), Vp(*)
            real(c_double), intent(inout) :: lambda(*), lambda2(*)
            real(c_double), intent(inout), optional :: mu(*), mu2(*)
            type(c_ptr), value :: ctx
        end function
    end interface

    interface
        type(c_ptr) function costate_periodic_new_sized(run_size, options_size, method, problem, run, options) bind(c)
            import
            integer(c_size_t), value :: run_size, options_size
            type(c_ptr), value :: method
            type(costate_problem), intent(in) :: problem
            type(costate_options), intent(in), optional :: run
            type(costate_periodic_options), intent(in), optional :: options
        end function
        subroutine costate_periodic_free(c) bind(c)
            import
            type(c_ptr), value :: c
        end subroutine
        subroutine costate_periodic_abandon(c) bind(c)
            import
            type(c_ptr), value :: c
        end subroutine
        type(c_ptr) function costate_periodic_message(c) bind(c)             ! costate_text makes a string of it
            import
            type(c_ptr), value :: c
        end function

        integer(c_int) function costate_periodic_solve(c, y, T, p) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), intent(inout) :: y(*)
            real(c_double), intent(inout), optional :: T
            real(c_double), intent(in), optional :: p(*)
        end function
        integer(c_int) function costate_periodic_orbit(c, orbit) bind(c)
            import
            type(c_ptr), value :: c
            type(costate_orbit), intent(inout) :: orbit
        end function
        integer(c_int) function costate_periodic_eval(c, t, y) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), value :: t
            real(c_double), intent(inout) :: y(*)
        end function
        integer(c_int) function costate_periodic_get(c, X) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), intent(inout) :: X(*)
        end function
        integer(c_int) function costate_periodic_multipliers(c, re, im) bind(c)
            import
            type(c_ptr), value :: c
            real(c_double), intent(inout) :: re(*), im(*)
        end function

        integer(c_int) function costate_periodic_tangent(c, m, Vp, V) bind(c)
            import
            type(c_ptr), value :: c
            integer(c_int), value :: m
            real(c_double), intent(in) :: Vp(*)
            real(c_double), intent(inout) :: V(*)
        end function
        integer(c_int) function costate_periodic_adjoint(c, m, lambda, mu) bind(c)
            import
            type(c_ptr), value :: c
            integer(c_int), value :: m
            real(c_double), intent(in) :: lambda(*)
            real(c_double), intent(inout) :: mu(*)
        end function
        integer(c_int) function costate_periodic_hessian(c, m, Vp, seed, ctx, mu, mu2) bind(c)
            import
            type(c_ptr), value :: c
            integer(c_int), value :: m
            real(c_double), intent(in) :: Vp(*)
            type(c_funptr), value :: seed                                    ! costate_periodic_seed
            type(c_ptr), value :: ctx
            real(c_double), intent(inout) :: mu(*), mu2(*)
        end function
        integer(c_int) function costate_periodic_multiplier_gradient(c, k, re, im) bind(c)
            import
            type(c_ptr), value :: c
            integer(c_int), value :: k
            real(c_double), intent(inout) :: re(*)
            real(c_double), intent(inout), optional :: im(*)
        end function
    end interface

contains

    ! tells the library how long the options of these modules are, as the macro of C does
    type(c_ptr) function costate_periodic_new(method, problem, run, options)
        type(c_ptr), intent(in) :: method
        type(costate_problem), intent(in) :: problem
        type(costate_options), intent(in), optional :: run
        type(costate_periodic_options), intent(in), optional :: options
        type(costate_options) :: of_run
        type(costate_periodic_options) :: one
        costate_periodic_new = costate_periodic_new_sized(c_sizeof(of_run), c_sizeof(one), method, problem, run, &
            options)
    end function

    ! Are the types above those of the library that the program runs with?  Those of costate.f90 as well.
    logical function costate_periodic_library_fits()
        type(costate_periodic_options) :: options
        type(costate_orbit) :: orbit
        costate_periodic_library_fits = costate_library_fits() .and. all([ &
            fits('costate_periodic_options', c_sizeof(options)), fits('costate_orbit', c_sizeof(orbit))])
    end function
end module
