#!/usr/bin/env bats
# The rooms of the library know each other only as HACKING.md says.
load helper

# "room used" for every #include "x.h" in lib/; what stands behind an underscore is a room's inside.
includes() {
	local file room
	for file in "$ROOT"/lib/*.[ch]; do
		room=$(basename "${file%.*}")
		sed -n "s/^#include \"\([a-z0-9]*\).*\"/${room%%_*} \1/p" "$file"
	done | awk '$1 != $2' | sort -u
}

# "room known" for every room of HACKING.md's table and each room that it may know; "room -" for the room itself.
allowed() {
	awk -F ' *[|] *' '
	/^\| room \| may know/ { table = 1; next }
	/^$/ { table = 0 }
	table && $2 !~ /^-/ {
		rooms = split($2, room, ", *"); known = split($3, know, ", *")
		for (r = 1; r <= rooms; r++) {
			print room[r], "-"
			for (k = 1; k <= known; k++)
				print room[r], know[k]
		}
	}' "$ROOT/HACKING.md" | sort -u
}

# The names that the archive asks other libraries for.
calls() {
	nm -u "$ROOT/build/lib/libposenc.a" | awk 'NF > 0 && !/:$/ { sub(/@.*/, "", $NF); sub(/^_/, "", $NF); print $NF }' | sort -u
}

@test "law: the rooms of lib/ include each other without a loop" {
	run -0 --separate-stderr tsort < <(includes)
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

@test "law: a room includes no other than HACKING.md allows, and the table names every room" {
	[ "$(allowed | wc -l)" -gt 40 ]
	run -0 comm -23 <(includes) <(allowed)
	assert_output ""
	run -0 comm -3 <(for file in "$ROOT"/lib/*.[ch]; do basename "${file%.*}"; done | sed 's/_.*//' | sort -u) \
		<(allowed | cut -d ' ' -f 1 | sort -u)
	assert_output ""
}

@test "law: the table itself has no loop, and keeps schemes, streams and attention apart" {
	run -0 --separate-stderr tsort < <(allowed | awk '$2 != "-" && $1 != $2')
	assert_equal "$stderr" ""
	local schemes='sinusoid|shift|rope|fourier|similarity|learned|t5|alibi|relvec|untied'
	run -1 grep -E "^($schemes) (io|backend|csvio|rawio|npyio|safetensors|stream|attend|$schemes)\$|^attend ($schemes)\$" < <(allowed)
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
