"""Receives webhooks: checks the signature, answers at once, works afterwards. Python 3.9 or later, no packages.

HOOK_SECRET=whsec_… PORT=3000 python3 webhook_receiver.py
"""
import hashlib
import hmac
import json
import os
import queue
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The new and the old one, separated by a comma, while you rotate.
SECRETS = [secret for secret in os.environ["HOOK_SECRET"].split(",") if secret]
TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 1024 * 1024

work = queue.Queue()
seen = set()  # Your database in production: a delivery may come twice, and after a restart.


def is_genuine(header, body, now):
    """Whether `svc-signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]` was made over these bytes with one of our secrets."""
    parts = [part.strip().partition("=") for part in (header or "").split(",")]
    times = [value for name, _, value in parts if name == "t"]
    signatures = [value.lower() for name, _, value in parts if name == "v1"]
    if len(times) != 1 or not times[0].isdecimal():
        return False
    message = times[0].encode() + b"." + body
    # The key is the whole text, `whsec_` included.
    expected = [hmac.new(secret.encode(), message, hashlib.sha256).hexdigest() for secret in SECRETS]
    # In constant time: `==` tells by its duration how much of a guess was right.
    matches = [hmac.compare_digest(one.encode(), other.encode()) for one in expected for other in signatures]
    return any(matches) and abs(now - int(times[0])) <= TOLERANCE_SECONDS


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        if length > BODY_BYTES_MAX:
            return self.answer(413)
        body = self.rfile.read(length)  # The bytes as they came: parsing and writing them again changes them.
        if not is_genuine(self.headers.get("svc-signature"), body, time.time()):
            return self.answer(400)
        event = json.loads(body)
        if event["id"] not in seen:
            seen.add(event["id"])
            work.put(event)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def handle(event):
    """Your part. Ignore types that you do not know."""
    if event["type"] == "message.created":
        print(event["type"], event["data"]["message"]["text"], flush=True)
    else:
        print(event["type"], event["id"], flush=True)


def work_forever():
    while True:
        handle(work.get())


if __name__ == "__main__":
    threading.Thread(target=work_forever, daemon=True).start()
    server = ThreadingHTTPServer((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "3000"))), Receiver)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
