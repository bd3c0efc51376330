# completion.awk: what a command's --help says, as a completion for a shell.
#	pe-table --help | awk -v shell=bash|zsh|fish -f completion.awk
#
# Read are the lines of options, "  -b, --base B  help": an argument spelled a|b|c offers these words,
# one with FILE or TABLE in it names of files, FORMAT the formats that its help lists: "...: csv tsv; ...".

function words(arg, help,    list) {
	if (arg == "FORMAT") {
		sub(/^[^:]*: /, "", help)
		sub(/;.*/, "", help)
		return help
	}
	if (arg !~ /^[a-z0-9-]+(\|[a-z0-9-]+)+$/)
		return ""
	list = arg
	gsub(/\|/, " ", list)
	return list
}

function add(short, long, arg, help) {
	n++
	Short[n] = short; Long[n] = long; Arg[n] = arg; Help[n] = help
}

NR == 1 { command = $2 }

/^(  |      )-/ {
	rest = $0
	sub(/^ +/, "", rest)
	short = long = arg = ""
	if (match(rest, /^-[A-Za-z0-9]/)) {
		short = substr(rest, 2, 1)
		rest = substr(rest, 3)
		sub(/^, /, "", rest)
	}
	if (match(rest, /^--[a-z0-9-]+/)) {
		long = substr(rest, 3, RLENGTH - 2)
		rest = substr(rest, RLENGTH + 1)
	}
	if (match(rest, /^ [^ ]+/)) {
		arg = substr(rest, 2, RLENGTH - 1)
		rest = substr(rest, RLENGTH + 1)
	}
	sub(/^ +/, "", rest)
	add(short, long, arg, rest)
	next
}

# Where the option alone fills its column, the help stands on the next line.
/^                    +[^ ]/ && n > 0 && Help[n] == "" { Help[n] = $0; sub(/^ +/, "", Help[n]) }

function names(i, separator,    list) {
	list = Short[i] != "" ? "-" Short[i] : ""
	if (Long[i] != "")
		list = list (list != "" ? separator : "") "--" Long[i]
	return list
}

function quoted(text) { # for single quotes
	gsub(/'/, "'\\''", text)
	return text
}

function bash(    i, w, all) {
	print "# bash completion for " command
	print "_posenc_" id "()\n{"
	print "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}"
	print "\tCOMPREPLY=()"
	print "\tcase $before in"
	for (i = 1; i <= n; i++) {
		all = all (all != "" ? " " : "") names(i, " ")
		if (Arg[i] == "")
			continue
		w = words(Arg[i], Help[i])
		if (w != "")
			print "\t" names(i, " | ") ") mapfile -t COMPREPLY < <(compgen -W '" w "' -- \"$word\"); return ;;"
		else if (Arg[i] !~ /FILE|TABLE/)
			print "\t" names(i, " | ") ") return ;;"
		else
			print "\t" names(i, " | ") ") mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;"
	}
	print "\tesac"
	print "\tcase $word in"
	print "\t-*) mapfile -t COMPREPLY < <(compgen -W '" all "' -- \"$word\") ;;"
	print "\t*) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;"
	print "\tesac\n}"
	print "complete -o filenames -F _posenc_" id " " command
}

function zsh(    i, w, spec, help) {
	print "#compdef " command
	print "_arguments -s -S \\"
	for (i = 1; i <= n; i++) {
		help = Help[i]
		gsub(/:|\\|\[|\]/, "\\\\&", help)
		help = quoted(help)
		spec = ""
		if (Arg[i] != "") {
			w = words(Arg[i], Help[i])
			spec = ":" quoted(Arg[i]) ":"
			gsub(/\|/, " or ", spec)
			if (w != "")
				spec = spec "(" w ")"
			else if (Arg[i] ~ /FILE|TABLE/)
				spec = spec "_files"
		}
		if (Short[i] != "" && Long[i] != "")
			print "\t'(-" Short[i] " --" Long[i] ")'{-" Short[i] ",--" Long[i] "}'[" help "]" spec "' \\"
		else
			print "\t'" names(i, "") "[" help "]" spec "' \\"
	}
	print "\t'*:file:_files'"
}

function fish(    i, w, line) {
	for (i = 1; i <= n; i++) {
		line = "complete -c " command
		if (Short[i] != "")
			line = line " -s " Short[i]
		if (Long[i] != "")
			line = line " -l " Long[i]
		if (Arg[i] != "") {
			w = words(Arg[i], Help[i])
			if (w != "")
				line = line " -x -a '" w "'"
			else
				line = line (Arg[i] ~ /FILE|TABLE/ ? " -r -F" : " -x")
		}
		w = Help[i]
		gsub(/\\/, "\\\\", w)
		gsub(/'/, "\\'", w)
		print line " -d '" w "'"
	}
}

END {
	id = command
	gsub(/-/, "_", id)
	if (n == 0) {
		print "completion.awk: no options in the help" > "/dev/stderr"
		exit 1
	}
	if (shell == "bash")
		bash()
	else if (shell == "zsh")
		zsh()
	else
		fish()
}
