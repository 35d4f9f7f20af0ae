! costate_errors.f90 - accuracy.h for Fortran: estimated errors, derivatives to a tolerance; it uses the module costate.
!
! The same names as in C, and the same meanings: accuracy.h says what they are.  One function has another name: Fortran
! does not distinguish costate_accuracy from the status COSTATE_ACCURACY, so that it is costate_accuracy_of here.
! Compile this file with your program, after costate.f90, whose types and conventions it uses:
!
!     gfortran -c INCLUDEDIR/costate/costate.f90 INCLUDEDIR/costate/costate_errors.f90
!     gfortran program.f90 costate_errors.o costate.o -lcostate
!
! tests/packaging/test_fortran.py compares sizes, offsets and procedures with accuracy.h.  For something new there: a
! member is one in its type (same place), a function an interface.
module costate_errors
    use, intrinsic :: iso_c_binding
    use costate
    implicit none

    ! ---- structs --------------------------------------------------------------------------------------------

    type, bind(c) :: costate_functional
        integer(c_int) :: m = 0
        type(c_funptr) :: at_end = c_null_funptr                ! costate_at_end
        integer(c_int) :: count = 0
        type(c_ptr) :: t = c_null_ptr
        type(c_funptr) :: at_time = c_null_funptr               ! costate_at_time
        type(c_ptr) :: ctx = c_null_ptr
        type(c_ptr) :: second = c_null_ptr                      ! costate_second
        type(c_funptr) :: at_time_p = c_null_funptr             ! costate_at_time_p
    end type

    type, bind(c) :: costate_derivatives
        type(c_ptr) :: value = c_null_ptr
        type(c_ptr) :: y0 = c_null_ptr
        type(c_ptr) :: p = c_null_ptr
        type(c_ptr) :: t0 = c_null_ptr
        type(c_ptr) :: t1 = c_null_ptr
        type(c_ptr) :: events = c_null_ptr
    end type

    type, bind(c) :: costate_products
        type(c_ptr) :: y0 = c_null_ptr
        type(c_ptr) :: p = c_null_ptr
    end type

    type, bind(c) :: costate_product_estimate
        type(costate_products) :: run
        type(costate_products) :: error
        type(costate_products) :: better
        type(c_ptr) :: y0_error = c_null_ptr
        type(c_ptr) :: p_error = c_null_ptr
    end type

    type, bind(c) :: costate_estimate
        type(costate_derivatives) :: run
        type(costate_derivatives) :: error
        type(costate_derivatives) :: better
        type(c_ptr) :: value_error = c_null_ptr
        type(c_ptr) :: y0_error = c_null_ptr
        type(c_ptr) :: p_error = c_null_ptr
        type(c_ptr) :: steps = c_null_ptr
        integer(c_int) :: steps_refined = 0
        type(costate_product_estimate) :: products
    end type

    type, bind(c) :: costate_goal
        real(c_double) :: tol = 0
        real(c_double) :: value_atol = 0
        real(c_double) :: gradient_atol = 0
        real(c_double) :: factor = 0
        type(costate_estimate) :: estimate
        real(c_double) :: worst = 0
        real(c_double) :: rtol = 0
        integer(c_int) :: rounds = 0
        real(c_double) :: product_atol = 0
    end type

    ! ---- interfaces of the user's procedures: bind(c) functions; observations count from 0 ------------------------

    abstract interface
        integer(c_int) function costate_at_end(t1, y, p, m, value, lambda, mu, end, ctx) bind(c)
            import
            real(c_double), value :: t1
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            integer(c_int), value :: m
            real(c_double), intent(inout) :: value(*), lambda(*), mu(*), end(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_at_time(k, t, y, m, value, w, ctx) bind(c)
            import
            integer(c_int), value :: k, m
            real(c_double), value :: t
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(inout) :: value(*), w(*)
            type(c_ptr), value :: ctx
        end function
        integer(c_int) function costate_at_time_p(k, t, y, p, m, value, w, mu, ctx) bind(c)
            import
            integer(c_int), value :: k, m
            real(c_double), value :: t
            real(c_double), intent(in) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            real(c_double), intent(inout) :: value(*), w(*), mu(*)
            type(c_ptr), value :: ctx
        end function
    end interface

    ! ---- functions ------------------------------------------------------------------------------------------

    interface
        integer(c_int) function costate_accuracy_of(c, tape, functional, estimate) bind(c, name='costate_accuracy')
            import
            type(c_ptr), value :: c, tape
            type(costate_functional), intent(in) :: functional
            type(costate_estimate), intent(inout) :: estimate
        end function
        integer(c_int) function costate_gradient_within(c, t0, t1, y, p, functional, goal, tape) bind(c)
            import
            type(c_ptr), value :: c, tape
            real(c_double), value :: t0, t1
            real(c_double), intent(inout) :: y(*)
            real(c_double), intent(in), optional :: p(*)
            type(costate_functional), intent(in) :: functional
            type(costate_goal), intent(inout) :: goal
        end function
    end interface

contains

    ! Are the types above those of the library that the program runs with?  Those of costate.f90 as well.
    logical function costate_accuracy_library_fits()
        type(costate_functional) :: functional
        type(costate_derivatives) :: derivatives
        type(costate_products) :: products
        type(costate_product_estimate) :: product_estimate
        type(costate_estimate) :: estimate
        type(costate_goal) :: goal
        costate_accuracy_library_fits = costate_library_fits() .and. all([ &
            fits('costate_functional', c_sizeof(functional)), fits('costate_derivatives', c_sizeof(derivatives)), &
            fits('costate_products', c_sizeof(products)), &
            fits('costate_product_estimate', c_sizeof(product_estimate)), &
            fits('costate_estimate', c_sizeof(estimate)), fits('costate_goal', c_sizeof(goal))])
    end function
end module
