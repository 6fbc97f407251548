"""The end: Ctrl-C and SIGTERM, idle and during a run; and what keeps it from starting."""
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

from lessons import Desk, slow_settings
from runs import Asked
from server import Server, wait_until

END_S = 1


def ended(server, sign, what):
    """Ends a server as a terminal or a service manager does; the whole group of processes gets no signal."""
    begin = time.monotonic()
    os.kill(server.process.pid, sign)
    try:
        code = server.process.wait(10)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{what}: still there 10 s after signal {sign}") from None
    seconds = time.monotonic() - begin
    assert code == 0, f"{what}: exit code {code}: {server.process.stderr.read().decode()}"
    assert seconds < END_S, f"{what}: took {seconds:.2f} s"
    wait_until(lambda: not server.processes(), 0.5, f"{what}: no child is left")
    said = server.process.stderr.read().decode()
    assert "error" not in said.lower() and "terminate" not in said, f"{what}: {said}"
    print(f"    {what}: ended after {1e3 * seconds:.0f} ms")


def by_signals(_, program):
    for sign in (signal.SIGINT, signal.SIGTERM):
        with Server(program) as server:
            server.alive()
            ended(server, sign, f"idle, {sign.name}")
        with Server(program) as server:
            desk = Desk(server, 2)
            desk.predict()
            slow = slow_settings(desk)
            Asked(desk.run, "ring-16", slow)
            kept = server.connect()  # an idle connection that is kept alive
            kept.sendall(b"GET / HTTP/1.1\r\n")
            wait_until(server.simulating, 10, "a child process that simulates")
            ended(server, sign, f"during a run, {sign.name}")
            kept.close()


def killed(_, program):
    """Children do not outlive a server that is killed by force by more than the time of a run."""
    with Server(program) as server:
        desk = Desk(server, 2)
        desk.predict()
        slow = slow_settings(desk)
        Asked(desk.run, "ring-16", slow)
        wait_until(server.simulating, 10, "a child process that simulates")
        server.process.kill()
        server.process.wait()
        begin = time.monotonic()
        wait_until(lambda: not server.processes(), 12, "children of a killed server end")
        print(f"    SIGKILL: children gone after {time.monotonic() - begin:.1f} s")


def run(program, *words, **more):
    return subprocess.run([program, "serve", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=10, check=False, **more)


def cannot_start(server, program):
    done = run(program, "--port", server.port)
    assert done.returncode in (2, 4) and str(server.port) in done.stderr and "error" in done.stderr, done
    assert not done.stdout, f"an address that does not serve: {done.stdout}"
    server.alive()
    for words in (["--port", "65536"], ["--port", "-1"], ["--port", "x"], ["--jobs", "0"], ["--jobs", "x"], ["--host", "0.0.0.0"],
                  ["21"], ["no-such-scenario"], ["/etc/passwd"]):
        done = run(program, *words)
        assert done.returncode in (2, 3, 4), f"{words}: {done}"
        assert done.stderr and not done.stdout, f"{words}: {done}"
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder) / "kept.csv"
        other.write_text("not predictions\n")
        done = run(program, "--predictions", other, "--port", "0")
        assert done.returncode in (2, 3, 4) and "kept.csv" in done.stderr, done
        assert other.read_text() == "not predictions\n"


def unread_address(_, program):
    """Where the address cannot be printed, the program ends with an error."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([program, "serve", "--port", "0"], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=10, check=False)
    assert done.returncode == 4 and "standard output" in done.stderr, done


def only_this_machine(server, _):
    """Listens on 127.0.0.1 alone."""
    listening = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if os.path.exists(table):
            for line in pathlib.Path(table).read_text().splitlines()[1:]:
                local, state = line.split()[1], line.split()[3]
                address, port = local.split(":")
                if state == "0A" and int(port, 16) == server.port:
                    listening.append(address)
    assert listening == ["0100007F"], listening
    for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
        if not address.startswith("127."):
            with socket.socket() as other:
                other.settimeout(2)
                assert other.connect_ex((address, server.port)) != 0, address


def given_port(_, program):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Server(program, port=port) as server:
        assert server.port == port
        first = server.token
        ended(server, signal.SIGINT, "on a given port")
    # The port is free again at once, and the token is another one.
    with Server(program, port=port) as server:
        assert server.token != first
        server.alive()


ALL = [by_signals, killed, cannot_start, unread_address, only_this_machine, given_port]
