#!/bin/sh
# The memory model at its full size: every kernel of canonical, the published configurations.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_python json Python
tap_folder

for l2 in 0.5:small 500:huge; do
    "$BEVSCOPE" regime canonical --gpu a6000 --l2-mb ${l2%:*} -f json -o ${l2#*:}.json
done
cat >check.py <<'PY'
import json
def rows(name): return json.load(open(f"{name}.json"))["results"]
assert len(rows("small")) == len(rows("huge")) >= 8
for small, huge in zip(rows("small"), rows("huge")):
    assert small["kernel"] == huge["kernel"] and small["source"] == "model"
    assert small["dram_mb_warm"] > huge["dram_mb_warm"] >= 0, small
    assert small["l2_hit_rate_warm"] < huge["l2_hit_rate_warm"] == 1, small
    assert small["regime"] == "streaming" and huge["regime"] == "resident"
    assert huge["published_us"] is None, "published for another L2"
PY
tap_run 'what-if L2: each kernel misses a small one and none a huge one' "$python" check.py
tap_run 'plot published: PNG' "$BEVSCOPE" plot published toy -o published.png
tap_run 'plot published: really PNG' grep -q PNG published.png
tap_done
