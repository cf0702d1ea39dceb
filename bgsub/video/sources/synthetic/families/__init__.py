"""Families of generated scenes, each with one knob that makes it easier or harder."""

from bgsub.video.sources.synthetic.families.catalogue import FAMILIES, Family, make_scene
from bgsub.video.sources.synthetic.families.scene import ComposedScene
from bgsub.video.sources.synthetic.families.text import PREFIX, SceneName, parse_names

__all__ = ["FAMILIES", "PREFIX", "ComposedScene", "Family", "SceneName", "make_scene", "parse_names"]
