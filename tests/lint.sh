#!/usr/bin/env bash
# lint.sh: format of the C code, man pages, shell scripts; TAP on stdout. A tool that is missing skips its
# line, and fails it where CI is set.
set -u
cd "$(dirname "$0")/.." || exit
number=0 failures=0

# lint NAME TOOL COMMAND...: passes where COMMAND ends with 0; what it says is shown otherwise.
lint() {
	local name=$1 tool=$2 said
	shift 2
	number=$((number + 1))
	if ! command -v "$tool" >/dev/null; then
		[ "${CI:-}" = true ] || { echo "ok $number lint: $name # skip needs $tool"; return; }
		said="needs $tool"
	elif said=$("$@" 2>&1); then
		echo "ok $number lint: $name"
		return
	fi
	echo "not ok $number lint: $name"
	printf '%s\n' "$said" | head -n 60 | sed 's/^/# /'
	failures=$((failures + 1))
}

# .clang-format is written for this major version; others lay some lines out differently.
c_format() {
	case $(clang-format --version) in
	*version\ 14.*) find cmd lib tests -name '*.[ch]' -exec clang-format --dry-run --Werror {} + ;;
	*) [ "${CI:-}" != true ] ;;
	esac
}

shell_scripts() {
	find tests .ci cmd -type f \( -name '*.sh' -o -name '*.bash' -o -path .ci/run \) -exec shellcheck -x -P SCRIPTDIR {} + &&
		shellcheck --shell=bats --severity=warning --exclude=SC2153,SC2154 tests/*.bats # what helper.bash and run set
}

# Every function fits on a screen or two.
short_functions() {
	awk 'FNR == 1 { start = 0 } /^{$/ { start = FNR }
	/^}$/ && start { if (FNR - start > 81) { print FILENAME ":" start ": function of " FNR - start - 1 " lines"; bad = 1 } start = 0 }
	END { exit bad }' cmd/*.c lib/*.c
}

lint "C code is formatted as .clang-format says" clang-format c_format
lint "no function is longer than 80 lines" awk short_functions
lint "man pages" mandoc mandoc -Tlint -Wwarning man/*.[0-9] build/man/*.3
lint "shell scripts and bats files" shellcheck shell_scripts
echo "1..$number"
[ "$failures" -eq 0 ]
