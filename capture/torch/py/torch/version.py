__version__ = "2.6.0+whittle"
cuda = None
hip = None
git_version = "whittle"
debug = False
