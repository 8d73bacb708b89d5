class SourceFileLoader: pass
class ModuleSpec: pass
