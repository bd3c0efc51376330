#!/bin/sh
#SBATCH --array=0-3
#SBATCH --output=piece-%a.log
# One piece of a long table for each task of the array. Give the rows of a piece and the width in the environment:
#     id=$(ROWS=65536 DIM=512 sbatch --parsable --export=ALL pieces.sh)
#     sbatch --dependency=afterok:$id --wrap 'cat piece-*.f32 >table.f32'
# -o writes all of a piece or nothing: a task that is cut off leaves none, and afterok holds the join back.
set -eu
pe-table -s $((SLURM_ARRAY_TASK_ID * ROWS)) -n "$ROWS" -d "$DIM" \
	-o "piece-$(printf '%03d' "$SLURM_ARRAY_TASK_ID").f32"
