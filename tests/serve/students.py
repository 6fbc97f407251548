"""Ten students at once, and every knob of every lesson: each number is that of `syncline run` of the YAML in the answer."""
import re
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor

from lessons import Desk, check_same, lesson_numbers, simulated, time_of
from server import busy

STUDENTS = 10
ROUNDS = 4
# On two cores; more on slower machines, where a lone run takes longer, and on busy ones.
MEDIAN_S = 1


def varied(knobs, share):
    """Returns the setting of a knob with a unit, a `share` above its present value: one that nobody else has."""
    for knob in knobs:
        text = knob["values"][knob["at"]] if knob["at"] is not None else ""
        found = re.fullmatch(r"([0-9.]+) ?([a-zA-Z].*)", text)
        if found and knob["key"] != "training.ranks":
            return {knob["key"]: f"{float(found.group(1)) * (1 + share):.6g} {found.group(2)}"}
    return {}


def ten_at_once(server, program):
    """All students turn a knob at the same moment, some lessons with 32 ranks; no two ask for the same."""
    desks = {}
    for student in range(STUDENTS):
        for lesson in (1, 2, 7, 10):
            desk = desks[student, lesson] = Desk(server, lesson)
            desk.subject = desk.predict()["subject"]

    def ask(student, turn):
        desk = desks[student, (1, 2, 2, 7, 10)[(student + turn) % 5]]
        settings = varied(desk.subject["knobs"], (1 + student + STUDENTS * turn) / 1000)
        ranks = any(knob["key"] == "training.ranks" and "32" in knob["values"] for knob in desk.subject["knobs"])
        return desk.run(desk.subject["variant"], {**settings, **({"training.ranks": "32"} if ranks else {})})
    lone = statistics.median(ask(0, ROUNDS + turn).seconds for turn in range(5))
    answers = []
    with ThreadPoolExecutor(STUDENTS) as pool:
        for turn in range(ROUNDS):
            answers += [(f"student {student}, turn {turn}", answer) for student, answer in
                        enumerate(pool.map(lambda student: ask(student, turn), range(STUDENTS)))]
    seconds = [answer.seconds for _, answer in answers]
    for what, answer in answers:
        assert answer.status == 200, f"{what}: {answer}"
    runs = [(what, answer.json()) for what, answer in answers]
    ranks = [run["result"]["ranks"] for _, run in runs]
    print(f"    {len(answers)} runs, {ranks.count(32)} of 32 ranks, {STUDENTS} at a time: median "
          f"{1e3 * statistics.median(seconds):.0f} ms, longest {1e3 * max(seconds):.0f} ms; one alone {1e3 * lone:.0f} ms")
    assert ranks.count(32) > len(ranks) / 2, ranks
    assert len({run["yaml"] for _, run in runs}) > len(runs) / 2, "most students asked for the same"
    limit = max(MEDIAN_S, STUDENTS * lone) * (5 if busy() else 1)
    assert statistics.median(seconds) < limit and max(seconds) < 2 * limit, f"{sorted(seconds)}, alone {lone:.2f} s"
    check_yaml(program, runs)


def check_yaml(program, runs):
    with tempfile.TemporaryDirectory(prefix="syncline-serve-") as folder, ThreadPoolExecutor(2) as pool:
        def check(indexed):
            index, (what, run) = indexed
            check_same(time_of(run["result"]), time_of(simulated(program, run["yaml"], folder, f"{index}.yaml")), what)
        list(pool.map(check, enumerate(runs)))
    print(f"    {len(runs)} numbers equal syncline run of the YAML in the answer")


def samples(values, at, most):
    """Returns `most` of the values that are not the knob's present one: the ends first."""
    others = [value for index, value in enumerate(values) if index != at]
    order = [*others[-1:], *others[:1], *others[len(others) // 2:], *others]
    return list(dict.fromkeys(order))[:most]


def turn_knobs(server, program, most):
    runs, unfit, large = [], 0, 0

    def lesson_runs(number):
        desk = Desk(server, number)
        subject = desk.predict()["subject"]
        assert subject["knobs"], f"lesson {number} has no knobs"
        start = subject["variant"]
        asked = [("start", {}, start, desk.run(start))]
        for knob in subject["knobs"]:
            assert len(set(knob["values"])) == len(knob["values"]) > 1, knob
            for value in samples(knob["values"], knob["at"], most):
                variant, settings = (value, {}) if knob["key"] == "variant" else (start, {knob["key"]: value})
                asked.append((f"{knob['key']}={value}", settings, variant, desk.run(variant, settings)))
        return [(f"lesson {number}, {variant}, {what}", settings, answer) for what, settings, variant, answer in asked]
    with ThreadPoolExecutor(2) as pool:
        for asked in pool.map(lesson_runs, lesson_numbers(server)):
            fit = 0
            for what, settings, answer in asked:
                if answer.status == 422 and settings:
                    error = answer.json()
                    assert error.get("problems") or error["error"]["code"] == "too-large", f"{what}: {answer}"
                    unfit, large = unfit + bool(error.get("problems")), large + (error["error"]["code"] == "too-large")
                    print(f"    {what}: {error['error']['message'][:90]}")
                    continue
                assert answer.status == 200, f"{what}: {answer}"
                run = answer.json()
                for key, value in settings.items():
                    knob = [one for one in run["knobs"] if one["key"] == key][0]
                    assert knob["values"][knob["at"]] == value, f"{what}: the answer's knob is at {knob}"
                runs.append((what, run))
                fit += 1
            assert fit > len(asked) / 2, f"{asked[0][0]}: only {fit} of {len(asked)} settings fit"
    print(f"    {len(runs)} settings of the lessons' knobs; {unfit} do not fit, {large} are too large")
    check_yaml(program, runs)


def some_knobs(server, program):
    turn_knobs(server, program, 1)


def every_knob(server, program):
    turn_knobs(server, program, 1000)
