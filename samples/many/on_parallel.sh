# SPDX-License-Identifier: MIT
# sh on_parallel.sh LIST N OUT [OPTION...]: verify the scenes that LIST names, a line each, by N processes of GNU parallel.
# A process that ends early is started again and goes on where it was; so does this script.
list=$1 n=$2 out=$3
shift 3
mkdir -p "$out"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
seq "$n" | parallel --jobs "$n" --retries 3 --halt never bevscope verify --scenes "$list" --keep-going \
    --shard "{}/$n" --format jsonl -o "$out/{}.jsonl" "$@"
exec bevscope merge "$out"/*.jsonl
