"""Lines where each part of the stack begins and ends: config.log_level = logging.INFO, config.log_file."""
import sys
import time

from torch._dynamo import config


def log(number, logger, text):
    now = time.time()
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    line = f"[{stamp},{int(now % 1 * 1000):03d}] {logger}: [INFO] Step {number}: {text}\n"
    sys.stderr.write(line)
    name = config.log_file or config.log_file_name
    if name:
        with open(name, "a") as f:
            f.write(line)
