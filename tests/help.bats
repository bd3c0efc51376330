#!/usr/bin/env bats
# --help, the man page and the completions say the same options; every command answers --help and --version.
load helper

commands() {
	local path
	for path in "$BIN"/*; do
		[ -x "$path" ] && basename "$path"
	done
}

# options_of_help COMMAND: -x and --long, one a line, sorted.
options_of_help() {
	"$1" --help | grep -E '^(  |      )-' | grep -oE '^ +-[^ ]( |,|$)|^ +(-., )?--[a-z0-9-]+' |
		grep -oE -- '--[a-z0-9-]+|-[A-Za-z0-9]( |,|$)' | tr -d ' ,' | sort -u
}

# options_of_page COMMAND: what the .It Fl lines of its page name.
options_of_page() {
	sed -n 's/\\-/-/g; s/^\.It \(Fl .*\)/\1/p' "$ROOT/man/$1.1" |
		grep -oE 'Fl [A-Za-z0-9-]+' | sed 's/^Fl /-/' | sort -u
}

# options_of_completion COMMAND: what its fish completion offers.
options_of_completion() {
	sed "s/ -d '.*//" "$ROOT/build/completions/fish/$1.fish" | grep -oE -- ' -(s [A-Za-z0-9]|l [a-z0-9-]+)' |
		sed 's/^ -s /-/; s/^ -l /--/' | sort -u
}

# disagreements FUNCTION: for each command, the options that --help and FUNCTION do not share.
disagreements() {
	local command
	for command in $(commands); do
		diff <(options_of_help "$command") <("$1" "$command") | sed -n "s/^</$command: only in --help:/p; s/^>/$command: not in --help:/p"
	done
}

@test "law: there are commands, and each has options" {
	local command
	[ -n "$(commands)" ]
	for command in $(commands); do
		[ "$(options_of_help "$command" | wc -l)" -ge 3 ] || fail "$command"
	done
}

@test "law: every option of --help stands in the man page, and the other way round" {
	run -0 disagreements options_of_page
	assert_output ""
}

@test "law: every option of --help completes, and no other" {
	run -0 disagreements options_of_completion
	assert_output ""
}

@test "law: every command has a page with synopsis, status and examples" {
	local command section
	for command in $(commands); do
		for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" EXAMPLES "SEE ALSO"; do
			grep -qx "\.Sh $section" "$ROOT/man/$command.1" || echo "$command: no $section" >>"$BATS_TEST_TMPDIR/lacking"
		done
	done
	run cat "$BATS_TEST_TMPDIR/lacking"
	refute_output --partial "no "
}

@test "law: --help and --version go to stdout, status 0, nothing on stderr" {
	local command option
	for command in $(commands); do
		for option in --help -h --version; do
			run -0 --separate-stderr "$command" "$option"
			assert_equal "$stderr" ""
			assert_output --partial "$command"
		done
	done
}

@test "error: --help into a full device is status 1" {
	[ -c /dev/full ] || skip "no full device"
	local command
	for command in $(commands); do
		run bash -c '"$1" --help >/dev/full' - "$command"
		# pe-cmp tells trouble by 2, as cmp(1) does
		assert_equal "$command $status" "$command $([ "$command" = pe-cmp ] && echo 2 || echo 1)"
	done
}

@test "usage: an unknown option is status 2, one line, nothing on stdout" {
	local command
	for command in $(commands); do
		refused 2 "$command: unknown option (see --help): '--no-such-option'" "$command" --no-such-option
	done
}

@test "law: bash completes choices, options and file names" {
	cd "$BATS_TEST_TMPDIR"
	touch rows.csv
	local command=pe-table
	complete_with() { # WORD...: what bash would offer for the last word
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_posenc_pe_table
		echo "${COMPREPLY[*]}"
	}
	# shellcheck source=/dev/null
	source "$ROOT/build/completions/bash/$command"
	assert_equal "$(complete_with "$command" --layout ha)" "halves"
	assert_equal "$(complete_with "$command" --freq-s)" "--freq-shift"
	assert_equal "$(complete_with "$command" r)" "rows.csv"
	assert_equal "$(complete_with "$command" --positions r)" "rows.csv"
	assert_equal "$(complete_with "$command" -t n)" "npy"
	assert_equal "$(complete_with "$command" --base "")" ""
}

@test "law: the completions are well-formed" {
	local file
	for file in "$ROOT"/build/completions/bash/*; do
		bash -n "$file"
	done
	needs zsh fish
	for file in "$ROOT"/build/completions/zsh/*; do
		zsh -n "$file"
	done
	for file in "$ROOT"/build/completions/fish/*; do
		fish --no-execute "$file"
	done
}

@test "law: fish offers choices" {
	needs fish
	run -0 fish --no-config -c "source $ROOT/build/completions/fish/pe-table.fish; complete -C 'pe-table --layout '"
	assert_line --regexp "^halves"
	assert_line --regexp "^interleaved"
}

@test "usage: an option that takes no value is named, also where it has a letter" {
	refused 2 "pe-table: --flip: takes no value: '=1'" pe-table --flip=1
	refused 2 "pe-table: --help: takes no value: '=1'" pe-table --help=1
	refused 2 "t5-bucket: --causal: takes no value: '='" t5-bucket --causal=
}
