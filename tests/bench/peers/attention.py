#!/usr/bin/env python3
"""Attention with T5's bias: numpy|sdpa|flex f32|f64 T DIM QKV TABLE, output raw to standard output.

QKV holds Q, K and V of T x DIM, TABLE 32 biases, raw. numpy makes the bias from 2T - 1 values and a sliding view, the best a
careful user does; sdpa is torch's scaled_dot_product_attention with the bias as mask; flex its flex_attention, compiled.
torch runs twice, so that the second run tells what it takes when warm. THREADS in the environment limits torch."""
import os
import sys

from common import Clock, put

clock = Clock()
import numpy as np

tool, elem, length, dim = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
dtype = np.dtype(elem.replace("f", "float"))
if tool != "numpy":
    import torch

    torch.set_num_threads(int(os.environ.get("THREADS", "1")))
clock.step("import")
q, k, v = np.fromfile(sys.argv[5], dtype=dtype).reshape(3, length, dim)
table = np.fromfile(sys.argv[6], dtype=dtype)


def bucket(offset):
    distance = np.abs(offset)
    with np.errstate(divide="ignore"):
        far = 8 + (np.log(distance / 8) / np.log(16.0) * 8).clip(-8, 8).astype(np.int64)
    return np.where(offset > 0, 16, 0) + np.where(distance < 8, distance, np.minimum(far, 15))


vector = table[bucket(np.arange(1 - length, length))]
if tool == "numpy":
    scores = q @ k.T
    scores *= dtype.type(1 / np.sqrt(dim))
    scores += np.lib.stride_tricks.sliding_window_view(vector, length)[::-1]
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    out = scores @ v
else:
    tq, tk, tv = (torch.from_numpy(x)[None, None] for x in (q, k, v))
    bias = torch.from_numpy(vector)
    with torch.no_grad():
        if tool == "sdpa":
            mask = bias.unfold(0, length, 1).flip(0)
            run = torch.nn.functional.scaled_dot_product_attention
            run(tq, tk, tv, attn_mask=mask)
            clock.step("warm")
            out = run(tq, tk, tv, attn_mask=mask)
        else:
            from torch.nn.attention.flex_attention import flex_attention

            def add(score, batch, head, m, n):
                return score + bias[n - m + length - 1]

            run = torch.compile(flex_attention)
            run(tq, tk, tv, score_mod=add)  # compiles
            clock.step("warm")
            out = run(tq, tk, tv, score_mod=add)
    out = out[0, 0].contiguous().numpy()
clock.step("compute")
put(out)
clock.step("write")
clock.tell()
