
def may_draw(name, args, kwargs):
    """Whether a call of that name, without module and overload, draws random numbers: one of its forms that the arguments fit has no switch
    off. None for a name that is not known."""
    if name.startswith("inductor_rand"):  # run eagerly they draw, whatever their seed is
        return True
    if name not in DRAWS:
        return None
    on = []
    for form in DRAWS[name]:
        given = [kwargs.get(arg, args[at] if at < len(args) else (default + [None])[0]) for arg, at, *default in form]
        if all(value is not None or default for value, (_, _, *default) in zip(given, form)):
            on.append(all(not isinstance(value, (bool, int, float)) or value for value in given))
    return any(on) or not on


def names_draw(words):
    """Whether one of the words is a name of what may draw."""
    return any(w in DRAWS or w.startswith("inductor_rand") for w in words)
