"""Joins a room, sends a moving picture and says what it sees of the others, until it is ended.

Python 3.9 or later with `websockets` and `aiortc` (Debian: python3-websockets, python3-aiortc).
SVC_URL=http://localhost:4000 RTC_TOKEN_URL=https://your.backend/room-token python3 call_client.py
"""
import asyncio
import os
import signal
import sys
import uuid

from aiortc import RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCSessionDescription, VideoStreamTrack
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError
from av import VideoFrame

from media_description import apply, from_sdp, to_sdp
from parley_socket import Client, Ended, Refused


class Stripes(VideoStreamTrack):
    """A picture that moves: a bright bar on a ground of one brightness."""

    def __init__(self, brightness):
        super().__init__()
        self.brightness = brightness
        self.count = 0

    async def recv(self):
        pts, time_base = await self.next_timestamp()
        frame = VideoFrame(320, 240, "yuv420p")
        ground, chroma, _ = frame.planes[0], frame.planes[1], frame.planes[2]
        row = self.count * 4 % 240
        picture = bytearray([self.brightness]) * (ground.line_size * 240)
        picture[row * ground.line_size : (row + 4) * ground.line_size] = bytes([235]) * (4 * ground.line_size)
        ground.update(bytes(picture))
        for plane in frame.planes[1:]:
            plane.update(bytes([128]) * (chroma.line_size * 120))
        self.count += 1
        frame.pts, frame.time_base = pts, time_base
        return frame


def readable(urls):
    """aiortc cannot read the address of a relay in brackets, as IPv6 has it."""
    return [url for url in urls if "[" not in url]


class Call(Client):
    path = "/v1/rtc/signal"
    protocol = "svc.rtc.v1"

    def __init__(self, base_url, token_url, tracks):
        super().__init__(base_url, token_url)
        self.tracks = tracks
        self.connection_id = str(uuid.uuid4())
        self.link = None
        self.resume = None
        self.ice_servers = []
        self.owners = {}  # Track id: who sends it.
        self.publisher = self.subscriber = None
        self.offered = None  # What the node has offered, whole.
        self.offers = asyncio.Queue()

    async def welcome(self, link):
        self.link = link
        fields = {"resume": self.resume} if self.resume else {}
        await link.request("join", connectionId=self.connection_id, autoSubscribe=True, **fields)
        # `joined` has come before this answer. Where it resumed the session, media never stopped.
        if not self.publisher:
            self.publisher = await self.publish()

    def on_frame(self, frame):
        kind = frame["type"]
        if self.resume and "seq" in frame:
            self.resume["lastSeq"] = max(self.resume["lastSeq"], frame["seq"])
        if kind == "joined":
            self.joined(frame)
        elif kind == "joined.more":
            self.note(frame["participants"])
        elif kind == "track.published":
            self.owners[frame["track"]["id"]] = frame["identity"]
        elif kind == "sub.offer":
            self.offers.put_nowait((self.link, frame))
        elif kind == "token.refresh":
            self.token = frame["token"]  # For the next connection.
        elif kind == "reconnect" and frame["action"] != "RESUME":
            self.resume = None

    def joined(self, frame):
        self.resume = {"sessionId": frame["sessionId"], "resumeToken": frame["resumeToken"], "lastSeq": frame["seq"]}
        self.ice_servers = [RTCIceServer(**{**server, "urls": readable(server["urls"])}) for server in frame["iceServers"]]
        self.note(frame["participants"])
        if not frame["resumed"]:
            asyncio.ensure_future(self.forget_media(self.publisher, self.subscriber))
            self.publisher = self.subscriber = self.offered = None
        print("resumed" if frame["resumed"] else "joined", flush=True)

    def note(self, participants):
        self.owners.update({track["id"]: one["identity"] for one in participants for track in one["tracks"]})

    async def forget_media(self, *peers):
        for peer in peers:
            if peer:
                await peer.close()

    def new_peer(self):
        return RTCPeerConnection(RTCConfiguration(iceServers=self.ice_servers))

    async def publish(self):
        """We offer, the node answers."""
        peer = self.new_peer()
        for track in self.tracks:
            peer.addTrack(track)
        await peer.setLocalDescription(await peer.createOffer())
        offer = from_sdp(peer.localDescription.sdp)
        tracks = []
        for entry in offer["media"]:
            # A name of ours for the new track, the same at both places; the answer has the service's own id for it.
            entry["trackId"] = cid = f"new-{entry['mid']}"
            source = "MICROPHONE" if entry["kind"] == "audio" else "CAMERA"
            tracks.append({"cid": cid, "kind": entry["kind"].upper(), "source": source})
        try:
            answer = await self.link.request("publish", tracks=tracks, description=offer)
        except Exception:
            await peer.close()  # After the next join we offer by another one.
            raise
        remote = to_sdp(answer["description"])
        await peer.setRemoteDescription(RTCSessionDescription(sdp=remote, type="answer"))
        print("published", *[track["trackId"] for track in answer["tracks"]], flush=True)
        return peer

    async def answer_offers(self):
        """The node offers, we answer: one after the other."""
        while True:
            link, offer = await self.offers.get()
            await self.answer(link, offer)

    async def answer(self, link, offer):
        description = offer["description"]
        is_new = self.offered is None or offer["restart"] or "ice" in description and description["ice"] != self.offered["ice"]
        if is_new:
            await self.forget_media(self.subscriber)
            self.subscriber, self.offered = self.new_peer(), None
            self.subscriber.on("track", lambda track: asyncio.ensure_future(self.watch(track)))
        self.offered = apply(self.offered, description)
        await self.subscriber.setRemoteDescription(RTCSessionDescription(sdp=to_sdp(self.offered), type="offer"))
        await self.subscriber.setLocalDescription(await self.subscriber.createAnswer())
        ours = from_sdp(self.subscriber.localDescription.sdp)
        # Entries that are left out are answered as they were offered.
        answer = {"ice": ours["ice"], "dtls": ours["dtls"], "media": []}
        try:
            await link.request("sub.answer", revision=offer["revision"], description=answer)
        except (Refused, OSError, asyncio.TimeoutError):
            pass  # A newer offer is on its way, or the same one comes again after the next join.

    async def watch(self, track):
        """Says now and then what the pictures of a track look like; your part begins here."""
        count = 0
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return  # It ended.
            if track.kind == "video" and count % 30 == 0:
                plane = frame.planes[0]
                middle = sorted(bytes(plane)[: plane.line_size * frame.height : 101])
                look = f"{frame.width}x{frame.height}, brightness {middle[len(middle) // 2]}"
                print(f"picture of {self.owners.get(track.id)}: {look}", flush=True)
            count += 1

    async def leave(self):
        if self.link:
            await self.link.send("leave")
        await self.forget_media(self.publisher, self.subscriber)


async def main():
    tracks = [AudioStreamTrack(), Stripes(int(os.environ.get("BRIGHTNESS", "60")))]
    call = Call(os.environ["SVC_URL"], os.environ["RTC_TOKEN_URL"], tracks)
    life = asyncio.gather(call.run(), call.answer_offers())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, life.cancel)
    try:
        await life
    except asyncio.CancelledError:
        pass
    finally:
        await call.leave()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (Ended, KeyboardInterrupt) as end:
        sys.exit(f"ended: {end}")
