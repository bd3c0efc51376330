#!/usr/bin/env bats
# make install, make uninstall, make dist, and a C program against what was installed.
load helper

setup_file() {
	export POSENC_ROOT=$BATS_FILE_TMPDIR/root
	make_quietly install DESTDIR="$POSENC_ROOT" PREFIX=/opt/posenc
}

# The build under test, not one of a make that is under way above.
make_quietly() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "${BATS_TEST_DIRNAME%/tests*}" "$@" >/dev/null 3>&-
}

# pkg-config as a machine sees it on which the tree was installed under the root.
pc() {
	PKG_CONFIG_PATH=$POSENC_ROOT/opt/posenc/lib/pkgconfig pkg-config --define-variable=prefix="$POSENC_ROOT/opt/posenc" "$@"
}

@test "law: install puts every command, page, header and completion" {
	cd "$POSENC_ROOT/opt/posenc"
	local command header
	for command in "$ROOT"/build/bin/*; do
		command=$(basename "$command")
		[ -x "bin/$command" ]
		[ -e "share/man/man1/$command.1" ]
		[ -e "share/bash-completion/completions/$command" ]
		[ -e "share/zsh/site-functions/_$command" ]
		[ -e "share/fish/vendor_completions.d/$command.fish" ]
	done
	for header in error elem matrix stream sinusoid shift rope t5 alibi; do
		[ -e "include/posenc/$header.h" ]
		[ -e "share/man/man3/posenc-$header.3" ]
	done
	[ -e lib/libposenc.a ]
	[ -e share/man/man7/posenc.7 ]
}

@test "law: what install puts, uninstall takes" {
	local root=$BATS_TEST_TMPDIR/root
	make_quietly install DESTDIR="$root" PREFIX=/usr
	[ "$(find "$root" -type f | wc -l)" -gt 10 ]
	touch "$root/usr/bin/another"
	make_quietly uninstall DESTDIR="$root" PREFIX=/usr
	run -0 find "$root" -type f
	assert_output "$root/usr/bin/another"
	[ ! -e "$root/usr/include/posenc" ]
}

@test "law: an installed command runs, and finds nothing of the build tree missing" {
	run -0 "$POSENC_ROOT/opt/posenc/bin/pe-table" -n 1 -d 4
	assert_output "0,1,0,1"
}

@test "law: posenc.pc names the version that the commands tell" {
	needs pkg-config
	run -0 pc --modversion posenc
	assert_equal "pe-table (posenc) $output" "$(pe-table --version)"
}

@test "law: the C program of the README compiles through pkg-config and prints what the README says" {
	needs pkg-config cc
	cd "$BATS_TEST_TMPDIR"
	awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$ROOT/README.md" >table.c
	[ -s table.c ]
	# shellcheck disable=SC2046  # flags are words
	cc -Wall -Wextra -Werror -o table table.c $(pc --cflags --libs posenc)
	run -0 ./table
	assert_output "$(pe-table -n 3 -d 4 -p 3 | tr , ' ')"
}

@test "law: every installed header compiles alone" {
	needs cc
	cd "$POSENC_ROOT/opt/posenc/include/posenc"
	local header
	for header in *.h; do
		printf '#include <posenc/%s>\n' "$header" | cc -std=c11 -Wall -Werror -I.. -fsyntax-only -x c -
	done
}

@test "law: make dist gives the same bytes twice, and a tree from which make install works" {
	needs git
	git -C "$ROOT" rev-parse HEAD >/dev/null 2>&1 || skip "not a git checkout"
	local version archive
	version=$(pe-table --version | awk '{ print $3 }')
	archive=$ROOT/build/posenc-$version.tar.gz
	make_quietly dist
	cp "$archive" "$BATS_TEST_TMPDIR/first.tar.gz"
	sleep 1
	make_quietly dist
	cmp "$archive" "$BATS_TEST_TMPDIR/first.tar.gz"
	cd "$BATS_TEST_TMPDIR"
	tar xzf first.tar.gz
	cd "posenc-$version"
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -j2 install DESTDIR="$BATS_TEST_TMPDIR/root" PREFIX=/usr CFLAGS=-O0 >/dev/null 3>&-
	run -0 "$BATS_TEST_TMPDIR/root/usr/bin/pe-table" -n 1 -d 4
	assert_output "0,1,0,1"
}
