import type { Description } from './description.ts';
import { DATA_MESSAGE_BYTES_MAX } from './sdp.ts';

/**
 * The SDP of the remote side for libdatachannel. It always shows one bidirectional video line, whatever is being sent:
 * the library then hands every RTP and RTCP packet of the transport to that one track, and never needs to renegotiate.
 */
export function toTransportSdp(
  { ice, dtls }: Description,
  { hasData, isLite = false }: { hasData: boolean; isLite?: boolean },
): string {
  if (!ice || !dtls) throw new Error('A transport needs ICE and DTLS parameters.');
  const transport = [
    `a=ice-ufrag:${ice.ufrag}`,
    `a=ice-pwd:${ice.pwd}`,
    'a=ice-options:trickle',
    `a=fingerprint:${dtls.fingerprint}`,
    `a=setup:${dtls.role}`,
  ];
  const lines = [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    ...(isLite ? ['a=ice-lite'] : []),
    `a=group:BUNDLE ${hasData ? '0 1' : '0'}`,
    'm=video 9 UDP/TLS/RTP/SAVPF 96',
    'c=IN IP4 0.0.0.0',
    'a=mid:0',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtpmap:96 VP8/90000',
    ...transport,
  ];
  if (hasData)
    lines.push(
      'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
      'c=IN IP4 0.0.0.0',
      'a=mid:1',
      'a=sctp-port:5000',
      `a=max-message-size:${DATA_MESSAGE_BYTES_MAX}`,
      ...transport,
    );
  return `${lines.join('\r\n')}\r\n`;
}
