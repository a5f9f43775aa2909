"""What only a terminal sees: colors, its own width, and a progress line for what takes long."""
import fcntl
import os
import pty
import struct
import subprocess
import tempfile
import termios
import unittest

from telltale import PROGRAM, RESNET, run

ESCAPE = "\x1b["


def on_terminal(*words, columns=90, environment=None):
    """What the command writes to a terminal of that many columns."""
    try:
        control, terminal = pty.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"this machine gives out no pseudo-terminals: {error}")
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    variables |= {"TERM": "xterm-256color"} | (environment or {})
    process = subprocess.Popen([PROGRAM, *words], stdin=terminal, stdout=terminal, stderr=terminal, env=variables)
    os.close(terminal)
    written = b""
    while True:
        try:
            piece = os.read(control, 65536)
        except OSError:  # the terminal hangs up when the last writer is gone
            break
        if not piece:
            break
        written += piece
    os.close(control)
    assert process.wait() == 0
    return written.decode()


class Terminal(unittest.TestCase):
    def test_colors_are_for_terminals(self):
        self.assertIn(ESCAPE, on_terminal("top", RESNET))
        self.assertIn(ESCAPE, on_terminal("info", RESNET))
        self.assertIn(ESCAPE, on_terminal("analyze", RESNET))
        self.assertNotIn(ESCAPE, run("top", RESNET).stdout)

    def test_no_color_is_respected(self):
        for command in ("top", "info", "analyze"):
            self.assertNotIn(ESCAPE, on_terminal(command, RESNET, environment={"NO_COLOR": "1"}))
            self.assertNotIn(ESCAPE, on_terminal(command, RESNET, environment={"TERM": "dumb"}))

    def test_json_and_csv_have_no_colors(self):
        self.assertNotIn(ESCAPE, on_terminal("top", RESNET, "--json", "--limit", "3"))
        self.assertNotIn(ESCAPE, on_terminal("top", RESNET, "--csv", "--limit", "3"))
        self.assertNotIn(ESCAPE, on_terminal("analyze", RESNET, "--json"))
        self.assertNotIn(ESCAPE, on_terminal("analyze", RESNET, "--markdown"))

    def test_where_the_page_is_stands_below_the_report(self):
        with tempfile.TemporaryDirectory() as folder:
            shown = on_terminal("analyze", RESNET, "--html", f"{folder}/page.html", columns=120)
            self.assertTrue(shown.rstrip().endswith(f"telltale: the page is in {folder}/page.html"), shown[-200:])

    def test_the_table_is_as_wide_as_the_terminal_and_columns_goes_first(self):
        plain = {"NO_COLOR": "1"}
        narrow = on_terminal("top", RESNET, columns=64, environment=plain)
        self.assertLessEqual(max(map(len, narrow.splitlines())), 64)
        wide = on_terminal("top", RESNET, columns=64, environment=plain | {"COLUMNS": "150"})
        self.assertGreater(max(map(len, wide.splitlines())), 64)

    def test_a_quick_reading_shows_no_progress(self):
        self.assertNotIn("Reading", on_terminal("top", RESNET))


if __name__ == "__main__":
    unittest.main()
