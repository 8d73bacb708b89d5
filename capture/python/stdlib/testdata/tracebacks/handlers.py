for i in range(3):
    try:
        try:
            1 / 0
        finally:
            [].pop()
    except IndexError as e:
        raise e.with_traceback(None)
