#!/usr/bin/env python3
"""The sinusoidal table with numpy, raw to standard output: ROWS DIM f32|f64.

Angles are made in the element, as models do: the f32 table is wrong in the third digit at position 65535."""
import sys

from common import Clock, put

clock = Clock()
import numpy as np

clock.step("import")
rows, dim, dtype = int(sys.argv[1]), int(sys.argv[2]), np.dtype(sys.argv[3].replace("f", "float"))
omega = np.exp(np.arange(0, dim, 2, dtype=dtype) * dtype.type(-np.log(10000.0) / dim))
angle = np.arange(rows, dtype=dtype)[:, None] * omega
table = np.empty((rows, dim), dtype=dtype)
np.sin(angle, out=table[:, 0::2])
np.cos(angle, out=table[:, 1::2])
clock.step("compute")
put(table)
clock.step("write")
clock.tell()
