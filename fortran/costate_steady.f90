! costate_steady.f90 - steady.h for Fortran: steady states, in addition to the module costate.
!
! The same names as in C, and the same meanings: steady.h says what they are.  Compile it with your program, behind
! costate.f90, whose types and conventions it takes:
!
!     gfortran -c INCLUDEDIR/costate/costate.f90 INCLUDEDIR/costate/costate_steady.f90
!     gfortran program.f90 costate_steady.o costate.o -lcostate
!
! tests/packaging/test_fortran.py compares sizes, offsets and procedures with steady.h.
module costate_steady
    use, intrinsic :: iso_c_binding
    use costate
    implicit none

    type, bind(c) :: costate_steady_options
        real(c_double) :: t0 = 0
        real(c_double) :: longest = 0
        type(costate_map) :: invariant
        type(c_ptr) :: ctx = c_null_ptr
        type(c_ptr) :: fixed = c_null_ptr                       ! indices of parameters, counted from 0
        type(c_ptr) :: values = c_null_ptr
        integer(c_int) :: invariants = 0
        integer(c_int) :: unstable = 0
        integer(c_size_t) :: nfixed = 0
    end type

    type, bind(c) :: costate_steady_stats
        integer(c_int) :: rank = 0
        integer(c_int) :: invariants = 0
        real(c_double) :: slowest = 0
        real(c_double) :: t = 0
        integer(c_int) :: steps = 0
        integer(c_int) :: attempts = 0
        integer(c_int) :: iterations = 0
        type(costate_stats) :: calls
    end type

    interface
        type(c_ptr) function costate_steady_new_sized(run_size, options_size, method, problem, run, options) bind(c)
            import
            integer(c_size_t), value :: run_size, options_size
            type(c_ptr), value :: method
            type(costate_problem), intent(in) :: problem
            type(costate_options), intent(in), optional :: run
            type(costate_steady_options), intent(in), optional :: options
        end function
        subroutine costate_steady_free(s) bind(c)
            import
            type(c_ptr), value :: s
        end subroutine
        subroutine costate_steady_abandon(s) bind(c)
            import
            type(c_ptr), value :: s
        end subroutine
        type(c_ptr) function costate_steady_message(s) bind(c)               ! costate_text makes a string of it
            import
            type(c_ptr), value :: s
        end function
        type(c_ptr) function costate_steady_get_stats(s) bind(c)             ! costate_steady_stats
            import
            type(c_ptr), value :: s
        end function

        integer(c_int) function costate_steady_solve(s, y, p) bind(c)
            import
            type(c_ptr), value :: s
            real(c_double), intent(inout) :: y(*)
            real(c_double), intent(in), optional :: p(*)
        end function
        type(c_ptr) function costate_steady_invariants(s) bind(c)            ! n by stats%invariants
            import
            type(c_ptr), value :: s
        end function
        integer(c_int) function costate_steady_tangent(s, m, V, Vp) bind(c)
            import
            type(c_ptr), value :: s
            integer(c_int), value :: m
            real(c_double), intent(inout) :: V(*)
            real(c_double), intent(in), optional :: Vp(*)
        end function
        integer(c_int) function costate_steady_adjoint(s, m, lambda, mu) bind(c)
            import
            type(c_ptr), value :: s
            integer(c_int), value :: m
            real(c_double), intent(inout) :: lambda(*)
            real(c_double), intent(inout), optional :: mu(*)
        end function
        type(costate_map) function costate_steady_map(s) bind(c)
            import
            type(c_ptr), value :: s
        end function
    end interface

contains

    ! tells the library how long the options of these modules are, as the macro of C does
    type(c_ptr) function costate_steady_new(method, problem, run, options)
        type(c_ptr), intent(in) :: method
        type(costate_problem), intent(in) :: problem
        type(costate_options), intent(in), optional :: run
        type(costate_steady_options), intent(in), optional :: options
        type(costate_options) :: of_run
        type(costate_steady_options) :: one
        costate_steady_new = costate_steady_new_sized(c_sizeof(of_run), c_sizeof(one), method, problem, run, options)
    end function

    ! Are the types above those of the library that the program runs with?  Those of costate.f90 as well.
    logical function costate_steady_library_fits()
        type(costate_steady_options) :: options
        type(costate_steady_stats) :: stats
        costate_steady_library_fits = costate_library_fits() .and. all([ &
            fits('costate_steady_options', c_sizeof(options)), fits('costate_steady_stats', c_sizeof(stats))])
    end function
end module
