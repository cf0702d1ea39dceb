"""What a change of settings means for the frame that is held."""

from bgsub.gui.messages import Settings
from bgsub.gui.panes import Needs, Side

__all__ = ["changes_masks", "wants_more"]


def changes_masks(before: Settings, after: Settings) -> bool:
    """Return whether a change of settings may change masks."""
    return (before.config, before.other, before.frozen, before.region) != (
        after.config,
        after.other,
        after.frozen,
        after.region,
    )


def wants_more(before: Settings, after: Settings) -> bool:
    """Return whether panes are shown that need something of the frame which those before did not."""

    def needs(settings: Settings) -> set[tuple[Side, Needs]]:
        return {
            (pane.side, need) for pane in settings.panes for need in (Needs.SCORE, Needs.STAGES) if need in pane.needs
        }

    return not needs(after) <= needs(before)
