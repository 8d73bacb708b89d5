"""Models and weights from elsewhere: repositories with a hubconf.py in a folder, and files by their addresses, kept in a folder of their own."""
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from urllib.parse import urlparse
from urllib.request import Request, urlopen

import torch

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_dir = None


def get_dir():
    if os.getenv("TORCH_HUB"):
        import warnings

        warnings.warn("TORCH_HUB is deprecated, please use env TORCH_HOME instead")
    if _dir is not None:
        return _dir
    home = os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "torch")))
    return os.path.join(home, "hub")


def set_dir(d):
    global _dir
    _dir = os.path.expanduser(d)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Writes what an address gives to a file, whole or not at all."""
    dst = os.path.expanduser(dst)
    sha = hashlib.sha256()
    part = tempfile.NamedTemporaryFile(delete=False, dir=os.path.dirname(dst) or ".", suffix=".partial")
    try:
        with part, urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as source:
            while chunk := source.read(1 << 17):
                part.write(chunk)
                sha.update(chunk)
        digest = sha.hexdigest()
        if hash_prefix is not None and digest[: len(hash_prefix)] != hash_prefix:
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest}")')
        shutil.move(part.name, dst)
    finally:
        if os.path.exists(part.name):
            os.remove(part.name)


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False):
    model_dir = model_dir or os.path.join(get_dir(), "checkpoints")
    os.makedirs(model_dir, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    cached = os.path.join(model_dir, name)
    if not os.path.exists(cached):
        sys.stderr.write(f'Downloading: "{url}" to {cached}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, cached, found.group(1) if found else None, progress=progress)
    return torch.load(cached, map_location=map_location, weights_only=weights_only)


def _hubconf(repo_or_dir, source):
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise NotImplementedError("torch.hub: repositories of GitHub are not fetched; get a clone, and load it with source='local'")
    path = os.path.join(repo_or_dir, "hubconf.py")
    sys.path.insert(0, repo_or_dir)
    try:
        spec = importlib.util.spec_from_file_location("hubconf.py", path)
        m = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(m)
    finally:
        sys.path.remove(repo_or_dir)
    missing = [d for d in getattr(m, "dependencies", []) if importlib.util.find_spec(d) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return m


def _entry(m, name):
    if not isinstance(name, str):
        raise ValueError("Invalid input: model should be a string of function name")
    f = getattr(m, name, None)
    if not callable(f):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return f


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True, source="github"):
    m = _hubconf(github, source)
    return [n for n in dir(m) if callable(getattr(m, n)) and not n.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None, source="github"):
    return _entry(_hubconf(github, source), model).__doc__


def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True, skip_validation=False, **kwargs):
    return _entry(_hubconf(os.path.expanduser(repo_or_dir), source), model)(*args, **kwargs)
