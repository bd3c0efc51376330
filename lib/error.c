/* error - what a library call says when it fails. */
#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
pe_fail(struct pe_error *e, enum pe_fault fault, const char *format, ...)
{
	va_list args;

	e->fault = fault;
	va_start(args, format);
	(void)vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);
	return -1;
}

int
pe_fail_errno(struct pe_error *e, const char *format, ...)
{
	const int why = errno;
	va_list args;

	e->fault = PE_FAULT_IO;
	va_start(args, format);
	int used = vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);
	if (used < 0)
		used = 0;
	if ((size_t)used < sizeof e->text)
		(void)snprintf(e->text + used, sizeof e->text - (size_t)used, ": %s",
			       strerror(why));
	return -1;
}

int
pe_fail_memory(struct pe_error *e)
{
	return pe_fail(e, PE_FAULT_MEMORY, "out of memory");
}

/* Bytes of the UTF-8 character at s that may be printed as they stand, 0 if it must be escaped.
 * C1 controls (U+0080..U+009F) are escaped too: a terminal obeys them. */
static size_t
printable(const unsigned char *s, size_t left)
{
	const unsigned char c = s[0];

	if (c < 0x80)
		return c >= 0x20 && c != 0x7f && c != '\\';
	const size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (c < 0xc2 || c > 0xf4 || length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((c == 0xc2 && s[1] < 0xa0) || (c == 0xe0 && s[1] < 0xa0) ||
	    (c == 0xf0 && s[1] < 0x90) || (c == 0xed && s[1] > 0x9f) || (c == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

static size_t
escape(char *to, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char named[] = "\nn\tt\rr\\\\";

	to[0] = '\\';
	for (size_t i = 0; i + 1 < sizeof named; i += 2)
		if ((unsigned char)named[i] == c) {
			to[1] = named[i + 1];
			return 2;
		}
	to[1] = 'x';
	to[2] = hex[c >> 4];
	to[3] = hex[c & 15];
	return 4;
}

/* Escapes whole characters until `shown` bytes of s are done; *done says how many. Returns the
 * length at `to`. */
static size_t
escape_all(char *to, const unsigned char *s, size_t size, size_t shown, size_t *done)
{
	size_t used = 0, i = 0;

	while (i < size && i < shown) {
		const size_t plain = printable(s + i, size - i);
		if (plain > 0) {
			memcpy(to + used, s + i, plain);
			used += plain;
			i += plain;
		} else {
			used += escape(to + used, s[i++]);
		}
	}
	*done = i;
	return used;
}

char *
pe_escape(const char *text)
{
	const size_t size = strlen(text);
	char *escaped = malloc(4 * size + 1);
	size_t done;

	if (escaped != NULL)
		escaped[escape_all(escaped, (const unsigned char *)text, size, size, &done)] = '\0';
	return escaped;
}

struct pe_quoted
pe_quote_bytes(const void *bytes, size_t size)
{
	enum { SHOWN = 80 }; /* 80 bytes escaped to four each, "..." and NUL fit in text[] */
	struct pe_quoted q;
	size_t i, used = escape_all(q.text, bytes, size, SHOWN, &i);

	if (i < size) {
		memcpy(q.text + used, "...", 3);
		used += 3;
	}
	q.text[used] = '\0';
	return q;
}

struct pe_quoted
pe_quote(const char *text)
{
	return pe_quote_bytes(text, strlen(text));
}

struct pe_quoted_path
pe_quote_path(const char *path)
{
	enum { SHOWN = 240 }; /* 240 bytes escaped to four each, "..." and NUL fit in text[] */
	struct pe_quoted_path q = {"''"};
	const size_t size = strlen(path);
	size_t skipped = size > SHOWN ? size - SHOWN : 0, done;

	if (size == 0)
		return q;
	while (skipped > 0 && (path[skipped] & 0xc0) == 0x80)
		skipped++; /* not from within a character */
	const size_t used = skipped > 0 ? 3 : 0;
	memcpy(q.text, "...", used);
	q.text[used + escape_all(q.text + used, (const unsigned char *)path + skipped,
				 size - skipped, size - skipped, &done)] = '\0';
	return q;
}
