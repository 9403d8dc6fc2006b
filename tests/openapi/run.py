"""Runs schemathesis over the OpenAPI of a real server (O8): no answer may be a 5xx, or be off the schema.

usage: run.py PATH-OF-TIDEGATE
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

KEY = "openapi-key-0123456789abcdef0123456789abcdef"

# Loopback is exempt, so that a run from one address meets the rules under test and not its own rate limit (S16).
CONFIG = """
[control]
exempt_networks = ["127.0.0.0/8", "::1/128"]
"""

CHECKS = ",".join(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "ignored_auth",
        "unsupported_method",
    ]
)


def main() -> int:
    tidegate = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "openapi.toml")
        config.write_text(CONFIG)
        server = subprocess.Popen(
            [tidegate, "up", "--demo", "--listen", "127.0.0.1:0", "--gate-listen", "off", "--relay-listen", "off"]
            + ["--key", KEY, "--relay-secret", KEY, "--config", config, "--data", f"{folder}/data"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            url = address(server)
            open_a_stream(url)
            return schemathesis(url)
        finally:
            server.terminate()
            server.wait(timeout=30)


def address(server: subprocess.Popen) -> str:
    for line in server.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found.group()
    raise SystemExit("the server ended before it said its address")


def open_a_stream(url: str) -> None:
    """One stream of each kind, so that links between calls have something to hold on to."""
    for settings in ({"name": "open", "viewer_cap": 3, "queue_max": 5}, {"name": "closed", "viewer_cap": 3, "public": False}):
        request = urllib.request.Request(
            f"{url}/v1/streams", json.dumps(settings).encode(), {"authorization": f"Bearer {KEY}"}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 201, answer.status


def schemathesis(url: str) -> int:
    command = [
        pathlib.Path(sys.executable).with_name("schemathesis"),
        "run",
        f"{url}/openapi.json",
        "--header",
        f"Authorization: Bearer {KEY}",
        "--checks",
        CHECKS,
        "--max-examples",
        "60",
        "--seed",
        "1",
        "--request-timeout",
        "10",
        "--workers",
        "1",
    ]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
