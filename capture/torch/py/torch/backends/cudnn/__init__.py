enabled = True
benchmark = False
deterministic = False
