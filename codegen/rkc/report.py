"""The report of `check` on a method of family rkc."""
from ..real import tiny


def report(m):
    s = [d.s for d in m.degrees]
    lines = [f"{m.path}: {m.keys['title']}",
             f"  family          rkc, {len(s)} degrees from {s[0]} to {s[-1]}, at most "
             f"{100 * max((y - x - 1) / (x + 1) for x, y in zip(s, s[1:])):.1f} % above the one that is needed",
             f"  tolerance       {tiny(m.tol)}" + (f" ({m.keys['digits']} digits given)" if "digits" in m.keys else ""),
             f"  y+              order {m.keys['order']} for every degree: largest residual {worst(m, 'held')}, of the "
             f"doubles {worst(m, 'rounded')}; order {m.keys['order'] + 1} fails by {span(m, 'failed')}",
             f"  y+ + est        order {m.keys['embedded']}; order {m.keys['embedded'] + 1} fails by "
             f"{span(m, 'embedded_failed')}"]
    if m.degrees[0].polynomial:
        lines.append(f"  polynomials     conditions of order and damping: largest residual {worst(m, 'conditions')}")
    lines.append(f"  |R|             at most {max(f.interval.largest for f in m.found):.9f} from the first extremum "
                 "to -beta; |R| of y+ + est at most "
                 f"{max(f.interval.embedded for f in m.found):.4g}")
    lines.append("    s     beta  beta/s^2    |R|       errors of 1 in the stages reach y+ as (root mean square, most)")
    chosen = sorted({0, 1, 2, len(s) // 4, len(s) // 2, 3 * len(s) // 4, len(s) - 1})
    for d, f in ((m.degrees[k], m.found[k]) for k in chosen if k < len(s)):
        lines.append(f"  {d.s:3d} {float(d.beta):8.2f}  {float(d.beta / d.s ** 2):.6f}  {f.interval.largest:.6f}  "
                     f"{f.interval.noise:9.2g} {f.interval.most_noise:9.2g}")
    return "\n".join(lines)


def row(m):
    """Of the README's table; where others have their stages it has the degrees."""
    last = m.degrees[-1]
    stable = f"[-{float(last.beta / last.s ** 2):.3f} s^2, 0]"
    return (m.keys["name"], m.keys["title"], "rkc", f"{m.degrees[0].s} to {last.s}",
            f"{m.keys['order']}({m.keys['embedded']})", str(m.dense), stable, "", "", "")


def worst(m, key):
    return tiny(max(getattr(f, key) for f in m.found))


def span(m, key):
    found = [float(getattr(f, key)) for f in m.found]
    return f"{min(found):.2g} to {max(found):.2g}"
