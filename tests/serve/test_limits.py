"""What is too long, too slow or too much is refused, and holds up nobody else."""
import socket
import time
import unittest

from page_server import PATIENCE, TRACE, Server, read_reply

HEAD_LIMIT = 32 << 10  # bytes
CONNECTION_LIMIT = 64


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(TRACE))
        cls.cookie = cls.server.open()

    def tearDown(self):
        self.assertEqual(self.server.ask("/api/state", cookie=self.cookie).status, 200)

    def test_long_requests_are_refused(self):
        long = "x" * HEAD_LIMIT
        for reply in (self.server.ask(f"/{long}", cookie=self.cookie), self.server.ask("/", cookie=f"{self.cookie}; {long}"),
                      self.server.ask("/", cookie=self.cookie, **{f"x_{i}": "y" * 100 for i in range(400)})):
            self.assertEqual(reply.status, 431)
            self.assertEqual(reply.field("connection"), "close")
        self.assertEqual(self.server.ask("/", cookie=f"{long[:20_000]}; {self.cookie}").status, 200)

    def test_requests_without_an_end_are_cut_off(self):
        with self.server.connect() as connection:
            reply = None
            try:
                for _ in range(1000):
                    connection.sendall(b"x" * 65536)
                connection.settimeout(PATIENCE)
                reply = read_reply(connection)
            except OSError:
                return  # cut off while sending
            self.assertIn(reply and reply.status, (None, 400, 431))

    def test_bodies_are_refused(self):
        head = f"Host: {self.server.host}\r\nCookie: {self.cookie}\r\n"
        for rest in ("Content-Length: 5\r\n\r\nhello", "Content-Length: 99999999999\r\n\r\n",
                     "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"):
            for method in ("GET", "HEAD", "POST"):
                reply = self.server.send(f"{method} /api/state HTTP/1.1\r\n{head}{rest}".encode())
                self.assertEqual((reply.status, reply.field("connection")), (413, "close"), rest)

    def test_a_request_within_a_body_is_not_heard(self):
        inner = f"GET /api/state HTTP/1.1\r\nHost: {self.server.host}\r\nCookie: {self.cookie}\r\n\r\n"
        outer = f"GET / HTTP/1.1\r\nHost: {self.server.host}\r\nContent-Length: {len(inner)}\r\n\r\n{inner}"
        with self.server.connect() as connection:
            connection.sendall(outer.encode())
            everything = b""
            while piece := connection.recv(65536):
                everything += piece
        self.assertEqual(everything.count(b"HTTP/1.1 "), 1)

    def test_what_is_no_http_is_refused(self):
        for request in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"\r\n\r\n\r\n", b"GET /\r\n\r\n", b"\x00" * 100,
                        b"GET / HTTP/2.0\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n"):
            reply = self.server.send(request)
            self.assertIn(reply and reply.status, (None, 400, 403), request)

    def test_slow_requests_end_however_they_trickle_in(self):
        """The time counts for the whole request: bytes that keep coming do not make it longer."""
        with self.server.connect() as slow, self.server.connect() as silent:
            slow.sendall(b"GET / HTTP/1.1\r\nX: ")
            slow.settimeout(0.1)
            start = time.monotonic()
            while time.monotonic() - start < PATIENCE:
                try:
                    slow.sendall(b"x")
                    if slow.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
            self.assertLess(time.monotonic() - start, PATIENCE)
            self.assertGreater(time.monotonic() - start, 1)
            self.assertEqual(silent.recv(1), b"")

    def test_connections_without_requests_keep_nobody_out(self):
        idle = [self.server.connect() for _ in range(4 * CONNECTION_LIMIT)]
        try:
            for _ in range(5):
                self.assertEqual(self.server.ask("/api/state", cookie=self.cookie).status, 200)
            open_ends = 0
            for connection in idle:
                connection.settimeout(0)
                try:
                    connection.recv(1)
                except BlockingIOError:
                    open_ends += 1
                except OSError:
                    pass
            self.assertLessEqual(open_ends, CONNECTION_LIMIT)
        finally:
            for connection in idle:
                connection.close()

    def test_who_does_not_read_holds_up_nobody(self):
        """However many they are: each has asked for more than the kernel takes, and its answer cannot be sent."""
        greedy = []
        try:
            for _ in range(2 * CONNECTION_LIMIT):
                connection = socket.socket()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
                connection.settimeout(PATIENCE)
                connection.connect(("127.0.0.1", self.server.port))
                connection.sendall((f"GET /page.js HTTP/1.1\r\nHost: {self.server.host}\r\nCookie: {self.cookie}\r\n\r\n" * 60).encode())
                connection.recv(1, socket.MSG_PEEK)  # its answer is on its way, and will not get far
                greedy.append(connection)
            for _ in range(20):
                self.assertEqual(self.server.ask("/api/info", cookie=self.cookie).status, 200)
        finally:
            for connection in greedy:
                connection.close()


if __name__ == "__main__":
    unittest.main()
