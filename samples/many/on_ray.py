# SPDX-License-Identifier: MIT
"""on_ray.py LIST N OUT [OPTION...]: verify the scenes that LIST names, a line each, by N tasks of Ray. A task that dies is
started again and goes on where it was. OUT is on a disk that all nodes share."""
import os, subprocess, sys
import ray

scenes, n, options = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[4:]
out = os.path.abspath(sys.argv[3])

@ray.remote(max_retries=3, retry_exceptions=True)
def shard(i):
    done = subprocess.run(["bevscope", "verify", "--scenes", scenes, "--keep-going", "--shard", f"{i}/{n}",
                           "--format", "jsonl", "-o", f"{out}/{i}.jsonl", *options])
    assert done.returncode in (0, 3), done  # 3: a gate failed, which merge says

os.makedirs(out, exist_ok=True)
ray.get([shard.remote(i) for i in range(1, n + 1)])
sys.exit(subprocess.run(["bevscope", "merge", *(f"{out}/{i}.jsonl" for i in range(1, n + 1))]).returncode)
