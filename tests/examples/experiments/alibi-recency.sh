#!/usr/bin/env bash
# ALiBi's slopes are the powers 1/2 .. 1/256 of eight heads, and among equal words each step back takes a factor of
# e^slope off a key's weight (Press et al. 2022, section 3).
# shellcheck disable=SC2016  # programs of awk
source "$(dirname "$0")/experiment.bash"

claim "the slopes of eight heads" [ "$(alibi -H 8)" = 0.5,0.25,0.125,0.0625,0.03125,0.015625,0.0078125,0.00390625 ]
repeat 0,0,0,0,0,0,0,0 12 >equal.csv
relattn -H 8 -c --alibi --emit weights equal.csv >weights.csv
claim "each step back weighs e^-slope times as much, in every head" awk -F, '{
	head = int((NR - 1) / 12); m = (NR - 1) % 12 + 1
	for (n = 1; n < m; n++) { x = $n / $(n + 1) - exp(-2 ^ -(head + 1)); if (x * x > 1e-28) exit 1 } }' weights.csv
claim "so the nearest key weighs most" awk -F, '{ m = (NR - 1) % 12 + 1; for (n = 1; n < m; n++) if ($n >= $(n + 1)) exit 1 }' weights.csv
