"""Ratios that should hold on any machine: a program that breaks one can replace an operation by another one and gain.

A result is a dictionary from (test, bytes) to the nanoseconds of an operation. `check` yields one Finding for each rule and size.
"""
import dataclasses

SLACK = 1.15       # differences below this are noise
SLACK_NS = 3.0     # so are differences of a few instructions
STEP_SLACK = 1.5   # of the time per byte from one power of two to the next


@dataclasses.dataclass(frozen=True)
class Finding:
    rule: str
    left: str    # what should be no slower
    right: str
    left_ns: float
    limit_ns: float

    @property
    def holds(self):
        return self.left_ns <= self.limit_ns

    @property
    def excess(self):
        return self.left_ns / self.limit_ns


# (rule, the operation that should be no slower, the other one, factor): sizes that both have are compared.
ORDERS = (
    ("get at most two puts", "get_latency", "put_latency", 2),
    ("non-blocking put not slower than put", "put_bandwidth", "put_latency", 1),
    ("non-blocking get not slower than get", "get_bandwidth", "get_latency", 1),
    ("p not slower than put of a word", "p_latency", "put_latency", 1),
    ("g not slower than get of a word", "g_latency", "get_latency", 1),
    ("a stream of p not slower than single ones", "p_rate", "p_latency", 1),
    ("a stream of adds not slower than single ones", "add_rate", "add_latency", 1),
    ("add not slower than fetch_add", "add_latency", "fetch_add_latency", 1),
    ("fetch_add not slower than compare_swap", "fetch_add_latency", "compare_swap_latency", 1),
    ("put with signal not slower than a message", "put_signal_latency", "message_latency", 1),
    ("sync not slower than barrier", "sync", "barrier", 1),
    ("barrier at most reduce", "barrier", "reduce", 1),
    ("broadcast at most fcollect", "broadcast", "fcollect", 1),
    ("fcollect at most alltoall", "fcollect", "alltoall", 1),
    ("fcollect at most collect", "fcollect", "collect", 1),
)
WITHOUT_SIZE = {"barrier": 8, "sync": 8}  # compared with others at this size

# Times grow with the size, and the time per byte does not jump.
GROWING = ("put_latency", "get_latency", "put_bandwidth", "get_bandwidth", "put_signal_latency", "broadcast", "reduce", "fcollect",
           "alltoall")


def name_of(test, size):
    return test if test in WITHOUT_SIZE else f"{test} {size}"


def time_of(results, test, size):
    return results.get((test, 0 if size == WITHOUT_SIZE.get(test) else size))


def check_orders(results):
    sizes = sorted({size for _, size in results if size})
    for rule, left, right, factor in ORDERS:
        for size in sizes:
            left_ns, right_ns = time_of(results, left, size), time_of(results, right, size)
            if left_ns is not None and right_ns is not None:
                factor_text = f"{factor} x " if factor != 1 else ""
                yield Finding(rule, name_of(left, size), factor_text + name_of(right, size), left_ns,
                              right_ns * factor * SLACK + SLACK_NS)


def check_growth(results):
    for test in GROWING:
        sizes = sorted(size for name, size in results if name == test)
        for small, large in zip(sizes, sizes[1:]):
            small_ns, large_ns = results[test, small], results[test, large]
            yield Finding("time grows with the size", name_of(test, small), name_of(test, large), small_ns, large_ns * SLACK + SLACK_NS)
            ratio = large / small
            yield Finding("time per byte at most 1.5 times that of half the size", name_of(test, large),
                          f"{ratio * STEP_SLACK:g} x {name_of(test, small)}", large_ns, small_ns * ratio * STEP_SLACK + SLACK_NS)


def check(results):
    yield from check_orders(results)
    yield from check_growth(results)


def best_of(runs):
    """Returns the least of the runs' times: what disturbs a run makes it slower."""
    best = {}
    for rows in runs:
        for row in rows:
            key = row["test"], row["bytes"]
            best[key] = min(best.get(key, row["median_ns"]), row["median_ns"])
    return best
