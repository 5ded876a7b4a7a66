import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, ApiError, createApi } from '@parley/server';
import fc from 'fast-check';
import type { ChatFleet } from './fleet.ts';
import { type InboxStep, inboxStep, PEOPLE, ROOMS } from './inbox-model.ts';
import { compare, createCast, type InboxStage, take } from './inbox-stage.ts';
import { seeded } from './load.ts';

interface InboxKills {
  fleet: ChatFleet;
  kills: number;
  /** Steps before each kill, one after the other. */
  between: number;
  seed: number;
}

const retryMs = 100;
const attemptsMax = 1_200;

/**
 * Calls of a backend that asks again, at whichever process, until there is an answer. What was done without one is done
 * no second time, so that the model knows how often it was.
 */
function insistent(fleet: ChatFleet, onRetry: () => void): Api {
  let turn = 0;
  const call = async (...args: Parameters<Api['call']>): Promise<unknown> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fleet.api(turn++).call(...args);
      } catch (error) {
        const status = error instanceof ApiError ? error.status : 503;
        // Who is gone was removed by the attempt before.
        if (status === 404 && attempt > 1) return undefined;
        if (status < 500 || attempt === attemptsMax) throw error;
        onRetry();
        await sleep(retryMs);
      }
    }
  };
  // Each answer is the one of its route.
  return { ...fleet.api(0), call: call as Api['call'] };
}

/** Everybody writes everywhere at once: of so many some are stored and not answered when the process dies. */
function sendAll({ server, model }: InboxStage): Promise<void>[] {
  const ways = PEOPLE.flatMap((by) => model.rooms.map(({ id }, room) => ({ by, room, id })));
  const sent = ways
    .filter((way) => model.member(way).isActive)
    .map(async ({ by, room, id }) => {
      const body = { text: 'x', senderId: by, clientMessageId: randomUUID() };
      return { by, room, message: await server.call('sendMessage', { room: id, body }) };
    });
  const inModel = Promise.all(sent).then((all) => {
    for (const { by, room, message } of all.sort((one, other) => one.message.seq - other.message.seq))
      model.sent({ by, room }, { id: message.id, at: message.createdAt, mentions: null });
  });
  return [...sent.map(async (one) => void (await one)), inModel];
}

/** With nothing read every message counts: one too few or too many shows. */
async function markAllUnread(stage: InboxStage): Promise<void> {
  for (const by of PEOPLE)
    for (const [room, { messages }] of stage.model.rooms.entries()) {
      const at = messages.findIndex(({ isDeleted }) => !isDeleted);
      if (at >= 0) await take(stage, { does: 'unread', room, by, at });
    }
}

/** Inboxes and badges against their model, while a process is killed with -9 again and again. */
export async function runInboxKills({ fleet, kills, between, seed }: InboxKills): Promise<{ retries: number }> {
  let retries = 0;
  const random = seeded(seed);
  const as = (credential: string): Api => createApi({ baseUrl: fleet.url(0), credential });
  const server = insistent(fleet, () => void retries++);
  const stage: InboxStage = { service: null, ...(await createCast(server, as)) };
  const steps = fc
    .sample(inboxStep, { numRuns: (between + ROOMS) * kills * 2, seed })
    .filter(({ does }) => does !== 'retire')
    .values();
  const next = (): InboxStep => steps.next().value ?? { does: 'send', room: 0, by: 'ada', mentions: null };
  /** Blocks are of people: of two at once nobody knows which was first. */
  const inRoom = (room: number): InboxStep => {
    const step = next();
    return 'whom' in step ? { does: 'send', room, by: step.by, mentions: 'all' } : { ...step, room };
  };
  // Once more where everything was answered before its process died: that proves nothing.
  for (let kill = 0; kill < kills || (retries === 0 && kill < kills * 5); kill++) {
    for (let at = 0; at < between; at++) await take(stage, next());
    const rooms = Array.from({ length: ROOMS }, (_, room) => room);
    const underWay = kill % 2 === 0 ? sendAll(stage) : rooms.map((room) => take(stage, inRoom(room)));
    // With the first answer, or soon after: the others are being stored, or are stored and not answered.
    await Promise.race(underWay);
    await sleep(random(5));
    await fleet.restart(1);
    await Promise.all(underWay);
    await compare(stage);
    await markAllUnread(stage);
    await compare(stage);
  }
  return { retries };
}
