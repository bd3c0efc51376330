# shellcheck shell=bash
# Loaded by every experiment: the commands come first on PATH, scratch files go to a folder that is removed.
set -eu -o pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
PATH=$(cd "${POSENC_BIN:-$root/build/bin}" && pwd):$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# claim WORDS COMMAND...: says whether the command ends with 0; if not, the experiment has failed.
claim() {
	local words=$1
	shift
	if "$@" >/dev/null; then
		echo "yes: $words"
	else
		echo "NO:  $words"
		exit 1
	fi
}

# same A B, differ A B: two matrices, equal within rounding, and not.
same() { pe-cmp -q --abs 1e-14 "$1" "$2"; }
differ() { ! pe-cmp -q --abs 1e-3 "$1" "$2" || return 1; }

# repeat ROW COUNT
repeat() { awk -v row="$1" -v count="$2" 'BEGIN { while (count-- > 0) print row }'; }

# random ROWS COLS SEED: numbers within -1..1, the same everywhere.
random() {
	awk -v rows="$1" -v cols="$2" -v s="$3" 'BEGIN {
		for (r = 0; r < rows; r++) for (c = 0; c < cols; c++) {
			s = s * 16807 % 2147483647
			printf "%.6f%s", s / 1073741823.5 - 1, c < cols - 1 ? "," : "\n"
		} }'
}
