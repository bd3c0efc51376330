# header.awk: a header of the library as a man page of section 3: its comment at the top is the description, the
# rest stands as it is.	awk -v date='November 29, 2026' -f man/header.awk lib/t5.h >posenc-t5.3

function roff(line) {
	gsub(/\\/, "\\e", line)
	return line ~ /^[.']/ ? "\\&" line : line
}

# Prose: a new sentence on a new line.
function prose(line,    before) {
	while (match(line, /[.?!][)'"]* +[A-Z]/)) {
		before = before roff(substr(line, 1, RSTART + RLENGTH - 2)) "\n"
		line = substr(line, RSTART + RLENGTH - 1)
	}
	sub(/ +\n$/, "\n", before)
	gsub(/ +\n/, "\n", before)
	return before roff(line)
}

# "/* t5 - relative-position buckets (Raffel et al. 2020, ...)." up to the end of the comment
NR == 1 {
	name = $2
	title = $0
	sub(/^\/\* [a-z0-9_]+ - /, "", title)
	head = !sub(/ *\*\/$/, "", title)
	next
}
head {
	line = $0
	closed = sub(/ *\*\/$/, "", line)
	sub(/^ \* ?/, "", line)
	text[++lines] = line
	if (closed) head = 0
	next
}
/^#(ifndef|define) [A-Z0-9_]+_H$/ || /^#include/ || /^#endif$/ { next }
{ code[++codes] = $0 }

END {
	# the first sentence ends at a full stop or colon, or where its paragraph does
	first = 1
	while (title !~ /[.:]$/ && first <= lines && text[first] != "") title = title " " text[first++]
	if (match(title, /\. [A-Z]/)) {
		rest = substr(title, RSTART + 2)
		title = substr(title, 1, RSTART - 1)
	}
	sub(/[.:]$/, "", title)
	upper = toupper(name)
	print ".Dd " date "\n.Dt POSENC-" upper " 3\n.Os\n.Sh NAME\n.Nm posenc-" name "\n.Nd " roff(title)
	print ".Sh SYNOPSIS\n.In posenc/" name ".h\n.Pp\n.Ql pkg-config --cflags --libs posenc"
	print ".Sh DESCRIPTION"
	if (rest != "") print prose(rest)
	while (first <= lines && text[first] == "") first++
	for (i = first; i <= lines; i++) {
		if (text[i] == "") { if (i < lines) print ".Pp"; continue }
		if (text[i] ~ /^   /) print ".Bd -literal -compact\n" roff(text[i]) "\n.Ed"
		else print prose(text[i])
	}
	if (lines < first && rest == "") print "What the header declares."
	print ".Sh DECLARATIONS\n.Bd -literal"
	begin = 1
	while (begin <= codes && code[begin] == "") begin++
	while (codes > 0 && code[codes] == "") codes--
	for (i = begin; i <= codes; i++) if (code[i] != "" || code[i - 1] != "") {
		gsub(/\t/, "        ", code[i])
		print roff(code[i])
	}
	print ".Ed\n.Sh SEE ALSO\n.Xr posenc 7"
}
