#!/usr/bin/env bash
# Shaw et al. 2018 clip offsets at K: with K = 2 a query cannot tell keys that are three away from farther ones. Cutting
# a table of K = 8 down to its middle changes the scores of those keys alone.
# shellcheck disable=SC2016  # programs of awk
source "$(dirname "$0")/experiment.bash"

random 17 8 1 >k8.csv # offsets -8 .. 8
pe-cat --rows 6:11 k8.csv >k2.csv
random 1 8 2 >q.csv
repeat 0,0,0,0,0,0,0,0 33 >k.csv
scores() { relattn -Q q.csv -K k.csv --shaw-k "$1" --query-start 16 --scale 1 --emit logits | tr , '\n'; }

paste -d' ' <(seq -16 16) <(scores k8.csv) <(scores k2.csv) >by-offset
claim "K = 2 and K = 8 agree up to two away" awk '$1 >= -2 && $1 <= 2 && $2 != $3 { exit 1 }' by-offset
claim "beyond, K = 2 repeats the second" awk '
	{ score[$1] = $3 } END { for (o = 3; o <= 16; o++) if (score[o] != score[2] || score[-o] != score[-2]) exit 1 }' by-offset
claim "K = 8 still tells 3 from 8, and repeats the eighth" awk '
	{ score[$1] = $2 } END { for (o = 3; o < 8; o++) if (score[o] == score[8]) exit 1
		for (o = 9; o <= 16; o++) if (score[o] != score[8] || score[-o] != score[-8]) exit 1 }' by-offset
random 3 8 3 >short.csv
claim "on three rows nothing is farther than two, and both give the same" \
	same <(relattn --shaw-k k2.csv --shaw-v k2.csv short.csv) <(relattn --shaw-k k8.csv --shaw-v k8.csv short.csv)
random 9 8 3 >long.csv
claim "on nine rows they do not" differ <(relattn --shaw-k k2.csv long.csv) <(relattn --shaw-k k8.csv long.csv)
