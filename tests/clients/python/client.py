"""A Python client that reaches a service through a base URL, as any SDK does: only the base URL is changed.

    client.py http://127.0.0.1:8090/NAME [--through-gate]

NAME is an upstream of the gate whose service is the stand-in with its menu; the stand-in's own address does too.
Prints one JSON object with what it got, and ends with 1 if anything was off.
"""

import argparse
import json
import sys

import requests

MIB = 1024 * 1024
# Generous: a paced gate may let the calls wait for each other.
TIMEOUT_S = 30


class Chat:
    """The shape of an OpenAI-style SDK: a base URL, a key, and resources below it."""

    def __init__(self, base_url, api_key):
        self.base_url = base_url.rstrip("/")
        self.session = requests.Session()
        self.session.headers["authorization"] = f"Bearer {api_key}"

    def call(self, method, path, **options):
        options.setdefault("timeout", TIMEOUT_S)
        return self.session.request(method, self.base_url + path, allow_redirects=False, **options)

    def complete(self, text):
        body = {"model": "any", "messages": [{"role": "user", "content": text}]}
        return self.call("POST", "/v1/chat/completions", json=body)


def told(answer):
    """What an application sees of an answer."""
    ours = {name.lower(): value for name, value in answer.headers.items() if name.lower().startswith("tidegate-")}
    return {"status": answer.status_code, "retry_after": answer.headers.get("retry-after"), "tidegate": ours}


def sdk_call(chat):
    answer = chat.complete("hello")
    seen = answer.json()
    headers = {name: value for name, value in seen["headers"]}
    expect(answer.status_code == 200, answer.status_code)
    expect((seen["method"], seen["path"]) == ("POST", "/v1/chat/completions"), seen["path"])
    expect(headers["authorization"] == "Bearer sk-test", headers)
    expect(json.loads(seen["body"])["messages"][0]["content"] == "hello", seen["body"])
    expect(not any(name.startswith("tidegate-") for name in headers), headers)
    return told(answer)


def own_headers(chat):
    """The gate's own request headers steer the gate, and the service never sees them."""
    ours = {"Tidegate-Key": "python", "Tidegate-Priority": "interactive", "Tidegate-Max-Wait-Ms": "20000"}
    answer = chat.call("GET", "/echo", params={"q": "a b"}, headers=ours if THROUGH_GATE else {})
    seen = answer.json()
    expect(answer.status_code == 200, answer.status_code)
    expect(seen["query"] == "q=a+b", seen["query"])
    expect(not any(name.startswith("tidegate-") for name, _ in seen["headers"]), seen["headers"])
    return told(answer)


def gzip(chat):
    answer = chat.call("GET", "/gzip")
    expect(answer.headers["content-encoding"] == "gzip", answer.headers)
    expect(answer.json() == {"compressed": True}, answer.text)
    return told(answer)


def cookies(chat):
    answer = chat.call("GET", "/cookies")
    expect(answer.cookies.get_dict() == {"a": "1", "b": "2"}, answer.cookies)
    chat.session.cookies.clear()
    return told(answer)


def redirect(chat):
    """A redirect is the client's to follow, never the gate's."""
    answer = chat.call("GET", "/sorry")
    expect(answer.status_code in ((302, 429) if THROUGH_GATE else (302,)), answer.status_code)
    return told(answer)


def sse(chat):
    with chat.call("GET", "/sse", stream=True) as answer:
        expect(answer.headers["content-type"] == "text/event-stream", answer.headers)
        lines = [line for line in answer.iter_lines(decode_unicode=True) if line.startswith("data: ")]
    expect([json.loads(line[6:])["n"] for line in lines] == [0, 1, 2, 3, 4], lines)
    return told(answer)


def endless_sse(chat):
    """Events come as they are sent, and a client may leave whenever it likes."""
    with chat.call("GET", "/sse/endless", stream=True) as answer:
        lines = answer.iter_lines(chunk_size=1, decode_unicode=True)
        first = [next(lines) for _ in range(2)]
    expect(first == ["id: 0", 'data: {"n":0}'], first)
    return told(answer)


def upload(chat):
    body = bytes(range(251)) * (MIB // 251 + 1)
    answer = chat.call("POST", "/mirror", data=body[:MIB], headers={"content-type": "application/octet-stream"})
    expect(answer.content == body[:MIB], f"{len(answer.content)} bytes came back, or others")
    return told(answer)


def chunked_upload(chat):
    pieces = [bytes([n]) * 64 * 1024 for n in range(16)]
    answer = chat.call("POST", "/mirror", data=iter(pieces))
    expect(answer.content == b"".join(pieces), f"{len(answer.content)} bytes came back, or others")
    return told(answer)


def download(chat):
    answer = chat.call("GET", "/bytes/1mib")
    expect(len(answer.content) == MIB and answer.content[:252] == bytes(range(251)) + b"\0", len(answer.content))
    return told(answer)


def throttled(chat):
    """Comes last: behind a gate it closes the service for everybody."""
    answer = chat.call("GET", "/throttled", headers={"Tidegate-Max-Attempts": "1"} if THROUGH_GATE else {})
    expect(answer.status_code == 429, answer.status_code)
    expect(int(answer.headers["retry-after"]) == 30, answer.headers)
    return told(answer)


def throttled_again(chat):
    """A gate answers this one by itself, at once, because the deadline comes before the cooldown's end."""
    if not THROUGH_GATE:
        return None
    answer = chat.call("GET", "/echo", headers={"Tidegate-Max-Wait-Ms": "100"})
    expect(answer.status_code == 429, answer.status_code)
    expect(answer.headers.get("tidegate-synthetic") == "1", answer.headers)
    expect(1 <= int(answer.headers["retry-after"]) <= 30, answer.headers)
    expect(answer.headers["content-type"].startswith("application/problem+json"), answer.headers)
    return told(answer)


def expect(held, seen):
    if not held:
        raise AssertionError(seen)


# The redirect is a throttle in disguise to some gates, so it comes with the throttles at the end.
CHECKS = [
    sdk_call,
    own_headers,
    gzip,
    cookies,
    sse,
    endless_sse,
    upload,
    chunked_upload,
    download,
    redirect,
    throttled,
    throttled_again,
]


def run(check, chat):
    try:
        seen = check(chat)
        if THROUGH_GATE:
            expect("tidegate-wait-ms" in seen["tidegate"], seen)
        return {"ok": True, "seen": seen}
    except Exception as error:
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


parser = argparse.ArgumentParser(description="Calls a service through a base URL")
parser.add_argument("base_url")
parser.add_argument("--through-gate", action="store_true", help="also expect what the gate adds")
words = parser.parse_args()
THROUGH_GATE = words.through_gate

results = {check.__name__: run(check, Chat(words.base_url, "sk-test")) for check in CHECKS}
print(json.dumps(results, indent=2))
sys.exit(0 if all(result["ok"] for result in results.values()) else 1)
