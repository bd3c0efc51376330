#!/usr/bin/env bats
# checkpoints - safetensors files: tensors read, listed and written, and headers that lie.

load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# checkpoint FILE HEADER DATA: the three parts of a file; DATA in printf's escapes.
checkpoint() {
	local length=${#2} byte
	{
		for byte in 0 1 2 3 4 5 6 7; do
			# shellcheck disable=SC2059
			printf "\\x$(printf %02x $((length >> (8 * byte) & 255)))"
		done
		printf '%s' "$2"
		# shellcheck disable=SC2059
		printf "$3"
	} >"$1"
}

one='{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
floats='\0\0\200\077\0\0\0\100' # 1, 2

@test "golden: tensors of every type that is read" {
	checkpoint m.safetensors '{"__metadata__":{"k":"v"},
		"d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},
		"f":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},
		"h":{"dtype":"F16","shape":[],"data_offsets":[16,18]},
		"b":{"dtype":"BF16","shape":[1],"data_offsets":[18,20]},
		"l":{"dtype":"I64","shape":[1,1,1],"data_offsets":[20,28]},
		"i":{"dtype":"I32","shape":[1],"data_offsets":[28,32]}}' \
		'\0\0\0\0\0\0\370\077\0\0\200\077\0\0\0\100\0\074\200\077\377\377\377\377\377\377\377\177\376\377\377\377'
	run -0 bash -c 'for t in d f h b l i; do pe-cat m.safetensors:$t; done'
	assert_output $'1.5\n1\n2\n1\n1\n9223372036854775807\n-2'
	run -0 pe-cat --list m.safetensors
	assert_output $'d\tF64\t1\t1\nf\tF32\t2x1\t2\nh\tF16\tscalar\t1\nb\tBF16\t1\t1\nl\tI64\t1x1x1\t1\ni\tI32\t1\t1'
}

@test "law: a tensor is the same from a file and from a pipe" {
	checkpoint m.safetensors '{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}' "$floats"
	run -0 pe-cat m.safetensors:x
	assert_output 1
	mkfifo p.safetensors
	cat m.safetensors >p.safetensors &
	run -0 pe-cat p.safetensors:y
	assert_output 2
	cat m.safetensors >p.safetensors &
	run -0 pe-cat p.safetensors:x
	assert_output 1
}

@test "reverse: what is written is read back, with the row count known or not" {
	pe-table -n 300 -d 10 -t f32 >x.f32
	pe-cat -f f32 -d 10 x.f32 -o a.safetensors --name w
	pe-cat -f f32 -d 10 x.f32 -t safetensors --name w | cmp - a.safetensors
	pe-cat a.safetensors:w -t f32 | cmp - x.f32
	pe-cat -f f32 -d 10 -t csv:f32 x.f32 | pe-cat -t safetensors:f32 | pe-cat -f safetensors -t f32 - | cmp - x.f32
	run -0 pe-cat --list a.safetensors
	assert_output $'w\tF32\t300x10\t3000'
}

@test "law: a tensor is a table wherever a file is named" {
	checkpoint m.safetensors "$one" "$floats"
	run -0 pe-table --learned m.safetensors:a -n 1
	assert_output 1,2
	run -0 pe-table --learned m.safetensors -n 1
	assert_output 1,2
}

@test "error: a tensor that is not there, with the names that are near" {
	checkpoint m.safetensors '{"wpe.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"wte.weight":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}' "$floats"
	refused 1 "pe-cat: m.safetensors: no tensor 'wpe', there are: 'wpe.weight', 'wte.weight'" pe-cat m.safetensors:wpe
	refused 1 "pe-cat: m.safetensors: holds several tensors, name one as FILE:TENSOR: 'wpe.weight', 'wte.weight'" pe-cat m.safetensors
	checkpoint e.safetensors '{}' ''
	refused 1 "pe-cat: e.safetensors: holds no tensor" pe-cat e.safetensors
	checkpoint c.safetensors '{"\u001b[2J":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' "$floats"
	refused 1 "pe-cat: c.safetensors: no tensor 'x\\n', there are: '\\x1b[2J'" pe-cat $'c.safetensors:x\n'
	run -0 pe-cat --list c.safetensors
	assert_output $'\\x1b[2J\tF32\t2\t2'
}

@test "error: of many tensors those with the nearest names are told, and how many more there are" {
	local header='' name
	for name in wte wpa h.0 h.1 wpf wpe2 h.2 z.far.away; do
		header+="\"$name\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},"
	done
	checkpoint m.safetensors "{${header%,}}" ''
	refused 1 "pe-cat: m.safetensors: no tensor 'wpe', there are: 'wpe2', 'wpa', 'wpf', 'wte', 'h.0' and 3 more" pe-cat m.safetensors:wpe
	refused 1 "pe-cat: m.safetensors: tensor 'h.1': has no columns" pe-cat m.safetensors:h.1
	# without bytes they stand at one place, in the order of their names
	run -0 bash -c 'pe-cat --list m.safetensors | cut -f 1 | tr "\n" " "'
	assert_output "h.0 h.1 h.2 wpa wpe2 wpf wte z.far.away "
	checkpoint m.safetensors '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}' "$floats"
	run -0 bash -c 'pe-cat --list m.safetensors | cut -f 1,3 | tr "\t\n" "= "'
	assert_output "b=0 a=2 "
}

@test "law: a tensor far behind another is found, by a seek and by reading on" {
	local far=200000
	{
		checkpoint head "{\"a\":{\"dtype\":\"U8\",\"shape\":[$far],\"data_offsets\":[0,$far]},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[$far,$((far + 8))]}}" ''
		cat head
		head -c $far /dev/zero
		# shellcheck disable=SC2059
		printf "$floats"
	} >m.safetensors
	run -0 pe-cat m.safetensors:b
	assert_output 1,2
	run -0 bash -c 'pe-cat --list <(cat m.safetensors) | tail -n 1'
	assert_output $'b\tF32\t2\t2'
	mkfifo p.safetensors
	cat m.safetensors >p.safetensors &
	run -0 pe-cat p.safetensors:b
	assert_output 1,2
}

@test "error: a list of a pipe that ends in its header, or has less or more data than that tells" {
	checkpoint m.safetensors "$one" "$floats"
	cut_to() { # SIZE MESSAGE
		run -1 --separate-stderr bash -c 'head -c "$1" m.safetensors | pe-cat --list -' - "$1"
		assert_output ""
		assert_equal "$stderr" "pe-cat: <stdin>: $2"
	}
	cut_to 20 "ends after 12 of ${#one} bytes of its header"
	cut_to $((8 + ${#one} + 3)) "has less than the 8 bytes of data its header tells of"
	echo >>m.safetensors
	cut_to 999 "has more than the 8 bytes of data its header tells of"
}

@test "error: types that are listed and not read, and unknown ones" {
	checkpoint m.safetensors '{"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}' '\1\0'
	refused 1 "pe-cat: m.safetensors: tensor 'a': BOOL is not read, only F64 F32 F16 BF16 I64 I32" pe-cat m.safetensors
	checkpoint m.safetensors '{"a":{"dtype":"F33","shape":[2],"data_offsets":[0,2]}}' '\1\0'
	refused 1 "pe-cat: m.safetensors: tensor 'a': unknown dtype: 'F33'" pe-cat --list m.safetensors
}

# The last word of each line of a lying header's message; every one is refused by the list and by the reader.
lies() {
	checkpoint m.safetensors "$1" "$2"
	refused 1 "pe-cat: m.safetensors: $3" pe-cat m.safetensors
	refused 1 "pe-cat: m.safetensors: $3" pe-cat --list m.safetensors
}

@test "error: offsets with holes, overlaps, out of order, or beyond the file" {
	lies '{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}' "$floats" "tensor 'a': data begin at 4, behind a hole from 0"
	lies '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}' "$floats" \
		"tensor 'b': data begin at 4, inside data that end at 8"
	lies '{"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}}' "$floats" "tensor 'a': data_offsets are no two whole numbers in order"
	lies '{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}' "$floats" "tensor 'a': data_offsets are no two whole numbers in order"
	lies '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0.0,4.0]}}' "$floats" "tensor 'a': data_offsets are no two whole numbers in order"
	lies '{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}' "$floats" "has 8 bytes of data, its header tells of 16"
	lies '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' "$floats" "has 8 bytes of data, its header tells of 4"
}

@test "error: shapes that do not take the bytes, or overflow" {
	lies '{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}' "$floats" "tensor 'a': 3 elements of F32 take 12 bytes, data_offsets hold 8"
	lies '{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}' "$floats" "tensor 'a': shape overflows"
	lies '{"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,8]}}' "$floats" "tensor 'a': shape overflows"
	lies '{"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}}' "$floats" "tensor 'a': dimension 0 is no whole number"
	lies '{"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}}' "$floats" "tensor 'a': no shape"
	lies '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}}' "$floats" "tensor 'a': keys beside dtype, shape and data_offsets"
	lies '{"a":{"shape":[2],"data_offsets":[0,8],"x":1}}' "$floats" "tensor 'a': no dtype"
	lies '{"a":3}' "$floats" "tensor 'a': no object"
	lies '{"__metadata__":{"k":1}}' '' "__metadata__: no text: 'k'"
	lies '{"__metadata__":3}' '' "__metadata__ is no object"
}

@test "error: headers that are no JSON objects" {
	lies '[1]' '' "header does not begin with '{'"
	lies ' {}' '' "header does not begin with '{'"
	checkpoint m.safetensors '{"a":1,"a":2}' ''
	run -1 --separate-stderr pe-cat m.safetensors
	assert_equal "$output" ""
	[[ $stderr == "pe-cat: m.safetensors: header: byte "*"duplicate object key"* ]]
	checkpoint m.safetensors "$one}" "$floats"
	run -1 --separate-stderr pe-cat m.safetensors
	[[ $stderr == "pe-cat: m.safetensors: header: byte "*"end of file expected"* ]]
	checkpoint m.safetensors "$(printf '{"a":%s' "$(printf '[%.0s' {1..5000})")" ''
	run -1 --separate-stderr pe-cat m.safetensors
	[[ $stderr == "pe-cat: m.safetensors: header: byte "* ]]
}

@test "error: lengths of the header that lie" {
	printf '\1\0\0' >m.safetensors
	refused 1 "pe-cat: m.safetensors: ends after 3 of the 8 bytes of its header's length" pe-cat m.safetensors
	printf '\0\0\0\0\0\0\0\200{}' >m.safetensors
	refused 1 "pe-cat: m.safetensors: header of 9223372036854775808 bytes is longer than 100000000" pe-cat m.safetensors
	printf '\377\377\377\377\377\377\377\377{}' >m.safetensors
	refused 1 "pe-cat: m.safetensors: header of 18446744073709551615 bytes is longer than 100000000" pe-cat m.safetensors
	printf '\0\1\0\0\0\0\0\0{}' >m.safetensors
	refused 1 "pe-cat: m.safetensors: header of 256 bytes in a file that has 2 more" pe-cat m.safetensors
	run -1 --separate-stderr bash -c 'pe-cat -f safetensors - <<<"$(printf "\x01\x01\x01\x01\x01\x01\x01\x01")"'
	[[ $stderr == "pe-cat: <stdin>: "* ]]
	: >m.safetensors
	refused 1 "pe-cat: m.safetensors: ends after 0 of the 8 bytes of its header's length" pe-cat m.safetensors
}

@test "error: a checkpoint that is cut in a pipe, before, in and behind the tensor" {
	checkpoint m.safetensors '{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}' "$floats"
	local size
	size=$(wc -c <m.safetensors)
	# each time a FIFO of its own: a writer that meets the reader before would wait for ever
	piped() {
		rm -f p.safetensors && mkfifo p.safetensors
		timeout 20 bash -c 'eval "$1" >p.safetensors' - "$1" 3>&- &
	}
	piped "head -c $((size - 1)) m.safetensors"
	refused 1 "pe-cat: p.safetensors: data end after 3 of 4 bytes" pe-cat p.safetensors:y
	piped "head -c $((size - 5)) m.safetensors"
	refused 1 "pe-cat: p.safetensors: ends before the data of the tensor 'y'" pe-cat p.safetensors:y
	# behind x: its row may have gone out before the end is seen
	piped "head -c $((size - 1)) m.safetensors"
	run -1 --separate-stderr pe-cat p.safetensors:x
	assert_equal "$stderr" "pe-cat: p.safetensors: data end 1 bytes before their end by the header"
	piped "cat m.safetensors - <<<x"
	run -1 --separate-stderr pe-cat p.safetensors:x
	assert_equal "$stderr" "pe-cat: p.safetensors: data go on after the 8 bytes of its shape"
}

@test "limit: memory follows what the file holds, not what its header claims" {
	checkpoint m.safetensors '{"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}}' "$floats"
	under_sanitizer && skip "a sanitizer takes more memory than the limit"
	run -1 bash -c 'ulimit -v 200000; exec pe-cat m.safetensors'
	assert_output "pe-cat: m.safetensors: has 8 bytes of data, its header tells of 4398046511104"
}

@test "usage: --list takes one file, and nothing else" {
	refused 2 "pe-cat: --list: takes one file" pe-cat --list
	refused 2 "pe-cat: --list: takes one file" pe-cat --list a b
	refused 2 "pe-cat: --list: takes no other option but -o" pe-cat --list --transpose a
	refused 2 "pe-cat: --list: takes no other option but -o" pe-cat --list -t csv a
	refused 2 "pe-table: -t: unknown format, must be one of csv, tsv, txt, npy, f64, f32, f16, bf16, i32, i64, f64be, f32be, or csv:ELEMENT, npy:ELEMENT: 'safetensors'" \
		pe-table -n 1 -d 2 -t safetensors
}
