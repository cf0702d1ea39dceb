"""Sensitivity of the adaptive detector to its constants: mean F when each is multiplied by 0.7 and by 1.4.

python -m bench.detectors.sensitivity DATASET ... [--only NAME ...] [--headlights]

Prints one line per constant, for all sequences below the folders, and marks those that move the mean by more than 0.01.
`--headlights` makes it night, and labelled objects cars with headlights, as in `bench.detectors.spoiled`.
"""

import argparse
import statistics
from typing import Any

from bench.detectors.ablation import changed
from bench.detectors.spoiled import headlights, measure
from bgsub.detectors.adaptive import detector as adaptive
from bgsub.detectors.adaptive import exposure, final_mask, forgetting, ghosts, lighting, reduced, shadows
from bgsub.detectors.adaptive.camera import follower, offsets, shaking
from bgsub.evaluation import evaluate, find_sequences

FACTORS = (0.7, 1.4)
CONSTANTS: list[tuple[Any, str]] = [
    (exposure, "_BASE_SIGMAS"),
    (exposure, "_CODEC_SIGMAS"),
    (exposure, "LEAST_BASE"),
    (exposure, "_NOISE_RATE"),
    (exposure, "_NEARER"),
    (exposure, "_SHIFT"),
    (exposure, "_ENOUGH"),
    (follower, "_MATCH_SIGMAS"),
    (adaptive, "_CHANGED"),
    (lighting, "_AT_ONCE"),
    (lighting, "_BRIGHTER"),
    (lighting, "_STEEP"),
    (lighting, "_DOUBT"),
    (lighting, "_LIT"),
    (lighting, "_GAIN"),
    (lighting, "_PLAIN"),
    (lighting, "_SMOOTH"),
    (lighting, "_FADING"),
    (lighting, "_SPOT_PX"),
    (lighting, "_GAP_PX"),
    (forgetting, "_LIT_INTERVAL"),
    (forgetting, "_LIT_S"),
    (adaptive, "_LINGERING"),
    (adaptive, "_FLICKER_S"),
    (adaptive, "_FLICKER_SLOW"),
    (adaptive, "_DRIFT"),
    (adaptive, "_FACTOR_RATE"),
    (forgetting, "_OLD"),
    (forgetting, "_KEPT_S"),
    (follower, "_KNOWN"),
    (offsets, "_RANGE"),
    (offsets, "_LIKER"),
    (shaking, "_FEW"),
    (shaking, "_AGAINST"),
    (shaking, "_LASTING"),
    (shaking, "_ANOTHER"),
    (shaking, "_LASTING_YOUNG"),
    (shaking, "_NEARLY_ALL"),
    (shaking, "_YOUNG"),
    (shaking, "_LIKENESS_RATE"),
    (shaking, "_SHAKES_S"),
    (shaking, "_PLACE_RATE"),
    (shaking, "_FAR"),
    (forgetting, "_SHADE_S"),
    (final_mask, "_ONSETS"),
    (final_mask, "_DISPLACED"),
    (final_mask, "_LEAVES"),
    (final_mask, "_AGAIN"),
    (final_mask, "_STAYS"),
    (final_mask, "_RECENT"),
    (final_mask, "_ONSET_RATE"),
    (final_mask, "_ONSET_PRIOR"),
    (final_mask, "_YOUNG"),
    (final_mask, "_REACH"),
    (final_mask, "_FEWEST"),
    (final_mask, "_CALM"),
    (final_mask, "_STATIC"),
    (final_mask, "_BLINK_WEIGHT"),
    (final_mask, "_HOLES"),
    (final_mask, "_FINE_HOLES"),
    (final_mask, "_AROUND"),
    (reduced, "_SQUARED_SIDES"),
    (reduced, "_WIDE"),
    (reduced, "_SQUARE_PX"),
    (reduced, "_YOUNG"),
    (reduced, "_SQUARE_RATE"),
    (reduced, "_SQUARE_NOISE"),
    (reduced, "_FIRST_LIMIT"),
    (reduced, "_LEAST_LIMIT"),
    (reduced, "_LIMIT_STEP"),
    (reduced, "_UNLIKE_SHARE"),
    (reduced, "_BUSY"),
    (reduced, "_FAR"),
    (reduced, "_OCCUPIED"),
    (exposure, "_MATCHING"),
    (ghosts, "_RATIO"),
    (ghosts, "_YOUNG"),
    (forgetting, "_GHOST_SEARCHES"),
    (forgetting, "_TURNOVER_RATE"),
    (ghosts, "_EDGE"),
    (ghosts, "_APART_PX"),
    (shadows, "_DARKEST"),
    (shadows, "_CHANCE"),
    (shadows, "_DARK"),
    (shadows, "_SHARP"),
    (shadows, "_MOSTLY"),
    (shadows, "_SELDOM"),
    (shadows, "_CAUTION"),
    (shadows, "_BETWEEN"),
    (exposure, "_ORDINARY"),
    (exposure, "_BELOW"),
    (exposure, "_DOUBT"),
    (exposure, "_BLACK_RATE"),
    (exposure, "_LEAST_SIGMAS"),
    (shadows, "_TEXTURE"),
    (shadows, "_GREY_TEXTURE"),
    (shadows, "_GREY_ALONE"),
    (shadows, "_PENUMBRA"),
    (shadows, "_FLAT"),
    (shadows, "_SMOOTH"),
    (shadows, "_SIDE_PX"),
]
PARAMETERS = ("width", "threshold", "memory_s", "absorb_s", "smoothing")
_LARGEST_MOVE = 0.01


def scaled(value: float, factor: float) -> float:
    """Return a value times a factor, whole where it was; sides in pixels stay odd."""
    if not isinstance(value, int):
        return value * factor
    return round(value * factor) | 1 if value % 2 else round(value * factor)


def main() -> None:
    """Measure and print one line per constant."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="of constants and parameters, such as _DRIFT")
    parser.add_argument("--headlights", action="store_true", help="make it night, and objects cars with headlights")
    options = parser.parse_args()
    known = [*(name for _, name in CONSTANTS), *PARAMETERS]
    wanted = known if options.only is None else options.only
    if unknown := set(wanted) - set(known):
        parser.error(f"no constant {', '.join(sorted(unknown))}")
    sequences = [sequence for folder in options.datasets for sequence in find_sequences(folder)]

    def mean(parameters: dict[str, Any]) -> float:
        if options.headlights:
            return statistics.mean(
                measure(sequence, headlights(sequence), models=[adaptive.Adaptive(threads=1, **parameters)])[0]
                for sequence in sequences
            )
        report = evaluate(sequences, lambda _: adaptive.Adaptive(threads=1, **parameters))
        return statistics.mean(row.measures()["f_measure"] for row in report.rows)

    base = mean({})
    print(f"{'as it is':32} {base:.3f}", flush=True)
    for module, name in CONSTANTS:
        if name not in wanted:
            continue
        found = []
        for factor in FACTORS:
            with changed({(module, name): scaled(getattr(module, name), factor)}):
                found.append(mean({}))
        _show(f"{module.__name__.rpartition('.')[2]} {name.strip('_').lower()}", found, base)
    for name in PARAMETERS:
        if name not in wanted:
            continue
        default = getattr(adaptive.Adaptive(), name)
        _show(name, [mean({name: scaled(default, factor)}) for factor in FACTORS], base)


def _show(name: str, found: list[float], base: float) -> None:
    mark = " *" if max(abs(value - base) for value in found) > _LARGEST_MOVE else ""
    print(f"{name:32} " + " ".join(f"{value:.3f}" for value in found) + mark, flush=True)


if __name__ == "__main__":
    main()
