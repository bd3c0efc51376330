#!/usr/bin/env python3
"""CSV FILE to raw on standard output: numpy|pandas f32|f64 FILE. Both round each number right."""
import sys

from common import Clock, put

clock = Clock()
import numpy as np

tool, elem, path = sys.argv[1:4]
dtype = elem.replace("f", "float")
if tool == "pandas":
    import pandas
clock.step("import")
if tool == "pandas":
    frame = pandas.read_csv(path, header=None, dtype=dtype, float_precision="round_trip", engine="c")
    table = np.ascontiguousarray(frame.to_numpy())
else:
    table = np.loadtxt(path, delimiter=",", dtype=dtype, ndmin=2)
clock.step("read")
put(table)
clock.step("write")
clock.tell()
