#!/usr/bin/env python3
"""Raw FILE of DIM columns to CSV on standard output: numpy|pandas f32|f64 DIM FILE.

numpy prints the digits that are enough for any value, pandas the shortest ones."""
import sys

from common import Clock

clock = Clock()
import numpy as np

tool, elem, dim, path = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
if tool == "pandas":
    import pandas
clock.step("import")
table = np.fromfile(path, dtype=elem.replace("f", "float")).reshape(-1, dim)
if tool == "pandas":
    pandas.DataFrame(table).to_csv(sys.stdout, header=False, index=False)
else:
    np.savetxt(sys.stdout, table, fmt="%.9g" if elem == "f32" else "%.17g", delimiter=",")
sys.stdout.flush()
clock.step("write")
clock.tell()
