import { chatClientFrames, errors, signalingClientFrames } from '@parley/contract';
import fc from 'fast-check';
import type { TObject } from 'typebox';
import { newRoom } from '../rooms.ts';
import type { TestService } from '../service.ts';
import { joinRoom } from '../signal-client.ts';
import { openSocket, type SocketClient } from '../socket-client.ts';
import type { World } from '../world.ts';
import { nearObject } from './values.ts';

/** Sockets are opened anew: one that was cut for what it sent says nothing about what comes after. */
const FRAMES_PER_SOCKET = 40;

export interface SocketFuzz {
  service: TestService;
  world: World;
  seed: number;
  frames: number;
  onProgress?(frames: number): void;
}

export interface SocketOutcome {
  frames: number;
  answered: number;
  cut: Map<number, number>;
  faults: string[];
}

type FrameTable = Readonly<Record<string, { data: TObject }>>;

function frameOf(table: FrameTable, hints: readonly string[]): fc.Arbitrary<string> {
  const known = Object.entries(table).map(([type, { data }]) =>
    nearObject(data, hints).map((value) => JSON.stringify({ ...value, type, id: 'fuzz' })),
  );
  const unknown = fc.oneof(
    fc.string({ maxLength: 200, unit: 'binary' }),
    fc.json({ maxDepth: 4 }),
    fc.string({ maxLength: 30 }).map((type) => JSON.stringify({ type, id: 'fuzz' })),
    fc.constantFrom('{', '[]', 'null', '{"type":1}', '{"type":"ping","id":{}}', '['.repeat(5000)),
  );
  return fc.oneof({ arbitrary: fc.oneof(...known), weight: 9 }, { arbitrary: unknown, weight: 1 });
}

/** Sends frames the tables nearly take, over sockets of both kinds that got in properly. */
export async function fuzzSockets({ service, world, seed, frames, onProgress }: SocketFuzz): Promise<SocketOutcome> {
  const outcome: SocketOutcome = { frames: 0, answered: 0, cut: new Map(), faults: [] };
  const hints = Object.values(world.ids);
  const kinds = [
    { table: chatClientFrames as FrameTable, open: () => openChat(service, world) },
    { table: signalingClientFrames as FrameTable, open: () => openRtc(service, world) },
  ];
  for (let round = 0; outcome.frames < frames; round += 1)
    for (const { table, open } of kinds) {
      const texts = fc.sample(frameOf(table, hints), { seed: seed + round, numRuns: FRAMES_PER_SOCKET });
      await play(await open(), texts, outcome);
      onProgress?.(outcome.frames);
    }
  return outcome;
}

async function openChat(service: TestService, world: World): Promise<SocketClient> {
  const { token } = await service.as(world.apiKey).call('mintChatToken', { body: { userId: 'ada' } });
  const client = await openSocket(`${service.url}/v1/chat/ws`, { protocols: ['svc.chat.v1', `bearer.${token}`] });
  await client.take('hello');
  return client;
}

async function openRtc(service: TestService, world: World): Promise<SocketClient> {
  const api = service.as(world.apiKey);
  const room = await newRoom(api);
  const { token } = await api.call('mintRtcToken', {
    roomId: room.id,
    body: { participantIdentity: 'ada', permissions: { publish: true, publishData: true } },
  });
  return joinRoom(service.url, token);
}

async function play(client: SocketClient, texts: readonly string[], outcome: SocketOutcome): Promise<void> {
  const before = client.frames.length;
  for (const text of texts) {
    if (client.closed) break;
    client.send(text);
    outcome.frames += 1;
  }
  if (!client.closed) {
    // Whatever came before, the socket still answers or has said why it does not.
    try {
      await Promise.race([client.ask({ type: 'is-anybody-there' }), client.whenClosed()]);
    } catch (error) {
      outcome.faults.push(`no answer after: ${texts.join('\n')}: ${error instanceof Error ? error.message : error}`);
    }
  }
  for (const frame of client.frames.slice(before)) judge(frame, texts, outcome);
  if (client.closed) outcome.cut.set(client.closed.code, (outcome.cut.get(client.closed.code) ?? 0) + 1);
  else await client.close();
}

function judge(frame: Record<string, unknown>, texts: readonly string[], outcome: SocketOutcome): void {
  outcome.answered += 1;
  const code = frame['code'] ?? (frame['error'] as Record<string, unknown> | undefined)?.['code'];
  if (typeof code !== 'string') return;
  const known = errors[code as keyof typeof errors];
  if (known?.status === 500) outcome.faults.push(`${JSON.stringify(frame)} to one of\n${texts.join('\n')}`);
}
