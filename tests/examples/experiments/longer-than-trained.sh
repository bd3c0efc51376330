#!/usr/bin/env bash
# A table of T_max learned positions ends there. A bias by offset does not: T5's (Raffel et al. 2020) and ALiBi's
# (Press et al. 2022) at 8 T are those at T, continued.
source "$(dirname "$0")/experiment.bash"

trained=16 long=128
random $trained 8 1 >wpe.csv
random $long 8 2 >x.csv
random 32 2 3 >t5.csv

claim "$trained words take learned positions" pe-table --learned wpe.csv --add <(head -n $trained x.csv)
status=0 said=$(pe-table --learned wpe.csv -n $long 2>&1) || status=$?
echo "   $said"
claim "word $trained has none" [ "$status" -eq 1 ]

tail -n 31 t5.csv >r.csv
for scheme in "--t5 t5.csv" "--alibi" "--rel-bias r.csv"; do
	# shellcheck disable=SC2086  # an option and its value
	bias() { relattn --emit bias -H 2 $scheme -n "$@"; }
	claim "$scheme: the first $trained by $trained of $long by $long are those of $trained by $trained" \
		cmp -s <(bias $trained) <(bias $long | sed -n "1,${trained}p; $((long + 1)),$((long + trained))p" | cut -d, -f1-$trained)
	claim "$scheme: so are the last, on queries and keys $((long - trained)) later" \
		cmp -s <(bias $trained) <(bias $long | sed -n "$((long - trained + 1)),${long}p; $((2 * long - trained + 1)),$((2 * long))p" | cut -d, -f$((long - trained + 1))-)
done
claim "attention over $long words with both" [ "$(relattn -H 2 -c --t5 t5.csv --alibi x.csv | wc -l)" -eq $long ]
claim "whose first $trained rows are those of $trained words" \
	same <(relattn -H 2 -c --t5 t5.csv --alibi x.csv | head -n $trained) <(head -n $trained x.csv | relattn -H 2 -c --t5 t5.csv --alibi)
