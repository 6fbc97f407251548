"""What a server on a student's machine must refuse: other sites, other hosts, wrong tokens, odd requests, paths."""
import gzip
import json
import os
import pathlib
import shutil
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from lessons import Desk
from server import Server, read_all, status_of, student

POLICY = {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
          "img-src": "data: blob:", "frame-ancestors": "'none'", "base-uri": "'none'", "form-action": "'none'"}
PAGES = {"/": "text/html", "/lesson/2": "text/html", "/live.css": "text/css", "/live.js": "javascript",
         "/chart.js": "javascript"}


def check_headers(answer, what):
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";") if part.strip())
    assert policy == POLICY, f"{what}: {policy}"
    assert answer.headers["X-Content-Type-Options"] == "nosniff", what
    assert answer.headers["Referrer-Policy"] == "no-referrer", what
    for header in ("Access-Control-Allow-Origin", "Access-Control-Allow-Headers", "Set-Cookie"):
        assert header not in answer.headers, f"{what}: {header}: {answer.headers[header]}"


def refused(answer, *statuses):
    assert answer.status in statuses, f"{answer}, expected {statuses}"
    check_headers(answer, answer)
    error = answer.json()["error"]
    assert error["code"] and error["message"], answer
    assert "Authorization" not in error["message"] or len(error["message"]) < 200
    return error


def pages_and_headers(server, _):
    for path, kind in PAGES.items():
        answer = server.get(path, token=False)
        assert answer.status == 200 and kind in answer.headers["Content-Type"], f"{path}: {answer.headers}"
        assert "utf-8" in answer.headers["Content-Type"].lower(), f"{path}: {answer.headers['Content-Type']}"
        check_headers(answer, path)
        assert server.token.encode() not in answer.body, f"{path} has the token"
        assert len(answer.body) > 200, path
    page = server.get("/", token=False).body
    assert b" style=" not in page and b"<script>" not in page and b" onclick=" not in page, "inline, which the policy forbids"
    assert server.get("/lesson/2", token=False).body == page
    about = server.get("/api/v1/about")
    check_headers(about, "about")
    assert "no-store" in about.headers["Cache-Control"], dict(about.headers)
    assert "application/json" in about.headers["Content-Type"]
    assert [lesson["id"] for lesson in about.json()["lessons"]] == list(range(1, 21)), about


def tokens(server, _):
    for path in ("/api/v1/about", "/api/v1/lessons/2?student=" + student(), "/api/v1/nothing", "/api/v1"):
        for token in (False, "", "0" * 32, server.token[:-1], server.token + "0", server.token.upper() + "x", "ä" * 16):
            refused(server.get(path, token=token.encode("utf-8").decode("latin-1") if token else token), 401, 403)
    for value in (server.token, f"Basic {server.token}", f"Bearer  {server.token} x"):
        refused(server.get("/api/v1/about", token=False, Authorization=value), 401, 403)
    refused(server.get(f"/api/v1/about?token={server.token}", token=False), 401, 403)
    refused(server.post("/api/v1/runs", {}, token="1" * 32), 401, 403)
    refused(server.ask("DELETE", "/api/v1/runs/x", token=False), 401, 403)
    assert server.get("/api/v1/about").status == 200


def other_sites(server, _):
    port = server.port
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1:{port + 1}", f"127.0.0.1.evil.example:{port}",
                 f"localhost.evil.example:{port}", f"0.0.0.0:{port}", f"127.0.0.1:{port}@evil.example", ""):
        for path in ("/", "/live.js", "/api/v1/about"):
            answer = server.get(path, Host=host)
            assert answer.status in (400, 403), f"Host '{host}', {path}: {answer}"
            check_headers(answer, host)
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}",
                   f"http://127.0.0.1:{port}.evil.example"):
        refused(server.get("/api/v1/about", Origin=origin), 403)
        refused(server.post("/api/v1/runs", {}, Origin=origin), 403)
    for site in ("cross-site", "same-site"):
        refused(server.get("/api/v1/about", Sec_Fetch_Site=site), 403)
    for host in (f"127.0.0.1:{port}", f"localhost:{port}"):
        assert server.get("/api/v1/about", Host=host).status == 200, host
        assert server.get("/api/v1/about", Host=host, Origin=f"http://{host}").status == 200, host
    for site in ("same-origin", "none"):
        assert server.get("/api/v1/about", Sec_Fetch_Site=site).status == 200, site
    # Two hosts, or none, are no request that a browser sends.
    for hosts in (b"Host: evil.example\r\n", b""):
        own = f"Host: 127.0.0.1:{port}\r\n".encode() if hosts else b""
        got, status = server.raw(b"GET / HTTP/1.1\r\n" + own + hosts + b"Connection: close\r\n\r\n")
        assert status in (400, 403), got[:200]


def large_bodies(server, _):
    large = b'{"id": "' + b"a" * 10_000_000 + b'"}'
    # Announced only: the answer comes before the body.
    head = server.request("POST", "/api/v1/runs", "Content-Type: application/json", f"Content-Length: {len(large)}")
    got, status = server.raw(head, timeout=30)
    assert status == 413, got[:300]
    # Sent: the client may be cut off while it sends.
    with server.connect() as connection:
        received = []
        reader = threading.Thread(target=lambda: received.append(read_all(connection)))
        reader.start()
        cut = False
        try:
            connection.sendall(head + large)
        except OSError:
            cut = True
        reader.join()
    assert status_of(received[0]) == 413 or cut and not received[0], received[0][:300]
    server.alive()
    # Just above 64 kB, and below.
    for size, statuses in ((70_000, (413,)), (60_000, (400, 404, 422))):
        answer = server.post("/api/v1/check", {"variant": "x" * size})
        assert answer.status in statuses, f"{size}: {answer}"
    # A head of 100 kB.
    got, status = server.raw(server.request("GET", "/api/v1/about", "Cookie: " + "a" * 100_000))
    assert status in (400, 413, 414, 431, None), got[:300]
    server.alive()


def costly_heads(server, _):
    """Heads that ask for much work or memory."""
    ranges = "Range: bytes=" + ",".join(["0-"] * 2000)
    got, status = server.raw(server.request("GET", "/live.js", ranges))
    assert status == 416 and len(got) < 1_000_000, f"{len(got)} bytes: {got[:300]}"
    packed = gzip.compress(b" " * 10_000_000)
    for path in ("/", "/api/v1/check"):
        refused(server.ask("POST", path, packed, Content_Encoding="gzip"), 415)
    before = server.memory_kb()
    for beginning, more in ((b"G", b"E" * 1_000_000), (server.request("GET", "/")[:-2], b"A: b\r\n" * 200_000)):
        with server.connect() as connection:
            try:
                connection.sendall(beginning + more * 30)
            except OSError:
                pass  # cut off
    grown = server.memory_kb() - before
    assert grown < 10_000, f"heads without an end made the server grow by {grown} kB"
    server.alive()


def odd_lengths(server, _):
    kind = "Content-Type: application/json"
    requests = [server.request("POST", "/api/v1/check", kind, *headers, body=b"{}") for headers in (
        ["Content-Length: -1"], ["Content-Length: 99999999999999999999"], ["Content-Length: ten"],
        ["Content-Length: 2", "Content-Length: 3"], ["Content-Length: 2", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked"], ["Transfer-Encoding: gzip"])]
    requests += [b"\r\n\r\n", b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET  /  HTTP/1.1\r\n\r\n",
                 b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"GET / HTTP/1.1\nHost: a\n\n"]
    with ThreadPoolExecutor(len(requests)) as pool:  # some are answered only when the server has lost its patience
        for request, (got, status) in zip(requests, pool.map(server.raw, requests)):
            assert status is None or 400 <= status < 506, f"{request}: {got[:300]}"
    server.alive()


PATHS = ["/../../etc/passwd", "/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd",
         "/%252e%252e/etc/passwd", "/..\\..\\etc\\passwd", "/..%5c..%5cetc", "/.", "/..", "/./live.js/../../x", "//etc/passwd",
         "/etc/passwd", "/lesson/../x", "/lesson/2/../../etc/passwd", "/lesson/%2e%2e%2fx", "/lesson/", "/lesson/-1",
         "/lesson/2%00", "/lesson/2/", "/%00", "/live.css%00.html", "/live.js/", "/LIVE.JS", "/live.js.map", "/index.html", "/.git/config",
         "/favicon.ico/..", "/%", "/%zz", "/%c0%ae%c0%ae/etc/passwd", "/?/../../etc/passwd%00", "/" + "a/../" * 2000,
         "/" + "a" * 100_000, "http://evil.example/", "file:///etc/passwd", "*",
         "/api/v1/lessons/..%2f..%2f..%2fetc%2fpasswd", "/api/v1/lessons/../../../etc/passwd", "/api/v1/lessons/2%00",
         "/api/v1/lessons/-1", "/api/v1/lessons/0", "/api/v1/lessons/21", "/api/v1/lessons/99999999999999999999999",
         "/api/v1/lessons/2e0", "/api/v1/lessons/parameter-server/../x", "/api/v1/lessons/", "/api/v1/runs/..%2fx", "/api/v1/",
         "/api/v1", "/api", "/api/v1/predictions.csv/../x", "/api/v1/about/../../../etc/passwd"]


def paths(server, _):
    page = server.get("/", token=False).body
    for path in PATHS:
        got, status = server.raw(server.request("GET", path))
        short = path[:60]
        if status == 200 and path.startswith("/?"):
            assert page in got, f"{short}: {got[:300]}"  # what follows "?" does not belong to the path
            continue
        # A line that is longer than a whole request may be is not read to its end.
        cut = len(path) > 80_000 and not got
        assert cut or status in (400, 403, 404, 405, 413, 414, 422, 431), f"{short}: {got[:300]}"
        assert b"root:" not in got and page not in got, f"{short}: {got[:300]}"
    for raw in (b"/\0", b"/live.js\0", b"/\xff\xfe", b"/\x01", b"/a b"):
        got, status = server.raw(server.request("GET", raw))
        assert status is None or 400 <= status < 506, f"{raw}: {got[:300]}"
    server.alive()


def methods_and_types(server, _):
    for method in ("PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW", "POST", "DELETE"):
        for path in ("/", "/api/v1/about"):
            got, status = server.raw(server.request(method, path, "Content-Length: 0"))
            assert status is None or 400 <= status <= 501, f"{method} {path}: {got[:300]}"
            assert b"Access-Control" not in got, f"{method} {path}: {got[:300]}"
    assert server.get("/api/v1/runs").status in (404, 405)
    head, status = server.raw(server.request("HEAD", "/"))
    assert status in (200, 404, 405, 501) and b"<" not in head, head[:300]
    desk = Desk(server, 2)
    desk.predict()
    body = json.dumps({"lesson": 2, "student": desk.student, "variant": "ring-8", "set": {}})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", None):
        answer = server.post("/api/v1/check", body, Content_Type=kind)
        refused(answer, 400, 415)
    answer = server.post("/api/v1/check", body, Content_Type="application/json; charset=utf-8")
    assert answer.status == 200, answer


def not_json(server, _):
    deep = 10_000
    for body in (b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe{}", b"{} {}", b'{"lesson": NaN}', b"[" * deep + b"]" * deep,
                 b'{"a":' * deep + b"1" + b"}" * deep, b'{"\xc3": 1}',
                 '{"a' + "ä" * 100 + '": 1}'):
        for path in ("runs", "grids", "check", "predictions"):
            refused(server.post(f"/api/v1/{path}", body.encode() if isinstance(body, str) else body), 400, 422)
    desk = Desk(server, 2)
    desk.predict()
    known = desk.request("ring-8")
    refused(server.post("/api/v1/runs", {**known, "unknown": 1}), 400)
    refused(server.post("/api/v1/check", {**known, "file": "/etc/passwd"}), 400)
    for field, values in {"id": [1, [], "x" * 1000], "lesson": ["../x", 2.5, [2], -1, 0, 1e30, True],
                          "student": [1, "", "x" * 1000, "../../x", None, "zz"], "variant": [1, "nothing", [], "../x"],
                          "set": ["a=b", 1, [1], {"training.ranks": {"a": 1}}, {"training.ranks": 8}], "replaces": [1, [1]]}.items():
        for value in values:
            refused(server.post("/api/v1/runs", {**known, field: value}), 400, 403, 404, 422)
    server.alive()


def settings_that_do_not_fit(server, _):
    desk = Desk(server, 2)
    desk.predict()
    error = refused(desk.run("ring-8", {"training.rnks": "8"}), 422)
    assert "rnks" in error["message"] and error["hint"], error
    # Errors of the scenario's reader have a place.
    answer = desk.run("ring-8", {"training.ranks": "8.5"})
    refused(answer, 422)
    assert all("8.5" in one["message"] and {"line", "column", "key", "hint"} <= set(one) for one in answer.json()["problems"]), answer
    for key, value in (("training.ranks", "-8"), ("training.ranks", "8.5"), ("training.ranks", "many"), ("training.ranks", ""),
                       ("training.ranks", "1e999"), ("training.ranks", "99999999999999999999999"), ("training.algorithm", "rnig"),
                       ("platform.fabric.bandwidth", "5"), ("platform.fabric.bandwidth", "-1 GBps"),
                       ("platform.fabric.latency", "1 GBps"), ("nothing", "1"), ("", "1"), ("training", "{ranks: 8"),
                       ("training..ranks", "8"), ("x" * 5000, "1"), ("training.ranks", "9" * 5000), ("training.ranks", "[" * 3000)):
        answer = desk.run("ring-8", {key: value})
        assert answer.status in (400, 422), f"{key[:40]}={value[:40]}: {answer}"
        refused(answer, answer.status)
        checked = desk.check("ring-8", {key: value})
        assert checked.status in (400, 422) or checked.json()["ok"] is False, f"{key[:40]}={value[:40]}: {checked}"
    # A word is not even read if the knob does not list it: it might name a file.
    for key in ("training.ranks", "training.algorithm", "platform.fabric.latency"):
        for word in ("/etc/passwd", "x.yaml", "{file: x.yaml}"):
            assert refused(desk.check("ring-8", {key: word}), 422)["code"] == "no-value", f"{key}={word}"
    # Text from a request comes back as text of JSON.
    answer = desk.run("ring-8", {"training.algorithm": '</script><img src=x onerror="alert(1)">'})
    assert answer.status == 422 and "application/json" in answer.headers["Content-Type"], answer
    many = {f"training.x{i}": "1" for i in range(2000)}
    assert desk.run("ring-8", many).status in (400, 413, 422)
    server.alive()


def too_large(server, _):
    desk = Desk(server, 2)
    desk.predict()
    for ranks in ("2000", "100000", "2000000000"):
        start = time.monotonic()
        answer = desk.run("ring-16", {"training.ranks": ranks})
        assert answer.status == 422, f"{ranks} ranks: {answer}"
        assert time.monotonic() - start < 5, f"{ranks} ranks: refused after {time.monotonic() - start:.1f} s"
    answer = desk.run("ring-16", {"training.ranks": "2000"})
    error = refused(answer, 422)
    assert error["code"] == "too-large", answer
    assert "syncline run" in error["hint"] and "training.ranks=2000" in error["hint"], f"no command to type: {error}"
    # Other ways to much work.
    for key, value in (("training.iterations", "1000000"), ("training.batch_per_rank", "1" + "0" * 15),
                       ("platform.fabric", "{topology: fat-tree, k: 100000, bandwidth: 1 GBps, latency: none}"),
                       ("platform.fabric", "{topology: torus, dimensions: [1000, 1000, 1000], bandwidth: 1 GBps, latency: none}")):
        start = time.monotonic()
        answer = desk.run("ring-16", {key: value})
        assert time.monotonic() - start < 15, f"{key}={value}: answered after {time.monotonic() - start:.1f} s: {answer}"
    values = [str(n) for n in range(2, 67)]
    grid = {"id": "g", "lesson": 2, "student": desk.student, "variant": "ring-8", "set": {},
            "axis": {"key": "training.ranks", "values": values}}
    refused(server.post("/api/v1/grids", grid), 400, 413, 422)
    grid["axis"]["values"] = ["2000"] * 4
    answer = server.post("/api/v1/grids", grid)
    assert answer.status in (400, 422) or all("problem" in point for point in answer.json()["points"]), answer
    server.alive()


def files_of(folder):
    """Files that a request might name: a workload, a platform, a topology; and a FIFO that keeps whoever opens it."""
    workload = folder / "secret-workload.yaml"
    workload.write_text("name: secret\ninput: [1, 1, 1]\nlayers:\n"
                        "  - {name: all, kind: custom, parameters: 25000000, macs: 0}\n")
    (folder / "secret-topology.yaml").write_text("topology: star\nhosts: 32\nbandwidth: 1 GBps\nlatency: none\n")
    (folder / "secret.txt").write_text("secret-content\n")
    os.mkfifo(folder / "secret-fifo.yaml")
    return [folder / name for name in ("secret-workload.yaml", "secret-topology.yaml", "secret.txt", "secret-fifo.yaml",
                                       "secret-missing.yaml")]


def settings_with_files(file):
    for key in ("workload", "platform", "platform.fabric", "platform.device", "platform.fabric.topology", "training.selection",
                "training.framework", "training.overlay", "training.msccl", "collective", "trace", "trace.files", "jobs",
                "platform.transport", "platform.host", "platform.per_node", "platform.per_node.links", "variants", "include",
                "platform.fabric.file", "training.documents.file", "training.placement", "expect", "axes"):
        yield key, file
    for key, value in (("platform.fabric", "{topology: FILE}"), ("platform.fabric", "{file: FILE}"), ("workload", "{base: FILE}"),
                       ("platform", "{base: FILE}"), ("training.documents", "{file: FILE, mean: 100}"), ("trace", "{files: [FILE]}"),
                       ("trace", "{files: FILE, ranks: 2}"), ("jobs", "{submissions: FILE}"), ("jobs", "{list: [{scenario: FILE}]}"),
                       ("training", "{selection: FILE, ranks: 8}"), ("training", "{msccl: FILE, ranks: 8}"),
                       ("collective", "{operation: allreduce, algorithm: ring, msccl: FILE}"), ("workload", "!include FILE"),
                       ("workload", "[FILE]"), ("workload", "'FILE'"), ("workload", "&a FILE"), ("platform", "{simgrid: FILE}")):
        yield key, value.replace("FILE", file)


def no_file_is_opened(server, program):
    """Names files of the disk in every way, in a server whose system calls are recorded."""
    with tempfile.TemporaryDirectory(prefix="syncline-secret-") as name:
        folder = pathlib.Path(name)
        files = [str(file) for file in files_of(folder)]
        files += [os.path.relpath(files[0], pathlib.Path.cwd()), "../" * 12 + files[3].lstrip("/"), "/dev/zero"]
        log = folder / "system-calls"
        strace = shutil.which("strace")
        under = [strace, "-D", "-f", "-qq", "-e", "trace=%file", "-o", str(log)] if strace else []
        with Server(program, under=under) as own:
            desk = Desk(own, 2)
            desk.predict()
            count = 0
            for file in (files[0], files[3], files[4], "/etc/passwd"):
                for key, value in settings_with_files(file):
                    answer = desk.check("ring-8", {key: value})
                    assert answer.status in (400, 422) or answer.json()["ok"] is False, f"{key}={value}: {answer}"
                    assert b"secret-content" not in answer.body and b"root:" not in answer.body, answer
                    count += 1
            # A file that exists and one that does not are refused with the same words.
            said = []
            for file in (files[0], files[4]):
                for settings in ({"workload": file}, {"platform.fabric": f"{{topology: {file}}}"}):
                    answer = desk.run("ring-8", settings)
                    assert answer.status in (400, 422), answer
                    said.append(json.dumps(answer.json()).replace(file, "FILE"))
            assert said[:2] == said[2:], f"the answer tells whether a file exists: {said}"
            for field in ("lesson", "variant", "student"):
                for file in files:
                    refused(own.post("/api/v1/runs", {**desk.request("ring-8"), field: file}), 400, 403, 404, 422)
            # Whoever has opened the FIFO waits for a writer.
            try:
                os.close(os.open(files[3], os.O_WRONLY | os.O_NONBLOCK))
                raise AssertionError("a FIFO that a request named is open")
            except OSError:
                pass
            assert not own.zombies(), own.zombies()
            own.alive()
        if strace:
            time.sleep(0.2)
            calls = log.read_text(errors="replace").splitlines()
            assert len(calls) > 10, "strace has recorded nothing"
            opened = [line for line in calls if "secret-" in line or "/etc/passwd" in line and "O_CLOEXEC" not in line]
            assert not opened, f"{len(opened)} system calls name a file of a request: {opened[:5]}"
        print(f"    {count} settings with files refused; {'strace saw none of them opened' if strace else 'without strace'}")


ALL = [pages_and_headers, tokens, other_sites, large_bodies, costly_heads, odd_lengths, paths, methods_and_types, not_json,
       settings_that_do_not_fit, too_large, no_file_is_opened]
