# What % says about formats and operands that do not fit.
for f, a in [("no format", '1'), ("no format", 1), ("no format", u'1'), (b"no format", 1), (b'no format', b'1'), ("x", []), ("x", {}), ("x", ()), ("%s", ()), ("%s %s", "a"), ("%(a)s", 1), ("%(a)s", {"a": 2}), ("%z", 1), ("%", 1), ("abc%", ()), ("%.", 1), ("%ls", 1), ("%(a", {}), (b"%z", 1), ("é%z", 1), ("%é", 1), ("%\u1234", 1), ("%0*d", (5, 3)), ("%-05d|", 3), ("%+ d", 3), ("%#x", 255), ("%.3s", "abcdef"), ("%c", 300), (b"%c", 300), (b"%c", b"ab"), ("%5%", ()), ("%r %a", ("é", "é")), ("%e %G", (1.5, 1e20)), ("%F", float("inf")), ("%x", -255), ("%i", True), ("%s" * 3, (1, 2))]:
    try: print(f % a)
    except Exception as e: print(type(e).__name__, e)
