"""Parts of passes: graphs taken out of graphs, and found in graphs."""
from torch.fx.passes.utils.common import HolderModule, compare_graphs, lift_subgraph_as_module

__all__ = ["HolderModule", "lift_subgraph_as_module", "compare_graphs"]
