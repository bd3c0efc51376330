#!/usr/bin/env bats
# tests/setup.sh finds what is missing by the thing itself, and installs nothing where nothing is missing.
load helper

# A PATH with what setup.sh itself calls, apt-get, and the named tools; nothing else.
machine_with() {
	local dir=$BATS_TEST_TMPDIR/path tool
	mkdir -p "$dir"
	for tool in sh awk cat tr id cc apt-get "$@"; do
		ln -s "$(command -v "$tool")" "$dir/$tool"
	done
	echo "$dir"
}

@test "law: where all of a list is there, setup says nothing" {
	run -0 env CC=cc "$ROOT/tests/setup.sh" -n build
	assert_output ""
}

@test "law: a missing tool is named with the line that brings it, and does not stop the tests" {
	needs apt-get
	run -0 env CC=cc PATH="$(machine_with git)" "$ROOT/tests/setup.sh" -n check
	assert_line --regexp "^setup: missing:.* tool:mandoc"
	assert_line --regexp "^setup: run: sudo apt-get install .* mandoc"
	refute_output --partial "tool:git"
}

@test "error: a missing header of the build stops it with the line to run" {
	needs apt-get
	run -1 env CC="cc -nostdinc" "$ROOT/tests/setup.sh" -n build
	assert_line --partial "header:csv.h"
	assert_line --regexp "^setup: run: sudo apt-get install .*libcsv-dev libmpfr-dev libjansson-dev"
}

@test "usage: setup without a list is status 2" {
	run -2 "$ROOT/tests/setup.sh"
	assert_output --partial "usage:"
}
