"""An asyncio server that hands its model to a thread pool."""
import asyncio
import concurrent.futures

import torch

model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).eval()
executor = concurrent.futures.ThreadPoolExecutor(2)


def judged(number):
    with torch.inference_mode():
        model(torch.full((1, 8), float(number)))
    return number * 2


async def serve(reader, writer):
    while line := await reader.readline():
        answer = await asyncio.get_running_loop().run_in_executor(executor, judged, int(line))
        writer.write(b"%d\n" % answer)
        await writer.drain()
    writer.close()


async def ask(port, first):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    total = 0
    for number in range(first, first + 20):
        writer.write(b"%d\n" % number)
        total += int(await reader.readline())
    writer.close()
    return total


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(await asyncio.gather(*(ask(port, first) for first in range(4))))
    server.close()


asyncio.run(main())
