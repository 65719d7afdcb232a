"""``redbucket draft``: proposals that hold on base and fail on the patch; refusals; a model over loopback."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stories.kit import PYTEST, Ended, Shop, assert_clear, policy, redbucket
from tests.stories.test_review import DRAWN, HEAD, MONEY, WRONG

pytestmark = pytest.mark.usefixtures("libraries")

MISS = "tests/test_m.py::test_split"
FILES = {
    "shop.py": None,
    "tests/test_shop.py": None,
    "money.py": MONEY,
    "tests/test_m.py": "from money import split\n\n\ndef test_split():\n    assert split(11, 3) == [4, 4, 3]\n",
    "tests/test_rows.py": "import pytest\nfrom money import split\n\n\n"
    "@pytest.mark.parametrize(('n', 'm'), [(11, 3), (8, 3)])\n"
    "def test_rows(n, m):\n    assert split(n, m) == sorted(split(n, m))[::-1]\n    assert sum(split(n, m)) == n\n",
    "tests/test_law.py": HEAD + f"{DRAWN}def test_law(n, m):\n    assert sum(split(n, m)) == n\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    made = Shop.open(tmp_path_factory.mktemp("draft"), FILES, rules=policy(PYTEST))
    made.patch({"money.py": WRONG})
    return made


def drafted(
    shop: Shop,
    out: Path,
    nodeid: str,
    *words: str,
    bucket: str = "invariant_miss",
    also: tuple[str, ...] = (),
) -> Ended:
    """Draft for a report with these misses: for the first alone, unless there are others."""
    rows = [
        {
            "nodeid": one,
            "bucket": bucket,
            "introduced": True,
            "message": "AssertionError: assert [1] == [2]",
        }
        for one in (nodeid, *also)
    ]
    ends = {"base": shop.repo.git("rev-parse", "main"), "head": shop.repo.git("rev-parse", "agent/fix")}
    verdict = shop.repo.home / "verdict.json"
    verdict.write_text(json.dumps({"schema": "redbucket.gate/1", "tests": rows, **ends}))
    before = shop.snapshot()
    which = () if also else ("--test", nodeid)
    ended = redbucket("draft", verdict, "-C", shop.path, "--out", out, *which, *words)
    assert shop.snapshot() == before
    return ended


def test_a_property_needs_no_draft_and_noise_gets_none(shop: Shop, tmp_path: Path) -> None:
    ended = drafted(shop, tmp_path / "out", "tests/test_law.py::test_law")
    assert ended.exit_code == 1
    assert "an invariant already, line 8: `assert sum(split(n, m)) == n`" in ended.out
    ended = drafted(shop, tmp_path / "out", MISS, bucket="noise")
    assert ended.exit_code == 1
    assert "its bucket is noise, not invariant_miss" in ended.out


def test_drafts_do_not_go_where_they_would_judge(shop: Shop) -> None:
    assert_clear(drafted(shop, shop.path / "tests" / "properties", MISS), 3, "protected-folder")


def test_what_can_not_be_drafted_for_is_said(shop: Shop, tmp_path: Path) -> None:
    assert_clear(drafted(shop, tmp_path, "tests/test_gone.py::test_gone"), 3, "no-such-test")
    assert_clear(drafted(shop, tmp_path, "tests/test_m.py::test_gone"), 2, "no-test-function")
    empty = shop.repo.home / "empty.json"
    empty.write_text('{"schema": "redbucket.gate/1", "tests": []}')
    assert_clear(redbucket("draft", empty, "-C", shop.path, "--base", "main"), 3, "no-miss")


@pytest.mark.slow
def test_proposals_hold_on_base_and_fail_on_the_patch(shop: Shop, tmp_path: Path) -> None:
    ended = drafted(shop, tmp_path / "out", MISS, "--format", "json")
    report = json.loads(ended.out)
    assert ended.exit_code == report["exit_code"] == 0
    (miss,) = report["misses"]
    says = {one["says"]: one for one in miss["proposals"]}
    assert "its elements add up to amount" in says
    assert "it gives what base's implementation gives" in says
    for one in miss["proposals"]:
        assert (tmp_path / "out" / one["file"]).read_text() == one["source"]
    again = drafted(shop, tmp_path / "out", MISS)
    assert again.exit_code == 0
    place = tmp_path / "out" / says["its elements add up to amount"]["file"]
    place.write_text("# edited\n")
    assert_clear(drafted(shop, tmp_path / "out", MISS), 3, "draft-exists")


ROWS = "tests/test_rows.py::test_rows"


@pytest.mark.slow
def test_each_test_is_drafted_for_once_and_what_can_not_be_drafted_for_is_told(
    shop: Shop, tmp_path: Path
) -> None:
    doctest = "money.py::money.split"
    ended = drafted(
        shop, tmp_path / "out", doctest, "--format", "json", also=(f"{ROWS}[11-3]", f"{ROWS}[8-3]", MISS)
    )
    assert ended.exit_code == 0, ended.err
    first, rows, same = json.loads(ended.out)["misses"]
    assert "no test function" in first["notes"][0]
    assert (rows["nodeid"], rows["also"]) == (f"{ROWS}[11-3]", [f"{ROWS}[8-3]"])
    assert all(p["drawn"] for p in rows["proposals"])
    assert "its elements add up to amount" in {p["says"] for p in rows["proposals"]}
    # one file a law: what was proposed for one miss is not written once more for the next
    files = [p["file"] for miss in (rows, same) for p in miss["proposals"]]
    assert len(set(files)) == len(files) == len(list((tmp_path / "out").iterdir()))
    assert "is proposed above" in "".join(same["notes"])


@pytest.mark.slow
def test_what_was_tried_when_the_time_is_over_is_proposed(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from redbucket.app import property_desk

    asked = iter(
        [False, False, False]
    )  # before the ghostwriter, before the first few, before the patch's run
    monkeypatch.setattr(property_desk, "until", lambda seconds: lambda: next(asked, True))
    ended = drafted(shop, tmp_path / "out", MISS, "--budget", "600", "--format", "json")
    assert ended.exit_code == 0, ended.err
    (miss,) = json.loads(ended.out)["misses"]
    assert 0 < miss["candidates"] <= 25
    assert "it gives what base's implementation gives" in {p["says"] for p in miss["proposals"]}
    assert "the time budget ran out" in "".join(miss["notes"])


@pytest.mark.slow
def test_a_model_that_does_not_answer_costs_its_own_proposal_alone(
    shop: Shop, tmp_path: Path, endpoint: type[_Answers]
) -> None:
    endpoint.status = 400
    ended = drafted(shop, tmp_path / "out", MISS, "--model", "local", "--format", "json")
    assert ended.exit_code == 0, ended.err
    (miss,) = json.loads(ended.out)["misses"]
    assert miss["proposals"]
    assert "[model-failed]" in "".join(miss["notes"])


@pytest.mark.slow
def test_a_patch_that_never_ends_is_asked_of_what_holds_on_base_alone(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path, FILES, rules=policy(PYTEST, timeout=1))
    endless = MONEY.replace("parts):\n", "parts):\n    while amount % 2: pass\n", 1)
    assert endless != MONEY
    shop.patch({"money.py": endless})
    ended = drafted(shop, tmp_path / "out", MISS, "--format", "json")
    assert ended.exit_code == 0, ended.err
    (miss,) = json.loads(ended.out)["misses"]
    assert miss["held"] < miss["candidates"] / 2
    assert "it gives what base's implementation gives" in {one["says"] for one in miss["proposals"]}


class _Answers(http.server.BaseHTTPRequestHandler):
    """The chat endpoint of the OpenAI protocol, on loopback."""

    seen: list[dict[str, Any]] = []  # noqa: RUF012 (one server, one test)
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).seen.append({"path": self.path, **body})
        text = "```python\nimport os\nos.abort()\n\n\ndef test_model():\n    assert 1\n```"
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        data = json.dumps(answer if self.status == 200 else {"error": {"message": "no"}}).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, form: str, *args: object) -> None:
        return


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Answers]]:
    pytest.importorskip("llm")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "extra-openai-models.yaml").write_text(
        f"- model_id: local\n  model_name: m\n  api_base: http://127.0.0.1:{server.server_port}/v1\n"
    )
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    _Answers.seen, _Answers.status = [], 200
    yield _Answers
    server.shutdown()
    server.server_close()


def test_a_model_is_asked_over_http_and_what_it_writes_is_text(endpoint: type[_Answers]) -> None:
    from redbucket.core.errors import Misused, WorldFailed
    from redbucket.core.prompt import answer_text
    from redbucket.edges.model import ask_with

    text = answer_text(ask_with("local")("Write one."), "t::a")
    assert "os.abort()" in text  # written down, and run by nobody
    (request,) = endpoint.seen
    assert request["path"] == "/v1/chat/completions"
    assert request["messages"][-1]["content"] == "Write one."
    with pytest.raises(Misused) as unknown:
        ask_with("no-such-model")
    assert unknown.value.code == "unknown-model"
    endpoint.status = 400
    with pytest.raises(WorldFailed) as failed:
        ask_with("local")("Write one.")
    assert failed.value.code == "model-failed"


@pytest.mark.slow
def test_a_models_proposal_lies_beside_the_laws(shop: Shop, tmp_path: Path, endpoint: type[_Answers]) -> None:
    ended = drafted(shop, tmp_path / "out", MISS, "--model", "local", "--format", "json")
    assert ended.exit_code == 0, ended.err
    (by_model,) = [p for p in json.loads(ended.out)["misses"][0]["proposals"] if p["by"] == "model"]
    assert by_model["tried"] is False
    assert "os.abort()" in (tmp_path / "out" / by_model["file"]).read_text()
    prompt = endpoint.seen[0]["messages"][-1]["content"]
    assert MISS in prompt
    assert "divmod" not in prompt
