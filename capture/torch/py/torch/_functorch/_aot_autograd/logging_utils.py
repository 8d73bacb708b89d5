"""What is compiled at the moment."""
import contextlib

model_name = "model"
nth_graph = 0
graph_being_compiled = []


def set_model_name(name):
    global model_name
    model_name = name


def get_aot_compilation_context():
    """The graphs that are compiled now, the model's name, and how many graphs were before."""
    return list(graph_being_compiled), model_name, nth_graph


def get_aot_graph_name():
    """A name for the graph that is compiled now, such as model__0_forward_1."""
    return f"{model_name}__{'_'.join(graph_being_compiled)}_{nth_graph}"


get_graph_being_compiled = get_aot_graph_name


@contextlib.contextmanager
def track_graph_compiling(aot_config, graph_name):
    """While it is open, a graph of this kind (joint, forward, backward, inference) is compiled."""
    global nth_graph, graph_being_compiled
    graph_being_compiled = [f"{aot_config.aot_id}_{graph_name}"]
    try:
        yield
    finally:
        nth_graph += 1
        graph_being_compiled = []
