"""The page of a validation: rows, parameters, leave-one-out sensitivity, layouts, assumptions, mechanisms."""
import json
import math

from looks import same
from reader import CLONE, chart_of, check_logs, check_page, check_paper, run


def measured_scenarios(folder):
    """Writes invented measurements: collectives with two calibration rows and one unreliable row, and trainings."""
    (folder / "platform.yaml").write_text("""
name: small
nodes: 8
device: {name: small, flops: 1 Tflops, memory_bandwidth: 1 TBps, reduction_rate: unlimited}
fabric: {bandwidth: 1 GBps, latency: 1 us}
""")
    (folder / "measured").mkdir()
    (folder / "measured/rings.yaml").write_text("""
name: rings </script>
platform: ../platform.yaml
collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 8 MB}
measured:
  source: made up <b>for a test</b>
  noise: 4 %
  field: completion_time_s
  unit: ms
  series:
    - over: [collective.ranks]
      rows: [{at: [2], value: 3.3, calibrates: true}, {at: [4], value: 5, calibrates: true}, {at: [8], value: 5.2}]
    - name: at night
      doubt: the switch was shared
      over: [collective.ranks, collective.bytes]
      rows: [{at: [8, 80 MB], value: 20}]
    - name: bandwidths
      field: bus_bandwidth_Bps
      unit: GBps
      over: [collective.bytes]
      rows: [{at: [1 MB], value: 2.2}, {at: [64 MB], value: 2.4}]
  parameters:
    - {key: platform.fabric.bandwidth, unit: GBps, least: 0.1, most: 50}
    - {key: platform.fabric.latency, unit: us, least: 0.5, most: 5}
  assumptions:
    - {name: few, why: the nodes are not counted, set: {platform.nodes: 4}}
    - {name: trees, why: the algorithm is not named, set: {collective.algorithm: double-binary-tree}}
""")
    (folder / "measured/trainings.yaml").write_text(f"""
platform: {CLONE}/platforms/p100-25g.yaml
workload: {CLONE}/workloads/alexnet-tf.yaml
training: {{ranks: 2, batch_per_rank: 64}}
measured:
  source: made up, too
  field: throughput_samples_per_s
  series:
    - over: [training.ranks]
      rows:
        - {{at: [1], value: 600, calibrates: true, sweep: cluster}}
        - {{at: [2], value: 1150, sweep: cluster}}
        - {{at: [4], value: 2100, sweep: cluster}}
        - {{at: [8], value: 2050, sweep: cluster}}
  parameters:
    - {{key: platform.device.calibration.alexnet-tf.throughput, unit: images/s, least: 100, most: 9000}}
""")
    (folder / "off.yaml").write_text("""
mechanisms:
  - {name: ring, why: each buffer goes through a tree, set: {collective.algorithm: double-binary-tree}}
  - {name: nothing, why: as it is, set: {platform.fabric.topology: star}}
""")
    return folder / "measured"


def validation(driver, folder, syncline, _):
    page = folder / "report.html"
    command = ["validate", measured_scenarios(folder), "--format", "json", "--assumptions", "--ablate", folder / "off.yaml"]
    out = run(syncline, *command, "--report", page)
    assert out == run(syncline, *command), "a page changes the result"
    report = json.loads(out)
    rows = [row for point in report["points"] for row in point["rows"]]
    charts = check_page(driver, page)

    # Every row is in the chart of ratios, and in one of the charts by quantity.
    names = [point["name"] for point in report["points"]]
    ratios = chart_of(charts, "Predicted / measured")
    sets = {one["label"]: one["data"] for one in ratios["sets"]}
    assert list(sets) == [*names, "hollow: calibration row, not counted", "unreliable"], list(sets)
    for point in report["points"]:
        same([dot["x"] - 1 for dot in sets[point["name"]]], [row["error"] for row in point["rows"]], "errors")
    doubted = [row["error"] for row in rows if row["doubt"]]
    assert len(doubted) == 1
    same([dot["x"] - 1 for dot in sets["unreliable"]], doubted, "unreliable")
    for title, field in (("Times", "completion_time_s"), ("Bandwidths", "bus_bandwidth_Bps"),
                         ("Rates", "throughput_samples_per_s")):
        chart = chart_of(charts, title)
        dots = [dot for one in chart["sets"] if one["label"] in names for dot in one["data"]]
        expected = [row for row in rows if row["field"] == field]
        assert expected and chart["rows"] == len(expected), title
        same([dot["x"] for dot in dots], [row["measured"] for row in expected], title)
        same([dot["y"] for dot in dots], [row["predicted"] for row in expected], title)
    assert ratios["rows"] == len(rows) and len(charts) == 4
    hollow = driver.execute_script("const sets = Chart.getChart(document.querySelector('canvas')).data.datasets;"
                                   f"return sets.slice(0, {len(names)}).flatMap((one) => one.pointBackgroundColor)")
    assert [one == "transparent" for one in hollow] == [row["role"] == "calibrates" for row in rows], hollow

    # Tables are in the order of the page: accuracy, then for each scenario parameters, rows and leave-one-out.
    shown = driver.execute_script("""
return [...document.querySelectorAll("table")].filter((table) => !table.closest("details")).map((table) => ({
    caption: table.caption.textContent, rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map(
        (cell) => cell.textContent))}));
""")
    tables = {}
    for one in shown:
        tables.setdefault(one["caption"], []).append(one["rows"])
    figures = tables["Accuracy of predicted rows"][0]
    for line, of in zip(figures, [report, report["without_doubtful"], *report["points"]], strict=True):
        assert line[2:4] == [f"{of['median_accuracy']:.3f}", f"{of['worst_accuracy']:.3f}"], line
        assert math.isclose(float(line[4].removesuffix(" %")), 100 * of["share_above_085"], rel_tol=0.01), line
        assert line[5] == (f"{of['uncalibrated']['median_accuracy']:.3f}" if "uncalibrated" in of else "–"), line
    assert [line[1] for line in figures] == [str(sum(row["role"] == "predicted" for row in some)) for some in (
        rows, [row for row in rows if not row["doubt"]], *(point["rows"] for point in report["points"]))]
    for point, lines in zip(report["points"], tables["Measured and predicted"], strict=True):
        for row, line in zip(point["rows"], lines, strict=True):
            assert line[0] == row["name"]
            assert line[5].replace("−", "-") == f"{100 * row['uncalibrated_error']:+.2f} %", line
            assert line[6] == row["role"]
            assert line[4].replace("−", "-") == f"{100 * row['error']:+.2f} %", line
            assert line[7:] == ([] if point is report["points"][1] else [row["doubt"] or "–"]), line
    ranges = [row["name"] for point in report["points"] for row in point["rows"] if "predicted_lowest" in row]
    lines = [line for some in tables["Lowest and highest prediction"] for line in some]
    assert [line[0] for line in lines] == ranges and all(len(cell) > 1 for line in lines for cell in line), lines
    found, left_out = tables["Parameters fitted to calibration rows"], tables["Change of the predictions"]
    without = tables["Parameters fitted without the row"]
    for point, *lines in zip(report["points"], found, left_out, without, strict=True):
        for one, line in zip(point["parameters"], lines[0], strict=True):
            assert line[0] == one["key"]
            assert line[1].endswith(" " + one["unit"]), line
            assert math.isclose(float(line[1].split()[0]), one["value"], rel_tol=1e-4), line
        for one, line in zip(point["leave_one_out"], lines[1], strict=True):
            assert line[0] == one["row"] and line[3] == one["largest_change_row"]
            assert line[1:3] == [f"{100 * one[change]:.2f} %" for change in ("median_change", "largest_change")], line
        # With one row less, there are too few rows to fit a parameter.
        assert [line[:2] for line in lines[2]] == [[one["row"], parameter["key"]] for one in point["leave_one_out"]
                                                   for parameter in one["parameters"]], lines[2]
        assert all(line[3] == "unchanged" for line in lines[2]), lines[2]
    for line, of in zip(tables["Errors of predicted rows"][0], [report, report["without_doubtful"], *report["points"]],
                        strict=True):
        assert line[1:3] == [f"{100 * of[error]:.2f} %" for error in ("median_error", "mean_error")], line
        assert line[3].replace("−", "-") == f"{100 * of['bias']:+.2f} %", line
        assert line[4] == (f"{of['below_noise']} of {of['with_noise']}" if of["with_noise"] else "–"), line
        assert line[5] == of["worst_row"], line
    sweep, scaling = report["points"][1]["sweeps"][0], report["points"][1]["scaling"][0]
    assert tables["Order of layouts"][0] == [
        ["trainings", "cluster", "4", f"{sweep['rank_correlation']:.3f}",
         "–" if sweep["repeated_correlation"] is None else f"{sweep['repeated_correlation']:.3f}",
         f"{sweep['pairs_in_order']} of {sweep['pairs']}", f"{100 * sweep['regret']:.2f} %"]]
    assert [line[:3] for line in tables["Scaling"][0]] == [["trainings", scaling["series"], "4"]]
    assumed = report["points"][0]["assumptions"]
    assert [line[0] for line in tables["Accuracy under each assumption"][0]] == ["as written", "few", "trees"]
    for line, of in zip(tables["Accuracy under each assumption"][0][1:], assumed, strict=True):
        assert line[1] == str(of["rows"]) and line[5] == str(of["refused"]), line
        assert line[2] == f"{of['median_accuracy']:.3f}", line
    ring, nothing = tables["Median error without each mechanism"][0][1:]
    assert ring[0] == "ring" and nothing == ["nothing", *["–"] * 3], nothing
    for cell, of in zip(ring[1:], [*report["mechanisms"][0]["points"], report["mechanisms"][0]], strict=True):
        assert cell.startswith(f"{100 * of['median_error']:.2f} % (") if of["applies"] else cell == "–", ring
    text = driver.execute_script("return document.body.innerText")
    for words in ("made up <b>for a test</b>", "states a spread of 4 %", "states no spread", "the switch was shared"):
        assert words in text, words
    check_paper(driver)
    check_logs(driver, "tables")
