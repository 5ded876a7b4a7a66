import { setImmediate as turn } from 'node:timers/promises';
import type { MediaEvents } from '@parley/contract/media-control';
import { rtpPacket, vp8Payload } from './packets.ts';
import { line, local, stageRoom, VP8 } from './room-stage.ts';

const STEP_MS = 100;
/** Of a room. */
const TICK_MS = 20;

interface CrowdOptions {
  /** A camera each instead of a microphone, and so many of the others' cameras at once. */
  maxVisible?: number;
  /** The control plane understands states that come together. */
  takesStates?: boolean;
}

/** As the signaling frame carries it. */
const bytesOf = ({ revision, restart, description }: MediaEvents['sub.offer']): number =>
  JSON.stringify({ type: 'sub.offer', revision, restart, description, ts: 1e12 }).length;

const tracksIn = ({ description }: MediaEvents['sub.offer']): number =>
  description.media.filter(({ trackId }) => trackId !== undefined).length;

/** A room in which everybody has an open microphone and answers each offer in the turn in which it comes. */
export function stageCrowd({ maxVisible, takesStates = false }: CrowdOptions = {}) {
  const { room, join, of, pass, give } = stageRoom();
  let answered = 0;
  let ssrcs = 1000;
  const cameras = new Map<string, { ssrc: number; trackId: string }>();

  /** Until no offer is open, without time passing. */
  async function settle(): Promise<void> {
    for (;;) {
      await turn();
      const open = of('sub.offer').slice(answered);
      if (open.length === 0) return;
      answered += open.length;
      for (const { participant, revision } of open)
        room.participants.get(participant)?.subscriber.answer(revision, { ...local, media: [] });
    }
  }

  async function enter(id: string): Promise<void> {
    const { publisher, subscriber } = join(id, { maxVisible });
    subscriber.downlink.takesStates = takesStates;
    ssrcs += 1;
    if (maxVisible !== undefined) {
      const media = [line('0', id, VP8, ssrcs)];
      // So little that any path has room for it.
      const layers = [{ rid: '', bitrate: 20_000 }];
      const { tracks } = publisher.offer([{ cid: id, kind: 'VIDEO', source: 'CAMERA', layers }], { ...local, media });
      cameras.set(id, { ssrc: ssrcs, trackId: tracks[0]?.trackId ?? '' });
      await settle();
      return;
    }
    const entry = { mid: '0', kind: 'audio' as const, direction: 'sendonly' as const, trackId: id };
    publisher.offer([{ cid: id, kind: 'AUDIO', source: 'MICROPHONE' }], {
      ...local,
      media: [{ ...entry, codecs: [{ name: 'opus', pt: 111 }], ssrcs: [ssrcs], extensions: {} }],
    });
    await settle();
  }

  async function passTime(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      pass(Math.min(left, STEP_MS));
      await settle();
    }
  }

  /** `p-0` and so on, evenly over this time, and a second more. */
  async function enterEvenly(people: number, ms: number): Promise<void> {
    let passed = 0;
    for (let index = 0; index < people; index += 1) {
      await enter(`p-${index}`);
      const whole = Math.floor(((index + 1) * (ms / people) - passed) / TICK_MS) * TICK_MS;
      passed += whole;
      await passTime(whole);
    }
    await passTime(1000);
  }

  const cameraOf = (id: string) => cameras.get(id) ?? { ssrc: 0, trackId: '' };

  return {
    enter,
    settle,
    room,
    cameraOf: (id: string): string => cameraOf(id).trackId,
    mute: (id: string, muted: boolean) =>
      room.mute({ room: room.id, participant: id, trackId: cameraOf(id).trackId, muted, by: 'SERVER' }),
    /** A picture of somebody's camera, with which those who wait for it begin to get it. */
    show: (id: string, sequence: number) => {
      const payload = vp8Payload(sequence, 0, true);
      const { ssrc } = cameraOf(id);
      give(rtpPacket({ sequence, ssrc, payloadType: 96, timestamp: sequence * 3000, payload }), id);
    },
    leave: async (id: string): Promise<void> => {
      room.remove(id, 'CLIENT_INITIATED');
      await settle();
    },
    pass: passTime,
    enterEvenly,
    /** What a participant was offered so far. */
    offersTo(id: string) {
      const offers = of('sub.offer').filter(({ participant }) => participant === id);
      return { count: offers.length, tracks: sumOf(offers, tracksIn), bytes: sumOf(offers, bytesOf) };
    },
    /** What a participant was told of what arrives: how many events, and the last of each track. */
    statesTo(id: string) {
      const singles = of('stream.state').filter(({ participant }) => participant === id);
      const gathered = of('stream.states').filter(({ participant }) => participant === id);
      const all = [...singles, ...gathered.flatMap(({ states }) => states)];
      const last = new Map(all.map(({ trackId, state, reason }) => [trackId, reason ?? state]));
      return { singles: singles.length, gathered, last };
    },
    tracksOf: (id: string): number => room.get(id).subscriber.trackIds.length,
  };
}

const sumOf = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((sum, item) => sum + amount(item), 0);
