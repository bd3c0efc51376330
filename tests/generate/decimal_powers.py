#!/usr/bin/env python3
"""Prints decimal_powers.h: powers of ten for decimal_core.c, made with integers only.

    python3 tests/generate/decimal_powers.py >lib/decimal_powers.h

It also proves, entry by entry, what decimal_core.h says of the table and of its logarithms."""

FIRST, LAST = -342, 340
EXACT = 55  # 5^55 < 2^128 < 5^56
BITS = 128


def scaled_power(q):
    """floor(10^q * 2^s), with s such that the result has 128 bits; s; whether nothing was cut off."""
    numerator, denominator = (10**q, 1) if q >= 0 else (1, 10**-q)
    s = BITS - numerator.bit_length() + denominator.bit_length()
    while True:
        n, d = (numerator << s, denominator) if s >= 0 else (numerator, denominator << -s)
        floor, rest = divmod(n, d)
        if floor.bit_length() == BITS:
            return floor, s, rest == 0
        s += BITS - floor.bit_length()


def floor_log10(numerator, denominator, guess):
    """The k with 10^k <= numerator/denominator < 10^(k+1); guess is checked, not believed."""
    def at_most(k):
        return 10**k * denominator <= numerator if k >= 0 else denominator <= numerator * 10**-k
    assert at_most(guess) and not at_most(guess + 1)
    return guess


def check_logarithms():
    for q in range(-1100, 1100):
        n, d = (2**q, 1) if q >= 0 else (1, 2**-q)
        floor_log10(n, d, q * 1262611 >> 22)
        floor_log10(3 * n, 4 * d, q * 1262611 - 524031 >> 22)


print("/* Made by tests/generate/decimal_powers.py; do not edit. 10^%d ... 10^%d: see decimal_core.h. */" % (FIRST, LAST))
print("/* clang-format off */")
for q in range(FIRST, LAST + 1):
    floor, s, exact = scaled_power(q)
    assert BITS - 1 - s == q * 1741647 >> 19, q  # floor(log2 10^q)
    assert exact == (0 <= q <= EXACT), q
    assert exact or floor % 2**64 != 2**64 - 1, q  # adding 1 carries into no other word
    print("{0x%016x, 0x%016x}, /* 1e%d */" % (floor >> 64, floor % 2**64, q))
check_logarithms()
