"""`telltale view` as its user meets it: what it prints, when it opens a browser, what it refuses, and how it ends."""
import os
import pty
import signal
import socket
import stat
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from page_server import PATIENCE, PROGRAM, TRACE, Server

RESNET = str(Path(TRACE).with_name("resnet50_train.json.gz"))


def run(*words):
    return subprocess.run([PROGRAM, "view", *words], capture_output=True, encoding="utf-8", timeout=PATIENCE,
                          stdin=subprocess.DEVNULL)


def is_listened_at(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def pipe(self):
        """A trace that is read when the test says so."""
        os.mkfifo(self.folder / "trace.json")
        return self.folder / "trace.json"


class Words(Case):
    def assert_fails(self, done, *parts):
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Atelltale: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_help_names_its_options(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for part in ("TRACE", "--port", "--no-browser", "--follow", "--source", "--idle", "--threads", "telltale view train.json.gz"):
            self.assertIn(part, done.stdout)

    def test_what_makes_no_sense_is_said_in_a_sentence(self):
        self.assert_fails(run("nowhere.json"), "nowhere.json: there is no such file")
        self.assert_fails(run("nowhere.tell", "--follow"), "nowhere.tell: there is no such file")
        self.assert_fails(run(str(self.folder)), "is a folder")
        self.assert_fails(run(TRACE, "--port", "65536"), "--port takes a number from 0 to 65535, not 65536")
        self.assert_fails(run(TRACE, "--port", "-1"), "--port takes a number from 0 to 65535, not -1")
        self.assert_fails(run(TRACE, "--port", "http"), "--port takes a number, not 'http'")
        self.assert_fails(run(TRACE, "--idle", "0"), "--idle takes a number of minutes above 0, not 0")
        self.assert_fails(run(TRACE, "--idle", "soon"), "--idle takes a number, not 'soon'")
        self.assert_fails(run("-", "--follow"), "--follow needs a file, not standard input")
        self.assert_fails(run(TRACE, "--source", TRACE), "--source takes a folder")
        self.assert_fails(run(TRACE, "--source", str(self.folder / "none")), "--source takes a folder")
        self.assert_fails(run(), "TRACE is required")

    def test_a_port_that_is_in_use_is_said(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            self.assert_fails(run(TRACE, "--port", str(port)), f"port {port} is in use; choose another one")

    def test_what_is_no_trace_is_an_error_as_everywhere(self):
        path = self.folder / "notes.txt"
        path.write_text("nothing to see")
        done = run(str(path), "--no-browser")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Atelltale: [^\n]*notes\.txt: is in no format that Telltale knows[^\n]*\n\Z")


class Serving(Case):
    def test_the_page_is_there_before_the_trace_is_read(self):
        trace = self.pipe()
        with Server(str(trace)) as server:
            cookie = server.enter()
            self.assertEqual(server.ask("/", cookie=cookie).status, 200)
            state = server.state(cookie)
            self.assertEqual((state["stage"], state["doing"], state["file"], state["generation"], state["error"]),
                             ("reading", "Reading", "trace.json", 0, None))
            reply = server.ask("/api/info", cookie=cookie)
            self.assertEqual((reply.status, reply.field("retry-after")), (503, "1"))
            self.assertEqual(reply.json(), {"error": "the trace is still being read; ask again in a moment"})
            # Who asks for news gets it as it comes, and meanwhile a sign of life.
            self.assertEqual(server.ask("/api/state?until=read", cookie=cookie).json()["stage"], "reading")
            trace.write_text('{"traceEvents": []}')
            while (stage := server.ask("/api/state?until=read", cookie=cookie).json()["stage"]) != "ready":
                self.assertIn(stage, ("reading", "indexing"))
            state = server.wait_until(cookie, lambda state: state["has_diagnosis"])
            self.assertEqual((state["stage"], state["doing"], state["generation"], state["is_followed"]), ("ready", "", 1, False))
            self.assertEqual(server.ask("/api/info", cookie=cookie).status, 200)

    def test_a_page_that_is_open_learns_why_there_is_nothing_to_see(self):
        trace = self.pipe()
        with Server(str(trace)) as server:
            cookie = server.enter()
            trace.write_text("no trace at all")
            state = server.wait_until(cookie, lambda state: state["stage"] != "reading")
            self.assertEqual(state["stage"], "failed")
            self.assertIn("is in no format that Telltale knows", state["error"])
            _, err = server.process.communicate(timeout=PATIENCE)
            self.assertEqual(server.process.returncode, 2)
            self.assertEqual(err.decode(), f"telltale: {state['error']}\n")

    def test_the_address_comes_first_and_then_how_to_reach_it_from_elsewhere(self):
        with Server(TRACE) as server:
            server.open()
            status, out, err = server.end()
            self.assertEqual((status, err), (0, ""))
            self.assertIn(f"ssh -N -L {server.port}:127.0.0.1:{server.port} {socket.gethostname()}\n", out)

    def test_the_trace_may_come_from_standard_input(self):
        with open(TRACE, "rb") as trace, Server("-", stdin=trace) as server:
            self.assertEqual(server.state(server.open())["file"], "standard input")
            self.assertEqual(server.end()[0], 0)

    def test_a_port_can_be_chosen_and_is_free_again_at_once(self):
        with Server(TRACE) as first:
            first.open()
            self.assertEqual(first.end()[0], 0)
            with Server(TRACE, "--port", str(first.port)) as second:
                self.assertEqual(second.port, first.port)
                cookie = second.open()
                self.assertNotEqual(second.token, first.token)
                self.assertEqual(second.ask("/api/state", cookie=cookie).status, 200)

    def test_source_folders_are_told(self):
        with Server(TRACE, "--source", str(self.folder), "--source", ".") as server:
            self.assertTrue(server.state(server.enter())["has_source"])
        with Server("--source", str(self.folder), TRACE) as server:
            self.assertTrue(server.state(server.open())["has_source"])


class Ending(Case):
    def assert_gone(self, server):
        self.assertFalse(is_listened_at(server.port))
        with self.assertRaises(ProcessLookupError):  # nobody is left in its session
            os.killpg(server.process.pid, 0)

    def test_signals_end_it_at_any_time(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number), Server(TRACE) as server:
                server.open()
                self.assertEqual(server.end(number)[0::2], (0, ""))
                self.assert_gone(server)
        trace = self.pipe()
        with Server(str(trace)) as server:
            server.enter()
            self.assertEqual(server.end(signal.SIGINT)[0::2], (0, ""), "while it reads")
            self.assert_gone(server)

    def test_it_ends_while_it_analyzes_and_somebody_waits(self):
        with Server(RESNET) as server:
            cookie = server.open()
            with server.connect() as waiting:
                waiting.sendall(f"GET /api/overview HTTP/1.1\r\nHost: {server.host}\r\nCookie: {cookie}\r\n\r\n".encode())
                self.assertEqual(server.end()[0], 0)
            self.assert_gone(server)

    def test_nohup_is_respected(self):
        with Server(TRACE, before=["nohup"]) as server:
            cookie = server.open()
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            self.assertEqual(server.state(cookie)["stage"], "ready")
            self.assertEqual(server.end()[0], 0)

    def test_it_ends_with_its_terminal(self):
        try:
            control, terminal = pty.openpty()
        except OSError as error:
            raise unittest.SkipTest(f"this machine gives out no pseudo-terminals: {error}")
        with Server(TRACE, terminal=terminal) as server:
            os.close(terminal)
            shown = b""
            while b"\n" not in shown:
                shown += os.read(control, 4096)
            server.take_address(shown.decode().partition("\r\n")[0])
            server.open()
            time.sleep(0.5)
            self.assertIsNone(server.process.poll())
            os.close(control)
            self.assertEqual(server.process.wait(PATIENCE), 0)
            self.assert_gone(server)

    def test_it_ends_with_its_input_if_asked(self):
        for options in (["--until-eof"], []):
            with Server(TRACE, *options, stdin=subprocess.PIPE) as server:
                cookie = server.open()
                time.sleep(0.3)
                self.assertEqual(server.state(cookie)["stage"], "ready")
                server.process.stdin.close()
                if not options:
                    time.sleep(0.5)
                    self.assertEqual(server.state(cookie)["stage"], "ready")
                    server.process.terminate()
                self.assertEqual(server.process.wait(PATIENCE), 0)

    def test_it_ends_after_idle_time_if_asked(self):
        with Server(TRACE, "--idle", "0.05") as server:
            cookie = server.open()
            for _ in range(35):  # longer than three seconds
                time.sleep(0.1)
                self.assertEqual(server.state(cookie)["stage"], "ready")
            self.assertEqual(server.process.wait(PATIENCE), 0)
            self.assert_gone(server)
        with Server(TRACE, "--idle", "0.01") as server:  # nobody ever comes
            self.assertEqual(server.process.wait(PATIENCE), 0)
        with Server(TRACE, "--idle", "0.01") as server:  # those who are refused do not count
            while server.process.poll() is None:
                try:
                    self.assertEqual(server.ask("/api/state").status, 403)
                except (OSError, AttributeError):
                    break
                time.sleep(0.05)
            self.assertEqual(server.process.wait(PATIENCE), 0)


class Browser(Case):
    def opened(self, *words, **environment):
        """What the browser is started with, or nothing."""
        script = self.folder / "xdg-open"
        script.write_text(f'#!/bin/sh\necho "$@" > "{self.folder}/part"\nmv "{self.folder}/part" "{self.folder}/asked"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        (self.folder / "asked").unlink(missing_ok=True)
        clean = {name: "" for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")}
        clean["PATH"] = f"{self.folder}:{os.environ['PATH']}"
        server = self.enterContext(Server(TRACE, *words, browser=True, **clean | environment))
        server.open()
        for _ in range(PATIENCE * 10 if not words and environment.keys() == {"DISPLAY"} else 5):
            if (self.folder / "asked").exists():
                return server, (self.folder / "asked").read_text().strip()
            time.sleep(0.1)
        return server, None

    def test_it_is_opened_where_there_is_a_display(self):
        server, address = self.opened(DISPLAY=":9")
        self.assertTrue(address.startswith(f"http://{server.host}/?token="))
        token = address.partition("=")[2]
        self.assertEqual(len(token), 64)
        self.assertNotEqual(token, server.token, "all users of this machine see what programs are started with")
        self.assertEqual(server.ask(f"/?token={token}").status, 303)
        self.assertEqual(server.ask(f"/?token={token}").status, 403, "it counts once")
        self.assertEqual(server.ask(f"/?token={server.token}").status, 303)

    def test_it_is_not_opened_without_a_display_over_ssh_or_if_not_wanted(self):
        self.assertIsNone(self.opened()[1])
        self.assertIsNone(self.opened(DISPLAY=":9", SSH_CONNECTION="10.0.0.1 2 10.0.0.2 22")[1])
        self.assertIsNone(self.opened("--no-browser", DISPLAY=":9")[1])

    def test_a_desktop_without_a_browser_is_no_error(self):
        (self.folder / "empty").mkdir()
        server = self.enterContext(Server(TRACE, browser=True, DISPLAY=":9", PATH=str(self.folder / "empty")))
        server.open()
        self.assertEqual(server.end()[0::2], (0, ""))


if __name__ == "__main__":
    unittest.main()
