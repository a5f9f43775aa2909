"""Answers requests over HTTP: features come from a store, a model judges them. Clients are threads of this process."""
import argparse
import http.client
import http.server
import json
import threading
import time

import torch
from torch import nn


class Store:
    """Stands for the database in which features are looked up."""

    def features(self, number):
        time.sleep(0.01)
        return [float(number % 7)] * 128


class Service:
    def __init__(self, fixed):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2)).eval()
        self.store = Store()
        self.guard = threading.Lock()
        self.answer = self.answer_narrowly if fixed else self.answer_safely

    def judged(self, features):
        with torch.inference_mode():
            return self.model(torch.tensor([features])).argmax(1).item()

    def answer_safely(self, number):
        with self.guard:
            features = self.store.features(number)
            return self.judged(features)

    def answer_narrowly(self, number):
        features = self.store.features(number)
        with self.guard:
            return self.judged(features)


def make_handler(service):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self):
            body = json.dumps({"answer": service.answer(int(self.path[1:]))}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


def ask(port, requests):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for number in range(requests):
        connection.request("GET", f"/{number}")
        json.load(connection.getresponse())
    connection.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--requests", type=int, default=40)
    words = parser.parse_args()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), make_handler(Service(words.fixed)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ask(server.server_port, 3)
    began = time.perf_counter()
    clients = [threading.Thread(target=ask, args=(server.server_port, words.requests)) for _ in range(4)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    took = (time.perf_counter() - began) / words.requests
    server.shutdown()
    print(f"{1e3 * took:.3f} ms per request")


main()
