import { setImmediate as turn } from 'node:timers/promises';
import type { MediaEvents } from '@parley/contract/media-control';
import { local, stageRoom } from './room-stage.ts';

const STEP_MS = 100;

/** As the signaling frame carries it. */
const bytesOf = ({ revision, restart, description }: MediaEvents['sub.offer']): number =>
  JSON.stringify({ type: 'sub.offer', revision, restart, description, ts: 1e12 }).length;

const tracksIn = ({ description }: MediaEvents['sub.offer']): number =>
  description.media.filter(({ trackId }) => trackId !== undefined).length;

/** A room in which everybody has an open microphone and answers each offer in the turn in which it comes. */
export function stageCrowd() {
  const { room, join, of, pass } = stageRoom();
  let answered = 0;
  let ssrcs = 1000;

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
    const { publisher } = join(id);
    ssrcs += 1;
    const entry = { mid: '0', kind: 'audio' as const, direction: 'sendonly' as const, trackId: id };
    publisher.offer([{ cid: id, kind: 'AUDIO', source: 'MICROPHONE' }], {
      ...local,
      media: [{ ...entry, codecs: [{ name: 'opus', pt: 111 }], ssrcs: [ssrcs], extensions: {} }],
    });
    await settle();
  }

  return {
    enter,
    leave: async (id: string): Promise<void> => {
      room.remove(id, 'CLIENT_INITIATED');
      await settle();
    },
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= STEP_MS) {
        pass(Math.min(left, STEP_MS));
        await settle();
      }
    },
    /** What a participant was offered so far. */
    offersTo(id: string) {
      const offers = of('sub.offer').filter(({ participant }) => participant === id);
      return { count: offers.length, tracks: sumOf(offers, tracksIn), bytes: sumOf(offers, bytesOf) };
    },
    tracksOf: (id: string): number => room.get(id).subscriber.trackIds.length,
  };
}

const sumOf = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((sum, item) => sum + amount(item), 0);
