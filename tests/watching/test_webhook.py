"""Events by HTTP, to a real server that fails, hangs, dies and comes back: each is acknowledged exactly once."""

import socket
import time

import pytest

from bgsub.watching import WebhookSettings, read_settings, watch
from bgsub.watching.delivery import worker
from bgsub.watching.delivery.event_log import EventLog
from bgsub.watching.delivery.webhook import Webhook
from bgsub.watching.delivery.worker import Delivery
from tests.watching.made import events, record, until, write_settings
from tests.watching.servers.receivers import receiving

pytestmark = pytest.mark.usefixtures("no_leaked_threads")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(worker, "FIRST_PAUSE_S", 0.02)


class Sending:
    """A log with a webhook."""

    def __init__(self, folder, url, **settings):
        self.log = EventLog(folder / "events.jsonl", folder / ".watch")
        self.hook = Webhook(WebhookSettings(url, **settings))
        self.delivery = Delivery(self.log, self.log.cursor("webhook"), self.hook)
        self.delivery.start()

    def add(self, *numbers):
        for number in numbers:
            self.log.add({"id": f"e{number}"})

    def close(self, **options):
        self.delivery.close(**options)
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close(patience_s=0.5)


def test_events_arrive_in_order_with_their_ids(tmp_path):
    with receiving() as receiver, Sending(tmp_path, receiver.url) as sending:
        sending.add(*range(20))
        until(lambda: sending.delivery.delivered == 20)
        assert receiver.ids == [f"e{i}" for i in range(20)]
        assert [head["Idempotency-Key"] for head, _ in receiver.requests] == receiver.ids
        assert {head["Content-Type"] for head, _ in receiver.requests} == {"application/json"}


@pytest.mark.parametrize("mode", ["500", "503", "404", "401", "302", "die", "cut", "cut early"])
def test_a_receiver_that_fails_gets_each_event_when_it_is_well(tmp_path, mode, caplog):
    with receiving() as receiver, Sending(tmp_path, receiver.url) as sending:
        receiver.mode = mode
        sending.add(0, 1, 2)
        until(lambda: len(receiver.requests) > 4)
        assert sending.delivery.trouble
        receiver.mode = "ok"
        until(lambda: sending.delivery.delivered == 3)
        assert receiver.ids == ["e0", "e1", "e2"]
        assert sending.delivery.trouble is None
        assert sum("tried again" in line for line in caplog.messages) == 1


@pytest.mark.parametrize("mode", ["hang", "drip"])
def test_a_receiver_that_never_answers_is_given_up_in_time(tmp_path, mode):
    with receiving() as receiver, Sending(tmp_path, receiver.url, timeout_s=0.3) as sending:
        receiver.mode = mode
        begin = time.monotonic()
        sending.add(0)
        until(lambda: sending.delivery.failures >= 2)
        assert time.monotonic() - begin < 20  # both go on for half a minute or longer
        receiver.mode = "ok"
        until(lambda: sending.delivery.delivered == 1)
        assert receiver.ids == ["e0"]


def test_a_request_that_is_refused_for_good_does_not_stop_the_others(tmp_path, caplog):
    with receiving() as receiver, Sending(tmp_path, receiver.url) as sending:
        receiver.mode = "422"
        sending.add(0)
        until(lambda: sending.delivery.refused == 1)
        receiver.mode = "ok"
        sending.add(1)
        until(lambda: sending.delivery.delivered == 1)
        assert receiver.ids == ["e1"]
        assert "event e0 is refused and left out" in caplog.text


def test_a_receiver_that_asks_to_wait_is_given_time(tmp_path):
    with receiving() as receiver, Sending(tmp_path, receiver.url) as sending:
        receiver.mode = "429"
        sending.add(0)
        until(lambda: receiver.requests)
        receiver.mode = "ok"
        until(lambda: receiver.ids == ["e0"])
        first_s, second_s = receiver.times_s
        assert second_s - first_s >= 1  # as it asked; the first pause would be 0.02 s


def test_restarts_of_both_sides_lose_and_repeat_nothing(tmp_path):
    acknowledged, port = [], 0
    number = 0
    for i in range(4):
        with Sending(tmp_path, f"http://127.0.0.1:{port or 1}/hook") as sending:
            sending.add(*range(number, number + 3))  # while the receiver is away
            number += 3
            if i:
                until(lambda: sending.delivery.failures)
        with receiving(port) as receiver:
            port = receiver.port
            with Sending(tmp_path, receiver.url) as sending:
                sending.add(*range(number, number + 3))
                number += 3
                until(lambda: sending.delivery.pending == 0)
            acknowledged += receiver.ids
    assert acknowledged == [f"e{i}" for i in range(number)]


def test_an_event_whose_acknowledgement_was_lost_comes_again_with_the_same_id(tmp_path):
    with receiving() as receiver:
        receiver.mode = "die"
        with Sending(tmp_path, receiver.url) as sending:
            sending.add(0)
            until(lambda: receiver.requests)
        receiver.mode = "ok"
        with Sending(tmp_path, receiver.url) as sending:
            until(lambda: sending.delivery.pending == 0)
        assert {body["id"] for _, body in receiver.requests} == {"e0"}
        assert {body["sequence"] for _, body in receiver.requests} == {1}
        assert receiver.ids == ["e0"]


def test_the_end_waits_for_what_can_be_delivered_and_for_nothing_else(tmp_path):
    with receiving() as receiver:
        sending = Sending(tmp_path, receiver.url)
        sending.add(*range(30))
        sending.close()
        assert len(receiver.ids) == 30
        receiver.mode = "hang"
        sending = Sending(tmp_path, receiver.url, timeout_s=60)
        sending.add(30)
        until(lambda: len(receiver.requests) == 31)
        begin = time.monotonic()
        sending.close(patience_s=0.2)
        assert time.monotonic() - begin < 20


def test_credentials_are_sent_and_never_shown(tmp_path, caplog):
    caplog.set_level("DEBUG")
    secret = "hunter2"  # noqa: S105
    for settings, expected in (
        ({"auth": f"me:{secret}"}, "Basic bWU6aHVudGVyMg=="),
        ({"token": secret}, f"Bearer {secret}"),
        ({"in_url": True}, "Basic bWU6aHVudGVyMg=="),
    ):
        in_url = settings.pop("in_url", False)
        with receiving() as receiver:
            url = receiver.url.replace("//", f"//me:{secret}@") if in_url else receiver.url
            with Sending(tmp_path, f"{url}?key={secret}", **settings) as sending:
                receiver.mode = "500"
                sending.add(expected + str(in_url))
                until(lambda: sending.delivery.failures)
                assert secret not in sending.delivery.trouble
                receiver.mode = "ok"
                until(lambda: sending.delivery.pending == 0)
            assert receiver.requests[-1][0]["Authorization"] == expected
    assert secret not in caplog.text
    for path in (tmp_path / ".watch").iterdir():
        assert secret not in path.read_text()


def test_no_server_at_all_is_one_line(tmp_path, caplog):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Sending(tmp_path, f"http://me:hunter2@127.0.0.1:{port}/") as sending:
        sending.add(0)
        until(lambda: sending.delivery.failures > 2)
    assert caplog.messages == [
        f"the webhook http://127.0.0.1:{port}/ does not answer: Connection refused; 1 events wait and are tried again"
    ]


def test_events_of_a_watch_arrive(tmp_path):
    record(tmp_path / "a.mkv")
    with receiving() as receiver:
        text = f'[webhook]\nurl = "{receiver.url}"\n[cameras.yard]\nsource = "a.mkv"\n'
        watch(read_settings(write_settings(tmp_path, text)))
        assert receiver.acknowledged == events(tmp_path)
        assert len(receiver.ids) == 2
