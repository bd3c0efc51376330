#!/usr/bin/env python3
"""Prints decimal_powers.h: powers of ten for decimal_core.c, made with integers only.

    python3 tests/generate/decimal_powers.py >lib/decimal_powers.h

It also proves, entry by entry, what decimal_core.h says of the table and of its logarithms."""

from math import gcd

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


def nearest_residue(a, b, limit):
    """The least n a mod b over n = 1 ... limit that is not 0: the three-gap theorem's steps of Euclid."""
    below, above = a % b, b - a % b  # reached at these n; above is b less a residue
    n, m = 1, 1
    while below and above and n + m <= limit:
        if below > above:
            steps = min((below - 1) // above, (limit - n) // m)
            below, n = below - steps * above, n + steps * m
        else:
            steps = min((above - 1) // below, (limit - m) // n)
            above, m = above - steps * below, m + steps * n
        if steps == 0:  # below = above: the next would be 0
            break
    return below or b


def check_residues():
    """How near n 2^q / 10^k, n = 4 c or the ends of an interval, comes to a whole number without being one."""
    for b in range(2, 40):
        for a in range(1, b):
            for limit in range(1, b):
                residues = [n * a % b for n in range(1, limit + 1) if n * a % b]
                if len(residues) == limit:
                    assert nearest_residue(a, b, limit) == min(residues), (a, b, limit)
    limit = 4 * 2**53 + 2
    for q in range(-1074, 972):
        for k in {q * 1262611 >> 22, q * 1262611 - 524031 >> 22}:
            a = 2 ** max(q, 0) * 10 ** max(-k, 0)
            b = 2 ** max(-q, 0) * 10 ** max(k, 0)
            common = gcd(a, b)
            a, b = a // common, b // common
            if b <= limit:  # every fraction is a multiple of 1/b
                continue
            assert nearest_residue(a, b, limit) << 67 >= b, (q, k)
            assert nearest_residue(b - a % b, b, limit) << 68 >= b, (q, k)


print("/* Made by tests/generate/decimal_powers.py; do not edit. 10^%d ... 10^%d: see decimal_core.h. */" % (FIRST, LAST))
print("/* clang-format off */")
for q in range(FIRST, LAST + 1):
    floor, s, exact = scaled_power(q)
    assert BITS - 1 - s == q * 1741647 >> 19, q  # floor(log2 10^q)
    assert exact == (0 <= q <= EXACT), q
    assert exact or floor % 2**64 != 2**64 - 1, q  # adding 1 carries into no other word
    print("{0x%016x, 0x%016x}, /* 1e%d */" % (floor >> 64, floor % 2**64, q))
check_logarithms()
check_residues()
