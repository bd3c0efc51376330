#!/usr/bin/env bash
# One head with weights of two by two that can be followed by hand. Without position vectors the same word gets the
# same row wherever it stands; with them it does not.
source "$(dirname "$0")/experiment.bash"

cat >x.csv <<-'END' # cat sat cat
	1,0
	0,1
	1,0
END
printf '1,0\n0,1\n' >wq.csv
printf '0,2\n1,0\n' >wk.csv
printf '1,1\n0,1\n' >wv.csv
head() { relattn --wq wq.csv --wk wk.csv --wv wv.csv "$@"; }

echo "   scores q k / sqrt 2:"
head --emit logits -p 3 x.csv | sed 's/^/   /'
echo "   output:"
head -p 3 x.csv | sed 's/^/   /'
claim "one row for each word" [ "$(head x.csv | wc -l)" -eq 3 ]
claim "without positions both cats get the same" [ "$(head x.csv | sed -n 1p)" = "$(head x.csv | sed -n 3p)" ]
pe-table --add x.csv >placed.csv
claim "with position vectors they do not" [ "$(head placed.csv | sed -n 1p)" != "$(head placed.csv | sed -n 3p)" ]
