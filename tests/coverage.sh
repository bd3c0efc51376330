#!/usr/bin/env bash
# coverage.sh: the share of each room's lines that the tests run, after `make coverage` has built and run them
# in BUILD; the lines that never ran go to BUILD/uncovered. Status 1 where more than 3 % of lib/ did not run.
# A line of a header, or of a kernel that several instruction sets include, has run where one of them ran it.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/coverage}

for source in lib/*.c; do
	gcov --stdout --object-directory "$build/lib" "$source" 2>/dev/null |
		awk -F : '
		{ line = $0; sub(/^[^:]*:[^:]*:/, "", line); gsub(/ /, "", $1); gsub(/ /, "", $2) }
		$2 == 0 && $3 == "Source" { file = $4; ours = (file ~ /^lib\//) }
		$2 > 0 && ours && $1 != "-" { print file ":" $2, ($1 ~ /^[#=]/ ? 0 : 1), line }'
done | awk '
	!($1 in ran) { order[++n] = $1 }
	{ ran[$1] = ran[$1] || $2; text[$1] = $0; sub(/^[^ ]* [01]/, "", text[$1]) }
	END { for (i = 1; i <= n; i++) print order[i], ran[order[i]] text[order[i]] }' >"$build/lines"

awk '$2 == 0' "$build/lines" | sed 's/ 0 /: /' >"$build/uncovered"
awk '{ split($1, at, ":"); all[at[1]]++; ran[at[1]] += $2; total++; covered += $2 }
END {
	for (f in all) printf "%6.1f %%  %4d of %4d  %s\n", 100 * ran[f] / all[f], ran[f], all[f], f | "sort -n"
	close("sort -n")
	printf "%6.1f %%  %4d of %4d  lib/\n", 100 * covered / total, covered, total
	exit (total - covered) / total > 0.03
}' "$build/lines"
