#!/usr/bin/env python3
"""golden_xpos.py DIR: the values of xPos in tests/data/golden, from the formula alone (mpmath, 60 digits, rounded once).

Writes inputs and expected files into DIR, and MANIFEST.tsv and EXTRA.tsv with the lines that belong to them. Sun et al. 2023:
pair i of a query at position t is rotated and multiplied by ((2i/d + 0.4) / 1.4)^((t - centre) / S), of a key by the inverse.
"""
import random
import sys

import mpmath as mp

mp.mp.dps = 60
random.seed(20231)
FOLDER = sys.argv[1]


def dyadic(rows, cols):
    return [[random.randint(-256, 256) / 64 for _ in range(cols)] for _ in range(rows)]


def shape(rows):
    return "%dx%d" % (len(rows), len(rows[0]))


def save(name, rows):
    with open(f"{FOLDER}/{name}", "w") as f:
        for row in rows:
            f.write(",".join(repr(float(x)).removesuffix(".0") for x in row) + "\n")


def note(table, *fields):
    with open(f"{FOLDER}/{table}.tsv", "a") as f:
        f.write("\t".join(fields) + "\n")


def case(name, option, command, rows, tolerance, source="mpmath 60 digits, own formula", **inputs):
    for suffix, values in inputs.items():
        save(f"{name}.{suffix}.csv", values)
        note("MANIFEST", f"{name}.{suffix}.csv", "input", option, "dyadic", "made for the case", "exact", shape(values), *[""] * 5)
    save(f"{name}.csv", rows)
    worst = max(abs(mp.mpf(float(x)) - x) for row in rows for x in row)
    note("MANIFEST", f"{name}.csv", "output", option, command, source, "exact", shape(rows), "%.2e" % worst, tolerance, "abs", "", "")
    note("EXTRA", f"{name}.csv", tolerance, "abs", command)


def angle(base, i, d, t):
    return t * mp.power(base, -mp.mpf(2 * i) / d)


def factor(i, d, distance, scale, sense):
    return mp.power((mp.mpf(2 * i) / d + mp.mpf(2) / 5) / (mp.mpf(7) / 5), sense * mp.mpf(distance) / scale)


def turn(head, t, sense, base=10000, halves=False, scale=512, centre=0):
    d = len(head)
    out = list(head)
    for i in range(d // 2):
        a, b = (i, i + d // 2) if halves else (2 * i, 2 * i + 1)
        c, s = mp.cos(angle(base, i, d, t)), mp.sin(angle(base, i, d, t))
        f = factor(i, d, t - centre, scale, sense)
        out[a] = f * (head[a] * c - head[b] * s)
        out[b] = f * (head[b] * c + head[a] * s)
    return out


def table(positions, d, sense, base=10000, scale=512, centre=0):
    return [[factor(i, d, t - centre, scale, sense) * f(angle(base, i, d, t)) for f in (mp.cos, mp.sin) for i in range(d // 2)]
            for t in positions]


def attention(q, k, v, heads, start, scale):
    width = len(q[0]) // heads
    rows = []
    for m, query in enumerate(q, start):
        row = []
        for h in range(0, heads * width, width):
            turned = turn(query[h:h + width], m, 1, scale=scale)
            keys = range(min(m + 1, len(k)))
            weights = [mp.exp(mp.fdot(turned, turn(k[n][h:h + width], n, -1, scale=scale)) / mp.sqrt(width)) for n in keys]
            row += [mp.fsum(w * v[n][h + c] for w, n in zip(weights, keys)) / mp.fsum(weights) for c in range(width)]
        rows.append(row)
    return rows


name, x = "extra_rope_xpos_query", dyadic(5, 16)
case(name, "pe-rope --xpos query --xpos-centre", f"pe-rope -H 2 --pairs halves -b 100 --xpos query --xpos-centre 40 -s 3 {name}.x.csv",
     [sum((turn(r[h:h + 8], t, 1, base=100, halves=True, centre=40) for h in (0, 8)), []) for t, r in enumerate(x, 3)], "1e-14", x=x)

name, x = "extra_rope_xpos_key", dyadic(5, 12)
case(name, "pe-rope --xpos key --xpos-base --rotary-dim", f"pe-rope --rotary-dim 10 --xpos key --xpos-base 7.5 -s -2 {name}.x.csv",
     [turn(r[:10], t, -1, scale=mp.mpf(7.5)) + r[10:] for t, r in enumerate(x, -2)], "1e-14", x=x)

case("extra_rope_xpos_table_query", "pe-rope --emit --xpos query", "pe-rope --emit cos-sin --xpos query -d 12 -n 6 -s 4000",
     table(range(4000, 4006), 12, 1), "0")

case("extra_rope_xpos_table_key", "pe-rope --emit --xpos key --xpos-base --xpos-centre",
     "pe-rope --emit cos-sin --xpos key --xpos-base 64 --xpos-centre -20000 -d 12 -n 6 -b 500",
     table(range(6), 12, -1, base=500, scale=64, centre=-20000), "0")

name, q, k, v = "extra_attn_xpos", dyadic(5, 8), dyadic(7, 8), dyadic(7, 8)
case(name, "relattn -c --rope --xpos --xpos-base --query-start",
     f"relattn -Q {name}.q.csv -K {name}.k.csv -V {name}.v.csv -H 2 -c --rope --xpos --xpos-base 16 --query-start 2",
     attention(q, k, v, 2, 2, 16), "3e-14", "mpmath 60 digits, loops over heads, queries and keys", q=q, k=k, v=v)
