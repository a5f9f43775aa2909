"""A server with a thread for each connection; its clients are threads, too."""
import socket
import socketserver
import threading

import torch

model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).eval()
torch.nn.init.ones_(model[0].weight)


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            with torch.inference_mode():
                model(torch.full((1, 8), float(line)))
            self.wfile.write(b"%d\n" % (2 * int(line)))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


answers = {}


def ask(number, address):
    with socket.create_connection(address) as connection, connection.makefile("rw") as stream:
        for i in range(20):
            stream.write(f"{number + i}\n")
            stream.flush()
            answers[number, i] = int(stream.readline())


with Server(("127.0.0.1", 0), Handler) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    clients = [threading.Thread(target=ask, args=(number, server.server_address)) for number in range(4)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    server.shutdown()
print(len(answers), "answers, sum", sum(answers.values()))
