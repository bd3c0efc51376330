/* turn_table - writes lib/turn_table.c: sine and cosine of j/256 of a turn as sums of two doubles.
 *
 *     cc -o turn_table tests/generate/turn_table.c -lmpfr -lgmp && ./turn_table >lib/turn_table.c */
#include <stdio.h>
#include <mpfr.h>

enum { ENTRIES = 256, PRECISION = 300 };

static void
print_wide(mpfr_ptr x, const char *end)
{
	const double high = mpfr_get_d(x, MPFR_RNDN);

	mpfr_sub_d(x, x, high, MPFR_RNDN);
	printf("%a, %a%s", high, mpfr_get_d(x, MPFR_RNDN), end);
}

int
main(void)
{
	mpfr_t angle, sine, cosine;

	mpfr_inits2(PRECISION, angle, sine, cosine, (mpfr_ptr)NULL);
	puts("/* turn_table - sine and cosine of j/256 of a turn as sums of two doubles; made by\n"
	     " * tests/generate/turn_table.c. */\n#include \"turn_kernel.h\"\n\n"
	     "/* clang-format off */\nconst double pe_turn_table[256][4] = {");
	for (unsigned long j = 0; j < ENTRIES; j++) {
		mpfr_const_pi(angle, MPFR_RNDN);
		mpfr_mul_ui(angle, angle, 2 * j, MPFR_RNDN);
		mpfr_div_ui(angle, angle, ENTRIES, MPFR_RNDN);
		mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
		if (j % (ENTRIES / 2) == 0) /* the rounded pi leaves crumbs where zero is due */
			mpfr_set_ui(sine, 0, MPFR_RNDN);
		else if (j % (ENTRIES / 4) == 0)
			mpfr_set_ui(cosine, 0, MPFR_RNDN);
		fputs("\t{", stdout);
		print_wide(sine, ", ");
		print_wide(cosine, "},\n");
	}
	puts("};");
	mpfr_clears(angle, sine, cosine, (mpfr_ptr)NULL);
	return 0;
}
