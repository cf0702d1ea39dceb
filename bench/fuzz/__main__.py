"""Run `python -m bench.fuzz --count 2000 --seed 1`: damaged inputs and absurd arguments for `bgsub`."""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from bench.fuzz.campaign import Outcome, run_campaign


def main() -> int:
    """Run the campaign, print counts, and return 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="number of cases")
    parser.add_argument("--seed", type=int, default=1, help="seed that determines the cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to repeat one")
    parser.add_argument("--folder", type=Path, default=Path("out/fuzz"), help="where failing inputs are kept")
    parser.add_argument("--memory", type=float, default=8, help="limit of the address space in GiB")
    parser.add_argument("--seconds", type=float, default=30, help="time after which a case counts as hanging")
    given = parser.parse_args()
    began = time.monotonic()

    def show(number: int, outcome: Outcome) -> None:
        if number in outcome.faults:
            print(f"{number}: {outcome.faults[number]}", flush=True)

    outcome = run_campaign(
        given.count,
        given.seed,
        given.folder,
        first=given.first,
        memory_bytes=int(given.memory * 2**30),
        limit_s=given.seconds,
        progress=show,
    )
    codes = sorted({status for _, status in outcome.statuses})
    print(f"{'':>10}" + "".join(f"{f'rc {code}':>8}" for code in codes))
    for kind in sorted({kind for kind, _ in outcome.statuses}):
        print(f"{kind:>10}" + "".join(f"{outcome.statuses[kind, code]:>8}" for code in codes))
    total = Counter(status for _, status in outcome.statuses.elements())
    print(f"{'all':>10}" + "".join(f"{total[code]:>8}" for code in codes))
    print(f"{len(outcome.faults)} of {given.count} cases failed, in {time.monotonic() - began:.0f} s")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
