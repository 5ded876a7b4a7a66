/**
 * 200 viewers of one stream on one node, each a protocol client with a DTLS-SRTP peer, and ten too many:
 * `node tools/proof/stream-audience.ts [viewers] [processes of the node]`.
 */
import { runAudience } from '../../e2e/audience.ts';

const [ceiling = 200, processes = 1] = process.argv.slice(2).map(Number);
const excess = 10;
const result = await runAudience({
  viewers: ceiling + excess,
  ceiling,
  processes,
  packetsPerSecond: 60,
  bytes: 1_100,
  measureMs: 20_000,
});
const { admitted, refused, viewerCount, fewest, received, expected, cpuMsPerViewer, ends, endMs } = result;
console.log(
  `${admitted} viewers of ${ceiling + excess} got in (ceiling ${ceiling}; refused: ${JSON.stringify(refused)}), ${viewerCount} counted\n` +
    `${((received / expected) * 100).toFixed(2)} % of the packets arrived in 20 s, at the worst viewer ${fewest} of ${expected / admitted}\n` +
    `media processes: ${cpuMsPerViewer?.toFixed(2)} ms of CPU a second and viewer at 60 packets/s of 1,100 bytes\n` +
    `the end reached all in ${endMs.toFixed(0)} ms: ${JSON.stringify(ends)}`,
);
const isWhole =
  admitted === ceiling &&
  refused['SVC_ROOM_FULL'] === excess &&
  viewerCount === ceiling &&
  fewest > 0 &&
  ends['STREAM_ENDED'] === ceiling;
process.exit(isWhole ? 0 : 1);
