"""Clients that begin a request and then say nothing, or a byte at a time: they are cut off, and keep nobody else from an
answer."""
import select
import statistics
import time

CLIENTS = 50
CUT_OFF_S = 20
DRIPPING_S = 8
OTHERS_S = 2


def opened(server, index):
    """Returns a connection that sent the first part of a request: no byte, half a head, half a body."""
    connection = server.connect()
    head = server.request("POST", "/api/v1/check", "Content-Type: application/json", "Content-Length: 100")
    parts = {0: b"", 1: head[:len(head) // 2], 2: head, 3: head + b'{"lesson": 2'}
    connection.sendall(parts[index % 4])
    return connection


def closed(connection):
    """Returns whether the server has closed; an answer such as 408 may come first."""
    while select.select([connection], [], [], 0)[0]:
        try:
            if not connection.recv(65536):
                return True
        except ConnectionError:
            return True
    return False


def crowd(server, _):
    """A class that opens the page at the same moment is let in at once; a full backlog costs a second."""
    begin = time.monotonic()
    clients = [server.connect() for _ in range(CLIENTS)]
    seconds = time.monotonic() - begin
    for one in clients:
        one.close()
    assert seconds < 0.9, f"{CLIENTS} connections took {seconds:.2f} s"


def silent(server, _):
    clients = [opened(server, index) for index in range(CLIENTS)]
    begin, latencies, open_ones = time.monotonic(), [], clients
    while open_ones and time.monotonic() - begin < CUT_OFF_S:
        latencies.append(server.get("/api/v1/about", timeout=CUT_OFF_S).seconds)
        open_ones = [one for one in open_ones if not closed(one)]
        time.sleep(0.1)
    seconds = time.monotonic() - begin
    for one in clients:
        one.close()
    print(f"    {CLIENTS} silent clients cut off within {seconds:.1f} s; others answered in {1e3 * statistics.median(latencies):.0f} ms "
          f"(median), {1e3 * max(latencies):.0f} ms (maximum)")
    assert not open_ones, f"{len(open_ones)} of {CLIENTS} silent clients are still connected after {CUT_OFF_S} s"
    assert max(latencies) < OTHERS_S, f"another request took {max(latencies):.1f} s beside {CLIENTS} silent clients"


def dripping(server, _):
    """A byte from time to time keeps nobody else from an answer, and the whole request has a time limit."""
    requests = [server.request("GET", "/", f"X-Long: {'a' * 7000}"),
                server.request("POST", "/api/v1/check", "Content-Type: application/json", "Content-Length: 5000") + b" " * 5000]
    starts = [len(requests[0]) - 7000, len(requests[1]) - 5000]
    clients = []
    for index in range(10):
        connection, which = server.connect(), index % 2
        connection.sendall(requests[which][:starts[which]])
        clients.append([connection, requests[which], starts[which]])
    begin, latencies = time.monotonic(), []
    while clients and time.monotonic() - begin < DRIPPING_S:
        latencies.append(server.get("/api/v1/about", timeout=CUT_OFF_S).seconds)
        left = []
        for client in clients:
            connection, request, at = client
            try:
                connection.sendall(request[at:at + 1])
                client[2] += 1
                if not closed(connection):
                    left.append(client)
                    continue
            except OSError:
                pass
            connection.close()
        clients = left
        time.sleep(0.5)
    print(f"    others answered within {1e3 * max(latencies):.0f} ms; {len(clients)} of 10 dripping clients are connected after "
          f"{time.monotonic() - begin:.0f} s")
    for connection, *_ in clients:
        connection.close()
    assert max(latencies) < OTHERS_S, f"another request took {max(latencies):.1f} s beside 10 dripping clients"
    assert not clients, f"{len(clients)} of 10 dripping clients are still connected after {DRIPPING_S} s"


def unread_answers(server, _):
    """Clients that ask and do not read, and clients that leave, cost nothing for ever."""
    clients = [server.connect() for _ in range(CLIENTS)]
    request = server.request("GET", "/live.js").replace(b"Connection: close", b"Connection: keep-alive")
    for one in clients:
        one.setblocking(False)
        for _ in range(200):
            try:
                one.send(request)
            except OSError:
                break
    latency = server.get("/api/v1/about", timeout=CUT_OFF_S).seconds
    for one in clients:
        one.close()
    assert latency < OTHERS_S, f"another request took {latency:.1f} s beside {CLIENTS} clients that do not read"
    server.alive()


ALL = [crowd, silent, dripping, unread_answers]
