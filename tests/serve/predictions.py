"""Predict first: no answer before a prediction, to this student, from any part of the API."""
import csv
import io
import math
import pathlib
import tempfile
import threading

from guards import refused
from lessons import Desk, given, lesson_numbers
from server import Server, student

HEADER = ["lesson", "row", "predicted_s", "answer_s", "error"]
# Of lesson 2, by its formula: 800 + 2·(N-1)/N·100 ms.
ROWS = ["ring-2", "ring-4", "ring-8", "ring-16"]
SECONDS = [0.8 + 2 * (n - 1) / n * 0.1 for n in (2, 4, 8, 16)]


def table(server, desk):
    answer = server.get(f"/api/v1/predictions.csv?student={desk.student}")
    assert answer.status == 200 and "text/csv" in answer.headers["Content-Type"], answer
    return list(csv.reader(io.StringIO(answer.body.decode())))


def no_answer_in(desk, read):
    assert not read["done"], read
    known = {"id", "name", "title", "question", "prediction", "guess", "done", "subject"}
    assert set(read) <= known, f"before the prediction there is also {set(read) - known}"
    assert set(read["guess"]) <= {"column", "rows", "given"}, read["guess"]


def closed_before(server, _):
    for number in lesson_numbers(server):
        desk = Desk(server, number)
        read = desk.read()
        no_answer_in(desk, read)
        assert read["question"] and read["guess"]["rows"] and read["subject"]["variants"], f"lesson {number}: {read}"
        for variant in (None, *read["subject"]["variants"]):
            assert refused(desk.run(variant), 403)["code"] == "predict-first", f"lesson {number}, {variant}"
        for knob in read["subject"]["knobs"]:
            grid = desk.request(read["subject"]["variants"][0], axis={"key": knob["key"], "values": knob["values"][:2]})
            assert refused(server.post("/api/v1/grids", grid), 403)["code"] == "predict-first", f"lesson {number}, {knob}"
    # Nobody, and a student who is none, are refused as well.
    for who in (None, "", "x", student()):
        body = {"id": "a", "lesson": 2, "variant": "ring-8", "set": {}, "student": who}
        if who is None:
            del body["student"]
        refused(server.post("/api/v1/runs", body), 400, 403, 422)
    assert server.get("/api/v1/lessons/2").status in (200, 400, 403, 422)
    # A lesson is no scenario, by no name.
    for name in ("02-ring-allreduce", "lessons/02-ring-allreduce", "2", "ring-allreduce", "02"):
        answer = server.post("/api/v1/runs", {"id": "a", "lesson": name, "student": student(), "variant": "ring-8", "set": {}})
        refused(answer, 400, 403, 404, 422)


def open_after(server, _):
    desk, other = Desk(server, 2), Desk(server, 2)
    assert desk.read()["guess"]["rows"] == ROWS, desk.read()["guess"]
    # The model "like a parameter server".
    done = desk.predict([0.8 + 2 * n * 0.1 for n in (2, 4, 8, 16)])
    assert done["done"] and "parameter server" in done["judgement"] and done["model"]["name"] == "like a parameter server", done
    assert all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(done["seconds"], SECONDS)), done["seconds"]
    for section in ("answer", "exercises", "solutions", "further"):
        assert done[section], section
    answer = desk.run("ring-8")
    assert answer.status == 200, answer
    assert math.isclose(answer.json()["result"]["iteration_time_s"], SECONDS[2], rel_tol=1e-6), answer
    # A reload reads the same; another student and another lesson are still closed.
    again = desk.read()
    assert again["done"] and given(again) == given(done) and again["judgement"] == done["judgement"], again
    no_answer_in(other, other.read())
    assert refused(other.run("ring-8"), 403)["code"] == "predict-first"
    elsewhere = Desk(server, 1)
    elsewhere.student = desk.student
    assert refused(elsewhere.run(), 403)["code"] == "predict-first"
    # Right, and skipped.
    assert other.predict(SECONDS)["model"] is None
    skipped = Desk(server, 2)
    done = skipped.predict([None] * 4)
    assert done["done"] and given(done) == [None] * 4 and skipped.run("ring-8").status == 200


def odd_predictions(server, _):
    desk = Desk(server, 2)
    whole = {"lesson": 2, "student": desk.student, "seconds": SECONDS}
    for field, values in {"seconds": [[], SECONDS[:3], [*SECONDS, 1], "1", None, [1, 2, 3, "4"], [0, 1, 1, 1], [-1, 1, 1, 1],
                                      [True, 1, 1, 1], [[1], 1, 1, 1]],
                          "lesson": [0, 21, "x", None, 1.5], "student": ["", "x", "../x", 1, None, "g" * 16, "0" * 17]}.items():
        for value in values:
            refused(server.post("/api/v1/predictions", {**whole, field: value}), 400, 404, 422)
    for number in ("1e999", "-1e999", "NaN"):
        refused(server.post("/api/v1/predictions", f'{{"lesson": 2, "student": "{desk.student}", "seconds": [{number}, 1, 1, 1]}}'),
                400, 422)
    no_answer_in(desk, desk.read())
    for huge in (1e308, 5e-324):  # times all the same
        answer = server.post("/api/v1/predictions", {**whole, "student": student(), "seconds": [huge] * 4})
        assert answer.status in (200, 400, 422) and "nan" not in answer.body.decode().lower().replace("nant", ""), answer
    server.alive()


def as_csv(server, _):
    desk = Desk(server, 2)
    assert table(server, desk) == [HEADER]
    desk.predict([0.9, None, 1.95, 1])
    rows = table(server, desk)
    assert rows[0] == HEADER and [row[1] for row in rows[1:]] == ["ring-2", "ring-8", "ring-16"], rows
    for (lesson, _, predicted, answer, error), wanted, right in zip(rows[1:], (0.9, 1.95, 1), (0.9, 0.975, 0.9875)):
        assert "ring-allreduce" in lesson and math.isclose(float(predicted), wanted) and math.isclose(float(answer), right), rows
        assert math.isclose(float(error), wanted / right - 1, abs_tol=1e-4), rows
    desk.predict([1, 1, 1, 1])  # in place of the first
    assert [row[2] for row in table(server, desk)[1:]] == ["1"] * 4, table(server, desk)
    second = Desk(server, 1)
    second.student = desk.student
    second.predict([1.2, 1.6, 2.4, 4])
    assert len(table(server, desk)) == 1 + 4 + 4, table(server, desk)
    assert table(server, Desk(server, 2)) == [HEADER]


def in_a_file(_, program):
    """Nothing is written, except the file that was asked for."""
    with tempfile.TemporaryDirectory(prefix="syncline-serve-") as name:
        folder = pathlib.Path(name)
        with Server(program, folder=folder) as server:
            desk = Desk(server, 2)
            desk.predict([1, 1, 1, 1])
            assert desk.run("ring-8").status == 200
            assert not list(folder.iterdir()), list(folder.iterdir())
        with Server(program, "--predictions", "kept.csv", folder=folder) as server:
            Desk(server, 2).predict([1, 1, 1, 1])
            Desk(server, 1).predict([1, 1, 1, None])
        assert [file.name for file in folder.iterdir()] == ["kept.csv"], list(folder.iterdir())
        rows = list(csv.reader(io.StringIO((folder / "kept.csv").read_text())))
        assert rows[0] == HEADER and len(rows) == 1 + 4 + 3, rows
        with Server(program, "--predictions", "kept.csv", folder=folder) as server:
            Desk(server, 2).predict([1, None, None, None])
        assert len((folder / "kept.csv").read_text().splitlines()) == 9, (folder / "kept.csv").read_text()


def one_file_of_two(_, program):
    """Servers that keep predictions in the same file lose none."""
    with tempfile.TemporaryDirectory(prefix="syncline-serve-") as name:
        file = pathlib.Path(name) / "kept.csv"
        file.write_text(",".join(HEADER) + "\nby hand,a,1,1,0")  # without an end of the line
        with Server(program, "--predictions", file) as one, Server(program, "--predictions", file) as other:
            def predict(server):
                for _ in range(20):
                    Desk(server, 2).predict([1, 1, 1, 1])
            threads = [threading.Thread(target=predict, args=[server]) for server in (one, other)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        rows = list(csv.reader(io.StringIO(file.read_text())))
        assert rows[0] == HEADER and rows[1][0] == "by hand" and len(rows) == 2 + 2 * 20 * 4, len(rows)
        assert all(row[0] == "ring-allreduce" and len(row) == len(HEADER) for row in rows[2:]), rows


def lesson_of_the_command_line(_, program):
    """A lesson that is named on the command line is closed as well."""
    with Server(program, "2") as server:
        assert server.get("/api/v1/about").json()["start"] == {"lesson": 2}
        who = student()
        body = {"id": "a", "student": who, "variant": "ring-8", "set": {}}
        assert server.post("/api/v1/runs", body).status in (400, 403, 404, 422)
        assert server.post("/api/v1/runs", {**body, "lesson": 2}).status == 403
        assert server.get("/api/v1/subject").status in (403, 404, 422)


ALL = [closed_before, open_after, odd_predictions, as_csv, in_a_file, one_file_of_two, lesson_of_the_command_line]
