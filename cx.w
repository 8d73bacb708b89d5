whittle: cx.py: no such file
