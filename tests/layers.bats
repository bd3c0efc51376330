#!/usr/bin/env bats
# The rooms of the library know each other only as HACKING.md says.
load helper

# includes ROOM...: "user used" for each #include "x.h" of these rooms' files.
includes() {
	local room file
	for room; do
		for file in "$ROOT/lib/$room".[ch]; do
			[ -e "$file" ] && sed -n "s/^#include \"\(.*\)\.h\".*/$room \1/p" "$file"
		done
	done
}

rooms() {
	local file
	for file in "$ROOT"/lib/*.c; do
		basename "$file" .c
	done
}

# The names that the archive asks other libraries for.
calls() {
	nm -u "$ROOT/build/lib/libposenc.a" | awk 'NF == 2 { sub(/@.*/, "", $2); sub(/^_/, "", $2); print $2 }' | sort -u
}

@test "law: the rooms of lib/ include each other without a loop" {
	# shellcheck disable=SC2046  # words
	run -0 --separate-stderr bash -c 'tsort >/dev/null' < <(includes $(rooms) | awk '$1 != $2')
	# shellcheck disable=SC2154  # bats sets stderr
	assert_equal "$stderr" ""
}

@test "law: a planted loop is found" {
	run bash -c 'printf "a b\nb c\nc a\n" | tsort'
	assert_output --partial "loop"
}

@test "law: lib/ knows neither the commands nor getopt" {
	run -1 grep -lE '#include ["<](cli|getopt)\.h' "$ROOT"/lib/*.[ch]
	assert_output ""
}

@test "law: a command knows the library and what commands share, but no other command" {
	run -1 grep -E '#include "(pe-.*|alibi-.*|relattn|t5-.*)\.h"' "$ROOT"/cmd/*.c
	assert_output ""
}

@test "law: schemes know no streams, no other scheme, and not attend; attend knows no scheme" {
	local schemes='sinusoid shift rope fourier similarity learned t5 alibi relvec untied'
	# shellcheck disable=SC2086  # words
	run -1 grep -E ' (io|csvio|rawio|npyio|safetensors|stream|attend.*)$' < <(includes $schemes)
	assert_output ""
	# shellcheck disable=SC2046,SC2086  # words
	run -1 grep -E " (${schemes// /|})\$" < <(includes $schemes $(rooms | grep '^attend') | awk '$1 != $2')
	assert_output ""
}

@test "law: the library neither exits nor prints, reads no option, sets no locale, asks no environment" {
	[ -e "$ROOT/build/lib/libposenc.a" ] || skip "needs build/lib/libposenc.a"
	run -1 grep -xE '_?exit|_Exit|abort|__assert_.*|std(out|err|in)|(v|f|vf|d|vd)?printf|__(v|f|vf|d|vd)?printf_chk|perror|f?put(s|c|char)|fwrite|getopt.*|opt(arg|ind|opt)|setlocale|(secure_)?getenv' < <(calls)
	assert_output ""
}

@test "law: the archive is read at all" {
	[ -e "$ROOT/build/lib/libposenc.a" ] || skip "needs build/lib/libposenc.a"
	run -0 grep -x 'malloc' < <(calls)
}
