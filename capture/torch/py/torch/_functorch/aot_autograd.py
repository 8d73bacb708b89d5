"""AOTAutograd for programs: not from Python."""
from torch._absent import declare

declare("_aot_export_function", "aot_export_joint_simple", "aot_export_module", "aot_function", "aot_module", "aot_module_simplified",
        "compiled_function", "compiled_module", "create_functional_call", "get_aot_compilation_context", "get_graph_being_compiled",
        "setup_stacktrace_preservation_hooks", "SerializableAOTDispatchCompiler", "AOTConfig", "make_boxed_compiler", "make_boxed_func")
