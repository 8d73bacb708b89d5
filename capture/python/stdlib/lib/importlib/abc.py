class Loader: pass
class MetaPathFinder: pass
class PathEntryFinder: pass
