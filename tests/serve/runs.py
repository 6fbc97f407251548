"""Runs: same request, same bytes; the YAML and the command of an answer give its number; runs that are no longer wanted end."""
import json
import os
import pathlib
import shlex
import subprocess
import tempfile
import threading
import time

from lessons import Desk, check_same, fewer, simulated, slow_settings, time_of
from server import CLONE, Answer, Server, wait_until

CANCEL_S = 0.1


class Asked(threading.Thread):
    """A request that is in flight."""

    def __init__(self, function, *arguments, **more):
        super().__init__(daemon=True)
        self.function, self.arguments, self.more, self.answer = function, arguments, more, None
        self.start()

    def run(self):
        try:
            self.answer = self.function(*self.arguments, **self.more)
        except OSError as error:
            self.answer = error

    def result(self, seconds=30):
        self.join(seconds)
        assert isinstance(self.answer, Answer), f"within {seconds} s: {self.answer}"
        return self.answer


def same_bytes(server, program):
    desk = Desk(server, 2)
    desk.predict()
    first, second = (desk.run("ring-8", {"training.ranks": "12"}) for _ in range(2))
    assert first.status == second.status == 200, (first, second)
    assert first.body == second.body, "the same request has two answers"
    with Server(program) as other:
        elsewhere = Desk(other, 2)
        elsewhere.predict()
        third = elsewhere.run("ring-8", {"training.ranks": "12"})
    assert third.body == first.body, "another server has another answer"


def yaml_and_command(server, program):
    with tempfile.TemporaryDirectory(prefix="syncline-serve-") as folder:
        for lesson in (1, 2, 3, 9, 18):
            desk = Desk(server, lesson)
            subject = desk.predict()["subject"]
            knob = next(one for one in subject["knobs"] if one["key"] != "variant")
            settings = {knob["key"]: knob["values"][-1 if knob["at"] == 0 else 0]}
            answer = desk.run(subject["variant"], settings)
            assert answer.status == 200, f"lesson {lesson}, {settings}: {answer}"
            run = answer.json()
            assert not any(key in run["yaml"] for key in ("variants:", "expect:", "knobs:")), run["yaml"]
            check_same(time_of(run["result"]), time_of(simulated(program, run["yaml"], folder)), f"lesson {lesson}, YAML")
            words = shlex.split(run["command"])
            assert words[:2] == ["syncline", "run"], run["command"]
            done = subprocess.run([program, *words[1:], "--format", "json"], cwd=CLONE, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{run['command']}: {done.stderr}"
            results = json.loads(done.stdout)["results"]
            check_same(time_of(run["result"]), time_of(results[0]), f"lesson {lesson}, {run['command']}")


def scenario_of_the_command_line(_, program):
    """A scenario needs no prediction; a file on the command line may name files beside it."""
    with tempfile.TemporaryDirectory(prefix="syncline-serve-") as name:
        folder = pathlib.Path(name)
        (folder / "cluster.yaml").write_text("device: p100-sxm2\nfabric: {topology: star, bandwidth: 25 Gbps, latency: 5 us}\n")
        (folder / "own.yaml").write_text("name: own\nplatform: cluster.yaml\nworkload: alexnet-tf\n"
                                         "training: {ranks: 8, batch_per_rank: 64}\n"
                                         "variants: {ring: {training.algorithm: ring}, tree: {training.algorithm: binomial-tree}}\n")
        with Server(program, "own.yaml", folder=folder) as server:
            assert "scenario" in server.get("/api/v1/about").json()["start"]
            subject = server.get("/api/v1/subject")
            assert subject.status == 200 and subject.json()["variants"] == ["ring", "tree"], subject
            for variant in ("ring", "tree"):
                answer = server.post("/api/v1/runs", {"id": variant, "student": "0" * 16, "variant": variant,
                                                      "set": {"training.ranks": "16"}})
                assert answer.status == 200, answer
                check_same(time_of(answer.json()["result"]), time_of(simulated(program, answer.json()["yaml"], folder)), variant)
            # The rule holds here, too: no file that a request names, though the scenario's own is one.
            answer = server.post("/api/v1/runs", {"id": "c", "student": "0" * 16, "variant": "ring",
                                                  "set": {"platform": "cluster.yaml"}})
            assert answer.status == 422, answer


def changed_file(_, program):
    """A page that is loaded again shows the scenario as it is now; knobs that fit no variant are refused."""
    with tempfile.TemporaryDirectory(prefix="syncline-serve-") as name:
        folder = pathlib.Path(name)
        text = ("platform: {device: {flops: 1 Tflops, memory_bandwidth: 1 TBps}, fabric: {bandwidth: 1 GBps, latency: none}}\n"
                "collective: {ranks: 2, bytes: SIZE}\n")
        body = {"id": "a", "student": "0" * 16, "set": {}}
        (folder / "own.yaml").write_text(text.replace("SIZE", "100 MB"))
        with Server(program, "own.yaml", folder=folder) as server:
            # A ring of two sends a half in each of two steps, and adds one: two reads and a write at 1 TB/s.
            for size, seconds in (("100 MB", 0.1 + 0.00015), ("200 MB", 0.2 + 0.0003)):
                (folder / "own.yaml").write_text(text.replace("SIZE", size))
                assert server.get("/api/v1/subject").status == 200
                answer = server.post("/api/v1/runs", body)
                assert answer.status == 200, answer
                check_same(time_of(answer.json()["result"]), [seconds], size)
        (folder / "own.yaml").write_text(text.replace("SIZE", "1 MB") + "knobs: {collective.ranks: [2, many]}\n")
        done = subprocess.run([program, "serve", "own.yaml", "--port", "0"], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=10, check=False)
        assert done.returncode == 3 and not done.stdout and "own.yaml:3:31: error" in done.stderr, done


def grids(server, program):
    desk = Desk(server, 2)
    desk.predict()
    body = desk.request("ring-8", {}, axis={"key": "training.ranks", "values": ["2", "4", "8", "16", "32", "-1"]})
    answer = server.post("/api/v1/grids", body)
    assert answer.status == 200, answer
    points = answer.json()["points"]
    assert [point["value"] for point in points] == ["2", "4", "8", "16", "32", "-1"], points
    assert points[-1]["problem"], points
    for point, n in zip(points, (2, 4, 8, 16, 32)):
        check_same([point["iteration_time_s"]], [0.8 + 2 * (n - 1) / n * 0.1], f"{n} ranks")
        check_same([point["throughput_samples_per_s"]], [100 * n / point["iteration_time_s"]], f"{n} ranks")


def cancelled(server, _):
    desk = Desk(server, 2)
    desk.predict()
    slow = slow_settings(desk)
    # The run takes long enough to be cancelled.
    for how in ("DELETE", "replaces"):
        body = desk.request("ring-16", fewer(slow, desk.runs))
        asked = Asked(server.post, "/api/v1/runs", body)
        wait_until(server.simulating, 10, "a child process that simulates")
        time.sleep(0.2)
        assert server.simulating(), "the slow run is too fast for this test"
        children, begin = server.simulating(), time.perf_counter()
        if how == "DELETE":
            answer = server.ask("DELETE", f"/api/v1/runs/{body['id']}")
            assert answer.status in (200, 204), answer
        else:
            Asked(desk.run, "ring-8", {"training.ranks": "4"}, replaces=body["id"])
        wait_until(lambda: not set(children) & set(server.simulating()), 1, f"{how}: the child is gone")
        gone = time.perf_counter() - begin
        assert asked.result().status == 409, asked.answer
        # 100 ms, if the machine has nothing else to do.
        assert gone < 5 * CANCEL_S, f"{how}: the child lived on for {gone:.2f} s"
        print(f"    {how}: child gone after {1e3 * gone:.0f} ms")
    assert server.ask("DELETE", "/api/v1/runs/nothing").status in (204, 404, 409)
    wait_until(lambda: not server.zombies(), 2, "no zombies")
    server.alive()


def many_replaced(server, _):
    """A slider that is pulled: each request replaces the one before; the last one is answered."""
    desk = Desk(server, 2)
    desk.predict()
    asked, last = [], None
    for n in range(2, 42):
        body = desk.request("ring-16", {"training.ranks": str(100 + n)})
        if last:
            body["replaces"] = last
        asked.append(Asked(server.post, "/api/v1/runs", body))
        last = body["id"]
        time.sleep(0.02)
    statuses = [one.result().status for one in asked]
    assert statuses[-1] == 200, statuses
    assert set(statuses) <= {200, 409, 429}, statuses
    # A student cannot cancel what another one runs.
    print(f"    40 replaced runs: {statuses.count(200)} answered, {statuses.count(409)} cancelled")
    wait_until(lambda: not server.zombies(), 2, "no zombies")


def queue_full(server, _):
    """More runs than fit into the queue are told to come back; none is lost."""
    desks = [Desk(server, 2) for _ in range(40)]
    for desk in desks:
        desk.predict()
    asked = [Asked(desk.run, "ring-16", {"training.ranks": str(150 + i)})
             for i, desk in enumerate(desks)]
    begin = time.monotonic()
    assert server.get("/api/v1/about", timeout=10).seconds < 2, "a full queue keeps others from answers"
    for desk in desks:
        server.ask("DELETE", f"/api/v1/runs/{desk.student}-1")
    for one in asked:
        answer = one.result(60)
        assert answer.status in (200, 409, 429, 503), answer
        if answer.status == 429:
            assert int(answer.headers["Retry-After"]) >= 1, dict(answer.headers)
    assert time.monotonic() - begin < 60
    wait_until(lambda: not server.zombies(), 2, "no zombies")
    assert len(os.listdir(f"/proc/{server.process.pid}/fd")) < 100, "open files stay"


ALL = [same_bytes, yaml_and_command, scenario_of_the_command_line, changed_file, grids, cancelled, many_replaced, queue_full]
