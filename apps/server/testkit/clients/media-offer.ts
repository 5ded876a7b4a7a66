import { toSdp } from '@parley/media-description';

/** An SDP offer of one audio line, as a WHIP (`sendonly`) or WHEP (`recvonly`) client sends it. */
export const mediaOffer = (direction: 'sendonly' | 'recvonly'): string =>
  toSdp({
    ice: { ufrag: 'offr', pwd: 'p'.repeat(24) },
    dtls: { role: 'actpass', fingerprint: `sha-256 ${'AB:'.repeat(31)}AB` },
    media: [{ mid: '0', kind: 'audio', direction, codecs: [{ name: 'opus', pt: 111 }], ssrcs: [1] }],
  });
