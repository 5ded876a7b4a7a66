import assert from 'node:assert/strict';
import { mint, mintMany, newRoom, type RoomsService } from '../clients/rooms.ts';
import { joinRoom, type SignalClient } from '../clients/signal-client.ts';
import { eventually } from '../kit/eventually.ts';
import type { TestService } from '../kit/service.ts';

/** Where in the course of a join something else happens: 0 at its beginning, 1 about when it is through. */
const moment = (part: number, joinMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, part * joinMs));

/**
 * Joins against revocations, each round at other moments. Every session that got in must be cut; a join that began
 * after the revocation had answered must not get in.
 */
export async function raceRevocations(options: {
  /** The processes to join at. */
  urls: readonly string[];
  service: Pick<TestService, 'newProject'>;
  rounds: number;
}): Promise<{ acceptedBefore: number; acceptedAfter: number; refused: number }> {
  const outcome = { acceptedBefore: 0, acceptedAfter: 0, refused: 0 };
  const isAnswered = new Map<string, true>();

  async function attempt(url: string, token: string, tokenId: string): Promise<void> {
    const beganAfter = isAnswered.has(tokenId);
    const client: SignalClient | null = await joinRoom(url, token).catch(() => null);
    if (!client) outcome.refused += 1;
    else if (beganAfter) outcome.acceptedAfter += 1;
    else outcome.acceptedBefore += 1;
    if (client) assert.ok([4409, 4410].includes((await client.whenClosed()).code));
  }

  /** Minting is budgeted by key: a project serves so many rounds. */
  const roundsPerProject = 25;
  for (let first = 0; first < options.rounds; first += roundsPerProject) {
    const { api } = await options.service.newProject();
    const room = await newRoom(api);
    const joinMs = await measureJoin(options.urls[0] ?? '', (await mint(api, room, 'first')).token);
    for (let round = first; round < Math.min(first + roundsPerProject, options.rounds); round++) {
      const url = (n: number): string => options.urls[(round + n) % options.urls.length] ?? '';
      const { token, tokenId } = await mint(api, room, `p-${round}`);
      const revoke = async (): Promise<void> => {
        await moment(((round * 7) % 20) / 12, joinMs);
        await api.call('revokeRtcToken', { roomId: room.id, tokenId });
        isAnswered.set(tokenId, true);
        await attempt(url(1), token, tokenId);
      };
      const early = attempt(url(0), token, tokenId);
      const late = moment(((round * 3) % 10) / 5, joinMs).then(() => attempt(url(1), token, tokenId));
      await Promise.all([early, late, revoke()]);
    }
    await eventually(async () => assert.equal((await api.call('getRoom', { id: room.id })).participantCount, 0));
  }
  return outcome;
}

async function measureJoin(url: string, token: string): Promise<number> {
  const started = performance.now();
  const client = await joinRoom(url, token);
  const took = performance.now() - started;
  await client.close();
  return took;
}

/** As many joins as there are tokens, all at once, over the processes in turn. Gives who got in and how the rest was refused. */
async function stampede(
  urls: readonly string[],
  tokens: readonly string[],
): Promise<{ inside: SignalClient[]; refusals: string[] }> {
  const inside: SignalClient[] = [];
  const refusals: string[] = [];
  const attempt = async (url: string, token: string): Promise<void> => {
    try {
      inside.push(await joinRoom(url, token));
    } catch (error) {
      const code = String((error as { frame?: { code?: string } }).frame?.code);
      // A database under a stampede may say "try again": a client does.
      if (code === 'SERVICE_UNAVAILABLE') await attempt(url, token);
      else refusals.push(code);
    }
  };
  await Promise.all(tokens.map((token, index) => attempt(urls[index % urls.length] ?? '', token)));
  return { inside, refusals };
}

/** A crowd joins a room for 50: exactly so many get in, and a place that is left is taken again. */
export async function crowdARoom({ service, second, crowd }: RoomCrowd): Promise<void> {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  // Twenty who come later, none of whom was there before: one who was would only take their own place again.
  const tokens = await mintMany(service, project, room, crowd + 20);
  const urls = [service.url, second.url];
  const { inside, refusals } = await stampede(urls, tokens.slice(0, crowd));
  assert.equal(inside.length, 50, `refused: ${[...new Set(refusals)].join(', ')}`);
  assert.deepEqual(new Set(refusals), new Set(['ROOM_FULL']));
  assert.equal((await project.api.call('getRoom', { id: room.id })).participantCount, 50);
  assert.equal(service.node.rooms().get(room.id)?.length, 50);
  inside[0]?.send({ type: 'leave' });
  await inside[0]?.whenClosed();
  const again = await stampede(urls, tokens.slice(crowd));
  assert.equal(again.inside.length, 1);
  assert.deepEqual(new Set(again.refusals), new Set(['ROOM_FULL']));
  assert.equal((await project.api.call('getRoom', { id: room.id })).participantCount, 50);
  for (const one of [...inside, ...again.inside]) one.ws.terminate();
}

interface RoomCrowd {
  service: RoomsService;
  /** Another process on the same data. */
  second: TestService;
  /** How many join at once; more than 50. */
  crowd: number;
}

/** Everybody joins and publishes a microphone and a camera with three layers. */
export async function fillRoom(urls: readonly string[], tokens: readonly string[]): Promise<SignalClient[]> {
  const layers = ['q', 'h', 'f'].map((rid, index) => ({
    rid,
    width: 320 << index,
    height: 180 << index,
    bitrate: 150_000 << index,
  }));
  const tracks = [
    { cid: 'mic', kind: 'AUDIO', source: 'MICROPHONE' },
    { cid: 'cam', kind: 'VIDEO', source: 'CAMERA', layers },
  ];
  const crowd: SignalClient[] = [];
  for (const [index, token] of tokens.entries()) {
    const one = await joinRoom(urls[index % urls.length] ?? '', token);
    const answer = await one.ask({ type: 'publish', tracks, description: { media: [] } });
    assert.equal(answer.type, 'response');
    crowd.push(one);
  }
  return crowd;
}
