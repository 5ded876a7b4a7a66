"""Between SDP, which WebRTC libraries speak, and the compact description, which the signaling protocol carries."""
from aiortc.sdp import SessionDescription

RATES = {"opus": "48000/2", "red": "48000/2", "VP8": "90000", "VP9": "90000", "H264": "90000", "AV1": "90000"}
URIS = {
    "mid": "urn:ietf:params:rtp-hdrext:sdes:mid",
    "rid": "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id",
    "audioLevel": "urn:ietf:params:rtp-hdrext:ssrc-audio-level",
    "absSendTime": "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
    "transportCc": "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
    "orientation": "urn:3gpp:video-orientation",
    "playoutDelay": "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay",
}
# What an entry without `extensions` means.
DEFAULT_EXTENSIONS = {
    "audio": {"audioLevel": 1, "absSendTime": 2, "transportCc": 3},
    "video": {"absSendTime": 2, "transportCc": 3, "playoutDelay": 5, "orientation": 13},
}
ROLES = {"auto": "actpass", "client": "active", "server": "passive"}


def from_sdp(text):
    """The description of our own side. What the service does not know is left out."""
    session = SessionDescription.parse(text)
    first = session.media[0]
    digest = next(one for one in first.dtls.fingerprints if one.algorithm.startswith("sha-"))
    return {
        "ice": {"ufrag": first.ice.usernameFragment, "pwd": first.ice.password},
        "dtls": {"role": ROLES[first.dtls.role], "fingerprint": f"{digest.algorithm} {digest.value}"},
        "media": [entry_of(media) for media in session.media],
    }


def entry_of(media):
    mid = media.rtp.muxId
    if media.kind == "application":
        return {"mid": mid, "kind": "data", "direction": "sendrecv"}
    entry = {"mid": mid, "kind": media.kind, "direction": media.direction or "sendrecv"}
    entry["codecs"] = [codec_of(codec) for codec in media.rtp.codecs if is_used(codec)]
    names = {uri: name for name, uri in URIS.items()}
    entry["extensions"] = {names[one.uri]: one.id for one in media.rtp.headerExtensions if one.uri in names}
    ssrcs = [one.ssrc for one in media.ssrc]
    return {**entry, "ssrcs": ssrcs[:2]} if ssrcs else entry


def is_used(codec):
    if codec.name == "H264":  # One profile is enough: the one that everybody decodes.
        return codec.parameters.get("packetization-mode") == 1 and str(codec.parameters.get("profile-level-id", "")).startswith("42e0")
    return codec.name in RATES


def codec_of(codec):
    fmtp = ";".join(f"{name}={value}" for name, value in codec.parameters.items())
    return {"name": codec.name, "pt": codec.payloadType, **({"fmtp": fmtp} if fmtp else {})}


def apply(base, change):
    """A whole description out of the one before and what changed: known entries where they stand, new ones at the end."""
    if base is None:
        return change
    changed = {entry["mid"]: entry for entry in change["media"]}
    kept = [changed.pop(entry["mid"], entry) for entry in base["media"]]
    return {**base, **change, "media": kept + list(changed.values())}


def to_sdp(description):
    """The SDP of the other side."""
    ice, dtls, media = description["ice"], description["dtls"], description["media"]
    live = [entry["mid"] for entry in media if not is_rejected(entry)]
    lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE " + " ".join(live), "a=msid-semantic:WMS *"]
    transport = [
        f"a=ice-ufrag:{ice['ufrag']}",
        f"a=ice-pwd:{ice['pwd']}",
        f"a=fingerprint:{dtls['fingerprint']}",
        f"a=setup:{dtls['role']}",
    ]
    for entry in media:
        lines += media_lines(entry) + transport
        if live and entry["mid"] == live[0]:
            lines += [candidate_line(*one) for one in enumerate(description.get("candidates", []), 1)] + ["a=end-of-candidates"]
    return "".join(line + "\r\n" for line in lines)


def is_rejected(entry):
    return entry["direction"] == "inactive" if entry["kind"] == "data" else not entry.get("codecs")


def candidate_line(foundation, candidate):
    protocol, priority, address, port, type = candidate.split(" ")
    return f"a=candidate:{foundation} 1 {protocol} {priority} {address} {port} typ {type}"


def media_lines(entry):
    kind, mid = entry["kind"], f"a=mid:{entry['mid']}"
    port = 0 if is_rejected(entry) else 9
    if kind == "data":
        return [f"m=application {port} UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", mid, "a=sctp-port:5000", "a=max-message-size:65536"]
    if port == 0:
        return [f"m={kind} 0 UDP/TLS/RTP/SAVPF 0", "c=IN IP4 0.0.0.0", mid, "a=inactive"]
    payload_types = [str(number) for codec in entry["codecs"] for number in (codec["pt"], codec.get("rtx")) if number is not None]
    extensions = entry.get("extensions", DEFAULT_EXTENSIONS[kind])
    lines = [f"m={kind} 9 UDP/TLS/RTP/SAVPF {' '.join(payload_types)}", "c=IN IP4 0.0.0.0", mid, f"a={entry['direction']}", "a=rtcp-mux"]
    lines += [f"a=extmap:{number} {URIS[name]}" for name, number in extensions.items()]
    for codec in entry["codecs"]:
        lines += codec_lines(kind, codec, "transportCc" in extensions)
    if entry["direction"] == "sendonly" and "trackId" in entry:
        stream = entry.get("streamId", "-")
        lines += [f"a=msid:{stream} {entry['trackId']}"]
        ssrcs = entry.get("ssrcs", [])
        if len(ssrcs) > 1:
            lines += [f"a=ssrc-group:FID {ssrcs[0]} {ssrcs[1]}"]
        lines += [f"a=ssrc:{ssrc} cname:{stream}" for ssrc in ssrcs]
    return lines


def codec_lines(kind, codec, has_transport_feedback):
    pt = codec["pt"]
    lines = [f"a=rtpmap:{pt} {codec['name']}/{RATES[codec['name']]}"]
    if "fmtp" in codec:
        lines += [f"a=fmtp:{pt} {codec['fmtp']}"]
    feedback = ["goog-remb", "ccm fir", "nack", "nack pli"] if kind == "video" else []
    lines += [f"a=rtcp-fb:{pt} {one}" for one in feedback + (["transport-cc"] if has_transport_feedback else [])]
    if "rtx" in codec:
        lines += [f"a=rtpmap:{codec['rtx']} rtx/90000", f"a=fmtp:{codec['rtx']} apt={pt}"]
    return lines
