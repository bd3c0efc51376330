#!/usr/bin/env bash
# options.sh COUNT [SEED]: COUNT command lines for each command, put together at random from its own --help and from
# values that good and bad users type; TAP on stdout. Each must end with status 0, 1 or 2 (141 where the reader of its
# output stopped), say one line where it fails, and print nothing where the command line was at fault.
# POSENC_BIN names the folder of the commands (default build/asan/bin).
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "${POSENC_BIN:-$root/build/asan/bin}" && pwd) || exit
count=$1 seed=${2:-1}
export LC_ALL=C
scratch=$(mktemp -d) || exit
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit
printf '1,2,3,4\n5,6,7,8\n' >x.csv
printf '0\n1\n-2\n' >p.csv
printf '\1\2\3' >x.f32
echo '{"head_dim": 4, "rope_theta": 100}' >c.json
number=0 failures=0

# Command lines, the words of each parted by tabs.
lines() {
	"$bin/$1" --help | awk -v count="$count" -v seed="$seed" '
	BEGIN {
		n = split("0 1 2 3 4 8 -1 -3 64 1000 0.5 1e3 1e400 -0 nan inf 0x10 99999999999999999999 9223372036854775807 9007199254740992 -9223372036854775808 4x 2:5 -4:4 5:1 1:9:0 3x2 0x3 x.csv p.csv x.f32 c.json nothing.csv - csv npy f32 csv:f32 npy:bf16 bogus interleaved halves end sqrt linear:factor=2 yarn:factor=4,original=64 yarn: freq:f32 freq:f32,angle:bf16 1,1 output bias lse cos freqs base", value)
		srand(seed)
	}
	/^(  |      )-/ {
		text = $0; sub(/^ +/, "", text)
		if (match(text, /--[a-z0-9-]+/)) name = substr(text, RSTART, RLENGTH); else name = substr(text, 1, 2)
		if (name == "--output" || name == "--verbose") next # one writes, one says a line of its own
		option[++options] = name
		rest = substr(text, index(text, name) + length(name))
		takes[options] = match(rest, /^ [^ ]+/) ? substr(rest, 2, RLENGTH - 1) : ""
	}
	function any(k) { return 1 + int(rand() * k) }
	function argument(kind,    c, k) {
		if (kind ~ /\|/ && rand() < 0.8) { k = split(kind, c, "|"); return c[any(k)] }
		if (kind ~ /^[A-Z]$/ && rand() < 0.7) return any(9) - 1
		if (kind ~ /FILE|TABLE/ && rand() < 0.8) return rand() < 0.7 ? "x.csv" : "p.csv"
		return value[any(n)]
	}
	END {
		for (i = 0; i < count; i++) {
			line = ""
			for (k = any(5); k > 0; k--) {
				o = any(options)
				line = line option[o] "\t" (takes[o] != "" ? argument(takes[o]) "\t" : "")
			}
			print line (rand() < 0.6 ? value[any(n)] : "x.csv")
		}
	}'
}

judge() { # STATUS OF THE COMMAND
	case $1 in
	0 | 141) return ;;
	1 | 2) [ "$(wc -l <err)" -eq 1 ] || { [ "$tool" = pe-cmp ] && [ "$1" -eq 1 ]; } || { echo "status $1"; head -n 4 err; } ;;
	*) echo "status $1"; head -n 12 err ;;
	esac
	if [ "$1" -eq 2 ] && [ -s out ]; then
		echo "status 2 with output: $(head -c 80 out)"
	fi
}

for path in "$bin"/*; do
	tool=${path##*/} all=''
	while IFS=$'\t' read -r -a words; do
		timeout 20 "$path" "${words[@]}" </dev/null 2>err | head -c 200000 >out
		why=$(judge "${PIPESTATUS[0]}")
		[ -z "$why" ] || all+="$tool ${words[*]}"$'\n'"$why"$'\n'
	done < <(lines "$tool")
	number=$((number + 1))
	if [ -z "$all" ]; then
		echo "ok $number options: $tool: $count command lines"
	else
		echo "not ok $number options: $tool"
		printf '%s' "$all" | head -n 60 | sed 's/^/# /'
		failures=$((failures + 1))
	fi
done
echo "1..$number"
[ "$failures" -eq 0 ]
