! costate_operators.f90 - operators.h for Fortran: splittings and Chebyshev polynomials; it uses the module costate.
!
! The same names as in C, and the same meanings: operators.h says what they are.  Compile this file with your program,
! after costate.f90, whose types and conventions it uses:
!
!     gfortran -c INCLUDEDIR/costate/costate.f90 INCLUDEDIR/costate/costate_operators.f90
!     gfortran program.f90 costate_operators.o costate.o -lcostate
!
! tests/packaging/test_fortran.py compares sizes, offsets and procedures with operators.h.  For something new there: a
! member is one in its type (same place), a function an interface.
module costate_operators
    use, intrinsic :: iso_c_binding
    use costate
    implicit none

    ! ---- structs --------------------------------------------------------------------------------------------

    type, bind(c) :: costate_part
        type(c_funptr) :: matrix = c_null_funptr                ! costate_part_matrix
        type(c_ptr) :: pattern = c_null_ptr
        integer(c_int) :: solver = 0
        type(c_funptr) :: lines = c_null_funptr                 ! costate_part_lines
        integer(c_int) :: points = 0
        integer(c_int) :: stride = 0
        integer(c_int) :: periodic = 0
        type(c_ptr) :: ctx = c_null_ptr
    end type

    type, bind(c) :: costate_polynomial
        type(c_ptr) :: inner = c_null_ptr
        type(c_funptr) :: apply = c_null_funptr                 ! costate_linear_map
        type(c_ptr) :: ctx = c_null_ptr
        integer(c_int) :: terms = 0
        real(c_double) :: lo = 0
        real(c_double) :: hi = 0
        integer(c_int) :: columns = 0
    end type

    ! ---- interfaces of the user's procedures: bind(c) functions; unknowns count from 0 ----------------------------

    abstract interface
        integer(c_int) function costate_part_matrix(x, A, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x
            real(c_double), intent(inout) :: A(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_part_lines(x, lower, diagonal, upper, ctx) bind(c)
            import
            type(costate_point), intent(in) :: x
            real(c_double), intent(inout) :: lower(*), diagonal(*), upper(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_linear_map(transposed, x, out, ctx) bind(c)
            import
            integer(c_int), value :: transposed
            real(c_double), intent(in) :: x(*)
            real(c_double), intent(inout) :: out(*)
            type(c_ptr), value :: ctx
        end function
    end interface

    ! ---- functions; messages are C strings, for costate_text ---------------------------------------------------------

    interface
        type(c_ptr) function costate_splitting_new(problem, count, parts) bind(c)
            import
            type(costate_problem), intent(in) :: problem
            integer(c_int), value :: count
            type(costate_part), intent(in) :: parts(*)
        end function
        subroutine costate_splitting_free(s) bind(c)
            import
            type(c_ptr), value :: s
        end subroutine
        type(c_ptr) function costate_splitting_preconditioner(s) bind(c)
            import
            type(c_ptr), value :: s
        end function
        integer(c_int) function costate_splitting_status(s) bind(c)
            import
            type(c_ptr), value :: s
        end function
        type(c_ptr) function costate_splitting_message(s) bind(c)
            import
            type(c_ptr), value :: s
        end function
        type(c_ptr) function costate_chebyshev_new(problem, polynomial) bind(c)
            import
            type(costate_problem), intent(in) :: problem
            type(costate_polynomial), intent(in) :: polynomial
        end function
        subroutine costate_chebyshev_free(c) bind(c)
            import
            type(c_ptr), value :: c
        end subroutine
        type(c_ptr) function costate_chebyshev_preconditioner(c) bind(c)
            import
            type(c_ptr), value :: c
        end function
        integer(c_int) function costate_chebyshev_status(c) bind(c)
            import
            type(c_ptr), value :: c
        end function
        type(c_ptr) function costate_chebyshev_message(c) bind(c)
            import
            type(c_ptr), value :: c
        end function
    end interface

contains

    ! Are the types above those of the library that the program runs with?  Those of costate.f90 as well.
    logical function costate_operators_library_fits()
        type(costate_part) :: part
        type(costate_polynomial) :: polynomial
        costate_operators_library_fits = costate_library_fits() .and. all([ &
            fits('costate_part', c_sizeof(part)), fits('costate_polynomial', c_sizeof(polynomial))])
    end function
end module
