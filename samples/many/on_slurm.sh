# SPDX-License-Identifier: MIT
# sbatch --array=1-16 --cpus-per-task=4 --requeue --wrap "sh on_slurm.sh LIST OUT [OPTION...]": verify the scenes that
# LIST names, a line each, by an array of tasks. A task that is queued again goes on where it was. Then: bevscope merge
# OUT/*.jsonl
list=$1 out=$2
shift 2
mkdir -p "$out"
export OMP_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}"
exec bevscope verify --scenes "$list" --keep-going --format jsonl -o "$out/$SLURM_ARRAY_TASK_ID.jsonl" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" "$@"
