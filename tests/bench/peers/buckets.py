#!/usr/bin/env python3
"""The T x T matrix of T5 buckets (32 up to 128, both directions) with numpy, int32 to standard output: naive|toeplitz T.

naive makes every bucket from its offset, as models do; toeplitz makes 2T - 1 and copies windows."""
import sys

from common import Clock, put

clock = Clock()
import numpy as np

clock.step("import")


def bucket(offset):
    side = np.where(offset > 0, 16, 0).astype(np.int32)
    distance = np.abs(offset)
    with np.errstate(divide="ignore"):
        far = 8 + (np.log(distance.astype(np.float32) / 8) / np.log(16.0) * 8).clip(-8, 8).astype(np.int32)
    return side + np.where(distance < 8, distance, np.minimum(far, 15))


way, length = sys.argv[1], int(sys.argv[2])
if way == "naive":
    at = np.arange(length, dtype=np.int32)
    matrix = bucket(at[None, :] - at[:, None])
else:
    vector = bucket(np.arange(1 - length, length, dtype=np.int32))
    matrix = np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(vector, length)[::-1])
clock.step("compute")
put(matrix)
clock.step("write")
clock.tell()
