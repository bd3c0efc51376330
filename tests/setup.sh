#!/bin/sh
# setup.sh [-n] LIST...: brings what the lists name and the machine lacks, through its package manager.
# Lists: build (to compile), check (make check), unit (its part in C), demo
# (make demo), fuzz (make fuzz), slurm (make check-slurm), ci (.ci/run on top).
# -n: install nothing, only say what is missing and the line that brings it.
#
# Presence is tested by the tool or header itself, so that nothing is installed twice and no package
# manager runs where all is there. Status 1 where something of the build list is still missing;
# a missing test tool is said and left to the tests, which skip what needs it.
set -u
PATH=$PATH:/usr/sbin:/sbin

# list  what is tested     apt              brew           dnf                 pacman        apk            pkg
table() {
	cat <<-'END'
	build   tool:cc            build-essential  -              gcc                 gcc           build-base     -
	build   header:csv.h       libcsv-dev       libcsv         libcsv-devel        libcsv        libcsv-dev     libcsv
	build   header:mpfr.h      libmpfr-dev      mpfr           mpfr-devel          mpfr          mpfr-dev       mpfr
	build   header:jansson.h   libjansson-dev   jansson        jansson-devel       jansson       jansson-dev    jansson
	demo    tool:gnuplot       gnuplot-nox      gnuplot        gnuplot-minimal     gnuplot       gnuplot        gnuplot-lite
	check   tool:bats          bats             bats-core      bats                bats          bats           bats-core
	check   bats:bats-support  bats-support     -              bats-support        bats-support  bats-support   -
	check   bats:bats-assert   bats-assert      -              bats-assert         bats-assert   bats-assert    -
	unit    header:cmocka.h    libcmocka-dev    cmocka         libcmocka-devel     cmocka        cmocka-dev     cmocka
	check   tool:parallel      parallel         parallel       parallel            parallel      parallel       parallel
	check   tool:mandoc        mandoc           mandoc         mandoc              mandoc        mandoc         -
	check   tool:shellcheck    shellcheck       shellcheck     ShellCheck          shellcheck    shellcheck     hs-ShellCheck
	check   tool:clang-format  clang-format     clang-format   clang-tools-extra   clang         clang-extra-tools  llvm
	check   tool:pkg-config    pkg-config       pkgconf        pkgconf-pkg-config  pkgconf       pkgconf        pkgconf
	check   tool:git           git              git            git                 git           git            git
	check   tool:python3       python3-minimal  python         python3             python        python3        python3
	check   tool:gnuplot       gnuplot-nox      gnuplot        gnuplot-minimal     gnuplot       gnuplot        gnuplot-lite
	check   tool:strace        strace           -              strace              strace        strace         -
	check   tool:zsh           zsh              -              zsh                 zsh           zsh            zsh
	check   tool:fish          fish             fish           fish                fish          fish           fish
	fuzz    tool:clang            clang            llvm           clang               clang         clang          -
	fuzz    fuzzer:clang          libclang-rt-14-dev  -           compiler-rt         compiler-rt   compiler-rt    -
	slurm   tool:slurmctld        slurmctld        -              slurm-slurmctld     slurm-llnl    slurm          slurm-wlm
	slurm   tool:slurmd           slurmd           -              slurm-slurmd        slurm-llnl    slurm          slurm-wlm
	slurm   tool:sbatch           slurm-client     -              slurm               slurm-llnl    slurm          slurm-wlm
	ci      tool:clang         clang            llvm           clang               clang         clang          -
	ci      tool:valgrind      valgrind         -              valgrind            valgrind      valgrind       valgrind
	END
}

say() {
	echo "setup: $*" >&2
}

# Is KIND:NAME there?
# shellcheck disable=SC2086  # flags are words
have() {
	name=${1#*:}
	case $1 in
	tool:cc) command -v "${CC:-cc}" >/dev/null ;;
	tool:*) command -v "$name" >/dev/null ;;
	header:*) printf '#include <stdio.h>\n#include <%s>\n' "$name" |
		${CC:-cc} ${CPPFLAGS:-} -E -x c - >/dev/null 2>&1 ;;
	fuzzer:*)
		probe=$(mktemp)
		echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n); int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d[0] == n; }' |
			"$name" -fsanitize=fuzzer -x c -o "$probe" - 2>/dev/null
		set -- $?
		rm -f "$probe"
		return "$1" ;;
	bats:*)
		# the places tests/helper.bash looks into
		for dir in $(echo "${BATS_LIB_PATH:-/usr/lib/bats:/usr/local/lib:/opt/homebrew/lib}" | tr : ' '); do
			[ -e "$dir/$name/load.bash" ] && return 0
		done
		return 1 ;;
	esac
}

manager() {
	for m in apt-get brew dnf pacman apk pkg; do
		command -v "$m" >/dev/null && echo "$m" && return
	done
	echo none
}

# The command that installs, without the right to (sudo).
install_line() {
	case $1 in
	apt-get) echo "apt-get install -y --no-install-recommends" ;;
	brew) echo "brew install" ;;
	dnf) echo "dnf install -y" ;;
	pacman) echo "pacman -S --needed --noconfirm" ;;
	apk) echo "apk add" ;;
	pkg) echo "pkg install -y" ;;
	esac
}

# missing LIST...: sets lacking (what was tested) and packages (what brings it).
missing() {
	case $manager in
	apt-get | none) column=3 ;; brew) column=4 ;; dnf) column=5 ;; pacman) column=6 ;; apk) column=7 ;; pkg) column=8 ;;
	esac
	lacking='' packages=''
	for list in "$@"; do
		for row in $(table | awk -v l="$list" -v c="$column" '$1 == l { print $2 "=" $c }'); do
			have "${row%%=*}" && continue
			lacking="$lacking ${row%%=*}"
			[ "${row#*=}" = - ] || packages="$packages ${row#*=}"
		done
	done
	packages=${packages# }
}

# Runs a command as root: directly, through sudo where it asks no password or can ask it.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

may_install() {
	[ "$manager" = brew ] && return 0
	[ "$(id -u)" -eq 0 ] && return 0
	command -v sudo >/dev/null || return 1
	[ -t 0 ] || sudo -n true 2>/dev/null
}

# shellcheck disable=SC2046,SC2086  # packages and the install line are words
bring() {
	case $manager in
	apt-get)
		export DEBIAN_FRONTEND=noninteractive
		apt-cache show $packages >/dev/null 2>&1 || as_root apt-get -q update || return
		as_root $(install_line apt-get) $packages ||
			{ as_root apt-get -q update && as_root $(install_line apt-get) $packages; } ;;
	brew) brew install $packages ;;
	esac
}

main() {
	dry=false
	[ "${1:-}" = -n ] && dry=true && shift
	[ $# -gt 0 ] || { echo "usage: setup.sh [-n] build|check|unit|demo|fuzz|slurm|ci..." >&2; exit 2; }
	manager=$(manager)

	missing "$@"
	[ -n "$lacking" ] || return 0
	if ! $dry && [ -n "$packages" ] && may_install && { [ "$manager" = apt-get ] || [ "$manager" = brew ]; }; then
		say "installing with $manager: $packages"
		log=$(mktemp)
		bring >"$log" 2>&1 </dev/null || tail -n 20 "$log" >&2
		rm -f "$log"
		missing "$@"
		[ -n "$lacking" ] || return 0
	fi
	say "missing:$lacking"
	if [ -n "$packages" ]; then
		case $manager in
		none) say "install what Debian calls: $packages" ;;
		brew) say "run: $(install_line brew) $packages" ;;
		*) say "run: sudo $(install_line "$manager") $packages" ;;
		esac
	fi
	[ "$*" = unit ] || missing build
	[ -z "$lacking" ]
}

main "$@"
