"""The player's states: closed, opening, delivering and ended, each while playing, paused or owing one frame."""

import math
import time
from collections.abc import Iterator

import pytest

from bgsub.errors import SourceError
from bgsub.gui.engine.player import Arrival, PlayedFrame, Player
from bgsub.gui.messages import AS_FAST_AS_POSSIBLE
from tests.gui.driving import frames, opener

pytestmark = pytest.mark.usefixtures("no_leaked_threads")


@pytest.fixture
def player() -> Iterator[Player]:
    made = Player(opener(frames(10)), lambda: None)
    yield made
    made.close_source()


def play(player: Player, *, loop: bool = False, most: int = 100) -> list[PlayedFrame]:
    """Poll until there is nothing to do, or for a number of frames."""
    played: list[PlayedFrame] = []
    deadline = time.monotonic() + 30
    while len(played) < most:
        assert time.monotonic() < deadline, "the player never came to rest"
        polled = player.poll(AS_FAST_AS_POSSIBLE, loop)
        if isinstance(polled, PlayedFrame):
            played.append(polled)
        elif math.isinf(polled) and not player.opening:
            break
        else:
            time.sleep(0.001)
    return played


def numbers(played: list[PlayedFrame]) -> list[int]:
    return [frame.packet.number for frame in played]


def test_a_closed_player_does_nothing(player):
    player.play()
    player.step()
    player.seek(3)
    assert play(player) == []
    assert (player.playing, player.opening, player.info, player.text) == (False, False, None, "")


def test_a_source_is_opened_delivered_and_ended(player):
    player.open("any")
    assert player.opening
    assert player.info is None
    assert numbers(play(player)) == list(range(1, 11))
    assert (player.playing, player.opening, player.position) == (False, False, 9)
    assert player.info.count == 10


def test_stepping_and_seeking_while_paused_owe_one_frame_each(player):
    player.open("any")
    player.pause()
    player.step()
    assert numbers(play(player)) == [1]
    player.seek(6)
    assert player.target == 6
    assert player.position == 0
    sought = play(player)
    assert numbers(sought) == [7]
    assert sought[0].arrival is Arrival.SOUGHT
    assert (player.target, player.position) == (6, 6)
    player.step()
    assert [frame.arrival for frame in play(player)] == [Arrival.NEXT]


def test_a_frame_owed_survives_playing_and_pausing_before_it_arrives(player):
    player.open("any")
    play(player, most=2)
    player.pause()
    player.seek(4)
    player.play()
    player.pause()
    assert numbers(play(player)) == [5]


def test_a_seek_while_playing_owes_nothing_once_paused(player):
    player.open("any")
    play(player, most=2)
    player.seek(4)
    player.pause()
    assert play(player) == []
    player.play()
    assert numbers(play(player, most=1)) == [5]


def test_a_seek_before_the_source_is_open_waits_for_its_first_frame(player):
    player.open("any")
    player.seek(2)
    player.seek(8)
    played = play(player)
    assert numbers(played) == [9, 10]
    assert [frame.is_jump for frame in played] == [True, False]


def test_a_seek_is_limited_by_its_own_source_and_not_by_the_one_before():
    opened = {"short": opener(frames(5)), "long": opener(frames(30))}
    player = Player(lambda text, /, *, start: opened[text](text, start=start), lambda: None)
    player.open("short")
    play(player)
    for index, expected in ((20, range(21, 31)), (100, [30])):
        player.open("long")
        player.seek(index)
        assert numbers(play(player)) == [*expected]
    player.close_source()


def test_a_loop_marks_its_jump_and_playing_at_the_end_begins_again(player):
    player.open("any")
    played = play(player, loop=True, most=12)
    assert numbers(played) == [*range(1, 11), 1, 2]
    assert played[10].arrival is Arrival.LOOPED
    play(player)
    player.play()
    assert play(player, most=1)[0].arrival is Arrival.BEGUN_AGAIN


def test_a_replay_delivers_as_many_frames_as_asked_for_and_pauses(player):
    player.open("any")
    play(player)
    player.replay(3, 4)
    played = play(player)
    assert numbers(played) == [4, 5, 6, 7]
    assert [frame.arrival for frame in played] == [Arrival.REPLAYED, *[Arrival.NEXT] * 3]
    assert [frame.position for frame in played] == [3, 4, 5, 6]
    assert (player.playing, player.owed, player.position) == (False, 0, 6)


def test_a_failure_closes_the_source_and_keeps_its_name():
    player = Player(opener([*frames(2), SourceError("damaged")]), lambda: None)
    player.open("any")
    with pytest.raises(SourceError, match="damaged"):
        play(player)
    assert (player.text, player.info, player.playing) == ("any", None, False)
    player.open("missing")
    with pytest.raises(SourceError, match="no such file"):
        play(player)
    assert player.text == "missing"
    player.close_source()
    assert player.text == ""
