"""Each rule of safety, tried from the outside by someone who means harm, or by accident."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import logging
import re
import shlex
import socket
import struct
import subprocess
import sys
import time
import urllib.request
import zipfile
import zlib

import numpy as np
import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from nimt.cli.app import run
from nimt.errors import InvalidInput
from nimt.studio import connections, races, requests, safety, server
from nimt.studio.safety import LARGEST_BODY, Guard, check_host
from nimt.studio.typed_formulas import read_formula
from studio.conftest import raw, running

pytestmark = pytest.mark.long

PATHS = ["/", "/static/studio.js", "/health", "/export/a/0/lesson.npz"]


@pytest.fixture(autouse=True)
def complaints():
    """Whatever is sent, the studio logs no traceback; return what it does log."""
    records: list[logging.LogRecord] = []

    def note(record):  # a filter, because a server that starts replaces all handlers
        records.append(record)
        return True

    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "asyncio")]
    for logger in loggers:
        logger.addFilter(note)
    yield records
    for logger in loggers:
        logger.removeFilter(note)
    assert [record.getMessage() for record in records if record.exc_info] == []


# -- the token


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_served(studio, path):
    status, _, body = studio.ask("GET", path, cookies=False)
    assert status == 403 and b"token" in body and b"<html" not in body


@pytest.mark.parametrize("given", ["", "x", "%00", "A" * 5000, "é"])
def test_a_wrong_token_opens_nothing(studio, given):
    from urllib.parse import quote

    assert studio.ask("GET", f"/?token={quote(given)}", cookies=False)[0] == 403
    wrong = quote(given) or "none"
    assert studio.ask("GET", "/", cookies=f"{studio.guard.cookie}={wrong}")[0] == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(studio):
    status, headers, _ = studio.ask("GET", f"/?token={studio.guard.token}", cookies=False)
    assert status == 303 and headers["location"] == "/"
    assert "HttpOnly" in headers["set-cookie"] and "SameSite" in headers["set-cookie"]


def test_the_token_is_compared_in_constant_time(studio, monkeypatch):
    compared = []
    monkeypatch.setattr("nimt.studio.safety.hmac.compare_digest", lambda a, b: compared.append((a, b)) or a == b)
    studio.ask("GET", "/?token=guess", cookies=False)
    assert (b"guess", studio.guard.token.encode()) in compared


def test_every_run_has_a_token_of_its_own():
    assert len({Guard(1).token for _ in range(50)}) == 50
    assert Guard(1).token not in repr(Guard(1))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org"])
def test_another_host_needs_a_token(host, capsys):
    with pytest.raises(InvalidInput, match="give a token of at least 16 characters"):
        check_host(host, None)
    with pytest.raises(InvalidInput, match="give a token of at least 16 characters"):
        check_host(host, "short")
    check_host(host, "x" * 16)
    assert run(["studio", "--host", host]) == 2
    assert f"error: --host {host} lets other machines in: give a --token of" in capsys.readouterr().err


# -- host and origin


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example:{port}", ""])
def test_a_name_that_points_here_is_not_believed(studio, host):
    """DNS rebinding: the browser thinks it talks to evil.example and sends what evil.example may send."""
    host = host.format(port=studio.port)
    assert studio.ask("GET", "/", Host=host)[0] == 421
    assert studio.ask("POST", "/code", "{}", Host=host, Origin=f"http://{host}")[0] == 421
    with pytest.raises(InvalidStatus), studio.talk(Host=host, Origin=f"http://{host}"):
        pass


def test_two_hosts_are_no_host(studio):
    own = f"127.0.0.1:{studio.port}"
    answer = raw(studio.port, f"GET / HTTP/1.1\r\nHost: evil.example\r\nHost: {own}\r\nCookie: {studio.cookies()}\r\n"
                              f"Connection: close\r\n\r\n".encode())  # fmt: skip
    assert b" 200 " not in answer.split(b"\r\n")[0]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", None]
)
def test_another_page_cannot_post_or_talk(studio, origin):
    origin = origin and origin.format(port=studio.port)
    assert studio.ask("POST", "/code", "{}", Origin=origin)[0] == 403
    assert studio.ask("POST", "/file", "{}", Origin=origin)[0] == 403
    with pytest.raises(InvalidStatus) as refused, studio.talk(Origin=origin):
        pass
    assert refused.value.response.status_code == 403


def test_a_socket_needs_the_cookie(studio):
    with pytest.raises(InvalidStatus), studio.talk(Cookie="nimt-browser=a"):
        pass


def test_a_token_of_another_studio_opens_nothing(studio):
    with running() as other:
        assert other.ask("GET", "/", cookies=studio.cookies())[0] == 403


# -- headers


@pytest.mark.parametrize("path", [*PATHS, "/nothing"])
def test_every_answer_carries_the_headers(studio, path):
    _, headers, _ = studio.ask("GET", path)
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert not [name for name in headers if name.lower().startswith("access-control")]
    assert "server" not in headers


def test_no_cross_origin_preflight_is_answered(studio):
    status, headers, _ = studio.ask("OPTIONS", "/code", Origin="http://evil.example",
                                    Access_Control_Request_Method="POST")  # fmt: skip
    assert status == 403 and "access-control-allow-origin" not in headers


# -- paths


@pytest.mark.parametrize("path", [
    "/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/%2e%2e/errors.py", "/static//etc/passwd",
    "/static/studio.js/../../races.py", "/etc/passwd", "/static/", "/static/%00",
])  # fmt: skip
def test_no_path_leads_out(studio, path):
    status, _, body = studio.ask("GET", path)
    assert status in (403, 404) and b"import" not in body and b"root:" not in body


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../secret.csv", "./gmm", "nothing.png", "http://evil.example/a.png", 7, None]
)
def test_a_target_is_named_from_a_list_never_by_a_path(studio, name):
    status, body = studio.post_json("/describe", {"target": {"kind": "named", "name": name}, "start": {"kind": "zero"},
                                                  "rules": {}})  # fmt: skip
    assert status == 422 and "must be one of" in json.loads(body)["said"]


# -- sizes


def upload(studio, name, data, **headers):
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    body = head + data + b"\r\n--x--\r\n"
    return studio.ask("POST", "/file", body, Content_Type="multipart/form-data; boundary=x", **headers)


def test_a_body_that_is_too_large_is_not_read(studio):
    head = (f"POST /file HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nOrigin: {studio.origin}\r\n"
            f"Cookie: {studio.cookies()}\r\nContent-Length: {LARGEST_BODY + 1}\r\nConnection: close\r\n\r\n")  # fmt: skip  # noqa: E501
    assert b" 413 " in raw(studio.port, head.encode()).split(b"\r\n")[0]


def test_a_body_that_does_not_say_its_length_is_cut_off(studio):
    def endless():
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for _ in range(25):
            yield b"1,2\n" * 2**18

    status, _, body = studio.ask("POST", "/file", endless(), Content_Type="multipart/form-data; boundary=x")
    assert status == 413, body


def test_a_message_that_is_too_large_ends_the_talk_and_nothing_else(studio):
    with studio.talk() as talk:
        talk.say(type="race", junk="x" * (2**20 + 10))
        with pytest.raises(ConnectionClosed):
            talk.hear(timeout=10)
    assert studio.ask("GET", "/health")[0] == 200


def test_a_body_that_comes_too_slowly_is_not_waited_for(studio, monkeypatch):
    monkeypatch.setattr(safety, "SECONDS_FOR_A_BODY", 0.3)
    head = (f"POST /code HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nOrigin: {studio.origin}\r\n"
            f"Cookie: {studio.cookies()}\r\nContent-Length: 100\r\nConnection: close\r\n\r\n")  # fmt: skip
    assert b" 408 " in raw(studio.port, head.encode() + b'{"a"').split(b"\r\n")[0]


def test_pages_without_end_are_not_opened(studio, monkeypatch):
    monkeypatch.setattr(server, "MOST_TALKS", 3)
    with contextlib.ExitStack() as pages:
        reasons = []
        for _ in range(6):
            talk = pages.enter_context(studio.talk("opens-many"))
            try:
                talk.say(type="nonsense")
                talk.hear(timeout=10)
            except ConnectionClosed as closed:
                reasons.append(closed.rcvd.reason)
        assert len(reasons) >= 3 and all("close one of them" in reason for reason in reasons)
    with studio.talk("opens-one") as talk:  # there is room again
        talk.say(type="nonsense")
        assert talk.hear()[0]["type"] == "refused"


HALF_A_REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@contextlib.contextmanager
def started(log, before=""):
    """Start `nimt studio` as a person does, after a command of the shell; hand out its process and its address."""
    command = f'{before} exec "$0" -m nimt studio --no-browser'
    with (
        log.open("wb") as errors,
        subprocess.Popen(["sh", "-c", command, sys.executable], stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        try:
            yield process, re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S+", process.stdout.readline().decode())
        finally:
            process.kill()


@contextlib.contextmanager
def half_open(port, count):
    """Hold so many connections that have sent half a request."""
    with contextlib.ExitStack() as lines:
        for _ in range(count):
            line = lines.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            with contextlib.suppress(OSError):  # it may have been closed to make room
                line.sendall(HALF_A_REQUEST)
        yield


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of descriptors to set")
@pytest.mark.parametrize("when", ["before it starts", "afterwards"])
def test_connections_that_say_nothing_lock_nobody_out(tmp_path, when):
    """300 of them, more than the process may have descriptors: others are answered, and each trouble is logged once."""
    log = tmp_path / "log"
    with started(log, "ulimit -n 160;" if when == "before it starts" else "") as (process, address):
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b"<title>nimt studio" in opener.open(address[0], timeout=60).read()
        if when == "afterwards":  # the studio counts on more than it gets, and accepting fails
            resource = pytest.importorskip("resource")
            few = psutil.Process(process.pid).num_fds() + 20
            getattr(resource, "prlimit", pytest.skip)(process.pid, resource.RLIMIT_NOFILE, (few, few))
        with half_open(int(address[1]), 300):
            for _ in range(5):
                began = time.monotonic()
                assert opener.open(f"{address[0].partition('/?')[0]}/health", timeout=30).status == 200
                assert time.monotonic() - began < 15
            busy = psutil.Process(process.pid).cpu_times()
            time.sleep(1)
            now = psutil.Process(process.pid).cpu_times()
            assert now.user + now.system - busy.user - busy.system < 0.7  # it does not spin
        assert opener.open(f"{address[0].partition('/?')[0]}/health", timeout=30).status == 200
        said = log.read_text()
        expected = ["connections are open"] + ["cannot be accepted"] * (when == "afterwards")
        assert all(said.count(sentence) == 1 for sentence in expected), said[:2000]
        assert said.count("\n") == len(expected), said[:2000]


def test_a_request_that_comes_too_slowly_is_not_waited_for(studio, monkeypatch):
    """A byte now and then gains no time."""
    monkeypatch.setattr(connections, "SECONDS_FOR_HEADERS", 0.5)
    began = time.monotonic()
    line = socket.create_connection(("127.0.0.1", studio.port), timeout=0.05)
    with line, contextlib.suppress(ConnectionError):
        line.sendall(HALF_A_REQUEST)
        while time.monotonic() - began < 10:
            line.sendall(b"x")
            with contextlib.suppress(TimeoutError):
                assert line.recv(100) == b""
                break
    assert 0.4 < time.monotonic() - began < 5


def test_a_line_that_was_answered_gains_no_time_by_half_a_request(studio, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS_FOR_HEADERS", 0.5)
    whole = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nCookie: {studio.cookies()}\r\n\r\n".encode()
    began = time.monotonic()
    assert raw(studio.port, whole + HALF_A_REQUEST).startswith(b"HTTP/1.1 200")
    assert time.monotonic() - began < 5


def test_a_request_that_arrives_while_its_line_is_due_is_answered(studio, monkeypatch):
    """The event loop is kept busy, and the request comes between its look for data and the end of the patience."""
    monkeypatch.setattr(connections, "SECONDS_FOR_HEADERS", 0.3)
    whole = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nCookie: {studio.cookies()}\r\n\r\n".encode()
    there = studio.server.server_state.connections
    before = set(there)
    with socket.create_connection(("127.0.0.1", studio.port), timeout=10) as line:
        while not (new := set(there) - before):
            time.sleep(0.001)
        loop = new.pop().loop

        def send_and_keep_busy():
            line.sendall(whole)
            time.sleep(0.05)

        def keep_busy():  # so that both of the following are due at once
            loop.call_later(0.01, send_and_keep_busy)
            time.sleep(0.4)

        loop.call_soon_threadsafe(keep_busy)
        assert line.recv(100).startswith(b"HTTP/1.1 200")


def test_a_page_that_is_open_is_not_closed_for_lack_of_requests(studio, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS_FOR_HEADERS", 0.2)
    with studio.talk("patient") as talk:
        time.sleep(0.6)
        talk.say(type="nonsense")
        assert talk.hear()[0]["type"] == "refused"


def test_connections_end_somewhere_and_the_newest_is_answered(monkeypatch, complaints):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 12)
    with running() as studio, studio.talk("before") as talk, half_open(studio.port, 60):
        assert len(studio.server.server_state.connections) <= 12
        assert studio.ask("GET", "/health")[0] == 200
        talk.say(type="nonsense")  # an open page is not closed for them
        assert talk.hear()[0]["type"] == "refused"
    assert [record.getMessage() for record in complaints] == [
        "12 connections are open: from now on idle ones are closed for new ones"
    ]


def test_made_up_browsers_share_what_there_is(mixture, monkeypatch):
    """A browser is known by a cookie it could make up: races and files end for all of them together, too."""
    room = races.RaceRunner()
    asked = requests.read_recipes(mixture["rules"], mixture["racers"])
    setting = requests.read_setting(mixture["target"], mixture["start"], {})
    for number in range(races.MOST_RACES + 5):
        room.start(f"made-up-{number}", asked, setting)
        room.keep_file(f"made-up-{number}", object())
    assert len(room.races) == races.MOST_RACES and len(room.files) == races.MOST_BROWSERS
    assert not [race for race in room.races.values() if race.browser in ("made-up-0", "made-up-4")]
    for race in room.races.values():
        race.watchers = 1
    with pytest.raises(InvalidInput, match="close a page"):
        room.start("one-more", asked, setting)


def test_what_a_file_is_called_is_quoted_and_never_opened(studio):
    name = "x'); __import__('os').system('true') #.png"
    target = json.loads(upload(studio, "a.csv", b"x,y\n0,1\n1,2\n2,0\n")[2])
    asked = {"target": {"kind": "file", "id": target["id"], "name": f"/etc/{name}"}, "start": {"kind": "zero"},
             "rules": {}, "racer": {}}  # fmt: skip
    status, body = studio.post_json("/code", asked)
    assert status == 200
    code = json.loads(body)
    (line,) = [line for line in code["python"].splitlines() if "read_problem" in line]
    call = ast.parse(line).body[0].value
    assert [argument.value for argument in call.args] == [name] and "/etc" not in line
    assert shlex.split(code["command"])[2] == f"./{name}"


def png_bomb(width, height):
    """A picture that claims to be huge; its data is a few bytes."""

    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + part(b"IDAT", zlib.compress(b"\0" * 100)) + part(b"IEND", b""))  # fmt: skip


def pickled():
    import pickle

    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert pickle is not None
    return buffer.getvalue()


def zip_bomb():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.npy", b"\0" * 2**26)
    return buffer.getvalue()


HOSTILE = {
    "bomb.png": png_bomb(60_000, 60_000),
    "large.png": png_bomb(5000, 4000),
    "cut.png": png_bomb(64, 64),
    "page.png": b"<svg onload=alert(1)>",
    "pickle.npy": pickled(),
    "bomb.npz": zip_bomb(),
    "noise.npz": b"PK\x03\x04header.npy" + b"\xff" * 300,
    "empty.csv": b"",
    "nul.csv": b"\0\0\0",
    "../../etc/cron.csv": b"a",
    "program.py": b"import os",
    "": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence(studio, name):
    status, _, body = upload(studio, name, HOSTILE[name])
    assert status == 422, (status, body[:200])
    said = json.loads(body)["said"]
    assert said and "Traceback" not in said and "/tmp" not in said and "nimt-studio-" not in said


@pytest.mark.parametrize("body", [b"", b"--x--", b"--x\r\n\r\n--x--\r\n", b"\xff" * 100])
def test_a_form_that_is_none_is_refused(studio, body):
    status, _, answer = studio.ask("POST", "/file", body, Content_Type="multipart/form-data; boundary=x")
    assert status in (400, 422), answer


def test_files_are_kept_for_their_browser_only_and_not_without_end(studio):
    names = [json.loads(upload(studio, "a.csv", b"x,y\n0,1\n1,2\n2,0\n")[2])["id"] for _ in range(6)]
    asked = {"target": {"kind": "file", "id": names[-1]}, "start": {"kind": "zero"}, "rules": {}}
    assert studio.post_json("/describe", asked)[0] == 200
    assert studio.post_json("/describe", asked | {"target": {"kind": "file", "id": names[0]}})[0] == 422
    assert studio.post_json("/describe", asked, cookies=studio.cookies("another"))[0] == 422


# -- budgets

TOO_MUCH = {
    "points": {"target": {"kind": "formula", "text": "x", "axes": [[0, 1, 10**7]]}},
    "pixels": {"target": {"kind": "formula", "text": "x", "axes": [[0, 1, 5000], [0, 1, 5000]]}},
    "steps": {"rules": {"steps": 10**9}},
    "work": {"target": {"kind": "formula", "text": "x", "axes": [[0, 1, 1024], [0, 1, 1024]]},
             "rules": {"steps": 10**6, "width": 0.1}, "racers": [{"k": 1.0, "rate": 0.1}]},
    "racers": {"racers": [{}] * 5},
    "no racer": {"racers": []},
    "width": {"rules": {"width": -1}},
    "seed": {"rules": {"seed": -5}},
    "loss": {"rules": {"loss": "__import__"}},
    "kernel": {"rules": {"kernel": "__import__('os').system('true')"}},
    "long kernel": {"rules": {"kernel": "RBF(1)+" * 100}},
    "teacher": {"racers": [{"teacher": "os.system"}]},
    "field": {"racers": [{"teacher": "greedy", "pool": "/etc/passwd"}]},
    "rate": {"racers": [{"rate": "fast"}]},
    "k": {"racers": [{"k": 0}]},
    "target": {"target": None},
    "drawn": {"target": {"kind": "drawn", "axes": [[0, 1, 3]], "values": [1, 2]}},
    "drawn infinite": {"target": {"kind": "drawn", "axes": [[0, 1, 2]], "values": [1, 1e300]}},
    "axes": {"target": {"kind": "formula", "text": "x", "axes": [[1, 0, 5]]}},
}  # fmt: skip


@pytest.mark.parametrize("what", TOO_MUCH)
def test_a_request_that_is_too_much_is_refused_in_a_sentence(studio, mixture, what):
    mixture |= TOO_MUCH[what]
    with studio.talk("asks-too-much") as talk:
        talk.say(**mixture, request=5)
        said, _ = talk.hear()
        assert said["type"] == "refused" and said["request"] == 5 and len(said["said"]) < 500
    assert not [race for race in studio.classroom.races.values() if race.browser == "asks-too-much"]


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", '"x"', '{"type": 5}', '{"type": "race"}', "[" * 50_000,
                                  '{"type": "resume", "race": ["a"]}', '{"type": "fork", "race": 1}', "\0",
                                  '{"type":"leave","race":{"a":1}}', '{"type":"show"}'])  # fmt: skip
def test_nonsense_costs_nothing(studio, mixture, text):
    with studio.talk("talks-nonsense") as talk:
        talk.line.send(text)
        talk.line.send(b"\x00\x01binary")
        talk.say(**mixture)
        while (said := talk.hear()[0])["type"] != "started":
            assert said["type"] == "refused"


def test_another_browser_cannot_touch_a_race(studio, mixture):
    with studio.talk("owner") as talk:
        talk.say(**mixture)
        talk.until_over()
        race = talk.racers[0][0]["race"]
    messages = [
        {"type": "resume", "race": race},
        {"type": "fork", "race": race, "racer": 0, "step": 1, "change": {"rate": 1}},
        {"type": "show", "race": race, "racer": 0, "point": 0},
    ]
    for message in messages:
        with studio.talk("thief") as thief:
            thief.say(**message)
            assert "forgotten" in thief.hear()[0]["said"]
    assert studio.ask("GET", f"/export/{race}/0/lesson.npz", cookies=studio.cookies("thief"))[0] == 422


@pytest.mark.parametrize("change", [None, {}, {"rate": 1, "teacher": "random"}, {"rate": "x"}, {"teacher": "you"},
                                    {"target": []}, {"target": [[999, 0]]}, {"target": [[0, "a"]]},
                                    {"seed": 1}])  # fmt: skip
def test_a_fork_that_changes_nonsense_is_refused(studio, mixture, change):
    with studio.talk() as talk:
        talk.say(**mixture)
        talk.until_over()
        talk.say(type="fork", race=talk.racers[0][0]["race"], racer=0, step=10, change=change)
        assert talk.hear()[0]["type"] == "refused"


def test_branches_end_somewhere(studio, mixture):
    mixture["rules"]["steps"] = 10
    with studio.talk() as talk:
        talk.say(**mixture)
        talk.until_over()
        race = talk.racers[0][0]["race"]
        for _ in range(15):
            talk.say(type="fork", race=race, racer=0, step=5, change={"rate": 0.02})
        end = time.monotonic() + 20
        said = ""
        while "branches" not in said:
            assert time.monotonic() < end
            said = talk.hear()[0].get("said") or ""


def test_a_page_that_vanishes_leaves_the_studio_standing(studio, mixture):
    for _ in range(5):
        with studio.talk("vanishes") as talk:
            talk.say(**mixture)
            talk.line.socket.close()
    status, _, body = studio.ask("GET", "/health")
    assert status == 200 and json.loads(body)["compiling"] in (True, False)
    assert all(race.watchers <= 1 for race in studio.classroom.races.values())


# -- what no parser may stumble over

LONG = "9" * 5000  # more digits than Python makes a number of
NASTY = {
    "a long number": LONG,
    "a long negative number": f"-{LONG}",
    "a number of 4,000 digits": "9" * 4000,
    "not a number": "NaN",
    "an infinite number": "-Infinity",
    "an infinite number in digits": "1e999",
    "half a letter": r'"\ud800"',
    "a list in a list in a list": "[" * 400 + "]" * 400,
    "lists as deep as Python goes": "[" * 940 + "]" * 940,
    "lists deeper than that": "[" * 100_000 + "]" * 100_000,
    "a long text": '"' + "x" * 100_000 + '"',
    "an object": '{"a": 1}',
    "a truth": "true",
}
ASKED = {
    "target": {"kind": "formula", "text": "x", "axes": [[0, 1, 5]]}, "start": {"kind": "zero"},
    "rules": {"steps": 5}, "racer": {"teacher": "greedy"}, "classes": False,
}  # fmt: skip
PLACES = [
    ("target",), ("target", "kind"), ("target", "text"), ("target", "axes"), ("target", "axes", 0, 2), ("start",),
    ("start", "kind"), ("rules",), *(("rules", name) for name in ("kernel", "width", "loss", "steps", "tol", "seed")),
    ("racer",), *(("racer", name) for name in ("teacher", "k", "share", "temperature", "learner", "rate")),
    ("classes",), ("race",), ("number",), ("unknown",),
]  # fmt: skip


def put(given, place, text):
    """Return a request as JSON with some text at a place."""
    given = json.loads(json.dumps(given))
    part = given
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = "HERE"
    return json.dumps(given).replace('"HERE"', text)


@pytest.mark.parametrize("what", NASTY)
@pytest.mark.parametrize("path", ["/describe", "/forecast", "/code"])
def test_nothing_in_a_request_ends_in_a_traceback(studio, path, what):
    for body in (NASTY[what], *(put(ASKED, place, NASTY[what]) for place in PLACES)):
        status, _, answer = studio.ask("POST", path, body)
        assert status in (200, 422), (status, body[:100])
        if status == 422:
            assert 0 < len(json.loads(answer)["said"]) < 600


@pytest.mark.parametrize("what", NASTY)
def test_nothing_in_a_message_ends_in_a_traceback(studio, mixture, what):
    race = mixture | {"request": 1, "rules": {"steps": 5}}
    places = [("request",), ("type",), ("target",), ("start",), ("rules",), ("rules", "steps"), ("racers",),
              ("racers", 0), ("racers", 0, "k"), ("racers", 0, "rate"), ("classes",)]  # fmt: skip
    with studio.talk("nasty") as talk:
        talk.say(**race)
        talk.until_over()
        name = talk.racers[0][0]["race"]
        fork = {"type": "fork", "race": name, "racer": 0, "step": 1, "change": {"rate": 0.1}, "request": 2}
        changes = [
            ("request",),
            ("race",),
            ("racer",),
            ("step",),
            ("change",),
            ("change", "rate"),
            ("change", "teacher"),
        ]
        show = {"type": "show", "race": name, "racer": 0, "point": 0}
        resume = {"type": "resume", "race": name, "known": [[1, 0]], "request": 3}
        messages = [
            NASTY[what], *(put(race, place, NASTY[what]) for place in places),
            *(put(fork, place, NASTY[what]) for place in changes),
            put(fork | {"change": {"target": [[0, 1]]}}, ("change", "target", 0, 0), NASTY[what]),
            put(fork | {"change": {"target": [[0, 1]]}}, ("change", "target", 0, 1), NASTY[what]),
            *(put(show, place, NASTY[what]) for place in (("race",), ("racer",), ("point",))),
            *(put(resume, place, NASTY[what]) for place in (("race",), ("known",), ("known", 0), ("known", 0, 0))),
            put({"type": "leave"}, ("race",), NASTY[what]),
        ]  # fmt: skip
        for message in messages:
            talk.line.send(message)
            talk.line.send('{"type": "nonsense", "request": 99}')  # the talk goes on
            while (said := talk.hear()[0]).get("request") != 99:
                assert len(said.get("said") or "") < 600


def test_a_message_that_is_no_text_is_refused_and_not_logged(studio):
    with studio.talk("no-text") as talk:
        talk.line.send(b"\xff\xfe{", text=True)
        assert talk.hear()[0]["type"] == "refused"


@pytest.mark.parametrize("racer", [LONG, "9" * 4000, "-1", "1.5", "٣", "%00", "x"])
def test_no_address_ends_in_a_traceback(studio, racer):
    from urllib.parse import quote

    for name in ("lesson.npz", "%ff", "x" * 5000):
        assert studio.ask("GET", f"/export/a/{quote(racer)}/{name}")[0] in (404, 422)
    assert studio.ask("GET", f"/?token={quote(racer)}&{'a=1&' * 5000}", cookies=False)[0] == 403
    assert studio.ask("GET", "/", cookies=f"{studio.cookies()}; a={quote(racer)}; \x01=\xff; =;;")[0] in (200, 403)


@pytest.mark.parametrize(
    "size", [LONG, "000100" + "0" * 5000, "0010001", "-1", "1e3", "٣" * 3, "²", "12.5", "0x20", "\0"]
)
def test_a_size_that_is_none_is_refused(studio, size):
    head = f'--x\r\nContent-Disposition: form-data; name="size"\r\n\r\n{size}\r\n'.encode()
    file = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nx,y\n0,1\n1,2\n2,0\n\r\n--x--\r\n'
    )
    status, _, body = studio.ask("POST", "/file", head + file, Content_Type="multipart/form-data; boundary=x")
    assert status == 422 and "size must be" in json.loads(body)["said"], body


@pytest.mark.parametrize("kind", [
    "multipart/form-data", "multipart/form-data; boundary=", f"multipart/form-data; boundary={'x' * 5000}",
    "multipart/form-data; boundary=x; charset=nonsense", "multipart/form-data; boundary=\xff",
    "multipart/mixed; boundary=x",
    "application/x-www-form-urlencoded", "text/plain", "", ";", "multipart/form-data; boundary=x; boundary=y",
])  # fmt: skip
@pytest.mark.parametrize("body", [
    b"", b"file=1&size=" + LONG.encode(), b"%ff=%ff&" * 100, b"a=" * 5000,
    b'--x\r\nContent-Disposition: form-data; name="file"; filename="\xff\xed\xa0\x80.csv"\r\n\r\nx,y\n0,1\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; name="size"\r\n\r\n\xff\r\n--x\r\nContent-Disposition: form-data; '
    b'name="file"; filename="a.csv"\r\n\r\nx,y\n0,1\n1,2\n\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; filename="a"\r\n\r\n1\r\n--x--\r\n',
    b"--x\r\n" + b"A: b\r\n" * 3000 + b"\r\n",
    b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n1' * 50,
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning")  # by starlette
@pytest.mark.sampled(4)
def test_no_form_ends_in_a_traceback(studio, kind, body):
    status, _, answer = studio.ask("POST", "/file", body, Content_Type=kind)
    assert status in (200, 400, 413, 422), (status, answer[:200])


def in_array_file(shape, descr="<f8"):
    """Return an array file whose header says what is given."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(header)) + header.encode() + b"\0" * 64


@pytest.mark.parametrize(("name", "data"), [
    ("a.csv", f"x,y\n0,{LONG}\n1,2\n2,3\n".encode()), ("a.csv", f"x,y\n{LONG},1\n1,2\n2,3\n".encode()),
    ("a.csv", (LONG + ",y\n0,1\n1,2\n").encode()), ("a.csv", b"x,y\n" + b"1," * 5000 + b"\n1,2\n"),
    ("a.npy", in_array_file(f"({LONG},)")),
    ("a.npy", in_array_file(f"(0x{LONG},)")),
    ("a.npy", in_array_file("(8,)", f"<f{LONG}")),
    ("a.npy", in_array_file("(" * 3000)),
    ("a.pgm", f"P2 {LONG} 3 255\n1 2 3".encode()), ("a.ppm", f"P6 3 3 {LONG}\n".encode() + b"\0" * 27),
    ("a.parquet", b"PAR1" + b"\xff" * 200 + b"PAR1"),
])  # fmt: skip
def test_no_file_with_a_long_number_ends_in_a_traceback(studio, name, data):
    status, _, body = upload(studio, name, data)
    assert status in (200, 422), (status, body[:200])
    if status == 422:
        assert 0 < len(json.loads(body)["said"]) < 600


# -- formulas


@pytest.mark.parametrize("text", [
    "__import__('os').system('true')", "x.__class__", "open('/etc/passwd')", "lambda: 1", "[1,2]", "x if x else 1",
    "'a'", "9**9**9**9", "1e999", "z", "sin()", "sin(x, x)", "sin(x=1)", "f'{x}'", "x := 2", "x; x", "", " ", "(" * 250,
    "log(-1) * x", "1/0", "x" * 400, "sin", "print(x)", "exp(1000)", True, None,
])  # fmt: skip
def test_a_formula_that_is_none_is_refused(text):
    with pytest.raises(InvalidInput):
        read_formula(text)(np.linspace(-1, 1, 5)[:, np.newaxis])


def test_formulas_are_numpys():
    x = np.linspace(-1, 1, 7)[:, np.newaxis]
    np.testing.assert_array_equal(
        read_formula("-x^2 + max(x, 0) / 2")(x), -(x[:, 0] ** 2.0) + np.maximum(x[:, 0], 0) / 2
    )
    np.testing.assert_array_equal(read_formula("pi")(x), np.full(7, np.pi))
    grid = np.array([[0.0, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(read_formula("x * y", 2)(grid), [0.0, 6.0])


def test_a_start_can_be_a_file_or_a_formula():
    setting = requests.read_setting({"kind": "named", "name": "digit:0"}, {"kind": "formula", "text": "x / 28"}, {})
    assert setting.initial[28] == 1 / 28
