"""telltale.view(): the page from Python, which ends with whoever opened it."""
import re
import signal
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import telltale
from common import MLP

PATIENCE = 60  # seconds until something that must happen is taken as never happening


def is_served(url):
    """Whether the page opens as it does in a browser that starts with its address."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(), urllib.request.ProxyHandler({}))
    try:
        with browser.open(url, timeout=PATIENCE) as reply:
            return b"<title>Telltale</title>" in reply.read()
    except urllib.error.URLError:
        return False


class View(unittest.TestCase):
    def test_a_file_or_a_trace_can_be_looked_at(self):
        for trace in (MLP, telltale.load(MLP)):
            with telltale.view(trace, browser=False) as page:
                self.assertRegex(page.url, r"\Ahttp://127\.0\.0\.1:\d+/\?token=[0-9a-f]{64}\Z")
                self.assertEqual(repr(page), f"<telltale.Page {page.url!r}>")
                self.assertTrue(page.is_served and is_served(page.url))
            self.assertFalse(page.is_served or is_served(page.url))
            self.assertEqual(repr(page), "<telltale.Page, ended>")
            page.close()  # once more does no harm

    def test_what_cannot_work_is_said_in_a_sentence(self):
        for words, sentence in (({}, "nowhere.json: there is no such file"),
                                ({"port": 70000}, "--port takes a number from 0 to 65535, not 70000"),
                                ({"source": "nowhere"}, "nowhere: --source takes a folder, and this is not one")):
            with self.assertRaises(telltale.TelltaleError) as raised:
                telltale.view("nowhere.json" if not words else MLP, browser=False, **words)
            self.assertEqual(str(raised.exception), sentence)

    def test_it_ends_with_python_however_that_ends(self):
        program = "import telltale, sys, time; print(telltale.view(sys.argv[1], browser=False).url, flush=True); time.sleep(600)"
        for number in (signal.SIGTERM, signal.SIGKILL):
            with subprocess.Popen([sys.executable, "-c", program, MLP], stdout=subprocess.PIPE, encoding="utf-8") as python:
                url = python.stdout.readline().strip()
                self.assertTrue(re.match("http://", url) and is_served(url))
                python.send_signal(number)
            end = time.monotonic() + PATIENCE
            while is_served(url):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
