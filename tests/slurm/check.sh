#!/usr/bin/env bash
# check.sh: a Slurm of one node, started here from Debian's packages, runs pieces.sh as a job array and joins what its
# tasks wrote; the bytes must be those of one run. Needs root and nothing of an installed Slurm's set-up.
# `make check-slurm` installs the packages and calls it. TAP on stdout.
set -eu -o pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$(cd "${POSENC_BIN:-$root/build/bin}" && pwd):/usr/sbin:$PATH
scratch=$(mktemp -d)
pids=()
finish() {
	[ "${#pids[@]}" -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
	wait
	rm -rf "$scratch"
}
trap finish EXIT

node=$(hostname -s)
export SLURM_CONF=$scratch/slurm.conf
mkdir "$scratch/state" "$scratch/spool" "$scratch/work"
cat >"$SLURM_CONF" <<-END
	ClusterName=posenc
	SlurmctldHost=$node(127.0.0.1)
	SlurmUser=root
	SlurmctldPort=16817
	SlurmdPort=16818
	AuthType=auth/none
	CredType=cred/none
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	MpiDefault=none
	ReturnToService=2
	StateSaveLocation=$scratch/state
	SlurmdSpoolDir=$scratch/spool
	SlurmctldPidFile=$scratch/slurmctld.pid
	SlurmdPidFile=$scratch/slurmd.pid
	SchedulerParameters=batch_sched_delay=0,sched_interval=1
	NodeName=$node NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
	PartitionName=all Nodes=ALL Default=YES OverSubscribe=YES State=UP
END

# until COMMAND...: waits up to half a minute for it to succeed.
until_true() {
	local i
	for ((i = 0; i < 150; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.2
	done
	echo "# gave up waiting for: $*"
	tail -n 20 "$scratch"/*.log | sed 's/^/# /'
	return 1
}

slurmctld -D -c >"$scratch/slurmctld.log" 2>&1 &
pids+=($!)
slurmd -D >"$scratch/slurmd.log" 2>&1 &
pids+=($!)
node_is_idle() { [ "$(sinfo -h -o %T)" = idle ]; }
until_true node_is_idle || { echo "not ok 1 slurm: a node comes up"; exit 1; }
echo "ok 1 slurm: a node comes up"

cd "$scratch/work"
id=$(ROWS=500 DIM=64 sbatch --parsable --export=ALL "$root/tests/slurm/pieces.sh")
sbatch --quiet --dependency=afterok:"$id" --output=join.log --wrap 'cat piece-*.f32 >table.new && mv table.new table.f32'
if until_true test -e table.f32 && pe-table -n 2000 -d 64 -t f32 | cmp - table.f32; then
	echo "ok 2 slurm: the pieces of an array are the bytes of one run"
else
	echo "not ok 2 slurm: the pieces of an array are the bytes of one run"
	cat ./*.log | sed 's/^/# /'
	exit 1
fi
echo "1..2"
