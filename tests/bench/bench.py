#!/usr/bin/env python3
"""Times the commands against what a Python user would run, side by side, and against the machine's limits.

Usage: bench.py BUILD [GROUP...]      groups: start table text bucket attention process (all without)

Both sides of a ratio run in turn, round after round; what is told is the median of each side's seconds (whole
process, start included) and of the ratios round by round, so that a machine whose speed drifts does not favour
a side. A peer that is not installed is left out, and said so. Writes BUILD/bench/bench.csv and, where gnuplot is
there, bench.png. `make bench-venv` brings the peers."""
import csv
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "peers")
BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else sys.exit(__doc__)
OUT = os.path.join(BUILD, "bench")
VENV = os.path.join(BUILD, "venv", "bin", "python3")
PYTHON = VENV if os.path.exists(VENV) else sys.executable
ROWS, DIM, CSV_ROWS = 65536, 512, 8192


def environment():
    """The commands first on PATH; the peers' matrix library as it is by default, on one thread unless a job says otherwise."""
    env = dict(os.environ, PATH=os.path.join(BUILD, "bin") + os.pathsep + os.environ["PATH"], LC_ALL="C")
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        env.pop(name, None)
    env.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", THREADS="1")
    return env


ENV = environment()


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], env=ENV, capture_output=True).returncode == 0


def run(command):
    """Seconds that a command takes, and what it tells of its steps (peers/common.py); None where it failed. Pipelines are
    strings for bash."""
    argv = ["bash", "-o", "pipefail", "-c", command] if isinstance(command, str) else command
    began = time.perf_counter()
    with open(os.devnull, "wb") as null:
        child = subprocess.Popen(argv, env=ENV, stdin=subprocess.DEVNULL, stdout=null, stderr=subprocess.PIPE)
        text = child.stderr.read().decode(errors="replace")
    status = child.wait()
    seconds = time.perf_counter() - began
    if status != 0:
        print(f"failed: {command}\n{text[-400:]}", file=sys.stderr)
        return None
    return seconds, dict(word.split("=") for word in text.split() if word.count("=") == 1)


def peer(script, *words):
    return [PYTHON, os.path.join(PEERS, script + ".py"), *map(str, words)]


def pipe(command):
    """The same command with its output through a pipe."""
    return " ".join(command) + " | cat >/dev/null"


class Table:
    """Rows: job, other side, median seconds of both, median ratio, bar; printed as they come, kept for the files."""

    WIDTHS = (40, 48, 10, 10, 9, 7)

    def __init__(self):
        self.rows = []
        self.line("job", "against", "ours s", "theirs s", "ratio", "bar")

    def line(self, *cells):
        print("  ".join(str(c).ljust(w) for c, w in zip(cells, self.WIDTHS)).rstrip(), flush=True)

    def add(self, job, other, ours, theirs, ratio, bar):
        self.rows.append((job, other, ours, theirs, ratio, bar))
        note = "" if bar is None else f"{bar:g}" + ("" if ratio <= bar else " !")
        self.line(job, other, f"{ours:.4f}", f"{theirs:.4f}", f"{ratio:.4f}", note)

    def save(self):
        for name, delimiter in (("bench.csv", ","), ("bench.tsv", "\t")):  # gnuplot reads no quotes
            with open(os.path.join(OUT, name), "w", newline="") as f:
                writer = csv.writer(f, delimiter=delimiter)
                writer.writerow(("job", "against", "ours_s", "theirs_s", "ratio", "bar"))
                writer.writerows(self.rows)


def versus(table, job, ours, others, rounds, alone=False):
    """ours against each (name, command, bar) of others; every round runs all of them once, after one that is not counted.
    alone: also against the peer's computing, without its start, reading and writing, which stay in ours."""
    ran = {name: [] for name, _, _ in others}
    for round_ in range(rounds + 1):
        mine = run(ours)
        theirs = {name: run(command) for name, command, _ in others}
        for name in ran:
            if round_ > 0 and mine and theirs[name]:
                ran[name].append((mine[0], theirs[name][0], float(theirs[name][1].get("compute", "nan"))))
    for name, _, bar in others:
        if ran[name]:
            add_medians(table, job, name, [(a, b) for a, b, _ in ran[name]], bar)
            if alone:
                add_medians(table, job, name + ": its computing alone", [(a, c) for a, _, c in ran[name]], None)


def add_medians(table, job, name, pairs, bar):
    table.add(job, name, statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs),
              statistics.median(a / b for a, b in pairs), bar)


def start(table, have):
    if have["numpy"]:
        versus(table, "4 x 4 table as text", ["pe-table", "-n", "4", "-d", "4"], [("numpy", peer("tiny"), 0.02)], 9)


def tables(table, have):
    limit = os.path.join(OUT, "limit")
    for elem, null_bar, pipe_bar in (("f32", 0.07, 0.22), ("f64", None, 0.36)):
        ours = ["pe-table", "-n", str(ROWS), "-d", str(DIM), "-t", elem]
        theirs = peer("table", ROWS, DIM, elem)
        size = ROWS * DIM * int(elem[1:]) // 8
        what = f"table {ROWS} x {DIM} {elem}"
        bare = [limit, "write", str(size)]
        if have["numpy"]:
            versus(table, what + ", discarded", ours, [("numpy", theirs, null_bar)], 5)
            versus(table, what + ", pipe", pipe(ours),
                   [("numpy", pipe(theirs), pipe_bar), ("a bare writer", pipe(bare), 1.15 if elem == "f32" else None)], 7)
        else:
            versus(table, what + ", pipe", pipe(ours), [("a bare writer", pipe(bare), 1.15 if elem == "f32" else None)], 7)
        versus(table, what + ", discarded", ours, [("memcpy of the same bytes", [limit, "copy", str(size)], None)], 5)


def text(table, have):
    for elem, write_bars, read_bars in (("f32", (0.05, 0.02), (0.18, None)), ("f64", (0.10, None), (0.12, None))):
        raw, lines = os.path.join(OUT, "t." + elem), os.path.join(OUT, f"t.{elem}.csv")
        run(["pe-table", "-n", str(CSV_ROWS), "-d", str(DIM), "-t", elem, "-o", raw])
        run(["pe-cat", "-f", elem, "-d", str(DIM), "-t", "csv:" + elem, "-o", lines, raw])
        tools = [(name, i) for i, name in enumerate(("numpy", "pandas")) if have[name]]
        write = [(f"{name}, {('savetxt', 'to_csv')[i]}", peer("csv_write", name, elem, DIM, raw), write_bars[i]) for name, i in tools]
        read = [(f"{name}, {('loadtxt', 'read_csv')[i]}", peer("csv_read", name, elem, lines), read_bars[i]) for name, i in tools]
        what = f"{CSV_ROWS} x {DIM} {elem}"
        versus(table, "CSV written, " + what, ["pe-cat", "-f", elem, "-d", str(DIM), "-t", "csv:" + elem, raw], write, 3)
        versus(table, "CSV read, " + what, ["pe-cat", "-t", elem, lines], read, 3)
        os.remove(raw)
        os.remove(lines)


def buckets(table, have):
    if have["numpy"]:
        ours = ["t5-bucket", "-n", "8192", "-t", "i32"]
        others = [("numpy, every bucket from its offset", pipe(peer("buckets", "naive", 8192)), 0.08),
                  ("numpy, sliding windows", pipe(peer("buckets", "toeplitz", 8192)), 0.40)]
        versus(table, "8192 x 8192 T5 buckets, pipe", pipe(ours), others, 5)


def make_qkv(length, elem):
    """Q, K, V as three raw files and one, and a bias table; the same numbers for all sides, of unit scale."""
    names = [os.path.join(OUT, f"{x}.{elem}") for x in ("q", "k", "v", "qkv", "bias")]
    for i, name in enumerate(names[:3]):
        run(f"pe-table -n {length} -d 64 -b {100 + 37 * i} -s {1000 * i} -t {elem} -o {name}")
    run(f"cat {' '.join(names[:3])} >{names[3]}")
    run(f"pe-table -n 32 -d 2 -t {elem} | pe-cat -f {elem} -d 2 --cols :1 -t {elem} -o {names[4]}")
    return names


def attention(table, have):
    bars = {"f32": {1024: 0.06, 4096: 0.20, 8192: 0.28}, "f64": {1024: 0.09, 4096: 0.33, 8192: 0.42}}
    for elem in bars:
        for length, bar in bars[elem].items():
            q, k, v, qkv, bias = make_qkv(length, elem)
            ours = ["relattn", "-j", "1", "-f", elem, "-d", "64", "-Q", q, "-K", k, "-V", v, "--t5", bias, "-t", elem]
            others = [(f"{tool}, one thread", peer("attention", tool if tool != "torch" else "sdpa", elem, length, 64, qkv, bias),
                       bar if tool == "numpy" else None) for tool in ("numpy", "torch") if have[tool]]
            if have["torch"] and elem == "f32" and length == 4096:
                others.append(("torch flex_attention", peer("attention", "flex", elem, length, 64, qkv, bias), None))
            what = f"relattn T5 T={length} d=64 {elem}"
            versus(table, what, ours, [(n.replace("torch, ", "torch sdpa, "), c, b) for n, c, b in others], 3, alone=True)
            if elem == "f32" and length == 8192:
                more_of_attention(table, what, ours)
            for name in (q, k, v, qkv, bias):
                os.remove(name)
    heads(table)


def more_of_attention(table, what, ours):
    """Ratios to itself, and the peak of memory."""
    two = [w if w != "1" else "2" for w in ours]
    versus(table, what + ", two threads", two, [("one thread", ours, 1 / 1.8)], 3)
    versus(table, what + ", causal", ours + ["-c", "--t5-direction", "both"], [("both directions", ours, 1 / 1.7)], 3)
    told = subprocess.run([os.path.join(OUT, "limit"), "peak", *ours], env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    print(f"peak memory of {what}: {int(told.stderr) / 1024:.1f} MiB (bar 16)", flush=True)


def heads(table):
    """Eight heads in one process against a process for each."""
    wide, narrow = ([os.path.join(OUT, f"{x}{dim}.f32") for x in "qkv"] for dim in (512, 64))
    for names, dim in ((wide, 512), (narrow, 64)):
        for i, name in enumerate(names):
            run(f"pe-table -n 8192 -d {dim} -b {100 + 37 * i} -s {1000 * i} -t f32 -o {name}")
    words = "relattn -j 1 -f f32 -t f32 -H {} -d {} -Q {} -K {} -V {}"
    one = words.format(1, 64, *narrow)
    versus(table, "relattn T=8192 d=64 f32, 8 heads", words.format(8, 512, *wide).split(),
           [("8 times one head", f"for i in 1 2 3 4 5 6 7 8; do {one} || exit; done", 1)], 3)
    for name in wide + narrow:
        os.remove(name)


def processes():
    """Timings inside one process, each program's own report."""
    for name in ("turn", "decimal", "attend"):
        program = os.path.join(OUT, name)
        if os.path.exists(program):
            print(f"\n== inside one process: {name}", flush=True)
            with open(os.path.join(OUT, name + ".txt"), "w") as f:
                report = subprocess.run([program], env=ENV, stdout=subprocess.PIPE, text=True).stdout
                f.write(report)
                print(report, end="", flush=True)


def about(have):
    """The machine, and what the peers compute with."""
    flags = ""
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as f:
            words = set(next((line for line in f if line.startswith("flags")), "").split())
        flags = " ".join(sorted(w for w in words if w in ("sse2", "avx", "avx2", "fma", "f16c") or w.startswith("avx512")))
    print(f"{platform.machine()}, {os.cpu_count()} cores; {flags}; python {platform.python_version()}")
    print("peers: " + ", ".join(f"{n} {'yes' if h else 'not installed (make bench-venv)'}" for n, h in have.items()))
    if have["numpy"]:
        told = subprocess.run([PYTHON, "-c", "import numpy"], env=dict(ENV, OPENBLAS_VERBOSE="2"), capture_output=True, text=True)
        print("numpy's kernel: " + (" ".join((told.stdout + told.stderr).split()) or "not told"))
    if have["torch"]:
        told = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__, torch.backends.cpu.get_cpu_capability())"],
                              env=ENV, capture_output=True, text=True)
        print("torch: " + told.stdout.strip())
    print()


def picture():
    """Bars of the ratios, one decade and more below 1 where we are faster."""
    if shutil.which("gnuplot"):
        script = os.path.join(HERE, "bench.gp")
        subprocess.run(["gnuplot", "-e", f"out='{OUT}/bench.png'; data='{OUT}/bench.tsv'", script], check=False)


def main():
    os.makedirs(OUT, exist_ok=True)
    groups = {"start": start, "table": tables, "text": text, "bucket": buckets, "attention": attention}
    wanted = sys.argv[2:] or [*groups, "process"]
    have = {name: has(name) for name in ("numpy", "pandas", "torch")}
    about(have)
    table = Table()
    for name in wanted:
        if name in groups:
            groups[name](table, have)
    table.save()
    picture()
    if "process" in wanted:
        processes()


main()
