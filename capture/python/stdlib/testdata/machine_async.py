import asyncio, socket


async def serve(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, '127.0.0.1', 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b'one\ntwo\n')
    print(await reader.readline(), await reader.readline())
    writer.close()
    server.close()
    q = asyncio.Queue(1)

    async def produce():
        for i in range(3): await q.put(i)
    task = asyncio.create_task(produce())
    print([await q.get() for _ in range(3)], await task)
    try:
        async with asyncio.timeout(0.01): await asyncio.sleep(5)
    except TimeoutError as e:
        print('late', repr(e))
    try:
        async with asyncio.TaskGroup() as g:
            g.create_task(asyncio.sleep(5))
            g.create_task(fail())
    except* ValueError as e:
        print(e.exceptions)
    print(await asyncio.gather(fail(), asyncio.sleep(0, 'slept'), return_exceptions=True))
    print(await asyncio.to_thread(sum, [1, 2, 3]))
    p = await asyncio.create_subprocess_exec('cat', stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    print(await p.communicate(b'piped'), p.returncode)
    print([x async for x in ticks(3)])


async def fail(): raise ValueError('failed')


async def ticks(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


asyncio.run(main())
a, b = socket.socketpair()
a.sendall(b'x' * 1000), a.shutdown(socket.SHUT_WR)
print(len(b.recv(2000)), b.recv(1), a.family.name, b.gettimeout())
b.settimeout(0.01)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('127.0.0.1', 0)), s.settimeout(0.01)
try: s.recvfrom(10)
except TimeoutError as e: print(repr(e))
s.sendto(b'self', s.getsockname())
print(s.recvfrom(10)[0], s.type, s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_DGRAM)
for bad in (lambda: s.bind('x'), lambda: s.connect(('127.0.0.1', 99999)), lambda: socket.inet_aton('x'), lambda: socket.create_connection(('127.0.0.1', 1))):
    try: bad()
    except (OSError, TypeError, OverflowError) as e: print(type(e).__name__, e)
print(socket.inet_ntoa(socket.inet_aton('1.2.3.4')), socket.htons(1), socket.inet_pton(socket.AF_INET6, '::1'))
