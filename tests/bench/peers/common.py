"""What the peer scripts share: in-process times on stderr, and output that is written to the end."""
import sys
import time

BEGAN = time.perf_counter()


class Clock:
    """Seconds of the steps of a script, told as 'import=0.1 compute=2.3 write=0.4'."""

    def __init__(self):
        self.last, self.steps = BEGAN, []

    def step(self, name):
        now = time.perf_counter()
        self.steps.append(f"{name}={now - self.last:.6f}")
        self.last = now

    def tell(self):
        print(" ".join(self.steps), file=sys.stderr)


def put(array):
    """The array's bytes to standard output."""
    sys.stdout.buffer.write(memoryview(array).cast("B"))
    sys.stdout.buffer.flush()
