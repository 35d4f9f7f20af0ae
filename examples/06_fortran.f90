! 06_fortran.f90 - logistic growth y' = r y (1 - y/K) from Fortran: y(2) and its gradient by y(0), r and K
! from one adjoint run, against the closed form.
module growth
    use costate
    implicit none
    integer(c_int), parameter :: n = 1, np = 2            ! p = (r, K)
contains
    subroutine arrays(x, y, p)
        type(costate_point), intent(in) :: x
        real(c_double), pointer, intent(out) :: y(:), p(:)
        call c_f_pointer(x%y, y, [n])
        call c_f_pointer(x%p, p, [np])
    end subroutine

    integer(c_int) function f(x, out, ctx) bind(c)
        type(costate_point), intent(in) :: x
        real(c_double), intent(out) :: out(*)
        type(c_ptr), value :: ctx
        real(c_double), pointer :: y(:), p(:)
        call arrays(x, y, p)
        out(1) = p(1)*y(1)*(1 - y(1)/p(2))
        f = merge(1, 0, c_associated(ctx))                ! no ctx was given
    end function

    integer(c_int) function f_jac(x, out, ctx) bind(c)
        type(costate_point), intent(in) :: x
        real(c_double), intent(out) :: out(*)
        type(c_ptr), value :: ctx
        real(c_double), pointer :: y(:), p(:)
        call arrays(x, y, p)
        out(1) = p(1)*(1 - 2*y(1)/p(2))
        f_jac = merge(1, 0, c_associated(ctx))
    end function

    integer(c_int) function f_adjoint(x, w, g, ctx) bind(c)
        type(costate_point), intent(in) :: x
        real(c_double), intent(in) :: w(*)
        type(costate_gradient), intent(in) :: g
        type(c_ptr), value :: ctx
        real(c_double), pointer :: y(:), p(:), gy(:), gp(:)
        call arrays(x, y, p)
        if (c_associated(g%y)) then                       ! g += f'(x)^T w, where it is wanted
            call c_f_pointer(g%y, gy, [n])
            gy(1) = gy(1) + p(1)*(1 - 2*y(1)/p(2))*w(1)
        end if
        if (c_associated(g%p)) then
            call c_f_pointer(g%p, gp, [np])
            gp = gp + [y(1)*(1 - y(1)/p(2)), p(1)*(y(1)/p(2))**2]*w(1)
        end if
        f_adjoint = merge(1, 0, c_associated(ctx))
    end function
end module

program example
    use growth
    implicit none
    type(costate_problem) :: problem
    type(costate_options) :: options
    type(costate_stats), pointer :: stats
    type(c_ptr) :: c, tape
    real(c_double) :: y(n), p(np), lambda(n), mu(np), e, d, exact(3)
    integer(c_int) :: status

    if (.not. costate_library_fits()) stop 'compile again with the costate.f90 of this library'
    problem%n = n
    problem%np = np
    problem%rhs%value = c_funloc(f)
    problem%rhs%adjoint = c_funloc(f_adjoint)
    problem%jac = c_funloc(f_jac)
    options%rtol = 1e-10_c_double
    options%atol = 1e-10_c_double
    options%autonomous = 1

    c = costate_new(c_null_ptr, problem, options)
    tape = costate_tape_new()
    y = 0.5_c_double
    p = [3, 2]
    lambda = 1                                            ! the gradient of y(2) by y(2)
    mu = 0
    status = costate_integrate(c, 0._c_double, 2._c_double, y, p, tape)
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1, lambda, mu)
    if (status /= COSTATE_OK) then
        print '(a)', costate_text(costate_message(c))
        stop 1
    end if
    call c_f_pointer(costate_get_stats(c), stats)
    print '(a,f10.8,a,3f11.8,a,i0,a)', 'y(2) = ', y, ', gradient', lambda, mu, ', ', stats%steps, ' steps'
    call costate_tape_free(tape)
    call costate_free(c)

    ! y(t) = K y0 e / d with e = exp(r t), d = K + y0 (e - 1)
    e = exp(p(1)*2)
    d = p(2) + 0.5_c_double*(e - 1)
    exact = [p(2)**2*e/d**2, 2*p(2)*0.5_c_double*e*(p(2) - 0.5_c_double)/d**2, 0.25_c_double*e*(e - 1)/d**2]
    if (maxval(abs([lambda, mu] - exact)) > 1e-8_c_double) stop 1
end program
