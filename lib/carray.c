/* carray - a matrix as a C array. */
#include "carray.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "decimal.h"

bool
pe_carray_name(const char *name)
{
	static const char *const keywords[] = {
	    "auto",    "break",  "case",     "char",   "const",    "continue", "default",
	    "do",      "double", "else",     "enum",   "extern",   "float",    "for",
	    "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
	    "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
	    "typedef", "union",  "unsigned", "void",   "volatile", "while",
	};
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	if (name[0] == '\0' || (name[0] >= '0' && name[0] <= '9') ||
	    name[strspn(name, letters)] != '\0')
		return false;
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (strcmp(name, keywords[i]) == 0)
			return false;
	return true;
}

/* A row is gathered here and written whenever it is full. */
struct text {
	struct pe_output *out;
	size_t used, line; /* bytes held; columns of the line under way */
	char block[8192];
};

enum { TAB = 8, WIDTH = 100, CONSTANT = PE_DECIMAL_MAX + 8 };

static double
value_of(const struct pe_matrix *m, size_t i)
{
	return m->elem == PE_F32 ? (double)((const float *)m->data)[i]
				 : ((const double *)m->data)[i];
}

/* A floating constant: with a point or an exponent, so that -0 keeps its sign, and an f where it
 * is a float. */
static size_t
constant(const struct pe_matrix *m, size_t i, int digits, char *to)
{
	const double x = value_of(m, i);
	size_t n;

	if (!isfinite(x)) {
		const char *name = isnan(x) ? "NAN" : x > 0 ? "INFINITY" : "-INFINITY";
		n = strlen(name);
		memcpy(to, name, n);
		return n;
	}
	if (digits > 0)
		n = pe_decimal_write_digits(to, x, digits);
	else
		n = m->elem == PE_F32 ? pe_decimal_write_f32(to, (float)x)
				      : pe_decimal_write_f64(to, x);
	if (memchr(to, '.', n) == NULL && memchr(to, 'e', n) == NULL) {
		memcpy(to + n, ".0", 2);
		n += 2;
	}
	if (m->elem == PE_F32)
		to[n++] = 'f';
	return n;
}

static int
flush(struct text *t, struct pe_error *e)
{
	const size_t size = t->used;

	t->used = 0;
	return pe_output_write(t->out, t->block, size, e);
}

static void
add(struct text *t, const char *bytes, size_t size)
{
	memcpy(t->block + t->used, bytes, size);
	t->used += size;
	t->line += size;
}

static int
write_row(struct text *t, const struct pe_matrix *m, size_t row, int digits, struct pe_error *e)
{
	char number[CONSTANT];

	t->line = TAB;
	add(t, "\t{", 2);
	for (size_t c = 0; c < m->cols; c++) {
		const size_t n = constant(m, row * m->cols + c, digits, number);

		if (c > 0 && t->line + n + 3 > WIDTH) {
			add(t, "\n\t ", 3);
			t->line = TAB + 1;
		} else if (c > 0) {
			add(t, " ", 1);
		}
		add(t, number, n);
		add(t, c + 1 < m->cols ? "," : "},\n", c + 1 < m->cols ? 1 : 3);
		if (t->used > sizeof t->block - 2 * CONSTANT && flush(t, e))
			return -1;
	}
	return 0;
}

static bool
all_finite(const struct pe_matrix *m)
{
	for (size_t i = 0; i < m->rows * m->cols; i++)
		if (!isfinite(value_of(m, i)))
			return false;
	return true;
}

/* The comment's text cannot end the comment. */
static int
write_comment(const char *comment, struct pe_output *out, struct pe_error *e)
{
	int failed = pe_output_write(out, "/* ", 3, e);

	for (const char *s = comment; !failed && *s != '\0'; s++)
		failed = pe_output_write(out, s, 1, e) ||
			 (s[0] == '*' && s[1] == '/' && pe_output_write(out, " ", 1, e));
	return failed || pe_output_write(out, " */\n", 4, e) ? -1 : 0;
}

int
pe_carray_write(const struct pe_matrix *m, const char *name, int digits, const char *comment,
		struct pe_output *out, struct pe_error *e)
{
	struct text t = {.out = out};
	char dimensions[64];

	if (comment != NULL && write_comment(comment, out, e))
		return -1;
	if (!all_finite(m))
		add(&t, "#include <math.h>\n", 18);
	const char *type = m->elem == PE_F32 ? "static const float " : "static const double ";
	add(&t, type, strlen(type));
	const int used =
	    snprintf(dimensions, sizeof dimensions, "[%zu][%zu] = {\n", m->rows, m->cols);
	if (flush(&t, e) || pe_output_write(out, name, strlen(name), e))
		return -1;
	add(&t, dimensions, (size_t)used);
	for (size_t r = 0; r < m->rows; r++)
		if (write_row(&t, m, r, digits, e))
			return -1;
	add(&t, "};\n", 3);
	return flush(&t, e);
}
