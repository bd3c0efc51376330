#!/usr/bin/env bash
# examples.sh [PAGE...]: runs the examples of man pages and of README.md and compares their output; TAP on stdout.
#
# An example is a line that starts with "$ " in a displayed block (.Bd -literal in a man page, a fenced
# block in Markdown), with a trailing backslash the line after it too; the lines up to the next example
# or the end of the block are what it must print, stdout and stderr as a terminal mixes them. Each block
# runs in an empty folder of its own, the commands under test first on PATH. A status other than 0 is
# accepted only where output is shown. POSENC_BIN names the folder of the commands (default build/bin).
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
PATH=$(cd "${POSENC_BIN:-$root/build/bin}" && pwd):$PATH || exit
export LC_ALL=C
scratch=$(mktemp -d) || exit
trap 'rm -rf "$scratch"' EXIT
limit=(); command -v timeout >/dev/null && limit=(timeout 60)
number=0 failures=0

# Lines of a page as "B" where a block begins, "C command", "O line of output".
extract() {
	awk '
	function plain(s) { # roff escapes to the characters they print
		gsub(/\\&/, "", s); gsub(/\\-/, "-", s); gsub(/\\\(aq/, "\047", s); gsub(/\\\(dq/, "\"", s)
		gsub(/\\\(ha/, "^", s); gsub(/\\\(ti/, "~", s); gsub(/\\\(ga/, "`", s); gsub(/\\e|\\\(rs/, "\\", s)
		return s
	}
	FILENAME ~ /\.md$/ && /^```/ { inside = !inside; if (inside) print "B"; next }
	/^\.Bd -literal/ { inside = 1; print "B"; next }
	/^\.Ed/ { inside = 0 }
	!inside { next }
	FILENAME !~ /\.md$/ { $0 = plain($0) }
	more { print "C " $0; more = /\\$/; shown = 1; next }
	/^\$ / { print "B-"; print "C " substr($0, 3); more = /\\$/; shown = 1; next }
	shown { print "O " $0 }
	' "$1"
}

# verdict PAGE COMMAND EXPECTED
verdict() {
	local page=${1##*/} command=$2 want=$3 got status

	number=$((number + 1))
	got=$(cd "$folder" && ${limit[@]+"${limit[@]}"} bash -c "$command" </dev/null 2>&1)
	status=$?
	if [ "$got" = "$want" ] && { [ "$status" -eq 0 ] || [ -n "$want" ]; }; then
		echo "ok $number example: $page: ${command//$'\n'/ }"
	elif [ "$status" -eq 127 ] && [ "${CI:-}" != true ]; then
		echo "ok $number example: $page: ${command//$'\n'/ } # skip ${got##*: line 1: }"
	else
		echo "not ok $number example: $page: ${command//$'\n'/ }"
		diff <(printf '%s\n' "$want") <(printf '%s\n' "$got") | sed 's/^/# /'
		echo "# status $status"
		failures=$((failures + 1))
	fi
}

run_page() {
	local page=$1 line command='' want='' folder=$scratch

	while IFS= read -r line; do
		case $line in
		B*)
			[ -z "$command" ] || verdict "$page" "$command" "$want"
			[ "$line" = B- ] || folder=$(mktemp -d "$scratch/XXXXXX")
			command='' want='' ;;
		C*) command=${command:+$command$'\n'}${line#C } ;;
		O*) want=${want:+$want$'\n'}${line#O } ;;
		esac
	done < <(extract "$page"; echo B)
}

[ $# -gt 0 ] || set -- "$root"/man/*.[0-9] "$root/README.md"
for page in "$@"; do
	[ -e "$page" ] && run_page "$page"
done
echo "1..$number"
[ "$failures" -eq 0 ]
