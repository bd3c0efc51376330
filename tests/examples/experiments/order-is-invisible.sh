#!/usr/bin/env bash
# Attention without positions takes a bag of words: shuffled rows come out shuffled, the same (Vaswani et al. 2017,
# section 3.5, is why they add positions). A causal mask alone already breaks this (Kazemnejad et al. 2023).
source "$(dirname "$0")/experiment.bash"

random 3 4 1 >dog-bites-man.csv
tac dog-bites-man.csv >man-bites-dog.csv

# turned OPTIONS: what each word gets in the second sentence, in the order of the first
turned() { relattn "$@" man-bites-dog.csv | tac; }

claim "bare attention cannot tell who bites" same <(relattn dog-bites-man.csv) <(turned)
claim "nor can two heads" same <(relattn -H 2 dog-bites-man.csv) <(turned -H 2)
claim "a causal mask can" differ <(relattn -c dog-bites-man.csv) <(turned -c)
claim "a linear bias cannot: it is even in the offset, and a sentence reversed is its mirror image" \
	same <(relattn --alibi dog-bites-man.csv) <(turned --alibi)
random 3 1 2 >by-offset.csv
claim "a bias that is not even can" differ <(relattn --rel-bias by-offset.csv dog-bites-man.csv) <(turned --rel-bias by-offset.csv)
claim "positions added to the words can" differ <(pe-table --add dog-bites-man.csv | relattn) \
	<(pe-table --add man-bites-dog.csv | relattn | tac)
