"""A plain WHIP or WHEP client on aiortc: publishes, or counts what it gets, until its standard input ends."""

import asyncio
import sys
import urllib.request

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, VideoStreamTrack


async def count(track):
    frames = 0
    try:
        while True:
            await track.recv()
            frames += 1
            if frames % 10 == 0:
                print(f"frames {frames}", flush=True)
    except MediaStreamError:
        pass


def exchange(url, token, offer):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/sdp"}
    request = urllib.request.Request(url, offer.encode(), headers, method="POST")
    with urllib.request.urlopen(request) as response:
        return response.read().decode()


async def main(url, token):
    loop = asyncio.get_running_loop()
    peer = RTCPeerConnection()

    @peer.on("connectionstatechange")
    def changed():
        print(peer.connectionState, flush=True)

    if url.endswith("/whip"):
        peer.addTrack(AudioStreamTrack())
        peer.addTrack(VideoStreamTrack())
        for transceiver in peer.getTransceivers():
            transceiver.direction = "sendonly"
    else:
        peer.addTransceiver("audio", direction="recvonly")
        peer.addTransceiver("video", direction="recvonly")

        @peer.on("track")
        def received(track):
            if track.kind == "video":
                asyncio.ensure_future(count(track))

    await peer.setLocalDescription(await peer.createOffer())
    answer = await loop.run_in_executor(None, exchange, url, token, peer.localDescription.sdp)
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    await loop.run_in_executor(None, sys.stdin.read)
    await peer.close()


asyncio.run(main(*sys.argv[1:]))
