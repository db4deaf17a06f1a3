#!/bin/sh
# SPDX-License-Identifier: MIT
# JSON of every command, against samples/schema/results.json; -o - is standard output.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
tap_street street
number=0
while read -r words; do
    number=$((number + 1))
    "$BEVSCOPE" $words -f json -o - >$number.json 2>err
    echo "$? $words" >>done
done <<'TABLE'
info
info toy
info street.json --objects --camera front --yaw 1
info --probe
regime toy
regime small --gpu h200 --counters -k v4
sensitivity toy -d fp8,int8
bench --recorded canonical
bench -q toy -k cpu_v4 -d fp16 --direction both --device cpu
bench --once toy -k cpu_v4 -d fp16 --device cpu
verify toy -k cpu_v4,cpu_race -d fp16 --moments 2 --device cpu
verify toy -k cpu_v4 --direction both -d fp16 --device cpu
bench --published
info toy --prune 0.3
TABLE
tap_none 'every command ends well' "$(grep -v '^0' done | grep -v '^3 verify toy -k cpu_v4,cpu_race')"
"$BEVSCOPE" bench -q toy -k cpu_v4 -d fp16 --direction both --device cpu -f json --against 9.json -o against.json 2>err
tap_run "their JSON is that of samples/schema/results.json" python3 "$SRCDIR/tests/support/schema.py" "$SRCDIR" [0-9]*.json against.json
small="--depth 1:9:2 --reach 16 --cell 1 --channels 8"
"$BEVSCOPE" rig $small -f json >rig.json && "$BEVSCOPE" calibrate toy --per-channel -d int8 -f json >calibrate.json &&
    python3 "$SRCDIR/tests/support/schema.py" "$SRCDIR" rig.json calibrate.json
tap_ok $? 'and so are rig and calibrate, whose -o is another file'
sed 's/"rel_l2":/"rel_l3":/' 11.json >wrong.json
! python3 "$SRCDIR/tests/support/schema.py" "$SRCDIR" wrong.json 2>err && grep -q 'rel_l3 is not in the schema' err
tap_ok $? 'a key that the schema lacks is told'
"$BEVSCOPE" rig $small -o - >rig.json && "$BEVSCOPE" info rig.json >/dev/null &&
    "$BEVSCOPE" snapshot toy --device cpu -o - | head -c 8 | grep -q PNG
tap_ok $? '-o -: a rig and a picture on standard output, and nothing else'
tap_done
