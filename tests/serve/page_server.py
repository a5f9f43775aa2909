"""Starts `telltale view` for the tests of this folder, and speaks plain HTTP with it. TELLTALE in the environment says
where the command is."""
import json
import os
import re
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PROGRAM = os.environ.get("TELLTALE", "build/bin/telltale")
ROOT = Path(__file__).resolve().parents[2]
TRACE = str(ROOT / "examples" / "traces" / "mlp_sync.json.gz")
PATIENCE = 60  # seconds that a loaded machine may take for anything


@dataclass
class Reply:
    status: int
    fields: list[tuple[str, str]]  # names in lower case
    body: bytes

    def field(self, name):
        """Its only value, or nothing."""
        values = [value for key, value in self.fields if key == name]
        assert len(values) <= 1, values
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)


def read_reply(connection, has_body=True):
    """The next reply, or nothing where the connection ends before it."""
    stream = connection.makefile("rb")
    first = stream.readline()
    if not first:
        return None
    fields = []
    while (line := stream.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode().partition(":")
        fields.append((name.lower(), value.strip()))
    length = int(dict(fields).get("content-length", "0"))
    return Reply(int(first.split()[1]), fields, stream.read(length) if has_body else b"")


class Server:
    """A running `telltale view --no-browser`, ended with the `with` block."""

    def __init__(self, *words, program=PROGRAM, before=(), stdin=subprocess.DEVNULL, terminal=None, browser=False, **environment):
        streams = {"stdin": terminal or stdin, "stdout": terminal or subprocess.PIPE, "stderr": terminal or subprocess.PIPE}
        command = [*before, program, "view", *words, *([] if browser else ["--no-browser"])]
        self.process = subprocess.Popen(command, **streams, env=os.environ | environment, start_new_session=True, bufsize=0)
        if not terminal:
            self.take_address(self.process.stdout.readline().decode().rstrip("\n"))

    def take_address(self, address):
        port, self.token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{64})", address).groups()
        self.port = int(port)
        self.host = f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def send(self, request):
        """The reply to these bytes, on a connection of their own."""
        with self.connect() as connection:
            connection.sendall(request)
            return read_reply(connection, not request.startswith(b"HEAD"))

    def ask(self, target, method="GET", cookie=None, host=None, **fields):
        """The reply to a request as a program can send it: nothing but what is asked for."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.host if host is None else host}", "Connection: close"]
        lines += [f"Cookie: {cookie}"] if cookie else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        return self.send("\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape"))

    def enter(self):
        """The cookie that the address brings."""
        return self.ask(f"/?token={self.token}").field("set-cookie").partition(";")[0]

    def state(self, cookie):
        return self.ask("/api/state", cookie=cookie).json()

    def wait_until(self, cookie, is_reached):
        """The first state that `is_reached`, after a while."""
        end = time.monotonic() + PATIENCE
        while not is_reached(state := self.state(cookie)):
            assert time.monotonic() < end, state
            time.sleep(0.02)
        return state

    def open(self):
        """The cookie, once the trace is there."""
        cookie = self.enter()
        self.wait_until(cookie, lambda state: state["stage"] == "ready")
        return cookie

    def end(self, number=signal.SIGTERM):
        """Its exit status after that signal, and all else that it has printed."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, (out or b"").decode(), (err or b"").decode()


def assert_has_page(program):
    """The command serves the files that were built, wherever it stands."""
    with Server(TRACE, program=str(program)) as server:
        cookie = server.open()
        for path, name in (("/", "index.html"), ("/page.js", "page.js"), ("/page.css", "page.css")):
            reply = server.ask(path, cookie=cookie)
            assert (reply.status, reply.body) == (200, (ROOT / "web" / "dist" / name).read_bytes()), path
