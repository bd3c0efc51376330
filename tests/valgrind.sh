#!/usr/bin/env bash
# valgrind.sh [GLOB]: the golden cases with every command under valgrind: reads of what was never written, blocks
# lost; TAP on stdout. POSENC_BIN names the folder of the commands (default build/bin).
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "${POSENC_BIN:-$root/build/bin}" && pwd) || exit
wrapped=$(mktemp -d) || exit
trap 'rm -rf "$wrapped"' EXIT

for command in "$bin"/*; do
	cat >"$wrapped/${command##*/}" <<-END
		#!/bin/sh
		exec valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$command" "\$@"
	END
	chmod +x "$wrapped/${command##*/}"
done
POSENC_BIN=$wrapped "$root/tests/golden.sh" "$@" | sed 's/golden:/valgrind:/'
exit "${PIPESTATUS[0]}"
