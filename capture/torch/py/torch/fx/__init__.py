from torch.fx.graph_module import GraphModule
from torch.fx.graph import Graph
from torch.fx.node import Node
from torch.fx.interpreter import Interpreter
from torch.fx._symbolic_trace import symbolic_trace
from torch.fx import experimental
from torch._absent import declare

declare("Proxy", "Tracer", "Transformer")
