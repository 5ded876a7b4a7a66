"""Watches a room by WHEP with GStreamer's webrtcbin and decodes what comes (Debian: gstreamer1.0-plugins-good,
gstreamer1.0-plugins-bad, gstreamer1.0-nice, python3-gst-1.0): `python3 whep-gstreamer.py URL TOKEN SECONDS`. Prints
the kind and count of decoded buffers each second. Run by plain-gstreamer.ts."""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstWebRTC  # noqa: E402

from gstreamer_offer import send_offer  # noqa: E402

url, token, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3])
Gst.init(None)
pipeline = Gst.Pipeline.new("player")
peer = Gst.ElementFactory.make("webrtcbin", "peer")
peer.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
pipeline.add(peer)
loop = GLib.MainLoop()
decoded = {"audio": 0, "video": 0}


def on_decoded(_, pad):
    kind = pad.get_current_caps().get_structure(0).get_name().split("/")[0]
    sink = Gst.ElementFactory.make("fakesink")
    sink.set_property("signal-handoffs", True)
    sink.set_property("sync", False)

    def count(*_):
        decoded[kind] += 1

    sink.connect("handoff", count)
    pipeline.add(sink)
    sink.sync_state_with_parent()
    pad.link(sink.get_static_pad("sink"))


def on_stream(_, pad):
    if pad.get_direction() != Gst.PadDirection.SRC:
        return
    decoder = Gst.ElementFactory.make("decodebin")
    decoder.connect("pad-added", on_decoded)
    pipeline.add(decoder)
    decoder.sync_state_with_parent()
    pad.link(decoder.get_static_pad("sink"))


def tell():
    print(f"decoded {decoded['video']} {decoded['audio']}", flush=True)
    return True


peer.connect("pad-added", on_stream)
pipeline.set_state(Gst.State.PLAYING)
for caps in (
    "application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,encoding-params=(string)2,payload=111",
    "application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload=96",
):
    peer.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(caps))
send_offer(peer, url, token)
GLib.timeout_add_seconds(1, tell)
GLib.timeout_add_seconds(seconds, loop.quit)
loop.run()
pipeline.set_state(Gst.State.NULL)
