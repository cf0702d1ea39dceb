"""The videos of CDnet 2014.

Y. Wang, P.-M. Jodoin, F. Porikli, J. Konrad, Y. Benezeth, P. Ishwar: CDnet 2014: an expanded change detection benchmark
dataset. CVPR Workshops 2014.
"""

from collections.abc import Iterable

from bgsub.evaluation.datasets.sequence import Sequence

__all__ = ["CDNET_2014", "missing_videos"]

CDNET_2014: dict[str, tuple[str, ...]] = {
    "PTZ": ("continuousPan", "intermittentPan", "twoPositionPTZCam", "zoomInZoomOut"),
    "badWeather": ("blizzard", "skating", "snowFall", "wetSnow"),
    "baseline": ("PETS2006", "highway", "office", "pedestrians"),
    "cameraJitter": ("badminton", "boulevard", "sidewalk", "traffic"),
    "dynamicBackground": ("boats", "canoe", "fall", "fountain01", "fountain02", "overpass"),
    "intermittentObjectMotion": ("abandonedBox", "parking", "sofa", "streetLight", "tramstop", "winterDriveway"),
    "lowFramerate": ("port_0_17fps", "tramCrossroad_1fps", "tunnelExit_0_35fps", "turnpike_0_5fps"),
    "nightVideos": (
        "bridgeEntry",
        "busyBoulvard",
        "fluidHighway",
        "streetCornerAtNight",
        "tramStation",
        "winterStreet",
    ),
    "shadow": ("backdoor", "bungalows", "busStation", "copyMachine", "cubicle", "peopleInShade"),
    "thermal": ("corridor", "diningRoom", "lakeSide", "library", "park"),
    "turbulence": ("turbulence0", "turbulence1", "turbulence2", "turbulence3"),
}
"""The official videos by category, spelt as the folders are."""


def missing_videos(sequences: Iterable[Sequence]) -> list[str]:
    """Return the official videos of CDnet 2014 that are not among some sequences, as category/video.

    Parameters
    ----------
    sequences : iterable of Sequence
        From `find_sequences`.

    Returns
    -------
    list of str
        Empty if all 53 are there; also if none is, because the sequences are then not those of CDnet.

    Examples
    --------
    >>> missing_videos([])
    []
    """
    official = [f"{category}/{video}" for category, videos in CDNET_2014.items() for video in videos]
    found = {sequence.identity for sequence in sequences}
    missing = [video for video in official if video not in found]
    return missing if len(missing) < len(official) else []
