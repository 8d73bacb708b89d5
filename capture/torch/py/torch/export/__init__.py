"""Export of whole programs."""
from torch._absent import declare
from torch.export.dynamic_shapes import Constraint, Dim, ShapesCollection, dims

declare("ExportBackwardSignature", "ExportGraphSignature", "ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", 
        "export", "export_for_training", "load", "register_dataclass", "save", "unflatten")
