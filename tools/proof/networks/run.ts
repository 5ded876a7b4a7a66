/** Inside the open network: starts the service, measures each network in turn and writes the table. */
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { startBadPath, startInstallation } from './installation.ts';
import { measure, type Outcome, openOther, type Row } from './measure.ts';

const ROWS: readonly Row[] = [
  { network: 'Open', kind: 'direct', barMs: 3000 },
  { network: 'NAT', kind: 'nat', barMs: 3000 },
  { network: 'Symmetric NAT', kind: 'symmetric', barMs: 3000 },
  { network: 'UDP blocked', kind: 'noudp', barMs: 5000 },
  { network: 'TCP 443 only', kind: 'only443', barMs: 5000 },
  { network: 'IPv6 only', kind: 'ipv6', barMs: 3000 },
  { network: '200 ms and 3 % loss', kind: 'bad', barMs: 3000 },
  { network: 'Address changed in mid-call', kind: 'moving', barMs: 3000, moves: true },
  { network: 'Open, Firefox', kind: 'direct', browser: 'firefox', barMs: 3000 },
  { network: 'UDP blocked, Firefox', kind: 'noudp', browser: 'firefox', barMs: 5000 },
  { network: 'TCP 443 only, Firefox', kind: 'only443', browser: 'firefox', barMs: 5000 },
];
const HEALED_MS_MAX = 5000;

const [roundsText = '3', certFile = '', keyFile = '', authorityFile = '', reportFile = '', only = ''] =
  process.argv.slice(2);
const rounds = Number(roundsText);

/** Nearest rank; a call that was never connected counts as the slowest. */
function percentile(values: readonly (number | null)[], share: number): number | null {
  const sorted = [...values].sort((a, b) => (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY));
  return sorted[Math.ceil(share * sorted.length) - 1] ?? null;
}

/** What 19 calls of 20 stay under. */
const p95 = (values: readonly (number | null)[]): number | null => percentile(values, 0.95);

function isMet({ barMs, moves }: Row, outcomes: readonly Outcome[]): boolean {
  const connected = p95(outcomes.map(({ connectedMs }) => connectedMs));
  const healed = p95(outcomes.map(({ healedMs }) => healedMs));
  return (
    outcomes.every(({ sees, isSeen, hears, isHeard }) => sees && isSeen && hears && isHeard) &&
    connected !== null &&
    connected <= barMs &&
    (!moves || (healed !== null && healed <= HEALED_MS_MAX))
  );
}

const LISTED_MAX = 10;

function ms(values: readonly (number | null)[]): string {
  const said = (value: number | null): string => String(value ?? 'never');
  if (values.length <= LISTED_MAX) return values.map(said).join(', ');
  const [p50, most, worst] = [0.5, 0.95, 1].map((share) => said(percentile(values, share)));
  return `p50 ${p50}, p95 ${most}, worst ${worst} of ${values.length} calls`;
}

const yes = (values: readonly boolean[]): string => (values.every(Boolean) ? 'yes' : 'no');

function lineOf(row: Row, outcomes: readonly Outcome[]): string {
  const of = <K extends keyof Outcome>(key: K): Outcome[K][] => outcomes.map((outcome) => outcome[key]);
  const cells = [
    row.network,
    [...new Set(of('path'))].join(', '),
    ms(of('connectedMs')),
    ms(of('firstPictureMs')),
    `${yes(of('isSeen'))}, ${yes(of('sees'))}`,
    `${yes(of('isHeard'))}, ${yes(of('hears'))}`,
    row.moves ? ms(of('healedMs')) : '',
    `${row.barMs / 1000} s${row.moves ? `, healed ${HEALED_MS_MAX / 1000} s` : ''}`,
    isMet(row, outcomes) ? 'met' : 'missed',
    `${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores, load ${loadavg()[1]?.toFixed(0)}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** What is measured, and how; the table follows. */
const heading = `# Calls from every kind of network

Made by \`node tools/proof/networks.ts\` (root, iproute2, nftables, Chromium, Firefox); do not edit. One server in production with \`PUBLIC_URL\`, a certificate and a data folder, its media node beside it; Chromium, or Debian's Firefox ESR where it is named, in network namespaces behind nftables on the same machine, a new browser each time; the other participant a Chromium in an open network. Each figure is one call.

- Connected: from \`connect()\` until both peer connections are, token, socket and camera included. 19 calls of 20 must stay under the bar; of ten calls or fewer, all.
- Path: by what media goes; \`relay\` is our own TURN, \`tls\` that on port 443 of the server.
- Pictures and messages: from the network, into it.
- 200 ms and 3 % loss: 100 ms and 3 % of the packets each way, by the suite's UDP proxy in the gateway; TCP has the delay, and a round trip more for 3 % of its chunks. Where a flight of our DTLS is lost, the call waits a second: the library's timer, RFC 6347's default.
- Address changed: the interface goes, another with another gateway comes; healed when pictures move both ways again, new ones.

| Network | Path | Connected, ms | First picture, ms | Pictures | Messages | Healed, ms | Bar | | Measured |
|---|---|---|---|---|---|---|---|---|---|
`;

/** By kind of network, or all of a browser. */
function isAskedFor({ kind, browser }: Row): boolean {
  return only === '' || only.split(',').some((one) => one === kind || one === browser);
}

/** The table as it was, for the rows that are not asked for. */
async function linesBefore(): Promise<Map<string, string>> {
  const rows = (await readFile(reportFile, 'utf8')).split('\n').filter((line) => line.startsWith('| '));
  return new Map(rows.map((line) => [line.split(' | ')[0]?.slice(2) ?? '', line]));
}

const trust = { certificate: await readFile(certFile, 'utf8'), authorityFile };
const installation = await startInstallation({ cert: certFile, key: keyFile });
const badPath = await startBadPath();
const other = await openOther(installation.api, trust);
const lines = await linesBefore();
let isWhole = true;
try {
  for (const row of ROWS.filter(isAskedFor)) {
    const outcomes: Outcome[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const outcome = await measure({ api: installation.api, other, trust }, row);
      outcomes.push(outcome);
      console.log(row.network, JSON.stringify(outcome));
    }
    isWhole &&= isMet(row, outcomes);
    lines.set(row.network, lineOf(row, outcomes));
    console.log(lines.get(row.network));
  }
} finally {
  await other.close();
  await badPath.stop();
  await installation.stop();
}
const table = ROWS.map(({ network }) => lines.get(network)).filter((line) => line !== undefined);
await writeFile(reportFile, `${heading}${table.join('\n')}\n`);
process.exit(isWhole ? 0 : 1);
