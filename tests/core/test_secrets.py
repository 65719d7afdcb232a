"""Secrets in recordings: what must be found, and honest recordings in which nothing may be."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import string
import zipfile

import pytest
import yaml

from redbucket.core.secrets import secrets

ALNUM = string.ascii_letters + string.digits


def drawn(length: int, alphabet: str = ALNUM, seed: str = "") -> str:
    """A token of nobody's, the same in each run."""
    return "".join(random.Random(f"{length}{alphabet}{seed}").choices(alphabet, k=length))


HEX, UPPER = "0123456789abcdef", string.ascii_uppercase + string.digits
RANDOM = drawn(40)


def cassette(
    *, request: dict[str, str] | None = None, response: dict[str, str] | None = None, body: object = "{}",
    uri: str = "https://example.org/",
) -> str:  # fmt: skip
    headers = [{k: [v] for k, v in (each or {}).items()} for each in (request, response)]
    return yaml.safe_dump(
        {
            "interactions": [
                {
                    "request": {"method": "GET", "uri": uri, "headers": headers[0], "body": None},
                    "response": {"headers": headers[1], "body": {"string": body}, "status": {"code": 200}},
                }
            ],
            "version": 1,
        }
    )


def zipped(files: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


BASIC = base64.b64encode(f"ada:{drawn(18)}".encode()).decode()
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{drawn(64)}\n{drawn(64, seed='2')}\n-----END RSA PRIVATE KEY-----\n"

FOUND: dict[str, tuple[str, str | bytes]] = {
    "AWS": ("a.txt", f"id AKIA{drawn(16, UPPER)}\n"),
    "GitHub": ("a.json", json.dumps({"x": f"ghp_{drawn(36)}"})),
    "GitHub fine-grained": ("a.yaml", f"x: github_pat_{drawn(60)}\n"),
    "GitLab": ("a.txt", f"glpat-{drawn(20)}"),
    "Slack": ("a.json", json.dumps(["xoxb-" + drawn(12, string.digits) + "-" + drawn(24)])),
    "Stripe": ("a.csv", f"a,sk_live_{drawn(24)}\n"),
    "Google": ("a.json", json.dumps({"url": f"https://maps.example/?q=AIza{drawn(35)}"})),
    "OpenAI": ("a.yaml", cassette(request={"authorization": f"Bearer sk-proj-{drawn(48)}"})),
    "Anthropic": ("a.yaml", cassette(request={"x-api-key": f"sk-ant-api03-{drawn(60)}"})),
    "Hugging Face": ("a.txt", f"hf_{drawn(34)}"),
    "SendGrid": ("a.txt", f"SG.{drawn(22)}.{drawn(43)}"),
    "npm": ("a.txt", f"//registry/:_authToken=npm_{drawn(36)}"),
    "Bearer": ("a.yaml", cassette(request={"Authorization": f"Bearer {RANDOM}"})),
    "upper-case header": ("a.yaml", cassette(request={"AUTHORIZATION": f"token {RANDOM}"})),
    "Basic": ("a.yaml", cassette(request={"Authorization": f"Basic {BASIC}"})),
    "Set-Cookie": ("a.yaml", cassette(response={"set-cookie": f"sessionid={RANDOM}; Path=/; HttpOnly"})),
    "Cookie": ("a.yaml", cassette(request={"Cookie": f"lang=en; sid={RANDOM}"})),
    "X-Api-Key": ("a.yaml", cassette(request={"X-Api-Key": drawn(32, HEX)})),
    "query": ("a.yaml", cassette(uri=f"https://example.org/a?page=1&api_key={drawn(32, HEX)}")),
    "user info": ("a.yaml", cassette(uri=f"https://ada:{drawn(16)}@example.org/")),
    "JSON body": ("a.yaml", cassette(body=json.dumps({"access_token": RANDOM, "expires_in": 3600}))),
    "gzip body": ("a.yaml", cassette(body=gzip.compress(json.dumps({"refresh_token": RANDOM}).encode()))),
    "betamax": (
        "a.json",
        json.dumps(
            {
                "http_interactions": [
                    {
                        "request": {
                            "headers": {"Authorization": [f"bearer {RANDOM}"]},
                            "uri": "https://x.org",
                        },
                        "response": {"headers": {}, "body": {"string": "", "encoding": "utf-8"}},
                    }
                ]
            }
        ),
    ),
    "HAR": (
        "a.har",
        json.dumps(
            {"log": {"entries": [{"request": {"headers": [{"name": "Authorization", "value": RANDOM}]}}]}}
        ),
    ),
    "form": ("a.json", json.dumps({"body": f"grant_type=x&client_secret={RANDOM}"})),
    "snapshot": ("a.ambr", f"# name: test\n  dict({{\n    'api_key': '{RANDOM}',\n  }})\n"),
    "key": ("a.txt", PEM),
    "JWT": ("a.txt", f"eyJ{drawn(20)}.eyJ{drawn(40)}.{drawn(43)}"),
    "URL in a text": ("a.txt", f"see https://ada:{drawn(20)}@example.org/x.git, and more\n"),
    "database": ("a.txt", f"DATABASE_URL=postgres://ada:{drawn(20)}@db:5432/shop\n"),
    "URL in a sentence": ("a.json", json.dumps({"log": f"GET 'redis://:{drawn(20)}@cache/0' failed"})),
    "AWS secret": ("a.ini", f"[default]\naws_secret_access_key = {drawn(40, ALNUM + '+/')}\n"),
    "secret": ("a.cfg", f"[app]\nsecret = {RANDOM}\n"),
    "secret in YAML": ("a.yaml", f"app:\n  webhook_secret: {RANDOM}\n"),
    "properties": ("a.properties", f"spring.mail.password={drawn(18)}\n"),
    "environment": ("a.env", f"export CLIENT_SECRET='{RANDOM}'\n"),
    "JSON in JSON": ("a.json", json.dumps({"body": json.dumps({"access_token": RANDOM})})),
    "JSON twice in JSON": (
        "a.json",
        json.dumps({"body": json.dumps({"inner": json.dumps([{"api_key": RANDOM}])})}),
    ),
    "JSON in a text": ("a.ambr", "  'body': " + json.dumps(json.dumps({"access_token": RANDOM})) + ",\n"),
    "JSON in a JSON body": (
        "a.yaml",
        cassette(body=json.dumps({"payload": json.dumps({"refresh_token": RANDOM})})),
    ),
    "a message in a string": (
        "a.json",
        json.dumps({"raw": f"GET / HTTP/1.1\r\nX-Api-Key: {RANDOM}\r\n\r\n"}),
    ),
    "a file in a string": ("a.yaml", f"file: |\n  [x]\n  api_key = {RANDOM}\n"),
    "pairs": ("a.json", json.dumps([["Accept", "*/*"], ["Authorization", f"Bearer {RANDOM}"]])),
    "pairs after a masked one": (
        "a.json",
        json.dumps([["Authorization", "REDACTED"], ["X-Api-Key", RANDOM]]),
    ),
    "names and values in turn": ("a.json", json.dumps({"raw": ["Host", "x", "Cookie", f"sid={RANDOM}"]})),
    "tuples": ("a.txt", f"[('Accept', '*/*'), (b'Authorization', b'Bearer {RANDOM}')]\n"),
    "key and value": ("a.json", json.dumps([{"key": "client_secret", "value": RANDOM}])),
    "column": ("a.csv", f"id,api_key,name\n1,{RANDOM},Ada\n"),
    "column of a TSV": ("a.tsv", f"password\tid\n{drawn(18)}\t1\n"),
    "rows of a table": ("a.json", json.dumps({"rows": [["id", "access_token"], [1, RANDOM]]})),
    "XML": ("a.xml", f"<r><access_token>{RANDOM}</access_token></r>\n"),
    "second cookie of a text": ("a.txt", f"Cookie: lang=en; theme=dark; sessionid={RANDOM}\n"),
    "gzip": ("a.json.gz", gzip.compress(json.dumps({"access_token": RANDOM}).encode())),
    "gzip of a text": ("a.log.gz", gzip.compress(f"id AKIA{drawn(16, UPPER)}\n".encode())),
    "zip": ("a.zip", zipped({"inner/a.ini": f"api_key = {RANDOM}\n"})),
    "tar.gz in a zip": ("a.zip", zipped({"a.json.gz": gzip.compress(f'{{"api_key": "{RANDOM}"}}'.encode())})),
    "broken YAML": ("a.yaml", f"a: [\nAuthorization: Bearer {RANDOM}\n"),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_must_be_found(name: str) -> None:
    path, text = FOUND[name]
    raw = text if isinstance(text, bytes) else text.encode()
    found = secrets(f"tests/data/{path}", raw)
    assert found
    for each in found:  # where and what kind, never the value
        for part in (RANDOM, drawn(36), drawn(20), drawn(18), BASIC, drawn(32, HEX)):
            assert part not in f"{each.kind} {each.place}"


HONEST: dict[str, tuple[str, str | bytes]] = {
    "all punctuation in its order, as a password of a URL": (
        "tests/data/urls.json",
        json.dumps({"password": "%20!%22$%&'()*+,-.%3A%3B%3C%3D%3E%40%5B%5C%5D%5E_%60%7B%7C%7D~"}),
    ),
    "an alphabet": (
        "tests/data/quoted.json",
        json.dumps({"api_key": "0123456789ABCDEFGHIJKLMNOPQRSTUVabcdefg"}),
    ),
    **{
        f"masked as {mask}": ("a.yaml", cassette(request={"Authorization": f"Bearer {mask}"}))
        for mask in (
            *("REDACTED", "<TOKEN>", "***", "xxxxxxxxxxxxxxxxxxxxxxxx", "dummy-token-123", "${API_TOKEN}"),
            *(
                "FILTERED1234567890ab",
                "{{ token }}",
                "fake-access-token-4f3a",
                "0000000000000000000000",
                "None",
            ),
        )
    },
    "masked Basic": ("a.yaml", cassette(request={"Authorization": "Basic PEJBU0lDX0FVVEg+"})),
    "Basic of a test": ("a.yaml", cassette(request={"Authorization": "Basic dXNlcjpwYXNzd29yZA=="})),
    "ETag, ids": (
        "a.yaml",
        cassette(
            response={
                "ETag": f'W/"{drawn(32, HEX)}"',
                "x-request-id": drawn(32, HEX),
                "cf-ray": drawn(16, HEX),
            }
        ),
    ),
    "cookies that log nobody in": (
        "a.yaml",
        cassette(
            response={"Set-Cookie": f"__cf_bm={drawn(60)}; path=/; expires=Tue, 01-Oct-24 10:00:00 GMT"}
        ),
    ),
    "a deleted cookie": ("a.yaml", cassette(response={"Set-Cookie": "sid=; Max-Age=0; Path=/"})),
    "digests": ("a.json", json.dumps({"sha256": drawn(64, HEX), "commit": drawn(40, HEX), "id": RANDOM})),
    "a lock": ("a.lock", f"hash = sha256:{drawn(64, HEX)}\n"),
    "AWS documentation": ("a.txt", "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    "pages": ("a.json", json.dumps({"next_page_token": RANDOM, "token_type": "bearer", "token": "abc"})),
    "passwords of tests": ("a.yaml", "password: hunter2\nadmin_password: correcthorse\npassword_hash: x\n"),
    "a public key": ("a.pem", f"-----BEGIN PUBLIC KEY-----\n{drawn(64)}\n-----END PUBLIC KEY-----\n"),
    "words": ("a.json", json.dumps({"api_key": "my-great-api-key", "client_secret": "client-secret-value"})),
    "prose": (
        "a.md",
        "The `access_token` is sent as Authorization: Bearer ACCESS_TOKEN. sk-learn and sk-image.\n",
    ),
    "code": ("a.py", "password = os.environ['DATABASE_PASSWORD_2']\napi_key=settings.API_KEY_V2\n"),
    "Stripe's test key": ("a.txt", f"sk_test_{drawn(24)}"),
    "a UUID": ("a.json", json.dumps({"id": "123e4567-e89b-42d3-a456-426614174000"})),
    "base64 data": ("a.json", json.dumps({"image": base64.b64encode(bytes(range(256)) * 8).decode()})),
    "URL without a login": (
        "a.yaml",
        cassette(uri="https://user:password@example.org/?token=TOKEN&key=value"),
    ),
    "URLs without a password": (
        "a.txt",
        (
            "https://example.org/a?b=c#d http://localhost:8080/x@2.1.0 ssh://git@host:2222/a.git\n"
            "https://ada@example.org git+https://github.com/a/b@v1.2.3 npm://registry/@scope/p2kq@1.0\n"
            "http://[::1]:80/ http://[bad s3://bucket/key-7f3a9c.json file:///C:/a@b\n"
        ),
    ),
    "URLs with a test's password": (
        "a.txt",
        (
            "https://user:password1@example.org https://u:pass%40word1@h postgres://postgres:postgres@localhost/db\n"
            "https://{user}:{password}@h https://$USER:$PW@h https://<user>:<token>@h redis://:changeme1@cache\n"
            "https://ada:REDACTED@h amqp://guest:guest@mq mysql://root:12345678@db https://a:****@h\n"
        ),
    ),
    "settings": (
        "a.ini",
        (
            "[a]\nsecret = changeme\nsecret = ${APP_SECRET}\naws_secret_access_key = <your key>\nkey = sort_by_2\n"
            "api_key = %(key)s\npassword = hunter2\nsecret_name = projects/7f3a9c1b2d/secrets/db\ntoken = abc\n"
        ),
    ),
    "JSON in JSON without a secret": (
        "a.json",
        json.dumps({"body": json.dumps({"next_token": RANDOM, "api_key": "REDACTED", "id": drawn(32, HEX)})}),
    ),
    "pairs without a secret": (
        "a.json",
        json.dumps([["ETag", RANDOM], ["Authorization", "Bearer <token>"], ["X-Request-Id", drawn(32, HEX)]]),
    ),
    "names of fields": ("a.json", json.dumps(["username", "password", "api_key", "created_at", "sha256sum"])),
    "columns": ("a.csv", f"id,commit,api_key\n{RANDOM},{drawn(40, HEX)},REDACTED\n{drawn(32)},x,\n"),
    "a table of digests": ("a.tsv", f"name\tsha256\na\t{drawn(64, HEX)}\nb\t{drawn(64, HEX)}\n"),
    "calls": (
        "a.py",
        (
            "password = base64.b16encode(random_bytes[8:])\nsecret = os.urandom(24).hex()\napi_key = KEYS[3]\n"
            'header = f"Proxy-Authorization: Basic {encoded_2}\\r\\n"\n'
        ),
    ),
    "an archive": ("a.zip", zipped({"a.json": json.dumps({"api_key": "REDACTED", "id": RANDOM}), "b": "x"})),
    "a damaged archive": ("a.gz", gzip.compress(b"x" * 100)[:-9]),
    "nothing": ("a.json", ""),
    "binary": ("a.npz", b"\0\1\2" * 1000),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_recordings_pass(name: str) -> None:
    path, text = HONEST[name]
    raw = text if isinstance(text, bytes) else text.encode()
    assert secrets(f"tests/data/{path}", raw) == []


def test_a_private_key_or_a_web_token_alone_is_not_sure() -> None:
    for name in ("key", "JWT"):
        path, text = FOUND[name]
        assert [each.sure for each in secrets(path, str(text).encode())] == [False]


def test_the_same_secret_twice_is_one() -> None:
    text = cassette(request={"Authorization": f"Bearer {RANDOM}"}, body=json.dumps({"access_token": RANDOM}))
    assert len(secrets("a.yaml", text.encode())) == 1


def test_the_place_is_inside_of_what_holds_it() -> None:
    places = {
        name: secrets(f"x/{FOUND[name][0]}", raw_of(name))[0].place for name in ("gzip", "zip", "column")
    }
    assert places == {"gzip": "/access_token", "zip": "a.ini: line 1", "column": "/1/1"}
    assert secrets("a.json", raw_of("JSON in JSON"))[0].place == "/body/access_token"


def raw_of(name: str) -> bytes:
    text = FOUND[name][1]
    return text if isinstance(text, bytes) else text.encode()


def test_a_key_that_is_a_secret_is_not_said() -> None:
    token = f"ghp_{drawn(36)}"
    (found,) = secrets("a.json", json.dumps({token: {"password": "x", "t": f"glpat-{RANDOM}"}}).encode())
    assert token not in found.place and "..." in found.place
