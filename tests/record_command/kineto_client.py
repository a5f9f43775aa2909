"""Speaks to a daemon as PyTorch's profiler does, with nothing but Python's standard library: an independent account of
the protocol. Run as a program it asks, is busy, writes the trace it was asked for and asks once more.

    kineto_client.py TRACE [--die] [--children N] [--hostile] [--ignore N] [--idle N]
"""
import argparse
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import uuid


class Client:
    def __init__(self):
        self.folder = os.environ.get("KINETO_IPC_SOCKET_DIR")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.address("dynoconfigclient" + str(uuid.uuid4())))
        self.daemon = self.address("dynolog")

    def address(self, name):
        return f"{self.folder}/{name}" if self.folder else f"\0{name}\0"

    def send(self, datagram):
        self.socket.sendto(datagram, self.daemon)

    def ask(self, kinds=3):
        """The configuration's text, or None when no answer came in time."""
        pids = [os.getpid(), os.getppid()]
        payload = struct.pack("=iiq", kinds, len(pids), 0) + struct.pack(f"={len(pids)}i", *pids)
        self.send(struct.pack("=Q32s", len(payload), b"req") + payload)
        # Kineto waits for 90 ms; a busy machine of a test may take longer.
        if not select.select([self.socket], [], [], 60)[0]:
            return None
        answer = self.socket.recv(65536)
        size, kind = struct.unpack_from("=Q32s", answer)
        assert kind.rstrip(b"\0") == b"req" and size == len(answer) - 40, answer
        return answer[40:].decode()


def path_in(text):
    """Where the profiler writes: it puts the pid before the ending."""
    settings = dict(line.split("=", 1) for line in text.splitlines())
    return settings["ACTIVITIES_LOG_FILE"].replace(".json", f"_{os.getpid()}.json")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--die", action="store_true", help="killed while the trace is written")
    parser.add_argument("--children", type=int, default=0)
    parser.add_argument("--hostile", action="store_true", help="sends rubbish first")
    parser.add_argument("--ignore", type=int, default=0, help="requests that are passed over, as before the first step")
    parser.add_argument("--idle", type=int, default=0, help="traces of a time when nothing ran")
    given = parser.parse_args()
    children = [subprocess.Popen([sys.executable, __file__, given.trace]) for _ in range(given.children)]

    client = Client()
    if given.hostile:
        for datagram in (b"", b"x", b"\xff" * 40, b"\xff" * 4096, struct.pack("=Q32s", 4, b"req") + b"abcd",
                         struct.pack("=Q32siiq", 16, b"req", 3, -1, 0)):
            client.send(datagram)
    for _ in range(given.ignore):
        assert client.ask()
    for _ in range(given.idle):
        with open(path_in(client.ask()), "w", encoding="utf-8") as idle:
            idle.write('{"traceEvents": [{"ph": "i", "cat": "overhead", "name": "idle", "ts": 1}]}')
    text = client.ask()
    print(text, end="", flush=True)
    assert client.ask(kinds=1) == ""
    path = path_in(text)
    if given.die:
        with open(given.trace, "rb") as whole, open(path + ".tmp", "wb") as part:
            data = whole.read()
            part.write(data[: len(data) * 2 // 3])
        os.kill(os.getpid(), 9)
    shutil.copy(given.trace, path + ".tmp")
    os.rename(path + ".tmp", path)
    assert client.ask() == ""
    for child in children:
        child.wait()
    sys.exit(3)


if __name__ == "__main__":
    main()
