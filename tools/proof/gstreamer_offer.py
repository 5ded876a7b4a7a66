"""What WHIP and WHEP have in common: GStreamer's offer goes out by POST, and the answer becomes its remote side."""
import urllib.request

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402


def send_offer(peer, url, token):
    def on_offer(promise, _):
        promise.wait()
        # The reply owns the offer: it must live as long.
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

    peer.emit("create-offer", None, Gst.Promise.new_with_change_func(on_offer, None))
