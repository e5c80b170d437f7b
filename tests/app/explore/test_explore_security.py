"""Forged requests are refused, and bad input gives a message while the server stays up."""

import asyncio
import base64
import json
import secrets

import numpy as np
import pytest

from eigenscape.app.explore.security import HEADERS, MAX_JSON, MAX_UPLOAD, Guard
from explore.explorers import MARKER, client_of

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("forked_python_of_module")]

TOKEN = secrets.token_urlsafe(24)
HOSTS = ("127.0.0.1:8123", "localhost:8123", "[::1]:8123")


class Recorder:
    """An application that counts the requests that reach it and reads their bodies."""

    def __init__(self):
        self.paths = []

    async def __call__(self, scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        self.paths.append(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})


def ask(method="GET", path=f"/{TOKEN}/api/state", host="127.0.0.1:8123", raw_path=None, body=b"", **headers):
    """Send a request to a guarded application; return status, headers and the paths that got through."""
    recorder, sent = Recorder(), []
    pairs = (
        []
        if host is None
        else [(b"host", one.encode()) for one in ([host] if isinstance(host, str) else host)]
    )
    pairs += [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": pairs, "query_string": b""}
    scope["raw_path"] = (path if raw_path is None else raw_path).encode()

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(recorder, TOKEN, HOSTS)(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), recorder.paths


def forged():
    """Yield more than a hundred requests, each wrong in one way."""
    good = {"x_eigenscape": "1"}
    hosts = ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:80", "localhost", "127.0.0.1:8124"]
    hosts += ["127.0.0.1.evil.example:8123", "localhost.evil.example:8123", "0.0.0.0:8123", "127.1:8123"]
    hosts += ["127.0.0.1:8123@evil.example", "evil.example#127.0.0.1:8123", "", " 127.0.0.1:8123", "[::1]"]
    hosts += ["user@127.0.0.1:8123", "127.0.0.1:8123,evil.example", "2130706433:8123", "[::ffff:7f00:1]:8123"]
    hosts += ["localhost:08123", "LOCALHOST.:8123", None]
    for host in hosts:
        yield {"host": host}
        yield {"host": host, "method": "POST", **good}
    yield {"host": ["127.0.0.1:8123", "evil.example"]}
    origins = ["null", "http://evil.example", "https://127.0.0.1:8123", "http://127.0.0.1", "file://"]
    origins += ["http://127.0.0.1:8124", "http://localhost:8123", "http://127.0.0.1:8123.evil.example", ""]
    origins += ["http://127.0.0.1:8123/", "http://user@127.0.0.1:8123", "chrome-extension://abc"]
    for origin in origins:
        yield {"origin": origin}
        yield {"origin": origin, "method": "POST", **good}
    for site in ("cross-site", "same-site", "unknown"):
        yield {"sec_fetch_site": site}
        yield {"sec_fetch_site": site, "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
        yield {
            "sec_fetch_site": site,
            "sec_fetch_mode": "navigate",
            "sec_fetch_dest": "iframe",
            "path": f"/{TOKEN}/",
        }
    tokens = [
        "",
        "x",
        TOKEN[:-1],
        TOKEN + "x",
        TOKEN[::-1],
        TOKEN.upper() + "!",
        "api",
        "%00",
        "null",
        "..",
        ".",
    ]
    tokens += [TOKEN.swapcase(), "A" * 32, f"%20{TOKEN}"]
    for token in tokens:
        yield {"path": f"/{token}/api/state"}
        yield {"path": f"/{token}/", "method": "DELETE", **good}
    yield {"path": f"/{TOKEN}"}
    yield {"path": f"//{TOKEN}/api/state"}
    for part in ("../", "..", "./", "a/../b", "..\\", "a\\b", "assets/../../x", "assets/\0"):
        yield {"path": f"/{TOKEN}/{part}"}
    yield {"path": f"/{TOKEN}/assets/../x", "raw_path": f"/{TOKEN}/assets/..%2fx"}
    yield {"path": f"/{TOKEN}/../x", "raw_path": f"/{TOKEN}/%2e%2e/x"}
    for raw in ("a b", "a\tb", "<script>", "a;b", "ä", 'a"b', "a|b", "a{b}", "x" * 3000):
        yield {"path": f"/{TOKEN}/{raw}", "raw_path": f"/{TOKEN}/{raw}"}
    for method in ("PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "HACK", "get"):
        yield {"method": method, **good}
    for method in ("POST", "DELETE"):
        yield {"method": method}
        yield {"method": method, "x_eigenscape": "0"}
        yield {"method": method, "content_type": "text/plain", "origin": "http://127.0.0.1:8123"}
    for length in (str(MAX_JSON + 1), "-1", "abc", "9" * 30, "1e3"):
        yield {"method": "POST", "content_length": length, **good}
    yield {
        "method": "POST",
        "path": f"/{TOKEN}/api/maps/m1/place",
        "content_length": str(MAX_UPLOAD + 1),
        **good,
    }


def test_more_than_a_hundred_forged_requests_are_refused():
    cases = list(forged())
    assert len(cases) >= 100
    for case in cases:
        status, headers, reached = ask(**case)
        assert 400 <= status < 500, case
        assert reached == [], case
        assert headers[b"content-type"] == b"application/json"
        assert headers[b"x-content-type-options"] == b"nosniff"


def test_requests_of_the_page_get_through_with_the_headers_of_a_strict_policy():
    for case in (
        {},
        {"host": "localhost:8123", "origin": "http://localhost:8123", "sec_fetch_site": "same-origin"},
        {"host": "[::1]:8123", "sec_fetch_site": "none"},
        {"method": "POST", "x_eigenscape": "1", "origin": "http://127.0.0.1:8123", "content_length": "10"},
        {"method": "DELETE", "x_eigenscape": "1"},
    ):
        status, headers, reached = ask(**case)
        assert (status, reached) == (200, ["/api/state"])
        assert headers[b"content-security-policy"] == HEADERS["content-security-policy"].encode()
    link = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert ask(path=f"/{TOKEN}/", **link)[2] == ["/"]  # a link in a notebook
    assert "default-src 'none'" in HEADERS["content-security-policy"]
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_a_body_that_exceeds_its_declared_length_is_not_read_further():
    from starlette.exceptions import HTTPException

    with pytest.raises(HTTPException):
        ask(method="POST", x_eigenscape="1", body=b"x" * (MAX_JSON + 1))


def test_websockets_are_closed():
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": f"/{TOKEN}/", "headers": []}
    asyncio.run(Guard(Recorder(), TOKEN, HOSTS)(scope, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def bad_bodies():
    """Yield addresses with bodies that are not acceptable in some field."""
    mask = base64.b64encode(b"\xff" * 30).decode()  # 240 rows
    for body in (b"", b"[]", b"{", b"1", b'"x"', b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000, b"null"):
        for address in ("fits", "explain", "annotations", "export", "maps/m1/inverse", "maps/m1/place"):
            yield address, body
    fits = [
        {"method": 3},
        {"method": None},
        {},
        {"method": "<script>alert(1)</script>"},
        {"method": "x" * 5000},
    ]
    fits += [{"method": "dda"}, {"method": "isomap", "parameters": []}, {"method": "isomap", "parameters": 5}]
    values = [0, -3, 1e9, "x", "", [], {}, "1; import os", True, 2.5, "9" * 400, "nan"]
    fits += [{"method": "isomap", "parameters": {"n_neighbors": value}} for value in values if value != ""]
    fits += [
        {"method": "isomap", "parameters": {"metric": value}} for value in ("precomputed", [1], 5 * "x" * 99)
    ]
    fits += [
        {"method": "isomap", "parameters": {name: 1}} for name in ("__class__", "n_jobs", "verbose", "x")
    ]
    fits += [{"method": "pca", "standardize": value} for value in ("yes", 1, None, [])]
    for body in fits:
        yield "fits", json.dumps(body).encode()
    points = [None, [], [1], [1, 2, 3], ["a", "b"], [1e400, 0], [None, None], "12", [True, False]]
    for point in points:
        yield "maps/m1/inverse", json.dumps({"point": point}).replace("Infinity", "1e999").encode()
    for components in (None, [], [0], [0, 0], [0, 99], [-1, 0], ["0", "1"], "01", [0.0, 1.0], [True, False]):
        yield "maps/m1/inverse", json.dumps({"point": [0, 0], "components": components}).encode()
    for value in (
        None,
        "",
        "=",
        "AAAA",
        5,
        mask + "AA",
        mask.replace("/", "*"),
        base64.b64encode(bytes(30)).decode(),
    ):
        yield "explain", json.dumps({"mask": value}).encode()
        yield "annotations", json.dumps({"name": "a", "label": "b", "mask": value}).encode()
        if value is not None:
            yield "export", json.dumps({"what": "ids", "mask": value}).encode()
    for name in ("", "  ", None, 4, "x" * 101, "a\nb", "a\0b", "id", "eigenscape_row"):
        yield "annotations", json.dumps({"name": name, "label": "b", "mask": mask}).encode()
    for export in (
        {"what": "passwd"},
        {"what": ["ids"]},
        {"what": "ids", "format": "pickle"},
        {"what": "coordinates"},
    ):
        yield "export", json.dumps(export).encode()
    for text in (None, "", "a,b\n1,2", "1,2,3", "x" * 2**21, ["1"], "=cmd()"):
        yield "maps/m1/place", json.dumps({"text": text}).encode()


def test_bad_input_in_any_field_gives_a_message_and_the_server_stays_up(client):
    for address, body in bad_bodies():
        answer = client.post(f"api/{address}", content=body)
        assert 400 <= answer.status_code < 500, (address, body[:80], answer.text[:200])
        assert answer.headers["content-type"] == "application/json"
        assert 5 < len(answer.json()["error"]) < 1500
    assert client.get("api/state").status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "api/maps/none/coordinates",
        "api/maps/m1/eigenfunction/0",
        "api/maps/m1/missing/99999",
        "api/maps/m1/compare/none",
        "api/columns/99",
        "api/columns/-1",
        "api/columns/x",
        "api/rows/240",
        "api/rows/1e2",
        "api/rows/٣",
        "api/images?rows=",
        "api/images?rows=1,2,x",
        "api/images?rows=" + ",".join(["1"] * 257),
        "api/distances/-1",
        "api/annotations/none",
        "api/nothing",
        "assets/__init__.py",
        "assets/../../__init__.py",
        "assets/%2e%2e/__init__.py",
        "assets//etc/passwd",
        "etc/passwd",
        "api/state/",
    ],
)
def test_addresses_that_do_not_exist_are_refused(client, address):
    answer = client.get(address)
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("new.pkl", b"cos\nsystem\n(S'true'\ntR."),
        ("../../new.exe", b"MZ"),
        ("", b"1,2"),
        ("new.csv", b""),
        ("new.csv", b"\x00\xff\x00"),
        ("new.csv", b"a,b\n1,2\n"),
        ("new.npy", b"\x93NUMPY\x01\x00broken"),
        ("new.parquet", b"PAR1" + bytes(100) + b"PAR1"),
        ("new.png", b"\x89PNG\r\n\x1a\n" + bytes(50)),
        ("new.npz", b"PK\x03\x04" + bytes(40)),
        ("<img src=x onerror=alert(1)>.csv", b"a\n1\n"),
    ],
)
def test_bad_files_give_a_message(client, name, content):
    from urllib.parse import quote

    answer = client.post("api/maps/m1/place", content=content, headers={"X-Filename": quote(name)})
    assert answer.status_code == 400
    assert "eigenscape-explore" not in answer.text  # no path of the server
    assert answer.headers["content-type"] == "application/json"


def test_arrays_of_objects_are_not_unpickled(client, tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    content = (tmp_path / "x.npy").read_bytes()
    answer = client.post("api/maps/m1/place", content=content, headers={"X-Filename": "x.npy"})
    assert answer.status_code == 400


def test_oversize_bodies_are_refused_by_the_server(explorer, client):
    answer = client.post("api/explain", content=b" " * (MAX_JSON + 1))
    assert answer.status_code == 413

    def endless():
        for _ in range(10):
            yield b" " * (MAX_JSON // 8)

    assert client.post("api/explain", content=endless()).status_code == 413
    assert client.get("api/state").status_code == 200
    with client_of(explorer) as other:
        other.headers.pop("X-Eigenscape")
        assert other.post("api/fits", json={"method": "pca"}).status_code == 403
        assert other.delete("api/maps/m1").status_code == 403
        assert other.get("api/state", headers={"Host": "evil.example"}).status_code == 403
        assert other.get("api/state", headers={**MARKER, "Origin": "http://evil.example"}).status_code == 403
