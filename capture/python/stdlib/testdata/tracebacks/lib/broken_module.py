x = 1
def boom(n):
    return [1 / (i - n) for i in range(5)]
y = undefined_thing
