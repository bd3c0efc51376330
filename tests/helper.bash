# shellcheck shell=bash disable=SC2154  # bats sets output and stderr
# Loaded by every .bats file: the commands under test come first on PATH, scratch files go to $BATS_TEST_TMPDIR.
bats_require_minimum_version 1.5.0

export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats:/usr/local/lib:/opt/homebrew/lib}
bats_load_library bats-support
bats_load_library bats-assert

ROOT=$(cd "${BATS_TEST_DIRNAME%/tests*}" && pwd)
BIN=${POSENC_BIN:-$ROOT/build/bin}
DATA=$ROOT/tests/data
PATH=$BIN:$PATH
export DATA LC_ALL=C

# refused STATUS MESSAGE COMMAND...: ends with STATUS, prints nothing on stdout and exactly MESSAGE on stderr.
refused() {
	local status_due=$1 message=$2
	shift 2
	run "-$status_due" --separate-stderr "$@"
	assert_equal "$output" ""
	assert_equal "$stderr" "$message"
}

# same A B: two shell commands print the same bytes, and some. Run in a scratch folder, as near.
same() {
	bash -o pipefail -c "$1" >one
	bash -o pipefail -c "$2" >other
	[ -s one ]
	cmp one other
}

# near TOLERANCE A B: two shell commands print matrices that differ by no more, absolutely.
near() {
	bash -o pipefail -c "$2" >one
	bash -o pipefail -c "$3" >other
	run -0 pe-cmp --abs "$1" one other
}

# needs TOOL...: skips the test where a tool is missing; where CI is set, fails it.
needs() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null && continue
		[ "${CI:-}" != true ] || fail "needs $tool"
		skip "needs $tool"
	done
}

# under_sanitizer: true where the commands under test carry a sanitizer (they then want far more address space).
under_sanitizer() {
	[[ $BIN == */asan*/bin ]]
}
