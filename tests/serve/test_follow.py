"""`telltale view --follow`: a file that grows is read again, until its recording has ended.

LIVE_RECORDER in the environment is the program of live_recorder.cpp.
"""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from page_server import Server

RECORDER = os.environ.get("LIVE_RECORDER", "build/bin/telltale_live_recorder")


def events_in(server, cookie):
    return server.ask("/api/info", cookie=cookie).json()["events"]


class Follow(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def recorder(self, path):
        process = self.enterContext(subprocess.Popen([RECORDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                     encoding="utf-8", bufsize=1))
        self.addCleanup(process.kill)
        return process

    def record(self, recorder, scopes):
        recorder.stdin.write(f"{scopes}\n")
        self.assertEqual(recorder.stdout.readline(), "recorded\n")

    def test_a_recording_is_seen_while_it_is_made(self):
        path = self.folder / "run.tell"
        recorder = self.recorder(path)
        self.record(recorder, 10)
        with Server(str(path), "--follow") as server:
            cookie = server.open()
            state = server.state(cookie)
            self.assertTrue(state["is_followed"] and state["is_recording"], state)
            self.assertEqual(events_in(server, cookie), 10)
            for total in (30, 60):
                seen = server.state(cookie)["generation"]
                self.record(recorder, total - events_in(server, cookie))
                server.wait_until(cookie, lambda state, seen=seen, total=total:
                                  state["generation"] > seen and events_in(server, cookie) == total)
            recorder.stdin.write("5\n")
            recorder.stdin.close()
            self.assertEqual(recorder.wait(), 0)
            state = server.wait_until(cookie, lambda state: not state["is_recording"])
            self.assertEqual((state["stage"], state["error"], state["is_followed"]), ("ready", None, True))
            self.assertEqual(events_in(server, cookie), 65)
            self.assertEqual(server.end()[0], 0)

    def test_without_the_option_a_recording_is_read_once(self):
        path = self.folder / "run.tell"
        recorder = self.recorder(path)
        self.record(recorder, 10)
        with Server(str(path)) as server:
            cookie = server.open()
            self.record(recorder, 10)
            state = server.state(cookie)
            self.assertEqual((state["is_followed"], state["is_recording"], state["generation"]), (False, False, 1))
            self.assertEqual(events_in(server, cookie), 10)

    def test_what_telltale_record_is_writing_is_found_by_the_name_it_will_have(self):
        live = self.folder / ".run.recording"
        live.mkdir()
        with Server(str(self.folder / "run.tell"), "--follow") as server:
            self.assertEqual(server.state(server.enter())["stage"], "reading")
            recorder = self.recorder(live / "run_7.tell")
            self.record(recorder, 10)
            cookie = server.open()
            server.wait_until(cookie, lambda _: events_in(server, cookie) == 10)
            self.assertEqual(server.state(cookie)["file"], "run.tell")
            self.assertTrue(server.ask("/api/overview", cookie=cookie).json()["subject"].startswith("run.tell · "))
            self.record(recorder, 1)
            recorder.stdin.close()
            recorder.wait()
            (live / "run_7.tell").rename(self.folder / "run.tell")
            server.wait_until(cookie, lambda state: not state["is_recording"])
            self.assertEqual(events_in(server, cookie), 11)

    def test_any_file_may_grow_and_the_old_trace_stays_until_there_is_a_new_one(self):
        path = self.folder / "trace.json"
        events = [json.dumps({"ph": "X", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5, "name": "work", "cat": "cpu_op"}) for i in range(9)]
        path.write_text('{"traceEvents": [' + ",\n".join(events[:3]) + ",\n")
        with Server(str(path), "--follow") as server:
            cookie = server.open()
            self.assertEqual(events_in(server, cookie), 3)
            path.unlink()
            state = server.wait_until(cookie, lambda state: state["error"] is not None)
            self.assertEqual((state["stage"], state["generation"]), ("ready", 1))
            self.assertIn("there is no such file", state["error"])
            self.assertEqual(events_in(server, cookie), 3)
            path.write_text('{"traceEvents": [' + ",\n".join(events) + "]}")
            state = server.wait_until(cookie, lambda state: not state["is_recording"])
            self.assertEqual((state["generation"], state["error"]), (2, None))
            self.assertEqual(events_in(server, cookie), 9)

    def test_a_file_that_is_complete_is_not_read_again(self):
        path = self.folder / "trace.json"
        path.write_text('{"traceEvents": []}')
        with Server(str(path), "--follow") as server:
            cookie = server.open()
            state = server.wait_until(cookie, lambda state: not state["is_recording"])
            self.assertEqual((state["is_followed"], state["generation"]), (True, 1))

    def test_a_recording_that_has_only_begun_can_be_followed(self):
        path = self.folder / "run.tell"
        path.touch()
        with Server(str(path), "--follow") as server:
            cookie = server.enter()
            self.assertEqual(server.state(cookie)["stage"], "reading")
            recorder = self.recorder(path)
            self.record(recorder, 4)
            server.wait_until(cookie, lambda state: state["stage"] == "ready" and events_in(server, cookie) == 4)


if __name__ == "__main__":
    unittest.main()
