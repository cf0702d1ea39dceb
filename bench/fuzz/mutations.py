"""Random damage, determined by a random generator: of bytes, of models, and of text."""

import io
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["EXTREMES", "mutate_archive", "mutate_bytes", "mutate_text"]

EXTREMES: tuple[Any, ...] = (
    *(0, -1, 1, 2**31, 2**63, 10**30, 0.5, 1e-300, 1e300, -1e308, float("nan"), float("inf")),
    *("", "x", "9" * 5000, True, False, None, [], {}, [[[]]], {"a": {}}),
)
"""Values for any entry."""

_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_HEADER_BYTES = 1024
_VALUE = re.compile(r"-?\b\d[\w.+-]*|\btrue\b|\bfalse\b|\"[^\"]*\"")

Random = np.random.Generator


def mutate_bytes(data: bytes, random: Random) -> bytes:
    """Return data with one to three damages of random kinds."""
    for _ in range(random.integers(1, 4)):
        damage = _DAMAGES[random.integers(len(_DAMAGES))]
        data = bytes(damage(bytearray(data), random)) if len(data) > 8 else data
    return data


def _part(data: bytearray, random: Random) -> slice:
    """Return a random part, usually a short one."""
    start = int(random.integers(len(data)))
    return slice(start, start + int(2 ** random.uniform(0, np.log2(len(data)))))


def _flip_bits(data: bytearray, random: Random) -> bytearray:
    for at in random.integers(0, len(data), random.integers(1, 33)):
        data[at] ^= 1 << random.integers(8)
    return data


def _overwrite(data: bytearray, random: Random) -> bytearray:
    part = _part(data, random)
    data[part] = random.bytes(len(data[part]))
    return data


def _zero(data: bytearray, random: Random) -> bytearray:
    part = _part(data, random)
    data[part] = bytes(len(data[part]))
    return data


def _cut_off(data: bytearray, random: Random) -> bytearray:
    return data[: random.integers(1, len(data))]


def _remove(data: bytearray, random: Random) -> bytearray:
    del data[_part(data, random)]
    return data


def _duplicate(data: bytearray, random: Random) -> bytearray:
    part = _part(data, random)
    data[part.start : part.start] = data[part]
    return data


def _swap(data: bytearray, random: Random) -> bytearray:
    part = _part(data, random)
    moved = data[part]
    del data[part]
    at = int(random.integers(len(data) + 1))
    data[at:at] = moved
    return data


def _set_field(data: bytearray, random: Random) -> bytearray:
    """Set a number of one to eight bytes to an extreme, mostly in the header."""
    length = 2 ** int(random.integers(0, 4))
    most = len(data) if random.random() < 0.2 else min(len(data), _HEADER_BYTES)
    at, value = int(random.integers(most)), _NUMBERS[random.integers(len(_NUMBERS))] & (2 ** (8 * length) - 1)
    data[at : at + length] = value.to_bytes(length, "big" if random.random() < 0.5 else "little")
    return data


def _append(data: bytearray, random: Random) -> bytearray:
    return data + random.bytes(int(random.integers(1, 500)))


_DAMAGES: tuple[Callable[[bytearray, Random], bytearray], ...] = (
    *(_flip_bits, _overwrite, _zero, _cut_off, _remove, _duplicate, _swap, _set_field, _set_field, _append),
)


def mutate_archive(data: bytes, random: Random) -> bytes:
    """Return a model with damaged bytes, or a well-formed one with wrong arrays or a wrong header."""
    if random.random() < 0.3:
        return mutate_bytes(data, random)
    with np.load(io.BytesIO(data)) as archive:
        content = {name: archive[name] for name in archive.files}
    name = list(content)[random.integers(len(content))]
    choice = random.integers(4)
    if choice == 0 or name == "header":
        content["header"] = np.str_(json.dumps(_mutate_entry(json.loads(str(content["header"])), random)))
    elif choice == 1:
        del content[name]
    elif choice == 2:
        content[name] = _reshape(content[name], random)
    else:
        content[name] = _revalue(content[name], random)
    file = io.BytesIO()
    (np.savez if random.random() < 0.5 else np.savez_compressed)(file, **content)
    return file.getvalue()


def _mutate_entry(value: Any, random: Random) -> Any:
    """Replace, remove or add an entry somewhere in nested dicts and lists."""
    if not value or not isinstance(value, dict | list) or random.random() < 0.2:
        return EXTREMES[random.integers(len(EXTREMES))]
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[random.integers(len(keys))]
    if random.random() < 0.15:
        del value[key]
    else:
        value[key] = _mutate_entry(value[key], random)
    return value


def _reshape(array: np.ndarray, random: Random) -> np.ndarray:
    shapes = (array.ravel(), array[..., None], array[:0] if array.ndim else array, array.T, array.ravel()[:1])
    return shapes[random.integers(len(shapes))]


def _revalue(array: np.ndarray, random: Random) -> np.ndarray:
    """Return the array with extreme values, or in another type."""
    if random.random() < 0.3 or array.dtype.kind not in "iuf":
        return np.zeros(array.shape, ("u1", "i8", "f2", "f8", "S4", "c8")[random.integers(6)])
    limits = np.finfo(array.dtype) if array.dtype.kind == "f" else np.iinfo(array.dtype)
    values = [limits.min, limits.max, 0, 1, *((np.nan, np.inf) if array.dtype.kind == "f" else ())]
    changed = array.copy()
    share = random.choice([0.001, 0.1, 1])
    changed[random.random(array.shape) <= share] = values[random.integers(len(values))]
    return changed


def mutate_text(data: bytes, random: Random) -> bytes:
    """Return TOML or JSON with other values, lines or bytes."""
    text = data.decode()
    choice = random.integers(4)
    if choice == 0:
        return mutate_bytes(data, random)
    if choice == 1:
        lines = text.splitlines()
        at = random.integers(len(lines))
        lines[at : at + 1] = [lines[at]] * int(random.choice([0, 2]))
        return "\n".join(lines).encode()
    values = list(_VALUE.finditer(text))
    if not values:
        return mutate_bytes(data, random)
    match = values[random.integers(len(values))]
    new = EXTREMES[random.integers(len(EXTREMES))]
    depth = int(10 ** random.uniform(0, 5))
    shown = "[" * depth + "]" * depth if random.random() < 0.1 else json.dumps(new).replace("NaN", "nan").lower()
    return (text[: match.start()] + shown + text[match.end() :]).encode()
