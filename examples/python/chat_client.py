"""Follows a conversation without missing or repeating anything, and sends what it reads from its standard input.

SVC_URL=http://localhost:4000 CHAT_TOKEN_URL=https://your.backend/chat-token python3 chat_client.py standup
"""
import asyncio
import os
import sys
import uuid

from parley_socket import Client, Ended, Refused, fetch_token


class Chat(Client):
    path = "/v1/chat/ws"
    protocol = "svc.chat.v1"

    def __init__(self, base_url, token_url, conversation):
        super().__init__(base_url, token_url)
        self.conversation = conversation  # An id or a name.
        self.link = None
        self.epoch = None
        self.last = 0  # The last change that was shown.
        self.ahead = {}  # Changes that came before those between.
        self.filling = None
        self.unsent = {}  # By the id that makes a repeat harmless.

    async def welcome(self, link):
        self.ahead.clear()
        position = {"since": self.last, "epoch": self.epoch} if self.epoch else {}
        answer = await link.request("subscribe", conversations=[{"ref": self.conversation, **position}])
        entry = answer["conversations"][0]
        if "svcCode" in entry:  # This one was refused; others of the same frame might not have been.
            raise Ended(f"{self.conversation}: {entry['svcCode']}")
        self.link = link
        if entry["epoch"] != self.epoch:  # The first time, or the numbers have started anew: show history.
            self.epoch, self.last = None, entry["change"]
            page = await link.request("history", conversation=self.conversation, limit=20)
            for message in reversed(page["messages"]):
                if message["change"] <= self.last:  # What is newer comes as a change.
                    self.show("message", message)
            self.epoch = entry["epoch"]
            self.take_waiting()
        elif not entry["recovered"] and entry["change"] > self.last:
            self.fill_soon()
        print("subscribed", flush=True)
        for key in list(self.unsent):
            await self.deliver(key)

    def on_frame(self, frame):
        kind = frame["type"]
        if kind == "recovered":  # What was missed, when we subscribed with `since`.
            for change in frame["changes"]:
                self.take(change)
            self.last = max(self.last, frame["to"])
            if not frame["complete"]:
                self.fill_soon()
        elif kind == "token.expiring":
            asyncio.ensure_future(self.renew())
        elif "change" in frame:
            self.take(frame)

    def take(self, change):
        """Each change once, in order. One that is not the next means that another is missing."""
        if change["change"] > self.last:
            self.ahead[change["change"]] = change
        self.take_waiting()
        if self.ahead and self.epoch:
            self.fill_soon()

    def take_waiting(self):
        if not self.epoch:
            return  # History comes first.
        self.ahead = {number: change for number, change in self.ahead.items() if number > self.last}
        while self.last + 1 in self.ahead:
            self.last += 1
            change = self.ahead.pop(self.last)
            if "message" in change:
                self.show(change["type"], change["message"])

    def fill_soon(self):
        if not self.filling or self.filling.done():
            self.filling = asyncio.ensure_future(self.fill())

    async def fill(self):
        is_complete = False
        while not is_complete:
            try:
                page = await self.link.request("changes", conversation=self.conversation, since=self.last)
            except (Refused, OSError, asyncio.TimeoutError):
                return  # The next subscription, or the next frame, starts it again.
            for change in page["changes"]:
                self.ahead[change["change"]] = change
                self.take_waiting()
            self.last = max(self.last, page["change"])
            is_complete = page["complete"]
        self.take_waiting()

    def show(self, kind, message):
        words = {"message": message["text"], "message.updated": f"(edited) {message['text']}", "message.deleted": "(deleted)"}
        print(f"{message['seq']} {message['senderId']}: {words[kind]}", flush=True)

    async def renew(self):
        self.token = await fetch_token(self.token_url)
        await self.link.request("token.refresh", token=self.token)

    async def send(self, text):
        key = str(uuid.uuid4())
        self.unsent[key] = text
        if self.link:
            await self.deliver(key)

    async def deliver(self, key):
        """Without an answer it is sent again after the next subscription; with the same id it is stored once."""
        try:
            await self.link.request("message.send", conversation=self.conversation, text=self.unsent[key], clientMessageId=key)
        except Refused as refusal:
            if refusal.retryable:
                await asyncio.sleep(refusal.retry_after)
                return await self.deliver(key)
            print(f"not sent: {refusal}", file=sys.stderr)
        except (OSError, asyncio.TimeoutError):
            return
        del self.unsent[key]


async def send_lines(chat):
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async for line in lines:
        await chat.send(line.decode().strip())


async def main():
    chat = Chat(os.environ["SVC_URL"], os.environ["CHAT_TOKEN_URL"], sys.argv[1])
    await asyncio.gather(chat.run(), send_lines(chat))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (Ended, KeyboardInterrupt) as end:
        sys.exit(f"ended: {end}")
