raise ExceptionGroup("eg", [ValueError(1), TypeError("x")])
