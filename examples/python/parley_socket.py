"""A WebSocket of Parley, chat or signaling: the token, requests and their answers, the heartbeat, reconnecting.

Python 3.9 or later with the package `websockets` (Debian: python3-websockets).
"""
import asyncio
import itertools
import json
import random
import re
import time
import urllib.request

import websockets

# The table of close codes: after these there is nothing to come back to. After any other code a client reconnects.
STOP = {1000, 1009, 4400, 4403, 4404, 4409, 4410, 4422}
TOKEN_EXPIRED = 4401
TOO_MANY = 4429
WAIT_SECONDS = [0.3, 1, 3, 7, 15, 30]
STABLE_SECONDS = 60
ANSWER_SECONDS = 15


class Refused(Exception):
    """An `error` frame: switch on `code`, which is one of the table of errors."""

    def __init__(self, frame):
        super().__init__(f"{frame['svcCode']}: {frame['message']}")
        self.code = frame["svcCode"]
        self.retryable = frame["retryable"]
        self.retry_after = frame.get("retryAfterSeconds", 1)


class Ended(Exception):
    """The server said goodbye for good."""


async def fetch_token(url):
    """A token from your own backend, which holds the API key."""

    def read():
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read().decode().strip()

    return await asyncio.get_running_loop().run_in_executor(None, read)


class Link:
    """One connection."""

    def __init__(self, socket, on_frame):
        self.socket = socket
        self.on_frame = on_frame
        self.hello = asyncio.get_running_loop().create_future()
        self.heard_at = time.monotonic()
        self.pending = {}
        self.ids = itertools.count(1)

    async def send(self, type, **fields):
        try:
            await self.socket.send(json.dumps({"type": type, **fields}))
        except websockets.ConnectionClosed:
            raise ConnectionError("the connection is gone") from None

    async def request(self, type, **fields):
        """The `data` of the answer, `Refused`, or an OSError when the connection ended first."""
        ref = str(next(self.ids))
        answer = self.pending[ref] = asyncio.get_running_loop().create_future()
        try:
            await self.send(type, id=ref, **fields)
            return await asyncio.wait_for(answer, ANSWER_SECONDS)
        finally:
            self.pending.pop(ref, None)

    async def read(self):
        try:
            async for text in self.socket:
                self.heard_at = time.monotonic()
                self.receive(json.loads(text))
        finally:
            for answer in self.pending.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("the connection is gone"))

    def receive(self, frame):
        answer = self.pending.get(frame.get("ref"))
        if frame["type"] == "hello":
            self.hello.set_result(frame)
        elif answer and not answer.done() and frame["type"] == "error":
            answer.set_exception(Refused(frame))
        elif answer and not answer.done() and frame["type"] in ("ack", "response"):
            answer.set_result(frame.get("data"))
        elif frame["type"] != "pong":
            self.on_frame(frame)

    async def beat(self):
        """The client pings; the server only answers. Silence on either side is the end of the connection."""
        interval = (await self.hello)["heartbeatIntervalMs"] / 1000
        while time.monotonic() - self.heard_at < interval * 1.25:
            await self.send("ping")
            await asyncio.sleep(interval / 2)


class Client:
    """Stays connected. `welcome(link)` runs after each `hello`, `on_frame(frame)` for what nobody asked for."""

    path = protocol = ""

    def __init__(self, base_url, token_url):
        self.address = re.sub("^http", "ws", base_url) + self.path
        self.token_url = token_url
        self.token = None

    async def welcome(self, link):
        raise NotImplementedError

    def on_frame(self, frame):
        raise NotImplementedError

    async def run(self):
        """Returns never: raises `Ended`, or `Refused` when the first exchange was refused for good."""
        attempt = 0
        has_renewed = False
        while True:
            self.token = self.token or await fetch_token(self.token_url)
            began_at = time.monotonic()
            code, reason, was_open = await self.connect_once()
            attempt = 0 if time.monotonic() - began_at > STABLE_SECONDS else attempt
            if code in STOP or (code == TOKEN_EXPIRED and (has_renewed or reason == "TOKEN_REVOKED")):
                raise Ended(f"{code} {reason}")
            has_renewed = code == TOKEN_EXPIRED or (has_renewed and not was_open)
            if code == TOKEN_EXPIRED:
                self.token = None
            await asyncio.sleep(self.pause_before(attempt, code, reason))
            attempt += 1

    def pause_before(self, attempt, code, reason):
        if code == TOO_MANY:  # `RATE_LIMITED; retryAfter=41`
            wait = re.search(r"retryAfter=(\d+)", reason)
            return (int(wait.group(1)) if wait else 60) + random.uniform(0, 10)
        return WAIT_SECONDS[min(attempt, len(WAIT_SECONDS) - 1)] * random.uniform(0.8, 1.2)

    async def connect_once(self):
        """Close code, its reason, and whether there was a `hello`. Without a code the network ended it."""
        offered = [self.protocol, f"bearer.{self.token}"]
        try:
            # Our own pings, below, say more than those of the library: they have an answer that we wait for.
            socket = await websockets.connect(self.address, subprotocols=offered, ping_interval=None)
        except (OSError, asyncio.TimeoutError, websockets.InvalidHandshake):
            return None, "", False
        link = Link(socket, self.on_frame)
        reading, beating, greeting = tasks = [asyncio.ensure_future(work) for work in (link.read(), link.beat(), self.greet(link))]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if greeting in done:  # Refused. The close code that follows says more than the error.
                await asyncio.wait([reading], timeout=1)
            code, reason = socket.close_code, socket.close_reason or ""
            refusal = greeting.exception() if greeting.done() else None
            if isinstance(refusal, Ended) or (code is None and isinstance(refusal, Refused) and not refusal.retryable):
                raise refusal
            return code, reason, link.hello.done()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await socket.close()

    async def greet(self, link):
        await link.hello
        await self.welcome(link)
        await asyncio.Event().wait()  # The connection lives until another task ends it.
