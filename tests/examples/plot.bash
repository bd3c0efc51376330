# shellcheck shell=bash
# Loaded by every script of this folder: the commands come first on PATH, pictures go to the folder that the
# script was given (default: here), scratch files to one that is removed.
set -eu -o pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PATH=$(cd "${POSENC_BIN:-$root/build/bin}" && pwd):$PATH
picture=$(mkdir -p "${1:-.}" && cd "${1:-.}" && pwd)/$(basename "$0" .sh).png
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# plot WIDTH,HEIGHT <<END: draws the picture by these lines of gnuplot, in the one style of all.
plot() {
	gnuplot - <<-END
		set terminal pngcairo size $1 font "DejaVu Sans,17" background "white" linewidth 1.2
		set output "$picture"
		set border lc rgb "#555555"
		set tics nomirror out
		set grid lc rgb "#e0e0e0" lw 1
		set key opaque box lc rgb "#cccccc" height 0.4 samplen 2
		blue = "#2166ac"; red = "#b2182b"; amber = "#e08214"; green = "#1b7837"; violet = "#762a83"
		signed = 'set palette defined (-1 "#2166ac", 0 "#ffffff", 1 "#b2182b"); unset grid; unset key'
		weight = 'set palette defined (0 "#ffffff", 0.5 "#fdae61", 1 "#a50026"); unset grid; unset key'
		$(cat)
	END
	echo "$picture"
}
