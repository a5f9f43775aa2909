"""Who may look at a trace: the browser with the address that was printed, and nobody else."""
import json
import tempfile
import unittest
from pathlib import Path

from page_server import ROOT, TRACE, Server

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
SEEN = ("/", "/page.js", "/page.css", "/api/state", "/api/trace", "/api/nothing")


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(TRACE))
        cls.cookie = cls.server.open()

    def assert_refused(self, reply, status=403):
        """Nothing of the trace, nothing of the page, and no cookie."""
        self.assertEqual(reply.status, status, reply)
        self.assertLess(len(reply.body), 200)
        self.assertNotIn(b"<", reply.body)
        self.assertIsNone(reply.field("set-cookie"))

    def test_the_address_leads_to_the_page_by_a_cookie(self):
        reply = self.server.ask(f"/?token={self.server.token}")
        self.assertEqual(reply.status, 303)
        self.assertEqual(reply.field("location"), "/")
        self.assertRegex(reply.field("set-cookie"),
                         rf"\Atelltale_{self.server.port}=[0-9a-f]{{64}}; HttpOnly; SameSite=Strict; Path=/\Z")
        self.assertNotIn(self.server.token, reply.field("set-cookie"))
        page = self.server.ask("/", cookie=self.cookie)
        self.assertEqual((page.status, page.body), (200, (ROOT / "web/dist/index.html").read_bytes()))

    def test_the_files_of_the_page_are_those_that_were_built(self):
        for name, kind in (("page.js", "text/javascript"), ("page.css", "text/css")):
            reply = self.server.ask(f"/{name}", cookie=self.cookie)
            self.assertEqual((reply.status, reply.field("content-type")), (200, f"{kind}; charset=utf-8"))
            self.assertEqual(reply.body, (ROOT / "web/dist" / name).read_bytes())

    def test_without_the_cookie_there_is_nothing(self):
        for path in SEEN:
            self.assert_refused(self.server.ask(path))
            self.assert_refused(self.server.ask(path, cookie=f"telltale_{self.server.port}={'0' * 64}"))
            self.assert_refused(self.server.ask(path, cookie=self.cookie.replace("telltale", "other")))

    def test_a_wrong_token_opens_nothing(self):
        token = self.server.token
        last = "0" if token[-1] != "0" else "1"
        for query in ("token=", f"token={token[:-1]}", f"token={token}0", f"token={token[:-1]}{last}", token,
                      f"token={token.upper()}x", f"Token={token}", "token=" + "0" * 64):
            self.assert_refused(self.server.ask(f"/?{query}"))
        for path in ("/page.js", "/api/state", "//", "/index.html"):
            self.assert_refused(self.server.ask(f"{path}?token={token}"))

    def test_another_name_of_this_machine_is_another_site(self):
        """DNS rebinding: a browser that was led here by a name of somebody else's says that name."""
        for host in (f"rebound.example:{self.server.port}", "rebound.example", "127.0.0.1", "localhost", "",
                     f"127.0.0.1:{self.server.port + 1}", f"0.0.0.0:{self.server.port}", f"[::1]:{self.server.port}",
                     f"{self.server.host}.rebound.example", f"rebound.example@{self.server.host}"):
            for path in (*SEEN, f"/?token={self.server.token}"):
                self.assert_refused(self.server.ask(path, cookie=self.cookie, host=host))
        self.assertEqual(self.server.ask("/", cookie=self.cookie, host=f"localhost:{self.server.port}").status, 200)

    def test_a_request_names_one_host(self):
        first = f"GET /api/state HTTP/1.1\r\nCookie: {self.cookie}\r\nConnection: close\r\n"
        self.assert_refused(self.server.send(f"{first}\r\n".encode()))
        self.assert_refused(self.server.send(f"{first}Host: {self.server.host}\r\nHost: evil.example\r\n\r\n".encode()))

    def test_other_pages_may_not_ask(self):
        for origin in ("http://evil.example", "null", "http://127.0.0.1", f"https://{self.server.host}",
                       f"http://127.0.0.1:{self.server.port - 1}", f"http://localhost:{self.server.port}"):
            for path in (*SEEN, f"/?token={self.server.token}"):
                self.assert_refused(self.server.ask(path, cookie=self.cookie, origin=origin))
        for site in ("cross-site", "same-site", "anything"):
            for path in (*SEEN, f"/?token={self.server.token}"):
                self.assert_refused(self.server.ask(path, cookie=self.cookie, sec_fetch_site=site))
        for fields in ({"origin": f"http://{self.server.host}", "sec_fetch_site": "same-origin"}, {"sec_fetch_site": "none"}):
            self.assertEqual(self.server.ask("/api/state", cookie=self.cookie, **fields).status, 200)

    def test_nothing_can_be_changed(self):
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"):
            reply = self.server.ask("/api/state", method=method, cookie=self.cookie)
            self.assert_refused(reply, 405)
            self.assertEqual(reply.field("allow"), "GET, HEAD")
            self.assertIsNone(reply.field("access-control-allow-origin"))

    def test_head_is_a_get_without_its_body(self):
        for path in ("/", "/page.js", "/api/state", "/api/info"):
            head, whole = (self.server.ask(path, method=method, cookie=self.cookie) for method in ("HEAD", "GET"))
            self.assertEqual((head.status, head.fields), (200, whole.fields))

    def test_no_path_leads_to_a_file(self):
        for path in ("/../../../../../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                     "/etc/passwd", "/./page.js", "/page.js/", "/page.js%00", "/PAGE.JS", "/page%2ejs", "/index.html",
                     "/web/dist/page.js", TRACE, "/api/../page.js", "/api/", "/api", "/api/state/", "/API/state", "/\\page.js",
                     "/api/source?file=/etc/passwd", "/api/source?file=../../etc/passwd", "/page.js;x", "/%70age.js"):
            reply = self.server.ask(path, cookie=self.cookie)
            self.assertIn(reply.status, (400, 404), path)
            self.assert_refused(reply, reply.status)
        for target in ("*", f"http://{self.server.host}/page.js", "file:///etc/passwd", "page.js"):
            reply = self.server.ask(target, cookie=self.cookie)
            self.assertIn(reply.status, (400, 404), target)

    def test_every_reply_carries_the_policy(self):
        for reply in (self.server.ask("/", cookie=self.cookie), self.server.ask("/api/info", cookie=self.cookie),
                      self.server.ask("/"), self.server.ask(f"/?token={self.server.token}"),
                      self.server.ask("/nothing", cookie=self.cookie), self.server.ask("/", method="POST"),
                      self.server.send(b"nonsense\r\n\r\n")):
            self.assertEqual(reply.field("content-security-policy"), POLICY)
            self.assertEqual(reply.field("x-content-type-options"), "nosniff")
            self.assertEqual(reply.field("referrer-policy"), "no-referrer")
            self.assertEqual(reply.field("cache-control"), "no-store")
            self.assertEqual(reply.field("cross-origin-opener-policy"), "same-origin")
            self.assertEqual(reply.field("cross-origin-resource-policy"), "same-origin")
            self.assertIsNone(reply.field("server"))

    def test_two_traces_in_one_browser_do_not_disturb_each_other(self):
        with Server(TRACE) as other:
            theirs = other.open()
            self.assertNotEqual(theirs.partition("=")[0], self.cookie.partition("=")[0])
            both = f"{theirs}; {self.cookie}"
            self.assertEqual(other.ask("/api/state", cookie=both).status, 200)
            self.assertEqual(self.server.ask("/api/state", cookie=both).status, 200)
            self.assert_refused(other.ask("/", cookie=self.cookie))
            self.assert_refused(self.server.ask(f"/?token={other.token}"))

    def test_it_listens_at_loopback_alone(self):
        inode_lines = Path(f"/proc/{self.server.process.pid}/net/tcp").read_text().splitlines()[1:]
        six = Path(f"/proc/{self.server.process.pid}/net/tcp6")
        inode_lines += six.read_text().splitlines()[1:] if six.exists() else []
        listening = [line.split()[1] for line in inode_lines if line.split()[3] == "0A"]
        here = [address for address in listening if int(address.rpartition(":")[2], 16) == self.server.port]
        self.assertEqual(here, [f"0100007F:{self.server.port:04X}"])


class Markup(unittest.TestCase):
    def test_markup_in_names_is_never_a_page(self):
        markup = "<script>alert(1)</script><img src=x onerror=alert(2)>"
        events = [{"ph": "X", "pid": 1, "tid": 1, "ts": i, "dur": 1, "cat": "cpu_op", "name": f"{markup}{i}"} for i in range(5)]
        events += [{"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": markup}}]
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "<b>bold<b>.json"
            trace.write_text(json.dumps({"traceEvents": events, markup: markup}))
            with Server(str(trace)) as server:
                cookie = server.open()
                found = 0
                for path in ("/api/state", "/api/info", "/api/trace", "/api/tiles?level=0&tile=0", "/api/overview",
                             "/api/table?rows=operators", f"/api/search?q={'%3Cscript'}", "/api/flame?weight=host&by=stack",
                             "/api/info?%3Cscript%3E=1", "/%3Cscript%3E", "/<script>"):
                    reply = server.ask(path, cookie=cookie)
                    found += b"<script>" in reply.body
                    self.assertEqual(reply.field("x-content-type-options"), "nosniff")
                    kind = reply.field("content-type")
                    if b"<" in reply.body:
                        self.assertIn(kind, ("application/json", "application/octet-stream"), path)
                    self.assertNotIn("html", kind)
                self.assertGreater(found, 0)
                self.assertEqual(server.state(cookie)["file"], "<b>bold<b>.json")


if __name__ == "__main__":
    unittest.main()
