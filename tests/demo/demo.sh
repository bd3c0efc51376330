#!/usr/bin/env bash
# demo.sh FOLDER: the experiments of the source papers, each with what to look for; pictures go to FOLDER.
# POSENC_BIN names the folder of the commands. `make demo` calls it.
set -eu -o pipefail
POSENC_BIN=$(cd "${POSENC_BIN:-build/bin}" && pwd)
PATH=$POSENC_BIN:$PATH
export POSENC_BIN LC_ALL=C
examples=$(cd "$(dirname "$0")/../examples" && pwd)
mkdir -p "$1"
cd "$1"

title() { printf '\n== %s\n' "$*"; }
look() { printf '   Look for: %s\n' "$*"; }

# show COMMAND: the command as one would type it, then what it prints.
show() {
	printf '   $ %s\n' "$1"
	bash -o pipefail -c "$1" | sed 's/^/     /'
}

# differ A B: whether two results are the same within rounding, in words.
same_or_not() {
	if pe-cmp -q --abs 1e-12 "$1" "$2"; then
		echo "the same"
	else
		echo "not the same"
	fi
}

title "1. Worked example: four columns, the first three positions"
show "pe-table -n 3 -d 4 -p 3"
look "a fast clock in the first pair (sine, cosine), a slow one in the second."

title "2. Two positions are as similar as they are near"
for base in 10000 100; do
	show "pe-table -n 1001 -d 64 -b $base -o table-$base.csv"
	show "head -n 1 table-$base.csv | relattn -K table-$base.csv --scale 0.03125 --emit logits -t txt | tr ' ' '\n' >curve-$base.txt"
	show "sed -n '2p;65p;1001p' curve-$base.txt"
done
look "offsets 1, 64 and 1000. Base 10000: 0.966, 0.435, 0.279, slow clocks still tell far positions
   from near ones. Base 100: about 0 at 64 already: no clock is slow enough."

title "3. A head that looks one token back"
show "pe-table -n 6 -d 8 | relattn -W <(pe-shift -k 1 -d 8 -g 8) --scale 1 --emit weights -p 2"
look "row m, the query's position, has its greatest weight in column m - 1 (row 0 has none before it). The
   matrix between query and key is 8 times the shift by one: no position is written into it."

title "4. Dog bites man"
cat >sentence.txt <<-'END'
	dog   1 0 0 2
	bites 0 1 1 0
	man   2 0 1 1
END
awk '{ print $2 "," $3 "," $4 "," $5 }' sentence.txt >dog-bites-man.csv
show "tac dog-bites-man.csv >man-bites-dog.csv"
show "relattn dog-bites-man.csv -p 4"
show "relattn man-bites-dog.csv -p 4"
for how in "relattn" "relattn -c" "pe-table --add | relattn"; do
	bash -o pipefail -c "cat dog-bites-man.csv | $how" >straight.csv
	bash -o pipefail -c "cat man-bites-dog.csv | $how" | tac >turned.csv
	printf '   %-26s dog bites man, man bites dog: each word gets %s\n' "$how:" "$(same_or_not straight.csv turned.csv)"
done
look "bare attention cannot tell who bites: the rows come out shuffled as they went in. A causal
   mask, or positions added to the words, makes the order count."

title "Pictures"
for picture in table:"each pair of columns a clock, fast ones left, slow ones right" \
	similarity:"a wide base falls slowly; base 100 is spent after a few steps" \
	previous-token:"a bright line one below the diagonal"; do
	"$examples/${picture%%:*}.sh" .
	look "${picture#*:}."
done
