"""`syncline serve` under test: its process, its address, requests to it, and what is left of it."""
import http.client
import json
import os
import pathlib
import re
import secrets
import select
import signal
import socket
import subprocess
import time

CLONE = pathlib.Path(__file__).resolve().parents[2]
START_S = 20
ANSWER_S = 60
# A process that the server starts has the mark of its server in its environment.
MARK = "SYNCLINE_SERVE_TEST"


class Answer:
    def __init__(self, status, headers, body, seconds):
        self.status, self.headers, self.body, self.seconds = status, headers, body, seconds

    def json(self):
        return json.loads(self.body)

    def code(self):
        """Returns the code of an error, or nothing if the body is not one."""
        try:
            return self.json()["error"]["code"]
        except (ValueError, KeyError, TypeError):
            return None

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Server:
    """A server on a free port. Ends it with its children on leaving a `with`."""

    def __init__(self, program, *words, under=(), folder=None, port=0):
        self.mark = secrets.token_hex(8)
        self.process = subprocess.Popen(
            [*under, program, "serve", *map(str, words), "--port", str(port)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env={**os.environ, MARK: self.mark})
        try:
            self.address = self.first_line()
            found = re.search(r"http://127\.0\.0\.1:(\d+)/\S*#token=([0-9a-f]{32})\b", self.address)
            assert found, f"not an address with a token of 32 hex digits: {self.address!r}"
            self.url, self.port, self.token = found.group(0), int(found.group(1)), found.group(2)
            self.alive()
            self.idle = set(self.processes())  # the server, and what starts its simulations
        except BaseException:
            self.kill()
            raise

    def first_line(self):
        """Returns the first line of standard output, which must come without a full buffer."""
        out, line, end = self.process.stdout.fileno(), b"", time.monotonic() + START_S
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([out], [], [], max(0, end - time.monotonic()))
            assert ready, f"no address within {START_S} s, only {line!r}"
            byte = os.read(out, 1)
            assert byte, f"ended before it printed an address: {self.process.stderr.read().decode()}"
            line += byte
        return line.decode().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Ends the server and all that it started, by force if it must be."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for child in self.processes():
            os.kill(child, signal.SIGKILL)
        self.process.stdout.close()
        self.process.stderr.close()

    def processes(self):
        """Returns the processes that carry this server's mark, the server included; zombies have no environment."""
        found, wanted = [], f"{MARK}={self.mark}".encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                pass
        return found

    def simulating(self):
        """Returns the processes that run simulations: those that an idle server does not have."""
        return [one for one in self.processes() if one not in self.idle]

    def zombies(self):
        """Returns the children that have ended and that nobody waits for."""
        found, parents = [], self.processes()
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state == "Z" and int(parent) in parents:
                found.append(int(stat.parent.name))
        return found

    def ask(self, method, path, body=None, token=True, timeout=ANSWER_S, **headers):
        """Sends one request on a connection of its own. A `body` that is neither bytes nor text is sent as JSON; `token`
        may be another text than the server's, or False. `headers` are added, with "_" for "-"; None removes one."""
        all_headers = {"Authorization": f"Bearer {self.token if token is True else token}"} if token else {}
        if body is not None:
            all_headers["Content-Type"] = "application/json"
            if not isinstance(body, (bytes, str)):
                body = json.dumps(body)
        all_headers.update({name.replace("_", "-"): value for name, value in headers.items()})
        start = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body,
                               headers={name: value for name, value in all_headers.items() if value is not None})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        return Answer(answer.status, answer.headers, content, time.perf_counter() - start)

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body, **more):
        return self.ask("POST", path, body, **more)

    def connect(self, timeout=ANSWER_S):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def raw(self, request, timeout=ANSWER_S):
        """Sends bytes and returns what comes back until the server closes, and the status of the first answer or None."""
        with self.connect(timeout) as connection:
            connection.sendall(request)
            got = read_all(connection)
        return got, status_of(got)

    def request(self, method, path, *headers, body=b""):
        """Returns a request as bytes, for what a client library would not send."""
        lines = [f"{method} ".encode() + (path if isinstance(path, bytes) else path.encode()) + b" HTTP/1.1",
                 f"Host: 127.0.0.1:{self.port}".encode(), f"Authorization: Bearer {self.token}".encode(),
                 *(header.encode() for header in headers), b"Connection: close"]
        return b"\r\n".join(lines) + b"\r\n\r\n" + body

    def alive(self):
        assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.process.stderr.read().decode()}"
        answer = self.get("/api/v1/about", timeout=10)
        assert answer.status == 200, answer
        return answer


def read_all(connection):
    got = b""
    try:
        while piece := connection.recv(65536):
            got += piece
    except ConnectionError:
        pass  # a reset after the answer
    return got


def status_of(answer):
    found = re.match(rb"HTTP/1\.[01] (\d{3})", answer)
    return int(found.group(1)) if found else None


def student():
    return secrets.token_hex(8)


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.005)


def busy():
    """Returns whether other programs load the machine, so that times say little."""
    return os.getloadavg()[0] > 2 * os.cpu_count()
