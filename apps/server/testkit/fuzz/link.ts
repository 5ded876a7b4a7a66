import {
  type MediaEventName,
  mediaEvents,
  mediaResponses,
  parseMediaNodeFrame,
} from '@parley/contract/media-node-frames';
import type { Api } from '@parley/server';
import fc from 'fast-check';
import { sql } from '../../src/core/sql.ts';
import { joinAs, newRoom, type RoomsService } from '../clients/rooms.ts';
import { eventually } from '../kit/eventually.ts';
import { signalingFrameChecker } from './frame-checker.ts';
import { type Hints, nearObject } from './values.ts';

const FRAMES_PER_NODE = 40;

interface LinkFuzz {
  service: RoomsService;
  api: Api;
  seed: number;
  frames: number;
  onProgress?(frames: number): void;
}

interface LinkOutcome {
  frames: number;
  /** Each one ended with what is no frame, and its connection with it. */
  nodes: number;
  /** Frames that the nodes' own participants got of it. */
  passedOn: number;
  faults: string[];
}

/**
 * Media nodes that say what nearly are frames, about their own room and about one of another node: the server lives,
 * their participants get declared frames only, and those of the other node nothing.
 */
export async function fuzzLink({ service, api, seed, frames, onProgress }: LinkFuzz): Promise<LinkOutcome> {
  const outcome: LinkOutcome = { frames: 0, nodes: 0, passedOn: 0, faults: [] };
  const room = await newRoom(api);
  const victim = await joinAs(service, api, room, 'victim');
  const isHers = ({ type }: { type: string }): boolean => ['response', 'sub.offer', 'pong'].includes(type);
  for (let round = 0; outcome.frames < frames; round += 1) {
    victim.send({ type: 'ping', t: 1 });
    const name = `fuzz-${seed}-${round}`;
    const node = await service.newNode(name, { region: name });
    const own = await newRoom(api, { region: name });
    const ada = await joinAs(service, api, own, 'ada');
    outcome.nodes += 1;
    const received = { ada: ada.frames.length, victim: victim.frames.length };
    const hers = { room: room.id, participant: victim.joined.sessionId, identity: 'victim' };
    const his = { room: own.id, participant: ada.joined.sessionId, identity: 'ada', trackId: 'trk_x' };
    const said = sampleFrames(his, hers, seed + round);
    for (const frame of said) node.say(frame);
    const blame = (what: string): void =>
      void outcome.faults.push(`${what}\nafter\n${said.map((frame) => String(frame).slice(0, 300)).join('\n')}`);
    await eventually(() => node.ended > 0).catch(() => blame('the connection lives'));
    // Answered in order, so everything before it has come. One wait for both: the loser of a race would wait on.
    ada.send({ type: 'ping', t: 1, id: 'last' });
    await eventually(() => ada.closed !== null || ada.frames.some(({ ref }) => ref === 'last'));
    const isAlive = await service.fetch('/healthz').then(
      ({ ok }) => ok,
      () => false,
    );
    if (!isAlive) blame('the server is gone');
    for (const frame of ada.frames.slice(received.ada)) {
      const problem = signalingFrameChecker.frame(frame);
      if (problem !== null && !problem.startsWith('a fault of ours')) blame(problem);
      outcome.passedOn += 1;
    }
    if (victim.closed) blame(`the other room's participant was closed with ${victim.closed.code}`);
    const foreign = victim.frames.slice(received.victim).find((frame) => !isHers(frame));
    if (foreign) blame(`another node's participant got ${JSON.stringify(foreign)}`);
    outcome.frames += said.length;
    if (!ada.closed) await ada.close();
    await node.stop();
    // Its rooms move first, which may be under way.
    await eventually(() => service.adapters.db.execute(sql`delete from media_servers where name = ${name}`));
    onProgress?.(outcome.frames);
  }
  const answer = await victim.ask({ type: 'data', payload: 'still here' });
  if (answer.type !== 'response') outcome.faults.push(`the other room is gone: ${JSON.stringify(answer)}`);
  await victim.close();
  return outcome;
}

let seq = 1;

/** Frames first, most of them about its own room, and at the end what is none: that ends the connection. */
function sampleFrames(his: Hints, hers: Hints, seed: number): (string | Uint8Array)[] {
  const about = (hints: Hints) => fc.sample(fc.oneof(...eventsOf(hints), ...answersOf(hints)), { seed, numRuns: 150 });
  const all = [...about(his), ...about(hers)];
  const [good = [], bad = []] = [true, false].map((isGood) =>
    all.filter((text) => (parseMediaNodeFrame(text) !== null) === isGood),
  );
  const spread = good.filter((_, index) => index % Math.ceil(good.length / FRAMES_PER_NODE) === 0);
  return [...spread, ...bad.slice(0, 1), ...fc.sample(nonsense, { seed, numRuns: 2 })];
}

const eventsOf = (hints: Hints): fc.Arbitrary<string>[] =>
  (Object.keys(mediaEvents) as MediaEventName[]).map((type) =>
    nearObject(mediaEvents[type], hints).map((data) => JSON.stringify({ seq: seq++, type, data })),
  );

/** To nobody: what the commands of a link get is checked by the command. */
const answersOf = (hints: Hints): fc.Arbitrary<string>[] =>
  [mediaResponses.snapshot, mediaResponses.subscribe].map((row) =>
    fc.tuple(fc.nat(20), nearObject(row, hints)).map(([ref, data]) => JSON.stringify({ ref, data })),
  );

const nonsense: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.constantFrom('5', '{', 'null', '[]', '{"type":"hello","data":{}}', '{"seq":1,"type":"x","data":1}'),
  fc.constant(new Uint8Array([1, 2, 3])),
);
