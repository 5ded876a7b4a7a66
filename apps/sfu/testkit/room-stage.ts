import type { MediaEvent, MediaEventName, MediaEvents } from '@parley/contract/media-control';
import type { Codec, MediaEntry } from '@parley/media-description';
import type { OtherLegs } from '../src/media/other-legs.ts';
import type { PeerTransport, PeerTransportListener } from '../src/media/peer-transport.ts';
import { Room } from '../src/media/room.ts';
import { isRtcp, newRtpView, readRtp } from '../src/media/rtp.ts';
import { alone } from './alone.ts';
import { everything } from './permissions.ts';

export const local = {
  ice: { ufrag: 'node', pwd: 'p'.repeat(24) },
  dtls: { role: 'active' as const, fingerprint: `sha-256 ${'AB:'.repeat(31)}AB` },
};
export const AV1: Codec = { name: 'AV1', pt: 45 };
export const VP8: Codec = { name: 'VP8', pt: 96 };

interface JoinOptions {
  maxVisible?: number | undefined;
  isAutoSubscribed?: boolean;
}

/** A room on transports that are open at once; `heard` has the payload types that reached a participant. */
export function stageRoom(
  newLegs: (room: Room) => OtherLegs = () => alone,
  {
    onForwarded,
    trackIds = 'trk',
    startsAt = 0,
  }: { onForwarded?: (packet: Buffer) => void; trackIds?: string; startsAt?: number } = {},
) {
  let now = startsAt;
  const events: MediaEvent[] = [];
  const listeners = new Map<string, PeerTransportListener>();
  const heard = new Map<string, number[]>();
  const newTransport = (name: string, _hasData: boolean, listener: PeerTransportListener) => {
    const view = newRtpView();
    listeners.set(name, listener);
    heard.set(name, []);
    // What of a transport the room uses.
    return {
      isOpen: true,
      state: 'CONNECTED',
      sentBytes: 0,
      receivedBytes: 0,
      offer: () => local,
      acceptOffer: () => local,
      acceptAnswer() {},
      queuedData: () => 0,
      send(packet: Buffer) {
        if (isRtcp(packet) || !readRtp(packet, view)) return;
        heard.get(name)?.push(view.payloadType);
        onForwarded?.(packet);
      },
      close() {},
    } as unknown as PeerTransport;
  };
  let ids = 0;
  const room = new Room(
    { id: 'r', emptyTimeoutMs: 60_000, dataFallback: { sentPerSecond: 1, receivedPerSecond: 1 } },
    {
      clock: { now: () => now, wall: () => now },
      random: () => 0.5,
      newTrackId: () => `${trackIds}_${++ids}`,
      newTransport,
      newLegs,
      candidates: () => [],
      emit: (event) => events.push(event),
      onDataDropped() {},
    },
  );
  const join = (id: string, { maxVisible, isAutoSubscribed = true }: JoinOptions = {}) =>
    room.add({
      id,
      identity: id,
      order: 0,
      permissions: everything,
      isAutoSubscribed,
      isAdaptive: false,
      maxVisible,
      isPlain: false,
    });
  const of = <Name extends MediaEventName>(type: Name) =>
    // The name tells which data it is.
    events.filter((event) => event.type === type).map(({ data }) => data as MediaEvents[Name]);
  const pass = (ms: number) => {
    now += ms;
    room.tick(now);
    room.allocate(now);
  };
  const give = (packet: Buffer, from = 'p') => listeners.get(`r/${from}/pub`)?.packet(packet);
  return { room, join, of, pass, give, heard: (id: string) => heard.get(`r/${id}/sub`) ?? [] };
}

export const line = (mid: string, cid: string, codec: Codec, ssrc: number): MediaEntry => ({
  mid,
  kind: 'video',
  direction: 'sendonly',
  trackId: cid,
  codecs: [codec],
  ssrcs: [ssrc],
  extensions: {},
});
