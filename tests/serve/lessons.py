"""What students do: they read a lesson, predict, and run it with other settings."""
import json
import math
import pathlib
import subprocess

from server import student


class Desk:
    """One student at one lesson."""

    def __init__(self, server, lesson):
        self.server, self.lesson, self.student = server, lesson, student()
        self.runs = 0

    def read(self):
        answer = self.server.get(f"/api/v1/lessons/{self.lesson}?student={self.student}")
        assert answer.status == 200, answer
        return answer.json()

    def predict(self, seconds=None):
        """Commits a prediction; without one, all rows are skipped."""
        if seconds is None:
            seconds = [None] * len(self.read()["guess"]["rows"])
        answer = self.server.post("/api/v1/predictions",
                                  {"lesson": self.lesson, "student": self.student, "seconds": seconds})
        assert answer.status == 200, answer
        return answer.json()

    def request(self, variant=None, settings=None, **more):
        self.runs += 1
        body = {"id": f"{self.student}-{self.runs}", "lesson": self.lesson, "student": self.student, "set": settings or {}}
        if variant is not None:
            body["variant"] = variant
        return {**body, **more}

    def run(self, variant=None, settings=None, **more):
        return self.server.post("/api/v1/runs", self.request(variant, settings, **more))

    def check(self, variant, settings):
        return self.server.post("/api/v1/check", {"lesson": self.lesson, "student": self.student, "variant": variant, "set": settings})


def lesson_numbers(server):
    return [lesson["id"] for lesson in server.get("/api/v1/about").json()["lessons"]]


def given(read):
    """Returns the numbers of a lesson's prediction."""
    return read["given"] if "given" in read else read["prediction"]


def time_of(result):
    """Returns the iteration time, or the completion time of each size of an exchange."""
    if "iteration_time_s" in result:
        return [result["iteration_time_s"]]
    return [point["completion_time_s"] for point in result["points"]]


def simulated(program, text, folder, name="shown.yaml"):
    """Returns the result of `syncline run` for a scenario's text, in a folder where nothing else of the clone is."""
    file = pathlib.Path(folder) / name
    file.write_text(text)
    done = subprocess.run([program, "run", file, "--format", "json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"syncline run of the YAML in the answer: {done.stderr}\n{text}"
    results = json.loads(done.stdout)["results"]
    assert len(results) == 1, f"the YAML has {len(results)} variants, not the one that was run:\n{text}"
    return results[0]


def check_same(found, expected, what):
    """Compares times; a run with recorded messages adds in another order than one without."""
    assert len(found) == len(expected) > 0, f"{what}: {found} is not {expected}"
    for one, other in zip(found, expected):
        assert math.isclose(one, other, rel_tol=1e-9), f"{what}: the page has {found}, syncline run {expected}"


def fewer(settings, ranks):
    """Returns settings with fewer ranks, so that no answer to them is known."""
    return {"training.ranks": str(int(settings["training.ranks"]) - ranks)}


def slow_settings(desk):
    """Returns the settings of lesson 2 that simulate longest of those that are allowed: a ring of many ranks."""
    for ranks in (440, 400, 350, 300, 250, 200):
        settings = {"training.ranks": str(ranks)}
        answer = desk.check("ring-16", settings)
        if answer.status == 200 and answer.json()["ok"]:
            limits = answer.json()["estimate"]
            if limits["messages"] < 2e6 and limits["seconds"] < 10 and limits["memory_bytes"] < 1e9:
                return settings
    raise AssertionError(f"even 200 ranks are refused: {answer}")
