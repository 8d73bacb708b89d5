"""Process groups of one process: each collective has this process alone, so that what it sends is what it gets."""
import datetime
import os
import pickle

import torch

default_pg_timeout = datetime.timedelta(minutes=30)


class Backend(str):
    UNDEFINED, GLOO, NCCL, UCC, MPI = "undefined", "gloo", "nccl", "ucc", "mpi"

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish: {name}")
        return str.__new__(cls, name.lower())


class _Op(int):
    """A way to combine tensors."""

    def __new__(cls, value, name):
        op = int.__new__(cls, value)
        op.name = name
        return op

    def __repr__(self):
        return f"<RedOpType.{self.name}: {int(self)}>"


class ReduceOp:
    RedOpType = _Op
    SUM, AVG, PRODUCT, MIN, MAX = (_Op(i, n) for i, n in enumerate(("SUM", "AVG", "PRODUCT", "MIN", "MAX")))
    BAND, BOR, BXOR, PREMUL_SUM = (_Op(i + 5, n) for i, n in enumerate(("BAND", "BOR", "BXOR", "PREMUL_SUM")))


reduce_op = ReduceOp


class Work:
    """A collective that has been done."""

    def __init__(self, result=None):
        self._result = result

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True

    def is_success(self):
        return True

    def exception(self):
        return None

    def result(self):
        return self._result

    def get_future(self):
        future = torch.futures.Future()
        future.set_result(self._result)
        return future


class ProcessGroup:
    def __init__(self, backend, name=""):
        self._backend, self._name = Backend(backend), name

    def rank(self):
        return 0

    def size(self):
        return 1

    def name(self):
        return str(self._backend)

    @property
    def group_name(self):
        return self._name

    @property
    def group_desc(self):
        return "default_pg" if self._name == "0" else "undefined"


class _World:
    def __init__(self):
        self.default, self.count, self.known = None, 0, []


_world = _World()


class _Group:
    """The names of the default group, and of no group."""

    @property
    def WORLD(self):
        return _world.default


class GroupMember:
    NON_GROUP_MEMBER = -100


group = _Group()


def is_initialized():
    return _world.default is not None


def is_mpi_available():
    return False


def is_nccl_available():
    return False


def is_gloo_available():
    return True


def is_ucc_available():
    return False


def is_torchelastic_launched():
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def is_backend_available(backend):
    return backend.lower() in ("gloo", "fake")


def _get_default_group():
    if not is_initialized():
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _world.default


def _env(name):
    if name not in os.environ:
        raise ValueError(f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, but not set")
    return os.environ[name]


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None, device_id=None):
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None and (world_size <= 0 or rank < 0):
        raise AssertionError("world_size must be positive if using store" if world_size <= 0 else "rank must be non-negative if using store")
    if store is None and (init_method is None or init_method.startswith("env:")):
        rank = int(_env("RANK")) if rank == -1 else rank
        world_size = int(_env("WORLD_SIZE")) if world_size == -1 else world_size
        _env("MASTER_ADDR"), _env("MASTER_PORT")
    if backend is not None and Backend(backend) in ("nccl", "mpi", "ucc"):
        name = {"nccl": "NCCL", "mpi": "MPI", "ucc": "UCC"}[Backend(backend)]
        raise RuntimeError(f"Distributed package doesn't have {name} built in")
    if world_size != 1 or rank != 0:
        raise NotImplementedError(f"torch.distributed with rank {rank} of {world_size} processes is not supported: only one process is")
    _world.default, _world.count, _world.known = ProcessGroup(backend or "gloo", "0"), 1, []


def destroy_process_group(group=None):
    if group is None or group is _world.default:
        _get_default_group()
        _world.default, _world.known = None, []
    elif group in _world.known:
        _world.known.remove(group)
    else:
        raise ValueError("Invalid process group specified")


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None, device_id=None):
    default = _get_default_group()
    for r in ranks or ():
        if not 0 <= r < 1:
            raise ValueError(f"The new group's rank should be within the world_size set by init_process_group. Got {sorted(ranks)}, world size is 1" if r >= 1
                             else "The new group's rank should be within the world_size set by init_process_group")
    if ranks is not None and not ranks:
        return GroupMember.NON_GROUP_MEMBER
    made = ProcessGroup(backend or default._backend, str(_world.count))
    _world.count += 1
    _world.known.append(made)
    return made


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    made = new_group([0], timeout, backend)
    return made, [made]


def get_rank(group=None):
    _get_default_group()
    return -1 if group == GroupMember.NON_GROUP_MEMBER else 0


def get_world_size(group=None):
    _get_default_group()
    return -1 if group == GroupMember.NON_GROUP_MEMBER else 1


def get_backend(group=None):
    return (group or _get_default_group())._backend


def get_process_group_ranks(group):
    return [0]


def get_group_rank(group, global_rank):
    return _only(global_rank)


def get_global_rank(group, group_rank):
    return _only(group_rank)


def get_node_local_rank(fallback_rank=None):
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, assuming you are not running in a multi-device context "
                       "and want the code to run locally instead.")


def _only(rank):
    if rank not in (0, None):
        raise ValueError(f"Global rank {rank} is not part of group")
    return 0


def _check(tensor, name):
    _get_default_group()
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n             but got {type(tensor)} instead.")


def _check_list(tensors, name):
    _get_default_group()
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(t, torch.Tensor) for t in tensors):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n             but got {type(tensors)} with elements of type "
                        f"{[type(t) for t in tensors] if isinstance(tensors, (list, tuple)) else None}.")
    if len(tensors) != 1:
        raise ValueError(f"{name} has {len(tensors)} tensors for a group of 1 process")


def _done(async_op, result=None):
    return Work(result) if async_op else None


def _put(output, input):
    with torch.no_grad():
        output.copy_(input.reshape(output.shape))


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    _check(tensor, "tensor")
    return _done(async_op, [tensor])


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    return _done(async_op, tensors)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    _check(tensor, "tensor")
    _only(src)
    return _done(async_op, [tensor])


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    _check(tensor, "tensor")
    _only(dst)
    return _done(async_op, [tensor])


def all_gather(tensor_list, tensor, group=None, async_op=False):
    _check(tensor, "tensor")
    _check_list(tensor_list, "tensor_list")
    _put(tensor_list[0], tensor)
    return _done(async_op, tensor_list)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    _check(input_tensor, "input_tensor")
    _put(output_tensor, input_tensor)
    return _done(async_op, [output_tensor])


_all_gather_base = all_gather_into_tensor


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    _check(tensor, "tensor")
    _only(dst)
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _check_list(gather_list, "gather_list")
    _put(gather_list[0], tensor)
    return _done(async_op, gather_list)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    _check(tensor, "tensor")
    _only(src)
    if not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    _check_list(scatter_list, "scatter_list")
    _put(tensor, scatter_list[0])
    return _done(async_op, [tensor])


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    _check(output, "output")
    _check_list(input_list, "input_list")
    _put(output, input_list[0])
    return _done(async_op, [output])


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    _check(output, "output")
    _put(output, input)
    return _done(async_op, [output])


_reduce_scatter_base = reduce_scatter_tensor


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    _check_list(output_tensor_list, "output_tensor_list")
    _check_list(input_tensor_list, "input_tensor_list")
    _put(output_tensor_list[0], input_tensor_list[0])
    return _done(async_op, output_tensor_list)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    _check(output, "output")
    _put(output, input)
    return _done(async_op, [output])


def barrier(group=None, async_op=False, device_ids=None):
    _get_default_group()
    return _done(async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    _get_default_group()


def _to_itself(what):
    raise ValueError(f"Invalid {what} rank: {what} rank should not be the same as the rank of the current process.")


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    _check(tensor, "tensor")
    _to_itself("destination")


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    send(tensor, dst, group, tag)


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    _check(tensor, "tensor")
    _to_itself("source")


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    recv(tensor, src, group, tag)


class P2POp:
    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag


def batch_isend_irecv(p2p_op_list):
    return [p.op(p.tensor, p.peer, p.group, p.tag) for p in p2p_op_list]


def _through_bytes(obj):
    """An object as the other side gets it."""
    return pickle.loads(pickle.dumps(obj))


def all_gather_object(object_list, obj, group=None):
    _get_default_group()
    object_list[0] = _through_bytes(obj)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    _get_default_group()
    _only(dst)
    object_gather_list[0] = _through_bytes(obj)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    _get_default_group()
    _only(src)


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None):
    _get_default_group()
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    scatter_object_output_list[0] = _through_bytes(scatter_object_input_list[0])


class Store:
    """Keys and values that the processes of a group share: here those of one."""

    def __init__(self):
        self._values, self._timeout = {}, default_pg_timeout

    def set(self, key, value):
        self._values[key] = value if isinstance(value, bytes) else str(value).encode()

    def get(self, key):
        if key not in self._values:
            raise RuntimeError(f"Key {key} not found in TCPStore" if isinstance(self, TCPStore) else "Socket Timeout")
        return self._values[key]

    def add(self, key, amount):
        n = int(self._values.get(key, b"0")) + amount
        self.set(key, n)
        return n

    def compare_set(self, key, expected_value, desired_value):
        if self._values.get(key, b"").decode() == expected_value:
            self.set(key, desired_value)
        return self._values.get(key, expected_value.encode())

    def check(self, keys):
        return all(k in self._values for k in keys)

    def wait(self, keys, timeout=None):
        if not self.check(keys):
            raise RuntimeError("Wait timeout")

    def delete_key(self, key):
        return self._values.pop(key, None) is not None

    def num_keys(self):
        return len(self._values)

    def set_timeout(self, timeout):
        self._timeout = timeout

    @property
    def timeout(self):
        return self._timeout


class HashStore(Store):
    pass


class FileStore(Store):
    def __init__(self, file_name, world_size=-1):
        super().__init__()
        self.path = file_name


class TCPStore(Store):
    def __init__(self, host_name, port, world_size=None, is_master=False, timeout=default_pg_timeout, wait_for_workers=True, **kwargs):
        super().__init__()
        if not is_master:
            raise NotImplementedError("torch.distributed.TCPStore: another process as master is not supported")
        self.host, self.port = host_name, port


class PrefixStore(Store):
    def __init__(self, prefix, store):
        super().__init__()
        self.prefix, self.underlying_store = prefix, store

    def set(self, key, value):
        self.underlying_store.set(f"{self.prefix}/{key}", value)

    def get(self, key):
        return self.underlying_store.get(f"{self.prefix}/{key}")

    def add(self, key, amount):
        return self.underlying_store.add(f"{self.prefix}/{key}", amount)


__all__ = [n for n in globals() if not n.startswith("_") and n not in ("datetime", "os", "pickle", "torch")]
