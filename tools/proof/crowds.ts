/** Caps and uniques with 400 callers at once, and 200 who join a room for 50: `node tools/proof/crowds.ts [callers] [joiners]`. */

import { createChatKit } from '../../apps/server/testkit/chat/chat.ts';
import { startRooms } from '../../apps/server/testkit/clients/rooms.ts';
import { startService } from '../../apps/server/testkit/kit/service.ts';
import * as crowds from '../../apps/server/testkit/proofs/chat-crowds.ts';
import { crowdARoom } from '../../apps/server/testkit/proofs/room-races.ts';

const [callers = 400, joiners = 200] = process.argv.slice(2).map(Number);
const service = await startRooms();
const second = await startService({ beside: service });
const stage = { service, second, chat: await createChatKit(service), crowd: callers };
let hasFailed = false;

async function prove(name: string, run: () => Promise<void>): Promise<void> {
  const started = performance.now();
  const fault = await run().then(
    () => null,
    (error: unknown) => error,
  );
  hasFailed ||= fault !== null;
  console.log(`${fault === null ? 'holds' : 'DOES NOT HOLD'} ${name} (${Math.round(performance.now() - started)} ms)`);
  if (fault !== null) console.error(fault);
}

for (const [name, run] of Object.entries(crowds)) await prove(name, () => run(stage));
await prove(crowdARoom.name, () => crowdARoom({ service, second, crowd: joiners }));
await second.stop();
await service.stop();
process.exitCode = hasFailed ? 1 : 0;
