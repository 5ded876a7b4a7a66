"""Publishes a test picture and a tone by WHIP with GStreamer's webrtcbin (Debian: gstreamer1.0-plugins-bad,
gstreamer1.0-nice, python3-gst-1.0): `python3 whip-gstreamer.py URL TOKEN SECONDS`. Run by whip-gstreamer.ts."""
import sys
import urllib.request

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

url, token, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3])
Gst.init(None)
pipeline = Gst.parse_launch(
    "webrtcbin name=peer bundle-policy=max-bundle "
    "videotestsrc is-live=true pattern=ball ! video/x-raw,width=320,height=180,framerate=15/1 ! "
    "vp8enc deadline=1 keyframe-max-dist=30 ! rtpvp8pay picture-id-mode=2 ! "
    "application/x-rtp,media=video,encoding-name=VP8,payload=96 ! peer. "
    "audiotestsrc is-live=true wave=sine ! audioconvert ! audioresample ! opusenc ! rtpopuspay ! "
    "application/x-rtp,media=audio,encoding-name=OPUS,payload=111 ! peer."
)
peer = pipeline.get_by_name("peer")
loop = GLib.MainLoop()


def on_offer(promise, _):
    promise.wait()
    reply = promise.get_reply()
    offer = reply.get_value("offer")
    text = offer.sdp.as_text()
    peer.emit("set-local-description", offer, Gst.Promise.new())
    request = urllib.request.Request(
        url,
        data=text.encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/sdp"},
        method="POST",
    )
    with urllib.request.urlopen(request) as response:
        print(response.status, response.headers["Location"], flush=True)
        _, message = GstSdp.SDPMessage.new_from_text(response.read().decode())
    answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
    peer.emit("set-remote-description", answer, Gst.Promise.new())


def on_negotiation_needed(element):
    # Once, and nothing but sending is offered.
    element.disconnect(handler)
    for index in range(2):
        element.emit("get-transceiver", index).set_property(
            "direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY
        )
    element.emit("create-offer", None, Gst.Promise.new_with_change_func(on_offer, None))


handler = peer.connect("on-negotiation-needed", on_negotiation_needed)
pipeline.set_state(Gst.State.PLAYING)
GLib.timeout_add_seconds(seconds, loop.quit)
loop.run()
pipeline.set_state(Gst.State.NULL)
