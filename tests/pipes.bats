#!/usr/bin/env bats
# What holds for every command in a pipe: full devices, closed descriptors, a reader that stops, environment,
# pieces that are made in parallel.
load helper

# A job of each command that reads nothing but x.csv and writes rows to stdout, one a line.
jobs_of_all() {
	cat <<-'END'
	pe-table -n 3 -d 4
	pe-table --add x.csv
	pe-shift -k 1 -d 4
	pe-shift -k 1 --apply x.csv
	pe-rope x.csv
	pe-rope --emit cos -n 3 -d 4
	pe-sim --gram x.csv
	pe-fourier --nerf 2 x.csv
	t5-bucket -n 4
	alibi -H 4
	relattn x.csv
	pe-cat x.csv
	END
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf '1,0.5,-2,1e-3\n0.25,4,1e3,-0\n-7,0.125,3,9\n' >x.csv
}

# for_all COMMAND...: runs the shell command for each job, $job its line, $tool its command; names the job that fails.
for_all() {
	while read -r job; do
		tool=${job%% *}
		[ -x "$BIN/$tool" ] || continue
		export job tool
		"$@" || fail "$job: failed"
	done < <(jobs_of_all)
}

full_device() {
	local status=0
	bash -c "$job" >/dev/full 2>err || status=$?
	[ "$status" -eq 1 ] && [ "$(cat err)" = "$tool: <stdout>: No space left on device" ] ||
		{ echo "status $status: $(cat err)"; return 1; }
}

@test "error: a full device is status 1 and one line" {
	[ -c /dev/full ] || skip "no full device"
	for_all full_device
}

closed_stdout() {
	local status=0
	bash -c "$job" >&- 2>err || status=$?
	[ "$status" -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "^$tool: <stdout>: " err ||
		{ echo "status $status: $(cat err)"; return 1; }
}

@test "error: a closed stdout is status 1 and one line" {
	for_all closed_stdout
}

closed_stdin() { # only jobs that would read it
	local status=0
	bash -c "$1" <&- >out 2>err || status=$?
	[ "$status" -eq 1 ] && [ ! -s out ] && grep -q "^${1%% *}: <stdin>: " err || fail "$1: status $status: $(cat err)"
}

@test "error: a closed stdin is status 1 and one line" {
	local line
	for line in "pe-cat" "pe-rope" "pe-shift -k 1 --apply" "relattn" "t5-bucket" "pe-table --add"; do
		closed_stdin "$line"
	done
}

closed_stderr() {
	local first
	first=$(bash -c "$job")
	[ "$(bash -c "$job" 2>&-)" = "$first" ]
}

@test "law: a closed stderr changes no byte" {
	for_all closed_stderr
}

@test "error: with stderr closed, an output file does not take its place" {
	run -0 bash -c 'pe-table -n 2 -d 4 -o t.csv 2>&- 0<&-'
	assert_equal "$(cat t.csv)" "$(pe-table -n 2 -d 4)"
}

@test "law: a reader that stops ends an endless table quietly, by SIGPIPE" {
	run -0 --separate-stderr bash -c 'pe-table -n inf -d 8 | head -n 1; echo "${PIPESTATUS[0]}"'
	assert_line --index 1 141
	assert_equal "$stderr" ""
}

@test "error: with SIGPIPE ignored it is status 1 and one line" {
	run -0 --separate-stderr bash -c 'trap "" PIPE; pe-table -n inf -d 8 | head -n 1; echo "${PIPESTATUS[0]}"'
	assert_line --index 1 1
	assert_equal "$stderr" "pe-table: <stdout>: Broken pipe"
}

environments() {
	local first
	first=$(bash -c "$job" | cksum)
	[ "$(LC_ALL=tr_TR.UTF-8 LANG=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 bash -c "$job" | cksum)" = "$first" ]
	[ "$(TZ=Asia/Kolkata POSIXLY_CORRECT=1 bash -c "$job" | cksum)" = "$first" ]
	[ "$(OMP_NUM_THREADS=1000000 GOMP_CPU_AFFINITY=x MALLOC_ARENA_MAX=1 bash -c "$job" | cksum)" = "$first" ]
	[ "$(env -i PATH="$PATH" bash -c "$job" | cksum)" = "$first" ]
	[ "$(umask 077; bash -c "$job" | cksum)" = "$first" ]
	[ "$(ulimit -s 256; bash -c "$job" | cksum)" = "$first" ] || under_sanitizer
}

@test "law: locale, time zone, environment, umask and a small stack change no byte" {
	for_all environments
}

@test "law: options may stand after operands, whatever POSIXLY_CORRECT says" {
	assert_equal "$(POSIXLY_CORRECT=1 pe-cat x.csv --rows 1:2)" "0.25,4,1000,-0"
}

@test "law: a new file has the umask's mode, a replaced one keeps its own" {
	(umask 027; pe-table -n 1 -d 4 -o new.csv)
	assert_equal "$(ls -l new.csv | cut -c1-10)" "-rw-r-----"
	chmod 604 new.csv
	pe-table -n 2 -d 4 -o new.csv
	assert_equal "$(ls -l new.csv | cut -c1-10)" "-rw----r--"
	assert_equal "$(ls | sort | tr '\n' ' ')" "new.csv x.csv "
}

@test "error: a file size limit is status 1, and the old file stands" {
	echo old >t.csv
	run -1 bash -c 'ulimit -f 8; pe-table -n 4000 -d 64 -o t.csv'
	assert_output "pe-table: t.csv: File too large"
	assert_equal "$(cat t.csv)" "old"
	assert_equal "$(ls | sort | tr '\n' ' ')" "t.csv x.csv "
}

@test "error: killed under way, the old file stands and nothing is left beside it" {
	local signal
	echo old >t.csv
	for signal in TERM HUP KILL; do
		# through a FIFO, so that the output is open and under way when the signal comes
		rm -f rows && mkfifo rows
		pe-cat -f csv -o t.csv rows &
		local pid=$!
		exec 7>rows
		echo 1,2 >&7
		sleep 0.2
		kill -"$signal" "$pid"
		wait "$pid" || true
		exec 7>&-
		assert_equal "$(cat t.csv)" "old"
		rm -f rows
		assert_equal "$signal $(ls | sort | tr '\n' ' ')" "$signal t.csv x.csv "
	done
}

@test "law: an input may also be the -o FILE" {
	pe-cat x.csv -o copy.csv
	pe-shift -k 3 --apply copy.csv -o copy.csv
	pe-shift -k 3 --apply x.csv | cmp - copy.csv
}

@test "law: a filter answers a slow writer row by row" {
	local first
	mkfifo in out
	pe-rope <in >out 3>&- &
	exec 7>in 8<out
	echo 1,2 >&7 # and no more before the answer
	IFS= read -r -t 20 first <&8
	exec 7>&- 8<&-
	wait
	assert_equal "$first" "1,2"
}

# ---- pieces ----

@test "law: pieces of a table made by parallel -k are the bytes of one run" {
	needs parallel
	seq 0 100 900 | parallel -j 2 -k pe-table -s {} -n 100 -d 32 -t f32 >pieces.f32
	pe-table -n 1000 -d 32 -t f32 | cmp - pieces.f32
}

@test "law: pieces of a table made by xargs -P and joined by name are the bytes of one run" {
	seq -w 0 100 900 | xargs -P 2 -I '{}' pe-table -s '{}' -n 100 -d 32 -o '{}.f32'
	cat [0-9]*.f32 | cmp - <(pe-table -n 1000 -d 32 -t f32)
}

@test "law: pieces of a table made by make -j are the bytes of one run" {
	cat >Makefile <<-'END'
	table.f64: 0.f64 1.f64 2.f64 3.f64 ; cat $^ >$@
	%.f64: ; pe-table -s $*00 -n 100 -d 16 -o $@
	END
	env -u MAKEFLAGS -u MAKELEVEL make -s -j2
	pe-table -n 400 -d 16 -t f64 | cmp - table.f64
}

@test "law: rows cut anywhere by parallel --pipe go through a filter as in one run" {
	needs parallel
	pe-table -n 500 -d 16 -t f32 -o rows.f32
	# 50 rows a block, each knows where it starts by its number
	parallel -j 2 -k --pipe --recend '' --block 3200 'pe-rope -f f32 -d 16 -t f32 -s $((({#} - 1) * 50))' <rows.f32 >pieces.f32
	pe-rope -d 16 -t f32 rows.f32 | cmp - pieces.f32
}

@test "law: query rows of attention cut in pieces are the bytes of one run, for any number of threads" {
	pe-table -n 96 -d 16 -t npy:f32 -o x.npy
	relattn -H 2 -c --alibi -j 2 -t f32 x.npy >whole.f32
	local start
	for start in 0 32 64; do
		pe-cat --rows $start:$((start + 32)) x.npy -t npy:f32 |
			relattn -Q - -K x.npy -H 2 -c --alibi -j 1 --query-start $start -t f32
	done | cmp - whole.f32
	local j
	for j in 1 3 7; do
		relattn -H 2 -c --alibi -j $j -t f32 x.npy | cmp - whole.f32
	done
}
