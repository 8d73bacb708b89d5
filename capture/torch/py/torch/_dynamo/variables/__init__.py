"""The values of a trace: native code keeps them, and programs can name their classes."""
from torch._absent import declare

declare("AutogradFunctionContextVariable", "AutogradFunctionVariable", "BaseListVariable", "BaseTorchVariable", "BuiltinVariable",
        "CatchWarningsCtxManagerVariable", "ClosureVariable", "ConstDictVariable", "ConstantVariable", "ContextWrappingVariable",
        "CountIteratorVariable", "DataClassVariable", "DeletedVariable", "DeterministicAlgorithmsVariable", "EnumVariable", "FakeItemVariable",
        "FunctoolsPartialVariable", "GetAttrVariable", "GradModeVariable", "IteratorVariable", "LambdaVariable", "LazyVariableTracker",
        "ListIteratorVariable", "ListVariable", "NNModuleVariable", "NamedTupleVariable", "NestedUserFunctionVariable", "NumpyNdarrayVariable",
        "PlacementVariable", "PythonModuleVariable", "RangeVariable", "RegexPatternVariable", "SkipFunctionVariable", "SliceVariable",
        "SuperVariable", "SymNodeVariable", "TensorVariable", "TorchCtxManagerClassVariable", "TorchInGraphFunctionVariable", "TorchVersionVariable",
        "TupleVariable", "TypingVariable", "UnknownVariable", "UnspecializedNNModuleVariable", "UnspecializedPythonVariable",
        "UserDefinedClassVariable", "UserDefinedObjectVariable", "UserFunctionVariable", "UserMethodVariable", "VariableTracker")
