"""A process that ran nothing before: it runs a repro's file as it stands, and tells what became of it."""
import gc
import os
import sys

from .outcome import MARKS, failed, outcome
from .process import limit
from .spent import time_compiler, time_lowering
from .whole import whole_files
from .wire import pack, unpack, write_all


def fresh(orders, answers):
    import torch
    import torch._dynamo
    import torch._inductor.compile_fx
    buffer = bytearray()
    while True:
        data = os.read(orders, 1 << 20)
        if not data:
            return
        buffer += data
        job = unpack(buffer)
        if job is not None:
            break
    home = job["home"]
    os.chdir(home)
    with open("repro.py", "w") as f:
        f.write(job["text"])
    for hash in job.get("storages") or []:
        folder = os.path.join(job.get("save_dir") or ".", "storages")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(job["held"], hash)
        size = os.path.getsize(path)
        torch.save(torch.UntypedStorage.from_file(path, False, size) if size else torch.UntypedStorage(0), os.path.join(folder, hash))
    whole_files()
    if job["isa_ok"]:
        torch._inductor.config.cpp.vec_isa_ok = True
    limit(job.get("limits") or {})
    os.environ.pop("TORCHINDUCTOR_COMPILE_THREADS", None)
    torch.set_num_threads(job.get("threads") or 1)
    torch._inductor.config.compile_threads = job.get("compile_threads") or 1

    def say(**message):
        write_all(answers, pack({"nonce": job.get("nonce"), **message}))

    time_compiler(say)
    gc.enable()
    sys.argv = ["repro.py"]
    sys.path.insert(0, home)
    for mark in MARKS[:2]:
        say(mark=mark)
    result = run_file()
    stage = (result.get("error") or result.get("signature") or {}).get("stage")
    for mark in MARKS[2:] if result["status"] == "pass" or stage == "accuracy" else MARKS[2:3] if stage == "run" else []:
        say(mark=mark)
    say(lowered=time_lowering())
    say(result=result)
    sys.stdout.flush()
    os._exit(0)


def run_file():
    import runpy
    try:
        runpy.run_path("repro.py", run_name="__main__")
    except SystemExit as e:
        return outcome("infrastructure", "exit status %s" % e.code) if e.code else outcome("pass")
    except BaseException as e:
        result = failed(e, "run")
        if type(e).__name__ == "AccuracyError" and "error" in result:
            result["error"] = {"stage": "accuracy", "type": "AccuracyError", "message": "Bad accuracy detected", "frame": ""}
        return result
    return outcome("pass")
