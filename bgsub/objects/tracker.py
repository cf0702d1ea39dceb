"""Tracks: which objects of successive masks are the same."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bgsub.objects.found import Objects
from bgsub.objects.overlap import contained_share, distance_iou, to_corners

__all__ = ["Track", "Tracker"]

_GAIN = 0.3
"""Share of the error of a prediction by which the velocity is corrected: the gain h of a g-h filter."""

_MERGED_SHARE = 0.5
"""Share of a predicted box that must lie inside another track's object for both to be one blob."""

_MOST = 1000
"""Objects of one frame that are tracked, the largest, and half of the tracks: with more it is noise, which must take
neither seconds nor gigabytes."""

_TOGETHER = 256
"""Tracks whose boxes are compared with all objects at once."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Track:
    """An object over time, as it stands after a frame."""

    id: int
    """Its number, from 1 in the order in which tracks were confirmed."""
    box: Box
    """x, y, width and height in pixels; predicted where the track was not seen in this frame or shares its object."""
    velocity: tuple[float, float]
    """Motion of the centre in pixels per frame."""
    age: int
    """Frames in which it was seen."""
    gap: int
    """Frames since it was last seen; 0 if it was seen in this one."""

    @property
    def center(self) -> tuple[float, float]:
        """Middle of the box."""
        return self.box[0] + self.box[2] / 2, self.box[1] + self.box[3] / 2

    @property
    def bottom(self) -> tuple[float, float]:
        """Middle of the lower side of the box, where people and cars stand on the ground."""
        return self.box[0] + self.box[2] / 2, self.box[1] + self.box[3]


@dataclass(slots=True)
class _State:
    """What a tracker remembers of one track."""

    center: NDArray[np.float64]
    size: NDArray[np.float64]
    velocity: NDArray[np.float64] = field(default_factory=lambda: np.zeros(2))
    id: int = 0  # 0 until it is confirmed
    age: int = 1
    gap: int = 0
    merged: bool = False

    def predict(self) -> None:
        """Move on by one frame."""
        self.center = self.center + self.velocity
        self.gap += 1

    def correct(self, box: NDArray[np.int32]) -> None:
        """Take over where the object was found."""
        center = box[:2] + box[2:] / 2
        if not self.merged:  # else the error tells where the blob has parted, not how the object moves
            gain = 1.0 if self.age == 1 else _GAIN
            self.velocity = self.velocity + gain * (center - self.center) / self.gap
        self.center, self.size = center, box[2:].astype(np.float64)
        self.see(merged=False)

    def side(self, axis: int, sign: int) -> float:
        """Return where its box begins (sign -1) or ends (1) along an axis."""
        return float(self.center[axis] + sign * self.size[axis] / 2)

    def see(self, *, merged: bool) -> None:
        """Count a frame in which the track was seen."""
        self.age += 1
        self.gap = 0
        self.merged = merged


class Tracker:
    """Joins objects over frames: short tracks by overlap and constant velocity, as SORT makes them.

    1. Every track moves on by its velocity, in pixels per frame. After each sighting the velocity is corrected by 0.3
       of the error per frame (a g-h filter with g = 1; blobs have no known covariance for SORT's Kalman filter).
    2. Tracks and objects are paired by the distance-IoU of predicted and found box: the intersection over union, minus
       the squared distance of the centres by that of the diagonal of the box around both. It also ranks boxes that do
       not overlap, as of small fast objects. The most similar pair is taken first, confirmed tracks before others
       (SORT minimises the total cost instead; that differs only where several tracks compete for several objects
       that all of them overlap).
    3. An object without a track begins one. It is reported, and gets its id, when it was seen in `min_age` frames.
    4. *Merge*: a track without an object, half of whose box lies inside the object of another, shares that object.
       Both keep their sizes and move on by their own velocities, corrected by the sides of the common object, until it
       parts again, or for `max_merged` frames. It is reported under the id of the track that was paired with it.
    5. *Split*: of the parts of an object the most similar keeps its id, others take the id of a track that shared it,
       or begin new ones.
    6. A track that was not seen in `max_gap` frames, and is not merged, ends. Its id is never used again.

    The same objects give the same ids. A tracker can be copied and pickled. Only the 1000 largest objects of a frame
    are tracked, and of more than 1000 tracks those that were seen last.

    Parameters
    ----------
    min_age : int
        Frames in which an object must be seen to count.
    max_gap : int
        Most successive frames without an object that a confirmed track outlives. An unconfirmed one outlives none.
    max_merged : int
        Most successive frames in which a track may share the object of another.
    min_similarity : float
        Least distance-IoU, in [-1, 1], of a predicted and a found box. Equal boxes have 1; boxes side by side about
        -0.25, if they are squares of one size.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    A. Bewley, Z. Ge, L. Ott, F. Ramos, B. Upcroft: Simple online and realtime tracking. ICIP 2016.
    Z. Zheng, P. Wang, W. Liu, J. Li, R. Ye, D. Ren: Distance-IoU loss. AAAI 2020.

    Examples
    --------
    >>> import bgsub
    >>> tracker = Tracker(min_age=2)
    >>> for x in range(0, 40, 10):
    ...     mask = np.zeros((60, 80), np.uint8)
    ...     mask[20:40, x : x + 15] = 255
    ...     objects = tracker.update(bgsub.find_objects(mask))
    ...     print([(found.id, found.box) for found in objects])
    []
    [(1, (10, 20, 15, 20))]
    [(1, (20, 20, 15, 20))]
    [(1, (30, 20, 15, 20))]
    >>> tracker.count, tracker.tracks[0].velocity
    (1, (10.0, 0.0))
    """

    def __init__(
        self, *, min_age: int = 3, max_gap: int = 10, max_merged: int = 50, min_similarity: float = -0.25
    ) -> None:
        for name, value, least in (("min_age", min_age, 1), ("max_gap", max_gap, 0), ("max_merged", max_merged, 0)):
            if type(value) is not int or value < least:
                raise ValueError(f"{name} must be a whole number of frames, at least {least}, got {value!r}")
        if isinstance(min_similarity, bool) or not -1 <= min_similarity <= 1:
            raise ValueError(f"min_similarity must be in [-1, 1], got {min_similarity!r}")
        self.min_age, self.max_gap, self.max_merged = min_age, max_gap, max_merged
        self.min_similarity = float(min_similarity)
        self.reset()

    def reset(self) -> None:
        """Forget all tracks, and count from 1 again."""
        self._states: list[_State] = []
        self._count = 0

    @property
    def count(self) -> int:
        """Number of tracks so far, those that have ended included."""
        return self._count

    @property
    def tracks(self) -> tuple[Track, ...]:
        """The tracks that count and have not ended, the oldest first."""
        return tuple(
            Track(
                one.id,
                (*(one.center - one.size / 2).tolist(), *one.size.tolist()),
                (float(one.velocity[0]), float(one.velocity[1])),
                one.age,
                one.gap,
            )
            for one in sorted(self._states, key=lambda state: state.id)
            if one.id
        )

    def update(self, objects: Objects) -> Objects:
        """Join the objects of the next frame to the tracks; call it for frames without objects, too.

        Parameters
        ----------
        objects : Objects
            Of one mask, as `find_objects` returns them.

        Returns
        -------
        Objects
            Those of confirmed tracks, with `ids` and `ages`.

        Raises
        ------
        ValueError
            If it gets anything else.
        """
        if not isinstance(objects, Objects):
            raise ValueError(f"objects must be what find_objects returns, got {type(objects).__name__}")
        if len(objects) > _MOST:
            objects = objects[np.sort(np.argsort(-objects.areas, kind="stable")[:_MOST])]
        known = self._states
        for state in known:
            state.predict()
        predicted = self._predicted()
        found = to_corners(objects.boxes)
        pairs = self._pair(predicted, found)
        merged = self._find_merged(predicted, found, pairs)
        for i, number in pairs.items():
            if number in merged:
                _share([known[i], *merged[number]], found[number])
                known[i].see(merged=True)
            else:
                known[i].correct(objects.boxes[number])
        taken = set(pairs.values())
        self._states = [state for state in known if self._lives(state)]
        if len(self._states) > _MOST:
            self._states = sorted(self._states, key=lambda state: state.gap)[:_MOST]
        owners = {number: known[i] for i, number in pairs.items()}
        for number in range(len(objects)):
            if number not in taken:
                box = objects.boxes[number]
                owners[number] = _State(box[:2] + box[2:] / 2, box[2:].astype(np.float64))
                self._states.append(owners[number])
        return self._report(objects, owners)

    def _predicted(self) -> NDArray[np.float64]:
        """Return the boxes of all tracks as (t, 4) x, y, end of x, end of y."""
        if not self._states:
            return np.empty((0, 4))
        return np.array([(*(one.center - one.size / 2), *(one.center + one.size / 2)) for one in self._states])

    def _pair(self, predicted: NDArray[np.float64], found: NDArray[np.float64]) -> dict[int, int]:
        """Return the number of the object by the number of its track."""
        tracks, numbers, similarity = [], [], []
        for start in range(0, max(len(predicted), 1), _TOGETHER):
            values = distance_iou(predicted[start : start + _TOGETHER], found)
            rows, columns = np.nonzero(values >= self.min_similarity)
            tracks.append(rows + start)
            numbers.append(columns)
            similarity.append(values[rows, columns])
        return self._take_best(np.concatenate(tracks), np.concatenate(numbers), np.concatenate(similarity))

    def _take_best(
        self, tracks: NDArray[np.intp], numbers: NDArray[np.intp], similarity: NDArray[np.float64]
    ) -> dict[int, int]:
        """Return pairs of which no track and no object is in two: confirmed tracks first, then the most similar."""
        unconfirmed = np.array([one.id == 0 for one in self._states], np.bool_)
        order = np.lexsort((numbers, tracks, -similarity, unconfirmed[tracks]))
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        for i, number in zip(tracks[order].tolist(), numbers[order].tolist(), strict=True):
            if i not in pairs and number not in taken:
                pairs[i] = number
                taken.add(number)
        return pairs

    def _find_merged(
        self, predicted: NDArray[np.float64], found: NDArray[np.float64], pairs: dict[int, int]
    ) -> dict[int, list[_State]]:
        """Return the tracks that share the object of another, by the number of the object."""
        hosts = sorted(number for i, number in pairs.items() if self._states[i].id)
        merged: dict[int, list[_State]] = {}
        candidates = []
        for i, state in enumerate(self._states):
            if i not in pairs:
                state.merged = False
                if hosts and state.id and state.gap <= self.max_merged:
                    candidates.append(i)
        for start in range(0, len(candidates), _TOGETHER):
            chosen = candidates[start : start + _TOGETHER]
            inside = contained_share(predicted[chosen], found[hosts])
            for i, shares in zip(chosen, inside, strict=True):
                best = int(shares.argmax())
                if shares[best] >= _MERGED_SHARE:
                    self._states[i].merged = True
                    merged.setdefault(hosts[best], []).append(self._states[i])
        return merged

    def _lives(self, state: _State) -> bool:
        if state.gap == 0:
            return True
        return bool(state.id) and (state.gap <= self.max_gap or state.merged)

    def _report(self, objects: Objects, owners: dict[int, _State]) -> Objects:
        """Give ids to tracks that are old enough, and return their objects."""
        rows = []
        for number in sorted(owners):
            state = owners[number]
            if not state.id and state.age >= self.min_age:
                self._count += 1
                state.id = self._count
            if state.id:
                rows.append(number)
        ids = np.array([owners[number].id for number in rows], np.int64)
        ages = np.array([owners[number].age for number in rows], np.int64)
        return replace(objects[np.array(rows, np.intp)], ids=ids, ages=ages)


def _share(members: list[_State], corners: NDArray[np.float64]) -> None:
    """Correct the predictions of tracks that share an object by its sides, each of which is a side of one of them.

    Objects that cross go on, as the prediction has them, while those that meet and stop do not pass through each other.
    """
    shifts: list[list[list[float]]] = [[[], []] for _ in members]
    for axis in (0, 1):
        for sign, side in ((-1, corners[axis]), (1, corners[axis + 2])):
            gaps = [float(side - member.side(axis, sign)) for member in members]
            nearest = min(range(len(members)), key=lambda k: abs(gaps[k]))
            shifts[nearest][axis].append(gaps[nearest])
    for member, by_axis in zip(members, shifts, strict=True):
        shift = np.array([sum(values) / max(len(values), 1) for values in by_axis])
        member.velocity = member.velocity + _GAIN * shift
        member.center = np.clip(member.center + shift, corners[:2], corners[2:])
