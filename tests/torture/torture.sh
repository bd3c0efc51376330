#!/usr/bin/env bash
# torture.sh [REGEX]: every system call and every allocation of a job fails once, at each call number in turn,
# and reads and writes are short, interrupted and unready; TAP on stdout. `make check-torture` builds what it runs:
# static commands with faults.c in them (in a dynamic one the loader's own calls would be hit).
#
# Each run must end with status 0 and the right bytes, or with status 1 (pe-cmp: 2), one line of message, and no
# partial file; never by a signal, never later than 10 s, never with wrong bytes and status 0.
# REGEX picks jobs by their command line. POSENC_BIN names the folder of the commands (default build/static/bin).
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "${POSENC_BIN:-$root/build/static/bin}" && pwd) || exit
export LC_ALL=C
scratch=$(mktemp -d) || exit
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/out" && cd "$scratch" || exit
number=0 failures=0 faults=0

# Inputs: 6 x 8 in each format, a checkpoint, a configuration, tables of biases and relative vectors.
inputs() {
	"$bin/pe-table" -n 6 -d 8 -o x.csv && "$bin/pe-table" -n 6 -d 8 -o x.npy && "$bin/pe-table" -n 6 -d 8 -o x.f32 &&
		"$bin/pe-table" -n 32 -d 2 -o t5.csv && "$bin/pe-table" -n 5 -d 8 -o shaw.csv &&
		printf '"0.5",1e3\n# note\n-1,nan\n' >odd.csv && seq -3 3 >offsets.csv &&
		"$bin/pe-cat" -t safetensors --name t -o x.safetensors x.csv &&
		echo '{"rope_theta": 500000.0, "head_dim": 8, "rope_scaling": {"rope_type": "linear", "factor": 2.0}}' >config.json
}

# One job a line; {out} stands for a file that is there already and must be replaced whole or not at all.
jobs() {
	cat <<-'END'
	pe-table -n 3 -d 8
	pe-table -n 3 -d 8 -t npy -o {out}
	pe-table --add x.csv
	pe-table --learned x.safetensors:t -n 2
	pe-table --learned x.csv --stretch 9 -n 9
	pe-shift -k 2 -d 8 -t f32
	pe-shift -k 2 --apply -d 8 x.f32
	pe-rope --config config.json --pairs halves x.csv
	pe-rope --xpos query x.csv
	pe-rope --emit cos-sin -n 4 -d 8 -o {out}
	pe-sim --by-offset x.npy
	pe-fourier --nerf 2 odd.csv
	t5-bucket offsets.csv
	t5-bucket -n 5 --bias t5.csv
	alibi -H 3 -n 4
	relattn -H 2 -c --t5 t5.csv -j 2 x.csv
	relattn --shaw-k shaw.csv --alibi -j 1 -o {out} x.npy
	relattn --rope --emit weights x.csv
	relattn -c --huang x.csv --window 3 x.csv
	pe-cat --transpose x.npy
	pe-cat -t safetensors -o {out} odd.csv
	pe-cat --list x.safetensors
	pe-cat -t ppm -o {out} x.csv
	pe-cmp --abs 1 x.csv x.npy
	END
}

# judge STATUS: what is wrong with the run that has just ended, if anything.
judge() {
	local status=$1 trouble=1

	[ "$tool" = pe-cmp ] && trouble=2
	if [ "$status" -eq 0 ]; then
		cmp -s "$target" want || echo "status 0 and wrong bytes"
	elif [ "$status" -eq "$trouble" ]; then
		[ "$(grep -c "^$tool: " err)" -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] || echo "status $status without one line of message: $(head -c 300 err)"
		[ "$target" = stdout ] || cmp -s "$target" old || echo "the old file does not stand"
	else
		echo "status $status: $(head -c 300 err)"
	fi
	[ "$(find out -type f | wc -l)" -le 1 ] || { echo "a temporary file is left"; rm -f out/*; }
}

# run COMMAND...: the job's command line under it; its status is judged.
run() {
	[ "$target" = stdout ] || cp old "$target"
	timeout 10 "$@" "$bin/$tool" "${words[@]}" >stdout 2>err 9>told </dev/null
	judge $?
}

verdict() { # NAME COUNT WHY
	number=$((number + 1)) faults=$((faults + $2))
	if [ -z "$3" ]; then
		echo "ok $number torture: $job: $1: $2 times"
	else
		echo "not ok $number torture: $job: $1"
		printf '%s\n' "$3" | head -n 5 | sed 's/^/# /'
		failures=$((failures + 1))
	fi
}

# each_call CALL ERROR: the call fails with that error the first time, the second time, ... as often as it is made.
each_call() {
	local n why all=''
	for ((n = 1; n <= 400; n++)); do
		: >log
		why=$(run strace -f -qq -o log -e trace="$1" -e inject="$1:error=$2:when=$n")
		grep -q INJECTED log || break
		[ -z "$why" ] || all+="call $n: $why"$'\n'
	done
	[ "$n" -eq 1 ] || verdict "$1 fails with $2" $((n - 1)) "$all"
}

each_allocation() {
	local n why all=''
	for ((n = 1; n <= 2000; n++)); do
		why=$(run env FAULT_ALLOC="$n")
		[ -s told ] || break
		[ -z "$why" ] || all+="allocation $n: $why"$'\n'
	done
	verdict "an allocation fails" $((n - 1)) "$all"
}

# The same bytes however reads and writes are cut.
slow() {
	local why
	why=$(run env FAULT_SHORT=1)$(run env FAULT_ERRNO=4)$(run env FAULT_ERRNO=11 FAULT_SHORT=3)
	[ -n "$why" ] || [ ! -s err ] || why="status $(cat err)"
	verdict "one byte at a time, EINTR, EAGAIN" 3 "$why"
}

inputs || exit
echo "old" >old
while read -r -a words; do
	job=${words[*]}
	[[ $job =~ ${1:-.} ]] || continue
	tool=${words[0]} words=("${words[@]:1}") target=stdout
	[ -x "$bin/$tool" ] || continue
	for i in "${!words[@]}"; do
		[ "${words[i]}" != '{out}' ] || { target=out/file; words[i]=$target; }
	done
	rm -f out/*
	"$bin/$tool" "${words[@]}" >stdout </dev/null || { verdict "runs at all" 1 "status $?"; continue; }
	cp "$target" want
	each_allocation
	for fault in read:EIO write:ENOSPC openat:EMFILE close:EIO fsync:EIO linkat:EACCES rename:EIO renameat2:EIO \
		newfstatat:EIO mmap:ENOMEM clone3:EAGAIN dup:EMFILE poll:ENOMEM; do
		each_call "${fault%:*}" "${fault#*:}"
	done
	slow
done < <(jobs)
echo "# $faults calls made to fail"
echo "1..$number"
[ "$failures" -eq 0 ]
