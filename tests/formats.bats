#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2059  # scripts in single quotes, text in printf escapes, a file read twice
# Reading and writing of every format, through pe-cat: spellings that are accepted, faults and their exact text.
load helper

# fault TEXT MESSAGE [OPTION...]: pe-cat refuses the text (printf escapes) on stdin with status 1 and this message.
fault() {
	local text=$1 message=$2
	shift 2
	printf "$text" >"$BATS_TEST_TMPDIR/in"
	refused 1 "pe-cat: <stdin>: $message" pe-cat "$@" <"$BATS_TEST_TMPDIR/in"
}

# reads TEXT ROWS [OPTION...]: pe-cat prints ROWS (printf escapes) for it.
reads() {
	local text=$1 rows=$2
	shift 2
	diff <(printf "$text" | pe-cat "$@") <(printf "$rows")
}

# npy DESCR FORTRAN SHAPE DATA [MAJOR.MINOR]: an npy file on stdout; DATA in printf escapes.
npy() {
	npy_dict "{'descr': '$1', 'fortran_order': $2, 'shape': $3, }" "$4" "${5:-1.0}"
}

bytes() {
	local byte
	for byte; do
		printf "\\$(printf %03o "$byte")"
	done
}

# npy_dict DICT DATA [VERSION]
npy_dict() {
	local dict=$1 version=${3:-1.0}
	printf '\x93NUMPY'
	bytes "${version%.*}" "${version#*.}" $((${#dict} % 256)) $((${#dict} / 256))
	[ "${version%.*}" = 1 ] || bytes 0 0
	printf '%s' "$dict"
	printf "$2"
}

# ---- text ----

@test "law: line ends, blank lines, comments, blanks and quotes change nothing" {
	local rows='1,2\n-3,4.5\n'
	reads '1,2\n-3,4.5\n' "$rows"
	reads '1,2\n-3,4.5' "$rows"
	reads '1,2\r\n-3,4.5\r\n' "$rows"
	reads '1,2\r-3,4.5\r' "$rows"
	reads '1,2\r-3,4.5' "$rows"
	reads '1,2\r\n\r\n-3,4.5\r' "$rows"
	reads '\xef\xbb\xbf1,2\n-3,4.5\n' "$rows"
	reads '\n\n# a comment, with "quotes\n1,2\n   \t\n#\n-3,4.5\n\n' "$rows"
	reads ' 1 ,\t2\t\n -3,4.5 \n' "$rows"
	reads '"1","2"\n"-3","4.5"\n' "$rows"
	reads '"1",2\n -3 ," 4.5 "\n' "$rows"
	reads '+1,2.\n-3e0,.45e1\n' "$rows"
	reads '0x1,0x1p1\n-0x3,0x1.2p2\n' "$rows"
}

@test "law: where blocks of the input end makes no difference" {
	seq 300000 | paste -d, - - >"$BATS_TEST_TMPDIR/plain.csv"
	awk -F, '{
		if (NR % 7 == 0) printf "\"%s\", %s\r\n", $1, $2
		else if (NR % 11 == 0) printf " %s ,+%s\r", $1, $2
		else if (NR % 13 == 0) printf "# comment\n\n%s.0,%se0\n", $1, $2
		else print
	}' "$BATS_TEST_TMPDIR/plain.csv" >"$BATS_TEST_TMPDIR/odd.csv"
	pe-cat "$BATS_TEST_TMPDIR/odd.csv" | cmp - "$BATS_TEST_TMPDIR/plain.csv"
	tr , ' ' <"$BATS_TEST_TMPDIR/plain.csv" | pe-cat -f txt | cmp - "$BATS_TEST_TMPDIR/plain.csv"
	head -c 3000 "$BATS_TEST_TMPDIR/odd.csv" | dd bs=1 2>/dev/null | pe-cat -t f32 |
		cmp - <(head -c 3000 "$BATS_TEST_TMPDIR/odd.csv" | pe-cat -t f32)
}

@test "law: tabs separate tsv, runs of blanks and tabs separate txt" {
	reads '1\t2\n3\t4\n' '1,2\n3,4\n' -f tsv
	reads ' 1 \t 2 \n"3"\t4\n' '1,2\n3,4\n' -f tsv
	reads '1 2\n  3 \t 4  \n' '1,2\n3,4\n' -f txt
	reads '"1" 2\n  3 \t "4"\t\n' '1,2\n3,4\n' -f txt
	reads '1,2\n' '1\t2\n' -t tsv
	reads '1,2\n' '1 2\n' -t txt
}

@test "law: nan and infinities are read in any case and written in one" {
	reads 'nan,NaN,-NAN,+nan\n' 'nan,nan,nan,nan\n'
	reads 'inf,-INF,Infinity,-infinity,+Inf\n' 'inf,-inf,inf,-inf,inf\n'
}

@test "law: what underflows is the nearest subnormal or 0, with its sign" {
	reads '1e-400,-1e-400,4e-324,3e-324,2e-324\n' '0,-0,5e-324,5e-324,0\n'
	reads '1e-46,1e-45\n' '0,1e-45\n' -t csv:f32
}

@test "law: numbers are laid out plainly from 1e-4 up to below 1e16" {
	reads '0.0001,0.00001,9999999999999998,1e16,-0,1.50\n' '0.0001,1e-05,9999999999999998,1e+16,-0,1.5\n'
}

@test "error: a field that is no number" {
	fault '1,2\n3,abc\n' "line 2, column 2: not a number: 'abc'"
	fault '1,2\n\n#\n3,4x\n' "line 4, column 2: not a number: '4x'"
	fault '1\r2\rx\r' "line 3, column 1: not a number: 'x'"
	fault '1\n1_000\n' "line 2, column 1: not a number: '1_000'"
	fault '1\n1 000\n' "line 2, column 1: not a number: '1 000' (blank separated? use --from txt)"
	fault '1\n½\n' "line 2, column 1: not a number: '½'"
	fault '1\nnan(7)\n' "line 2, column 1: not a number: 'nan(7)'"
	fault '1\n--1\n' "line 2, column 1: not a number: '--1'"
	fault '1\n1 # one\n' "line 2, column 1: not a number: '1 # one' (a comment takes a line of its own)"
	fault '1\n\xef\xbb\xbf2\n' "line 2, column 1: not a number: '$(printf '\xef\xbb\xbf')2'"
	fault '1\nx\x1b[2Jy\n' "line 2, column 1: not a number: 'x\\x1b[2Jy' (not text? name its format with --from)"
}

@test "error: a row of names points to --header-in" {
	fault 'd0,d1\n1,2\n' "line 1, column 1: not a number: 'd0' (a line of names? use --header-in)"
	fault '"1","b c"\n1,2\n' "line 1, column 2: not a number: 'b c' (a line of names? use --header-in)"
	fault 'a,b\nc,d\n' "line 2, column 1: not a number: 'c'" --header-in
}

@test "error: separators of another kind point to their format" {
	fault '0,5;1,5\n' "line 1, column 2: not a number: '5;1' (semicolons? put commas between numbers, points within)"
	fault '1\t2\n' "line 1, column 1: not a number: '1\\t2' (tab separated? use --from tsv)"
	fault '1 2\n' "line 1, column 1: not a number: '1 2' (blank separated? use --from txt)"
	fault '1,2\n' "line 1, column 1: not a number: '1,2' (comma separated? use --from csv)" -f txt
	fault '"0,5","1,5"\n' "line 1, column 1: not a number: '0,5' (one field, being quoted; decimals take a point)"
}

@test "error: an empty field, a trailing separator" {
	fault '1,,3\n' "line 1, column 2: empty field"
	fault ',2\n' "line 1, column 1: empty field"
	fault '1,"",3\n' "line 1, column 2: empty field"
	fault '1, \t,3\n' "line 1, column 2: empty field"
	fault '1,2,\n' "line 1, column 3: empty field (trailing comma?)"
	fault '1,2\n3,4,\n' "line 2, column 3: empty field (trailing comma?)"
	fault '1,2\n3,\n' "line 2, column 2: empty field (trailing comma?)"
	fault ',\n' "line 1, column 1: empty field"
	fault '1\t\t2\n' "line 1, column 2: empty field" -f tsv
	fault '1\t2\t\n' "line 1, column 3: empty field (trailing tab?)" -f tsv
}

@test "error: a ragged row" {
	fault '1,2,3\n4,5\n' "line 2, column 3: row has 2 columns, 3 are due"
	fault '1,2\n3,4,5\n' "line 2, column 3: row has 3 columns, 2 are due"
	fault '1\n2,3\n' "line 2, column 2: row has 2 columns, 1 is due"
	fault '1,2\n3\n' "line 2, column 2: row has 1 column, 2 are due"
	fault '1,2\n"3"\n' "line 2, column 2: row has 1 column, 2 are due"
	fault '1 2\n3 4 5\n' "line 2, column 3: row has 3 columns, 2 are due" -f txt
	fault 'a,b\n3,4,5\n' "line 2, column 3: row has 3 columns, 2 are due" --header-in
	fault '1,2\n' "line 1, column 3: row has 2 columns, 3 are due" -d 3
}

@test "error: quotes that do not close, text beside them" {
	fault '1,"2\n3,4\n' "line 1, column 2: quote is not closed"
	fault '"1\n' "line 1, column 1: quote is not closed"
	fault '1,"2"3\n' "line 1, column 2: text beside a quoted field"
	fault '1,2"3"\n' "line 1, column 2: text beside a quoted field"
	fault '1,"2""3"\n' "line 1, column 2: not a number: '2\"3' (a line of names? use --header-in)"
}

@test "error: a number beyond the element" {
	fault '1e400\n' "line 1, column 1: overflows f64: '1e400'"
	fault '1\n-1e309\n' "line 2, column 1: overflows f64: '-1e309'"
	fault '1,4e38\n' "line 1, column 2: overflows f32: '4e38'" -t f32
	fault '1,65520\n' "line 1, column 2: overflows f16: '65520'" -t f16
	fault '1,3e9\n' "line 1, column 2: overflows i32: '3000000000'" -t i32
	fault '1,9223372036854775808\n' "line 1, column 2: overflows i64: '9223372036854775808'" -t i64
}

@test "error: a fraction where an integer is due" {
	fault '1,1.5\n' "line 1, column 2: not an integer: '1.5'" -t i64
	fault '1,nan\n' "line 1, column 2: not an integer: 'nan'" -t i32
	fault '1,x\n' "line 1, column 2: not a number: 'x' (a line of names? use --header-in)" -t i32
}

@test "error: bytes that are no text" {
	fault '1,\0002\n' "line 1, column 2: NUL byte (not text? name its format with --from)"
	fault '1\n"2\0003"\n' "line 2, column 1: NUL byte (not text? name its format with --from)"
	fault '\xff\xfe1\0\n\0' "UTF-16 text: convert it to UTF-8"
	fault '\xfe\xff\0001\0\n' "UTF-16 text: convert it to UTF-8"
	fault '1\0,\0' "UTF-16 text: convert it to UTF-8"
	fault '\0001\0,' "UTF-16 text: convert it to UTF-8"
	fault '\x1f\x8b\x08' "gzip data: decompress it first"
	fault 'PK\003\004' "a zip archive (.npz, .pt?): extract it first"
	fault '\x93NUMPY' "an npy file: use --from npy" -f csv
}

@test "error: no input, no rows" {
	fault '' "empty input (was it also the output?)"
	fault '\n\n' "no rows, only names, blank lines or comments"
	fault '# a\n' "no rows, only names, blank lines or comments"
	fault 'a,b\n' "no rows, only names, blank lines or comments" --header-in
	fault '' "empty input (was it also the output?)" -f npy
	fault '' "empty input (was it also the output?)" -f f64 -d 2
}

@test "limit: a field of more than a mebibyte is refused, a quote that never closes too, in little memory" {
	head -c 3000000 /dev/zero | tr '\0' 1 >"$BATS_TEST_TMPDIR/long"
	refused 1 "pe-cat: <stdin>: line 1, column 1: a field of more than 1048576 bytes (a quote that never closes?)" \
		pe-cat <"$BATS_TEST_TMPDIR/long"
	{
		printf '1,2\n3,"'
		cat "$BATS_TEST_TMPDIR/long"
	} >"$BATS_TEST_TMPDIR/quote"
	refused 1 "pe-cat: <stdin>: line 2, column 2: a field of more than 1048576 bytes (a quote that never closes?)" \
		pe-cat <"$BATS_TEST_TMPDIR/quote"
	{
		printf '1,2\n3,"'
		yes 1, | head -c 6000000 | tr -d '\n'
		printf '"\n'
	} >"$BATS_TEST_TMPDIR/quoted"
	refused 1 "pe-cat: <stdin>: line 2, column 2: a field of more than 1048576 bytes" pe-cat <"$BATS_TEST_TMPDIR/quoted"
	yes | tr -d '\n' | (
		under_sanitizer || ulimit -v 100000
		run -1 pe-cat
	)
}

@test "limit: a line of several mebibytes is a row" {
	seq -s , 500000 >"$BATS_TEST_TMPDIR/wide.csv"
	[ "$(pe-cat --cols 499999: "$BATS_TEST_TMPDIR/wide.csv")" = 500000 ]
	[ "$(pe-cat "$BATS_TEST_TMPDIR/wide.csv" | md5sum)" = "$(md5sum <"$BATS_TEST_TMPDIR/wide.csv")" ]
}

@test "law: names are read, passed on, quoted where they must be" {
	reads 'a,b\n1,2\n' '1,2\n' --header-in
	reads '# c\n\na,"b ""c"", d"\n1,2\n' 'a,"b ""c"", d"\n1,2\n' --header-in --header-out
	reads '"#a",b\n1,2\n' '"#a",b\n1,2\n' --header-in --header-out
	reads 'a b\n1 2\n' 'a,b\n1,2\n' -f txt --header-in --header-out
	reads '1,2\n' 'x0,x1\n1,2\n' --header-out
	reads '"a b",c\n1,2\n' '"a b" c\n1 2\n' --header-in --header-out -t txt
}

@test "law: the same text comes back from every format" {
	local format
	printf '0.1,-2.5e-300,nan\ninf,-0,12345.678\n' >"$BATS_TEST_TMPDIR/x.csv"
	for format in csv tsv txt npy f64 f64be; do
		pe-cat -t $format "$BATS_TEST_TMPDIR/x.csv" | pe-cat -f $format -d 3 | cmp - "$BATS_TEST_TMPDIR/x.csv"
	done
	for format in csv tsv txt npy f64; do
		pe-cat -o "$BATS_TEST_TMPDIR/y.$format" "$BATS_TEST_TMPDIR/x.csv"
		pe-cat -d 3 "$BATS_TEST_TMPDIR/y.$format" | cmp - "$BATS_TEST_TMPDIR/x.csv"
	done
}

@test "law: text prints f64 digits of any element, fewest digits of the element asked for" {
	printf '0.1,1e9\n' | pe-cat -t f32 >"$BATS_TEST_TMPDIR/x.f32"
	reads '' '0.10000000149011612,1000000000\n' -d 2 "$BATS_TEST_TMPDIR/x.f32"
	reads '' '0.1,1000000000\n' -d 2 -t csv:f32 "$BATS_TEST_TMPDIR/x.f32"
	reads '0.1,1e9\n' '0.1,1000000000\n'
	reads '0.1,3e4\n' '0.1,30000\n' -t csv:f16
	reads '0.1,1e9\n' '0.1,1000000000\n' -t csv:bf16
	reads '0.123456789,12345\n' '0.123,12300\n' -p 3
	reads '0.123456789,12345\n' '0.123456789,12345\n' -p 17
	reads '5,12345\n' '5,12345\n' -p 2 -t csv:i64
}

@test "law: an f32 is rounded once from its text, not by way of a double" {
	# just above the tie between 1 and the next float32; a double sees the tie itself
	reads '1.00000005960464477540\n' '1.0000001\n' -t csv:f32
	printf '1.00000005960464477540\n' | pe-cat -t f32 | od -An -tx4 | grep -q 3f800001
}

# ---- raw ----

@test "error: a raw stream that ends within a row or a value" {
	fault '12345678' "byte 0: row ends after 2 of 3 values" -f f32 -d 3
	fault 'aaaaaaaabbbbbbbbccc' "byte 16: value ends after 3 of 4 bytes" -f f32 -d 2
	fault 'aaaabbbbcccc' "byte 8: row ends after 2 of 4 values" -f f16 -d 4
	printf 'aaaaaaaabbbbbbbbccc' >"$BATS_TEST_TMPDIR/x.f32"
	refused 1 "pe-cat: $BATS_TEST_TMPDIR/x.f32: byte 16: value ends after 3 of 4 bytes" pe-cat -d 2 "$BATS_TEST_TMPDIR/x.f32"
	# from a pipe whole rows may have gone before
	run -1 --separate-stderr bash -c 'printf aaaaaaaabbbbbbbbccc | pe-cat -f f32 -d 2'
	assert_equal "$stderr" "pe-cat: <stdin>: byte 16: value ends after 3 of 4 bytes"
}

@test "error: a file's name is told whole, a very long one from its end, an empty one as such" {
	local folder
	printf -v folder '%0100d' 0
	refused 1 "pe-cat: $folder/x.csv: No such file or directory" pe-cat "$folder/x.csv"
	refused 1 "pe-cat: ...${folder:0:32}/$folder/$folder/x.csv: No such file or directory" pe-cat "$folder/$folder/$folder/x.csv"
	refused 1 "pe-cat: '': No such file or directory" pe-cat ""
	refused 1 "pe-table: '': No such file or directory" pe-table -n 1 -d 2 -o ""
}

@test "usage: --header-in where nothing is text" {
	refused 2 "pe-cat: --header-in: has no effect beside -f: the input is no text" pe-cat -f f64 -d 2 --header-in
	refused 2 "pe-cmp: --header-in: has no effect beside -f: the input is no text" pe-cmp -f f64 -d 2 --header-in a b
}

@test "usage: a raw stream does not tell its width" {
	refused 2 "pe-cat: <stdin>: a raw stream does not tell its width: give -d" pe-cat -f f32 <<<"abcdefg"
}

@test "law: big-endian streams are the little-endian ones with their bytes turned" {
	[ "$(printf '1,2\n' | pe-cat -t f32be | od -An -tx1)" = " 3f 80 00 00 40 00 00 00" ]
	[ "$(printf '1\n' | pe-cat -t f64be | od -An -tx1)" = " 3f f0 00 00 00 00 00 00" ]
	[ "$(printf '1\n' | pe-cat -t bf16 | od -An -tx1)" = " 80 3f" ]
}

# ---- npy ----

@test "golden: npy files are laid out as NumPy lays them out" {
	printf '1,2,3\n4,5,6\n' | pe-cat -t npy:i4 2>/dev/null && fail "i4 is no name"
	printf '1,2,3\n4,5,6\n' | pe-cat -t npy:i32 >"$BATS_TEST_TMPDIR/x.npy"
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/x.npy" 2>/dev/null || stat -f %z "$BATS_TEST_TMPDIR/x.npy")" = 152 ]
	[ "$(head -c 70 "$BATS_TEST_TMPDIR/x.npy" | od -An -c -N 10 | tr -d ' ')" = '223NUMPY001\0v\0' ]
	[ "$(head -c 128 "$BATS_TEST_TMPDIR/x.npy" | tail -c +11 | tr -s ' ')" = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), } " ]
	[ "$(tail -c 24 "$BATS_TEST_TMPDIR/x.npy" | od -An -td4 | tr -s ' \n' ' ')" = " 1 2 3 4 5 6 " ]
}

@test "law: npy in either order, either byte order, every version, every rank" {
	diff <(npy '<i4' False '(2, 2)' '\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0' | pe-cat) <(printf '1,2\n3,4\n')
	diff <(npy '>i4' False '(2, 2)' '\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4' 2.0 | pe-cat) <(printf '1,2\n3,4\n')
	diff <(npy '<i4' True '(2, 2)' '\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0' 3.0 | pe-cat) <(printf '1,3\n2,4\n')
	diff <(npy '>i4' True '(2, 2)' '\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4' | pe-cat) <(printf '1,3\n2,4\n')
	diff <(npy '<i4' True '(2, 2, 1)' '\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0' | pe-cat) <(printf '1\n3\n2\n4\n')
	diff <(npy '<i4' True '(1, 4)' '\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0' | pe-cat) <(printf '1,2,3,4\n')
	diff <(npy '<f2' False '(3,)' '\0\x3c\0\xbc\0\x7c' | pe-cat) <(printf '1,-1,inf\n')
	diff <(npy '>f8' False '()' '\x3f\xf0\0\0\0\0\0\0' | pe-cat) <(printf '1\n')
	diff <(npy '<i8' False '(1, 1)' '\1\0\0\0\0\0\x20\0' | pe-cat) <(printf '9007199254740993\n')
}

@test "law: npy that names no element takes the input's, and f32 for bf16, which it lacks" {
	local file=$BATS_TEST_TMPDIR/x.bf16 command
	pe-table -n 3 -d 4 -t bf16 >"$file"
	for command in pe-cat "pe-cat --transpose" "pe-table --learned $file -n 3" pe-rope pe-sim relattn; do
		[[ $command = *learned* ]] && set -- || set -- "$file"
		run -0 bash -c "$command -d 4 -t npy $* | head -n 1 | tr -d '\\0'"
		assert_output --partial "'descr': '<f4'"
	done
	pe-cmp <(pe-cat -d 4 -t npy "$file") <(pe-cat -d 4 "$file")
	run -2 --separate-stderr pe-cat -d 4 -t npy:bf16 "$file"
	[[ $stderr = "pe-cat: -t: unknown format, "*": 'npy:bf16'" ]]
}

@test "error: npy headers that are none" {
	local file=$BATS_TEST_TMPDIR/x.npy
	rejected() { refused 1 "pe-cat: $file: $1" pe-cat "$file"; }
	printf 'NUMPY1234567890' >"$file"
	rejected "not an npy file"
	printf '\x93NUMPY\1\0' >"$file"
	rejected "not an npy file"
	for version in 0.0 4.0 1.7; do
		npy '<f8' False '(1,)' 12345678 $version >"$file"
		rejected "npy version is not 1.0, 2.0 or 3.0: '$version'"
	done
	printf '\x93NUMPY\2\0\xff\xff\xff\xff{' >"$file"
	rejected "npy header: more than 65536 bytes: '4294967295'"
	printf '\x93NUMPY\1\0\x76\0{}' >"$file"
	rejected "npy header: ends after 2 of 118 bytes"
	while IFS=@ read -r dict message; do
		npy_dict "$dict" '' >"$file"
		rejected "npy header: $message"
	done <<-'END'
		[]@not a dict of keys and values
		{'descr': '<f8'@not a dict of keys and values
		{'descr' '<f8'}@not a dict of keys and values
		{'descr': '<f8' 'shape': (1,)}@not a dict of keys and values
		{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x@something follows the dict
		{'descr': '<f8', 'fortran_order': False}@key is missing: 'shape'
		{'descr': '<f8', 'shape': (1,)}@key is missing: 'fortran_order'
		{'fortran_order': False, 'shape': (1,)}@key is missing: 'descr'
		{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}@key given twice: 'descr'
		{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}@unknown key: 'x'
		{'descr': '<f8', 'fortran_order': False, 'shape': [1]}@shape is no tuple
		{'descr': '<f8', 'fortran_order': False, 'shape': (1)}@shape is no tuple of sizes
		{'descr': '<f8', 'fortran_order': False, 'shape': (2L,)}@shape is no tuple of sizes
		{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}@shape is no tuple of sizes
		{'descr': '<f8', 'fortran_order': False, 'shape': (01,)}@shape is no tuple of sizes
		{'descr': '<f\x38', 'fortran_order': False, 'shape': (1,)}@descr is no plain type: only arrays of f2 f4 f8 i4 i8 are read
		{'descr': '<f8', 'fortran_order': False, 'shape': (1.0,)}@shape is no tuple of sizes
		{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}@shape is no tuple of sizes
		{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}@fortran_order is neither True nor False
		{'descr': '|O', 'fortran_order': False, 'shape': (1,)}@type is not one of f2 f4 f8 i4 i8: '|O'
		{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}@type is not one of f2 f4 f8 i4 i8: '<c16'
		{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}@type is not one of f2 f4 f8 i4 i8: '|b1'
		{'descr': '>f16', 'fortran_order': False, 'shape': (1,)}@type is not one of f2 f4 f8 i4 i8: '>f16'
		{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}@descr is no plain type: only arrays of f2 f4 f8 i4 i8 are read
	END
}

@test "error: npy data short, long, of a shape that cannot be; from a file and from a pipe" {
	local file=$BATS_TEST_TMPDIR/x.npy
	while IFS='|' read -r shape data message; do
		npy '<f8' False "$shape" "$data" >"$file"
		refused 1 "pe-cat: $file: $message" pe-cat "$file"
		run -1 --separate-stderr bash -c '[ -n "$2" ] || ulimit -v 200000; pe-cat <(cat "$1")' - "$file" "$(under_sanitizer && echo any)"
		[[ $stderr == "pe-cat: /dev/fd/"*": $message" ]] || fail "$stderr"
	done <<-'END'
		(2, 1)|12345678|data end after 8 of 16 bytes
		(2, 1)|123456781234567|data end after 15 of 16 bytes
		(1, 1)|123456789|data go on after the 8 bytes of its shape
		(0, 3)|1|data go on after the 0 bytes of its shape
		(1099511627776, 1)||data end after 0 of 8796093022208 bytes
		(4294967296, 4294967296)||4294967296 rows x 4294967296 columns x 8 bytes overflows
		(4294967296, 4294967296, 4294967296)||npy header: shape overflows
		(2, 0)||a matrix without columns
		(0,)||a matrix without columns
	END
}

@test "error: columns cut short, in a pipe" {
	run -1 --separate-stderr pe-cat < <(npy '<f4' True '(2, 2)' '123456789')
	assert_output ""
	assert_equal "$stderr" "pe-cat: <stdin>: data end after 9 of 16 bytes"
}

@test "limit: a width that is a lie makes no room for itself" {
	npy '<f8' False '(1, 1099511627776)' 12345678 >"$BATS_TEST_TMPDIR/x.npy"
	refused 1 "pe-cat: <stdin>: data end after 8 of 8796093022208 bytes" pe-cat < <(cat "$BATS_TEST_TMPDIR/x.npy")
	refused 1 "pe-cat: <stdin>: byte 0: row ends after 1 of 1099511627776 values" pe-cat -f f64 -d 1099511627776 < <(printf 12345678)
}

@test "law: an element named with npy input is what its values are taken as" {
	diff <(npy '<f8' False '(1, 1)' '\x9a\x99\x99\x99\x99\x99\xb9\x3f' | pe-cat -f npy:f32 -t csv:f32) <(echo 0.1)
	diff <(npy '<f8' False '(1, 1)' '\x9a\x99\x99\x99\x99\x99\xb9\x3f' | pe-cat -f npy:f32) <(echo 0.10000000149011612)
}

@test "law: an npy of no rows is an empty matrix" {
	npy '<f8' False '(0, 3)' '' >"$BATS_TEST_TMPDIR/x.npy"
	run -0 pe-cat "$BATS_TEST_TMPDIR/x.npy"
	assert_output ""
	pe-cat -t npy "$BATS_TEST_TMPDIR/x.npy" | grep -q "'shape': (0, 3)"
	refused 1 "pe-cat: row 0: $BATS_TEST_TMPDIR/x.npy has no rows" pe-cat --rows 0:1 "$BATS_TEST_TMPDIR/x.npy"
}

@test "error: values that the output cannot hold name row and column from 0" {
	npy '<f8' False '(2, 1)' '\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\x7e' >"$BATS_TEST_TMPDIR/x.npy"
	refused 1 "pe-cat: $BATS_TEST_TMPDIR/x.npy: row 1, column 0: overflows f32: '2.7430620343968443e+303'" \
		pe-cat -t f32 "$BATS_TEST_TMPDIR/x.npy"
	refused 1 "pe-cat: $BATS_TEST_TMPDIR/x.npy: row 1, column 0: overflows i64: '2.7430620343968443e+303'" \
		pe-cat -t i64 "$BATS_TEST_TMPDIR/x.npy"
}

@test "error: what is wrong with a number of any kind is said with the whole of it, up to 80 bytes" {
	local long
	long=$(printf '7%.0s' {1..100})x
	fault "$long\n" "line 1, column 1: not a number: '${long:0:80}...' (a line of names? use --header-in)"
	fault '1\n\xe2\x82\n' "line 2, column 1: not a number: '\\xe2\\x82'"
	fault '1\n\xe0\x80\xaf\n' "line 2, column 1: not a number: '\\xe0\\x80\\xaf'"
	fault '1\n\xc3(\n' "line 2, column 1: not a number: '\\xc3('"
}

# ---- options ----

@test "usage: formats that are none" {
	local list="must be one of"
	for format in f64le npy: npy:bf16 npy:x raw csv:f64be f16be f64:f32 ''; do
		run -2 --separate-stderr pe-cat -t "$format"
		assert_output ""
		[[ $stderr == "pe-cat: -t: unknown format, $list "*": '$format'" ]] || fail "$stderr"
	done
}

@test "usage: text options on output that is no text" {
	refused 2 "pe-cat: -p: has no effect: the output is no text" pe-cat -t npy -p 3
	refused 2 "pe-cat: --header-out: has no effect: the output is no text" pe-cat -t f64 --header-out
	refused 2 "pe-cat: --stamp: has no effect: the output is no text" pe-cat -o x.f64 --stamp
	refused 2 "pe-cat: -p: must be 1 to 17: '0'" pe-cat -p 0
	refused 2 "pe-cat: -p: must be 1 to 17: '18'" pe-cat -p 18
}
