"""Export of whole programs."""
from torch._absent import declare

declare("Constraint", "Dim", "ExportBackwardSignature", "ExportGraphSignature", "ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "dims",
        "export", "export_for_training", "load", "register_dataclass", "save", "unflatten")
