#!/usr/bin/env python3
"""Holds the commands against the code bases themselves: transformers, safetensors, torch, as `make bench-venv` brings them.

Usage: check.py BIN      TAP on standard output. `make check-peers` calls it with the venv's python.

Models are made from a config alone; nothing is downloaded. Their numbers are float32, so tolerances are those of
float32 frequencies and angles; buckets, slopes and bytes of checkpoints must agree exactly or to the last bit shown."""
import io
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

BIN = os.path.abspath(sys.argv[1])
TMP = tempfile.mkdtemp()
count = failures = 0


def run(command, *words, stdin=None):
    argv = [os.path.join(BIN, command), *map(str, words)]
    return subprocess.run(argv, input=stdin, capture_output=True, check=True).stdout


def matrix(command, *words, stdin=None):
    return np.loadtxt(io.BytesIO(run(command, *words, stdin=stdin)), delimiter=",", ndmin=2)


def check(name, ours, theirs, relative=0.0, absolute=0.0):
    """One TAP line: the same shape, and |ours - theirs| within absolute + relative * |theirs|."""
    global count, failures
    count += 1
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    ok = ours.shape == theirs.shape and bool(np.all(np.abs(ours - theirs) <= absolute + relative * np.abs(theirs)))
    failures += not ok
    print(("ok" if ok else "not ok"), count, name, flush=True)
    if not ok:
        worst = np.abs(ours - theirs).max() if ours.shape == theirs.shape else f"{ours.shape} against {theirs.shape}"
        print(f"# {worst}")


# ---- rotary embeddings from a model's own config.json ----


def rope(name, config, *options, length=None, layer=None):
    """Frequencies and attention factor of a config, as transformers computes them and as its config.json tells us."""
    path = os.path.join(TMP, name.replace(" ", "-"))
    config.save_pretrained(path)
    parameters = config.rope_parameters[layer] if layer else config.rope_parameters
    kind = parameters.get("rope_type", "default")
    if kind == "default":
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        dim = int(head * parameters.get("partial_rotary_factor", 1.0))
        theirs, factor = parameters["rope_theta"] ** (-torch.arange(0, dim, 2).float() / dim), 1.0
    else:
        more = {"layer_type": layer} if layer else {}
        theirs, factor = ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"), seq_len=length, **more)
    words = ["--config", os.path.join(path, "config.json"), *options]
    check(f"{name}: frequencies", matrix("pe-rope", *words, "--emit", "freqs")[0], theirs.double().numpy(), relative=4e-7)
    check(f"{name}: attention factor", matrix("pe-rope", *words, "--emit", "cos", "-n", "1")[0],
          np.full(len(theirs), factor), relative=1e-7)


def rotary():
    small = dict(hidden_size=512, num_attention_heads=8, num_hidden_layers=2, vocab_size=32, intermediate_size=64)
    T = transformers
    rope("Llama 2", T.LlamaConfig(**small))
    rope("Llama 3", T.LlamaConfig(**small, max_position_embeddings=131072, rope_parameters=dict(
        rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=8192)))
    rope("Llama linear", T.LlamaConfig(**small, rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=4.0)))
    rope("Llama dynamic", T.LlamaConfig(**small, max_position_embeddings=2048, rope_parameters=dict(
        rope_type="dynamic", rope_theta=10000.0, factor=2.0)))
    yarn = dict(rope_type="yarn", rope_theta=1000000.0, factor=4.0, original_max_position_embeddings=32768)
    rope("Qwen2 with YaRN", T.Qwen2Config(**small, max_position_embeddings=131072, rope_parameters=yarn))
    rope("Qwen3 with YaRN", T.Qwen3Config(**small, head_dim=128, max_position_embeddings=131072, rope_parameters=yarn))
    factors = dict(short_factor=[1.0 + i / 64 for i in range(32)], long_factor=[1.0 + i / 4 for i in range(32)])
    phi = T.Phi3Config(**small, pad_token_id=0, max_position_embeddings=131072, original_max_position_embeddings=4096, rope_parameters=dict(
        rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=4096, **factors))
    rope("Phi-3 LongRoPE beyond the trained length", phi, length=131072)
    rope("GPT-NeoX, a quarter of each head", T.GPTNeoXConfig(**small))
    rope("Gemma 2", T.Gemma2Config(**small, head_dim=32))
    for layer in ("sliding_attention", "full_attention"):
        rope(f"Gemma 3 {layer}", T.Gemma3TextConfig(**small, head_dim=32), "--layer-kind", layer, layer=layer)


def rotation():
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
    config = transformers.LlamaConfig(hidden_size=64, num_attention_heads=2)
    x = torch.randn(1, 2, 9, 32, dtype=torch.float64)
    cos, sin = LlamaRotaryEmbedding(config)(x, torch.arange(9)[None])
    theirs, _ = apply_rotary_pos_emb(x, x, cos, sin)
    rows = x[0].transpose(0, 1).reshape(9, 64).contiguous().numpy()
    ours = np.frombuffer(run("pe-rope", "-H", 2, "--pairs", "halves", "-f", "f64", "-d", 64, "-t", "f64", stdin=rows.tobytes()))
    check("Llama: rotated rows", ours.reshape(9, 64), theirs[0].transpose(0, 1).reshape(9, 64), absolute=1e-5)


# ---- tables, buckets, slopes ----


def tables():
    from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions
    from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding as Fairseq
    from transformers.models.whisper.modeling_whisper import sinusoids
    check("preset gpt-j", matrix("pe-table", "--preset", "gpt-j", "-n", 50, "-d", 32), create_sinusoidal_positions(50, 32), absolute=4e-6)
    check("preset fairseq", matrix("pe-table", "--preset", "fairseq", "-n", 50, "-d", 33, "--zero-row", 1),
          Fairseq.get_embedding(50, 33, 1), absolute=4e-6)
    check("preset t2t is Whisper's", matrix("pe-table", "--preset", "t2t", "-n", 50, "-d", 32), sinusoids(50, 32), absolute=4e-6)


def buckets():
    from transformers.models.t5.modeling_t5 import T5Attention
    offsets = torch.arange(-300, 301)
    for both, option in ((True, []), (False, ["-c"])):
        for n, far in ((32, 128), (16, 64), (64, 256), (32, 2048)):
            theirs = T5Attention._relative_position_bucket(offsets, both, n, far)
            ours = matrix("t5-bucket", *option, "--num-buckets", n, "--max-distance", far, "--range", "-300:300")[:, 1]
            check(f"T5 buckets, {n} up to {far}, {'encoder' if both else 'decoder'}", ours, theirs)


def slopes():
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    for heads in (1, 8, 12, 112):
        theirs = build_alibi_tensor(torch.ones(1, 5), heads, torch.float32).reshape(heads, 5)
        check(f"BLOOM's ALiBi of {heads} heads", matrix("alibi", "-H", heads, "-n", "1x5", "--form", "row"), theirs, relative=3e-6)


# ---- attention, checkpoints ----


def attention():
    q, k, v = torch.randn(3, 2, 40, 16, dtype=torch.float64)
    flat = [x.transpose(0, 1).reshape(40, 32).contiguous() for x in (q, k, v)]
    names = [os.path.join(TMP, n) for n in ("q.npy", "k.npy", "v.npy")]
    for name, x in zip(names, flat):
        np.save(name, x.numpy())
    for causal in (False, True):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        ours = matrix("relattn", *(["-c"] if causal else []), "-H", 2, "-Q", names[0], "-K", names[1], "-V", names[2])
        check(f"scaled_dot_product_attention{', causal' if causal else ''}", ours, theirs.transpose(0, 1).reshape(40, 32), absolute=1e-14)


def checkpoints():
    values = np.random.default_rng(0).standard_normal((7, 5)) * 100
    arrays = {n: np.ascontiguousarray(values.astype(t)) for n, t in (("F64", "f8"), ("F32", "f4"), ("F16", "f2"), ("I64", "i8"), ("I32", "i4"))}
    path = os.path.join(TMP, "m.safetensors")
    save_file(dict(arrays, other=np.ones(3, dtype=bool)), path, metadata={"format": "np"})
    for name, array in arrays.items():
        ours = np.frombuffer(run("pe-cat", f"{path}:{name}", "-t", name.lower()), dtype=array.dtype).reshape(7, 5)
        check(f"safetensors {name}, bit for bit", ours.view(np.uint8), array.view(np.uint8))
    wide = torch.from_numpy(values).bfloat16()
    save_torch({"BF16": wide}, path)
    ours = np.frombuffer(run("pe-cat", f"{path}:BF16", "-t", "bf16"), dtype=np.int16)
    check("safetensors BF16, bit for bit", ours, wide.view(torch.int16).numpy().ravel())
    run("pe-cat", f"{path}:BF16", "-t", "safetensors", "--name", "again", "-o", os.path.join(TMP, "w.safetensors"))
    from safetensors.torch import load_file
    check("a checkpoint of ours is read by the official package", load_file(os.path.join(TMP, "w.safetensors"))["again"].double(), wide.double())


torch.manual_seed(0)
print(f"# transformers {transformers.__version__}, torch {torch.__version__}")
for part in (tables, buckets, slopes, rotation, attention, checkpoints, rotary):
    part()
print(f"1..{count}")
sys.exit(failures > 0)
