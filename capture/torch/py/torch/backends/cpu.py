"""What the CPU can do."""


def get_cpu_capability():
    return "DEFAULT"
