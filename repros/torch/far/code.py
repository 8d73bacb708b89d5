"""The job "code": the code that Inductor generates for a repro, as texts in the order in which graphs are compiled."""
import re

from .run import query


def code(server):
    run = query(server)

    def work(job, mark):
        import torch._inductor.config
        from torch._inductor.graph import GraphLowering
        texts = []
        GraphLowering.save_output_code = staticmethod(texts.append)  # a place that torch has for its own tests
        if hasattr(torch._inductor.config, "force_disable_caches"):
            torch._inductor.config.force_disable_caches = True  # what is found in a cache is not generated
        result = run(job, mark)
        result["code"] = [re.sub(r'#include "/[^"]*/([^/"]+)"', r'#include "\1"', t) for t in texts]  # a folder of this process
        return result
    return work
