"""Reads from the environment what `make bench` measures. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.errors import BenchError


@dataclass(frozen=True, slots=True)
class Options:
    """Says how much to measure.

    Attributes:
        hosts: The number of hosts.
        rounds: The number of rounds; a figure is the median of them.
        naive_rounds: The rounds of the naive program, which takes minutes; 0 skips it.
        growth: The two numbers of hosts to compare, or nothing.
        plain: Whether to use plain `pulumi up` instead of `pic up`.
    """

    hosts: int = 1_000
    rounds: int = 3
    naive_rounds: int = 1
    growth: tuple[int, ...] = (500, 4_000)
    plain: bool = False


def read_options(environment: Mapping[str, str]) -> Options:
    """Read BENCH_HOSTS, BENCH_ROUNDS, BENCH_NAIVE_ROUNDS, BENCH_GROWTH and BENCH_PIC.

    Raises:
        BenchError: One of them has a value that is not allowed.
    """
    growth = environment.get("BENCH_GROWTH", "500,4000")
    driver = environment.get("BENCH_PIC") or "pic"
    if driver not in ("pic", "pulumi"):
        raise BenchError(f"BENCH_PIC is {driver}; allowed: pic, pulumi")
    sizes = tuple(_number("BENCH_GROWTH", size, 1) for size in growth.split(",") if size.strip())
    if len(sizes) not in (0, 2) or sorted(set(sizes)) != [*sizes]:
        raise BenchError(f"BENCH_GROWTH is {growth}; allowed: two increasing numbers, or nothing")
    return Options(
        hosts=_number("BENCH_HOSTS", environment.get("BENCH_HOSTS", "1000"), 1),
        rounds=_number("BENCH_ROUNDS", environment.get("BENCH_ROUNDS", "3"), 1),
        naive_rounds=_number("BENCH_NAIVE_ROUNDS", environment.get("BENCH_NAIVE_ROUNDS", "1"), 0),
        growth=sizes,
        plain=driver == "pulumi",
    )


def _number(name: str, text: str, least: int) -> int:
    if not text.strip().isdecimal() or int(text) < least:
        raise BenchError(f"{name} is {text}; allowed: whole numbers from {least}")
    return int(text)
