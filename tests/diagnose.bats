#!/usr/bin/env bats
# diagnose - pe-cmp --diagnose names the convention that turns one table into another.

load helper

# diagnosed WANT A B: what is told of the tables that two pe-table command lines make.
diagnosed() {
	run bash -c "pe-cmp --diagnose <(pe-table $2) <(pe-table $3) | tail -n 1"
	assert_output "diagnose: $1"
}

@test "golden: one convention changed" {
	diagnosed "interleaved -> halves" "-n 9 -d 8" "-n 9 -d 8 --layout halves"
	diagnosed "halves -> interleaved" "-n 9 -d 8 --layout halves" "-n 9 -d 8"
	diagnosed "sine <-> cosine (flip: columns 2i and 2i+1 exchanged)" "-n 9 -d 8" "-n 9 -d 8 --flip"
	diagnosed "sine <-> cosine (flip: the two halves exchanged)" "-n 9 -d 8 --layout halves" "-n 9 -d 8 --layout halves --flip"
	diagnosed "start off by 1 (row r of B is row r+1 of A)" "-n 9 -d 8" "-n 9 -d 8 -s 1"
	diagnosed "start off by -2 (row r of B is row r-2 of A)" "-n 9 -d 8" "-n 9 -d 8 -s -2"
	diagnosed "sign" "-n 9 -d 8" "-n 9 -d 8 -g -1"
	diagnosed "gain 0.5" "-n 9 -d 8" "-n 9 -d 8 -g 0.5"
	diagnosed "base 10000 -> 100" "-n 9 -d 8" "-n 9 -d 8 -b 100"
	diagnosed "freq-shift 0 -> 1" "-n 9 -d 8 --layout halves" "-n 9 -d 8 --preset t2t"
	diagnosed "start 0 -> 7" "-n 9 -d 8" "-n 9 -d 8 -s 7"
	diagnosed "pos-scale 1 -> 0.25" "-n 9 -d 8" "-n 9 -d 8 --pos-scale 0.25"
}

@test "golden: a transpose, and pairs moved head by head" {
	run bash -c 'pe-cmp --diagnose <(pe-table -n 3 -d 8) <(pe-table -n 3 -d 8 | pe-cat --transpose) | tail -n 1'
	assert_output "diagnose: transpose"
	run bash -c 'pe-cmp --diagnose <(seq 96 | paste -sd"$(printf ",%.0s" {1..31})\n") <(seq 96 | paste -sd"$(printf ",%.0s" {1..31})\n" | pe-cat --pairs halves:interleaved -H 4) | tail -n 1'
	assert_output "diagnose: halves -> interleaved, in heads of 8 columns"
}

@test "law: every pair of presets is told apart, and told alike where they are" {
	local presets=(paper t2t fairseq ddpm guided-diffusion diffusers gpt-j x-transformers) a b
	for a in "${presets[@]}"; do
		for b in "${presets[@]}"; do
			run bash -c "pe-cmp --diagnose <(pe-table -n 40 -d 32 --preset $a) <(pe-table -n 40 -d 32 --preset $b)"
			if [ "$status" -eq 0 ]; then
				assert_line --index 1 --partial "none is needed: the same convention"
			else
				refute_line --index 1 --partial "none is needed"
				refute_line --index 1 --partial "no known convention"
			fi
		done
	done
}

@test "law: what is told of A and B is told the other way round of B and A" {
	diagnosed "interleaved -> halves, freq-shift 0 -> 1" "-n 40 -d 32" "-n 40 -d 32 --preset t2t"
	diagnosed "halves -> interleaved, freq-shift 1 -> 0" "-n 40 -d 32 --preset t2t" "-n 40 -d 32"
}

@test "law: float32 angles do not hide a convention" {
	diagnosed "base 10000 -> 500000" "-n 2000 -d 64" "-n 2000 -d 64 -b 500000 --round freq:f32,angle:f32"
	diagnosed "none is needed: the same convention, within 0.001" "-n 2000 -d 64" "-n 2000 -d 64 --round freq:f32,angle:f32"
}

@test "law: a bf16 copy is the same convention, and its layout is told too" {
	run bash -c 'pe-cmp --diagnose <(pe-table -n 40 -d 32) <(pe-table -n 40 -d 32 -t csv:bf16) | tail -n 1'
	assert_output "diagnose: none is needed: the same convention, within 0.01"
	run bash -c 'pe-cmp --diagnose <(pe-table -n 40 -d 32) <(pe-table -n 40 -d 32 --layout halves -t csv:bf16) | tail -n 1'
	assert_output "diagnose: interleaved -> halves"
}

@test "limit: tables of which nothing is known" {
	run bash -c 'pe-cmp --diagnose <(printf "1,2\n3,4\n") <(printf "1,7\n3,4\n") | tail -n 1'
	assert_output "diagnose: no known convention turns A into B"
	run bash -c 'pe-cmp --diagnose <(echo 1,2,3) <(echo 1,2) | tail -n 1'
	assert_output "diagnose: no known convention turns A into B"
	run bash -c 'pe-cmp --diagnose --abs 1e-9 <(echo 1) <(echo 1) | tail -n 1'
	assert_output "diagnose: none is needed: the same convention, within 1e-09"
}

@test "usage: --diagnose prints, -q does not" {
	refused 2 "pe-cmp: --diagnose: has no effect beside -q" pe-cmp --diagnose -q a b
}
