#!/usr/bin/env bats
# shellcheck disable=SC2016  # scripts in single quotes
# What surrounds a command: pipes that break, disks that fill, files that are replaced, signals, limits.
load helper

setup() {
	mkdir "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work" || return
	printf '1,2\n3,4\n' >x.csv
	umask 022
}

mode() {
	stat -c %a "$1" 2>/dev/null || stat -f %Lp "$1"
}

# only FILE...: nothing but the files named is in the folder.
only() {
	assert_equal "$(find . ! -name . | sort | tr '\n' ' ')" "$(printf './%s\n' "$@" | sort | tr '\n' ' ')"
}

# ---- standard streams ----

@test "error: a full device is status 1" {
	[ -c /dev/full ] || skip "no full device"
	local format
	for format in csv npy f64; do
		run -1 --separate-stderr bash -c 'exec pe-cat -t "$1" x.csv >/dev/full' - $format
		assert_equal "$stderr" "pe-cat: <stdout>: No space left on device"
	done
	run -1 --separate-stderr bash -c 'seq 100000 | pe-cat >/dev/full'
	assert_equal "$stderr" "pe-cat: <stdout>: No space left on device"
	refused 1 "pe-cat: /dev/full: No space left on device" pe-cat -o /dev/full x.csv
}

@test "error: closed standard streams are told, and no file takes their place" {
	run -1 --separate-stderr bash -c 'exec pe-cat x.csv >&-'
	assert_equal "$stderr" "pe-cat: <stdout>: Bad file descriptor"
	run -1 --separate-stderr bash -c 'exec pe-cat <&-'
	assert_equal "$stderr" "pe-cat: <stdin>: Bad file descriptor"
	run -0 bash -c 'exec pe-cat x.csv 2>&-'
	assert_output "$(cat x.csv)"
	run -1 bash -c 'exec pe-cat x.csv <&- >&- 2>&-'
	assert_equal "$(cat x.csv)" "$(printf '1,2\n3,4')"
	run -0 bash -c 'exec pe-cat -o y.csv x.csv <&- >&- 2>&-'
	cmp x.csv y.csv
	run -1 --separate-stderr bash -c 'exec pe-cat x.csv >&- 1</dev/null'
	assert_equal "$stderr" "pe-cat: <stdout>: Bad file descriptor"
}

@test "error: a folder as standard input" {
	run -1 --separate-stderr pe-cat <.
	assert_equal "$stderr" "pe-cat: <stdin>: Is a directory"
}

@test "limit: a reader that goes away ends the writer in silence" {
	run -0 --separate-stderr bash -c 'yes 1,2 | pe-cat | head -n 2; echo "${PIPESTATUS[1]}"'
	assert_output "$(printf '1,2\n1,2\n141')"
	assert_equal "$stderr" ""
}

@test "error: with SIGPIPE ignored a broken pipe is status 1 and told" {
	run -0 --separate-stderr bash -c 'trap "" PIPE; yes 1,2 2>/dev/null | pe-cat | head -n 1; echo "${PIPESTATUS[1]}"'
	assert_output "$(printf '1,2\n1')"
	assert_equal "$stderr" "pe-cat: <stdout>: Broken pipe"
}

@test "limit: a file size limit is status 1, and the file is not left behind" {
	run -1 --separate-stderr bash -c 'ulimit -f 8; seq 100000 | pe-cat -o y.csv'
	assert_equal "$stderr" "pe-cat: y.csv: File too large"
	only x.csv
}

@test "law: a row is handed on as soon as it is here" {
	mkfifo in out
	pe-cat <in >out &
	exec 8>in 9<out
	local row
	for i in 1 2 3; do
		printf '%s,%s\n' $i $i >&8
		read -r -t 10 row <&9
		assert_equal "$row" "$i,$i"
	done
	# a last line without a newline counts when the input ends, not before
	printf '4,' >&8
	run read -r -t 0.2 row <&9
	[ "$status" -ne 0 ]
	printf 4 >&8
	exec 8>&-
	read -r -t 10 row <&9
	assert_equal "$row" "4,4"
	exec 9<&-
	wait
}

@test "law: raw rows are handed on as soon as they are here" {
	mkfifo in out
	pe-cat -f f32 -d 1 -t csv <in >out &
	exec 8>in 9<out
	local row
	printf '\0\0\200\077\0\0' >&8
	read -r -t 10 row <&9
	assert_equal "$row" 1
	printf '\0\100' >&8
	read -r -t 10 row <&9
	assert_equal "$row" 2
	exec 8>&- 9<&-
	wait
}

@test "law: a writer that pauses within a line, a value or a header changes nothing" {
	run -0 bash -c '{ printf 1; sleep 0.1; printf ",2\r"; sleep 0.1; printf "\n3,"; sleep 0.1; printf 4; } | pe-cat'
	assert_output "$(cat x.csv)"
	pe-cat -o x.npy x.csv
	run -0 bash -c '{ head -c 3 x.npy; sleep 0.1; tail -c +4 x.npy | head -c 60; sleep 0.1; tail -c +64 x.npy | head -c 70; sleep 0.1; tail -c +134 x.npy; } | pe-cat'
	assert_output "$(cat x.csv)"
}

# ---- memory ----

@test "limit: ten million rows pass in the memory of a thousand" {
	under_sanitizer && skip "a sanitizer wants its own address space"
	run -0 bash -c 'ulimit -v 20000; head -c 80000000 /dev/zero | pe-cat -f f64 -d 1 -t f32 | wc -c | tr -d " "'
	assert_output 40000000
	run -0 bash -c 'ulimit -v 20000; yes 1,2 | head -n 2000000 | pe-cat -t tsv | wc -l | tr -d " "'
	assert_output 2000000
	run -0 bash -c 'ulimit -v 20000; yes 1,2 | head -n 2000000 | pe-cat -o y.npy && pe-cat --rows 1999999: y.npy'
	assert_output "1,2"
}

@test "limit: what does not fit the memory allowed is told" {
	under_sanitizer && skip "a sanitizer wants its own address space"
	run -1 --separate-stderr bash -c 'ulimit -v 20000; yes 1,2 | pe-cat -t npy'
	assert_equal "$stderr" "pe-cat: out of memory"
	run -1 --separate-stderr bash -c 'ulimit -v 20000; yes 1,2 | pe-cat --transpose'
	assert_equal "$stderr" "pe-cat: out of memory"
}

# ---- files ----

@test "error: a file that grows or shrinks while it is read" {
	seq 400000 >grows.csv
	run -1 --separate-stderr bash -c 'pe-cat grows.csv >>grows.csv'
	assert_equal "$stderr" "pe-cat: grows.csv: grows while it is read (is it also the output?)"
	local format
	for format in csv f64; do
		seq 400000 | pe-cat -t $format >"x.$format"
		mkfifo out
		pe-cat -f $format -d 1 "x.$format" >out 2>said &
		exec 9<out
		head -c 1 <&9 >/dev/null # it has begun, and waits for its reader
		truncate -s 1048576 "x.$format" 2>/dev/null || head -c 1048576 "x.$format" | dd of="x.$format" bs=1048576 count=1 2>/dev/null
		cat <&9 >/dev/null
		exec 9<&-
		status=0
		wait $! || status=$?
		rm out
		assert_equal "$status" 1
		assert_equal "$(cat said)" "pe-cat: x.$format: shrank from $(($(seq 400000 | pe-cat -t $format | wc -c))) to 1048576 bytes while it was read"
	done
}

@test "law: -o replaces a file at once, and may be its own input" {
	pe-cat --transpose -o x.csv x.csv
	assert_equal "$(cat x.csv)" "$(printf '1,3\n2,4')"
	only x.csv
}

@test "law: on failure the old file stands and nothing is left" {
	echo old >y.csv
	printf '1,2\n3,x\n' >bad.csv
	refused 1 "pe-cat: bad.csv: line 2, column 2: not a number: 'x'" pe-cat -o y.csv bad.csv
	assert_equal "$(cat y.csv)" old
	{ seq 100000; echo x; } >bad.csv
	refused 1 "pe-cat: bad.csv: line 100001, column 1: not a number: 'x'" pe-cat -o y.csv bad.csv
	refused 1 "pe-cat: bad.csv: line 100001, column 1: not a number: 'x'" pe-cat -o new.csv bad.csv
	assert_equal "$(cat y.csv)" old
	only x.csv y.csv bad.csv
}

@test "law: a killed command leaves the old file and nothing else" {
	local signal
	echo old >y.csv
	for signal in TERM HUP KILL; do # a background job of a script ignores INT
		mkfifo in
		pe-cat -o y.csv <in &
		exec 8>in
		seq 100000 >&8
		kill -s $signal $!
		status=0
		wait $! || status=$?
		assert_equal "$status" $((128 + $(kill -l $signal)))
		exec 8>&-
		rm in
		assert_equal "$(cat y.csv)" old
		only x.csv y.csv
	done
}

# named COMMAND...: runs it where a file cannot be without a name until it is whole, as on other systems.
named() {
	exec unshare -m bash -c 'mount -t tmpfs none /proc && exec "$@"' - "$@"
}

@test "law: without unnamed files a temporary one is removed on failure, signals included" {
	under_sanitizer && skip "a sanitizer reads /proc"
	unshare -m mount -t tmpfs none /proc 2>/dev/null || skip "cannot hide /proc"
	local signal
	echo old >y.csv
	printf '1\nx\n' >bad.csv
	run -1 named pe-cat -o y.csv bad.csv
	assert_equal "$(cat y.csv)" old
	only x.csv y.csv bad.csv
	for signal in TERM HUP; do
		mkfifo in
		named pe-cat -o y.csv <in &
		exec 8>in
		seq 100000 >&8
		for i in 1 2 3 4 5 6 7 8 9; do
			[ -z "$(find . -name '.posenc-*')" ] || break
			sleep 0.1
		done
		[ -n "$(find . -name '.posenc-*')" ]
		kill -s $signal $!
		status=0
		wait $! || status=$?
		assert_equal "$status" $((128 + $(kill -l $signal)))
		exec 8>&-
		rm in
		assert_equal "$(cat y.csv)" old
		only x.csv y.csv bad.csv
	done
	chmod 604 y.csv
	run -0 named pe-cat -o y.csv x.csv
	cmp x.csv y.csv
	assert_equal "$(mode y.csv)" 604
	only x.csv y.csv bad.csv
}

@test "law: a new file has the umask's mode, a replaced one keeps its own" {
	umask 027
	pe-cat -o y.csv x.csv
	assert_equal "$(mode y.csv)" 640
	chmod 604 y.csv
	pe-cat -o y.csv x.csv
	assert_equal "$(mode y.csv)" 604
}

@test "law: symlinks are followed, dangling ones and chains of them too" {
	mkdir a b
	ln -s ../b/y.csv a/link
	ln -s a/link chain
	pe-cat -o chain x.csv
	cmp x.csv b/y.csv
	[ -L chain ] && [ -L a/link ]
	pe-cat --transpose -o a/link x.csv
	assert_equal "$(cat b/y.csv)" "$(printf '1,3\n2,4')"
	ln -s loop loop
	refused 1 "pe-cat: loop: Too many levels of symbolic links" pe-cat -o loop x.csv
	only x.csv a b a/link b/y.csv chain loop
}

@test "law: a device, a FIFO and - are written directly" {
	pe-cat -o /dev/null x.csv
	[ -c /dev/null ]
	mkfifo pipe
	pe-cat -o pipe x.csv &
	assert_equal "$(cat pipe)" "$(cat x.csv)"
	wait $!
	[ -p pipe ]
	run -0 pe-cat -o - x.csv
	assert_output "$(cat x.csv)"
	only x.csv pipe
}

@test "error: targets that cannot be written" {
	mkdir folder
	refused 1 "pe-cat: folder: Is a directory" pe-cat -o folder x.csv
	refused 1 "pe-cat: none/y.csv: No such file or directory" pe-cat -o none/y.csv x.csv
	refused 1 "pe-cat: x.csv/y.csv: Not a directory" pe-cat -o x.csv/y.csv x.csv
	refused 1 "pe-cat: a\\nb/y: No such file or directory" pe-cat -o $'a\nb/y' x.csv
	[ "$(id -u)" -ne 0 ] || skip "root may write anywhere"
	chmod 555 folder
	refused 1 "pe-cat: folder/y.csv: Permission denied" pe-cat -o folder/y.csv x.csv
	chmod 444 x.csv
	refused 1 "pe-cat: x.csv: Permission denied" pe-cat -o x.csv x.csv
}

@test "error: a file that may not be read" {
	[ "$(id -u)" -ne 0 ] || skip "root may read anything"
	chmod 000 x.csv
	refused 1 "pe-cat: x.csv: Permission denied" pe-cat x.csv
}

@test "error: the end of a long path is told, from a whole character on" {
	local name=
	for _ in {1..119}; do name+=é; done
	refused 1 "pe-cat: ...${name}x: No such file or directory" pe-cat "éé${name}x"
}

@test "error: a dangling link" {
	ln -s nowhere link
	refused 1 "pe-cat: link: No such file or directory" pe-cat link
}

@test "error: a file system that fills keeps the old file, and nothing else" {
	mkdir small
	mount -t tmpfs -o size=64k tmpfs small 2>/dev/null || skip "cannot mount a tmpfs"
	seq 2 >small/y.csv
	run -1 --separate-stderr bash -c 'seq 100000 | pe-cat -o small/y.csv'
	cat small/* >left
	umount small
	assert_equal "$stderr" "pe-cat: small/y.csv: No space left on device"
	assert_equal "$(cat left)" "$(seq 2)"
}

# ---- environment ----

@test "law: locale, time zone, POSIXLY_CORRECT and options behind operands change nothing" {
	local due
	due=$(pe-cat -p 3 x.csv)
	run -0 env LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 TZ=Asia/Kathmandu OMP_NUM_THREADS=0 POSIXLY_CORRECT=1 pe-cat x.csv -p 3
	assert_output "$due"
}

@test "law: a small stack is enough" {
	run -0 bash -c 'ulimit -s 128; pe-cat x.csv'
	assert_output "$(cat x.csv)"
}

@test "law: where rows are due from a terminal, a hint says so, once; from a pipe nothing does" {
	needs script
	script --version >/dev/null 2>&1 || skip "this script(1) takes other options"
	run -0 bash -c "printf '1,2\n' | script -qec 'pe-cat -t tsv' /dev/null"
	assert_line --partial "pe-cat: reads standard input, which is the terminal: Ctrl-D on a line of its own ends it"
	assert_line --partial $'1\t2'
	run -0 --separate-stderr pe-cat <<<1,2
	assert_equal "$stderr" ""
}
