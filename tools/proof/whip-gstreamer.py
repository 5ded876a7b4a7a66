"""Publishes a test picture and a tone by WHIP with GStreamer's webrtcbin (Debian: gstreamer1.0-plugins-bad,
gstreamer1.0-nice, python3-gst-1.0): `python3 whip-gstreamer.py URL TOKEN SECONDS`. Run by plain-gstreamer.ts."""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstWebRTC  # noqa: E402

from gstreamer_offer import send_offer  # noqa: E402

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


def on_negotiation_needed(element):
    # Once, and nothing but sending is offered.
    element.disconnect(handler)
    for index in range(2):
        element.emit("get-transceiver", index).set_property(
            "direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY
        )
    send_offer(element, url, token)


handler = peer.connect("on-negotiation-needed", on_negotiation_needed)
pipeline.set_state(Gst.State.PLAYING)
GLib.timeout_add_seconds(seconds, loop.quit)
loop.run()
pipeline.set_state(Gst.State.NULL)
