/** 8 callers start and end the same stream, 200 rounds over two processes' worth of service: `node tools/proof/stream-transitions.ts [rounds]`. */
import { startService } from '../../apps/server/testkit/kit/service.ts';
import { raceTransitions } from '../../apps/server/testkit/proofs/stream-races.ts';

const rounds = Number(process.argv[2] ?? 200);
const service = await startService();
const second = await startService({ beside: service });
const started = performance.now();
const { start, end, cancelled } = await raceTransitions({
  urls: [service.url, second.url],
  service,
  rounds,
  callers: 8,
});
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(
  `${rounds} rounds of 8 callers in ${seconds} s: ${start.winners} starts with ${start.events} events, ` +
    `${end.winners} ends with ${end.events} events, ${cancelled} ended before they started, ` +
    `${start.faulty + end.faulty} rounds without exactly one winner and one event`,
);
await second.stop();
await service.stop();
process.exit(start.faulty + end.faulty === 0 && end.winners === rounds ? 0 : 1);
