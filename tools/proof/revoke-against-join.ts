/** Revoke against join, 1,000 interleavings over two processes' worth of service: `node tools/proof/revoke-against-join.ts [rounds]`. */

import { startRooms } from '../../apps/server/testkit/clients/rooms.ts';
import { startService } from '../../apps/server/testkit/kit/service.ts';
import { raceRevocations } from '../../apps/server/testkit/proofs/room-races.ts';

const rounds = Number(process.argv[2] ?? 1_000);
const service = await startRooms();
const second = await startService({ beside: service });
const started = performance.now();
const outcome = await raceRevocations({ urls: [service.url, second.url], service, rounds });
const seconds = ((performance.now() - started) / 1000).toFixed(0);
console.log(
  `${rounds} interleavings in ${seconds} s: ${outcome.acceptedBefore} joins came first and were cut, ` +
    `${outcome.refused} were refused, ${outcome.acceptedAfter} that began after the revocation answered got in`,
);
await second.stop();
await service.stop();
process.exit(outcome.acceptedAfter === 0 && outcome.acceptedBefore > 0 ? 0 : 1);
