import { globSync, readFileSync } from 'node:fs';

/** These stand on the database or the bus, so they run a second time, on PostgreSQL and Redis. */
const storedFolders = ['adapters', 'backup', 'core', 'domains', 'http', 'sockets', 'tls'].map(
  (name) => `apps/server/src/${name}/`,
);
/** Nothing of these depends on what the service stands on. */
const storeless = [
  'adapters/blobs/',
  'adapters/db/embedded/',
  'adapters/mail/',
  'core/safe-json',
  'domains/webhooks/address-guard',
  'domains/webhooks/sender',
  'http/deploy-files',
  'http/docs.test.ts',
  'http/kept-builds',
  'tls/one-port',
  'tls/plain-port',
].map((name) => `apps/server/src/${name}`);
/** What only several processes on one database can show. */
const severalProcesses = ['e2e/rooms-over-processes.test.ts', 'e2e/two-processes.test.ts', 'e2e/webhook-storm.test.ts'];

const isForProduction = (file: string): boolean =>
  severalProcesses.includes(file) ||
  (storedFolders.some((folder) => file.startsWith(folder)) && !storeless.some((start) => file.startsWith(start)));

export function chooseFiles({ isProduction, words }: { isProduction: boolean; words: readonly string[] }): string[] {
  return globSync('{packages,apps,tools,e2e}/**/*.test.ts', {
    exclude: (path) => path.includes('node_modules') || path.includes('dist'),
  })
    .filter((file) => !isProduction || isForProduction(file))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
}

/** These take longest. They come first: a worker that took one last would keep the others waiting. */
const longest = [
  'e2e/rooms-over-processes',
  'e2e/two-processes',
  'http/authorization-matrix',
  'db/embedded/embedded',
  'http/fuzz',
  'end-users/end-users',
  'live/storm',
  'chat/recovery',
  'http/stopping',
  'webhooks/schedule',
  'http/route-sweep',
  'bus/bus',
  'adapters/redis-kinds',
  'e2e/dashboard-pages',
  'sdk/recovery',
  'e2e/guides',
  'e2e/gallery',
  'e2e/plain-webrtc',
  'e2e/dashboard-sessions',
  'e2e/billing',
  'sdk/timeline',
  'e2e/dashboard-truth',
  'e2e/dashboard-two-factor',
  'e2e/first-run',
];

function rankOf(file: string): number {
  const rank = longest.findIndex((part) => file.endsWith(`${part}.test.ts`));
  return rank < 0 ? longest.length : rank;
}

/** These judge the quality of media: they are preferred, or the load of others would be a bad network of its own. */
const media = ['apps/sfu/src/bad-network.test.ts', 'apps/sfu/src/call.test.ts', 'e2e/sdk/call.test.ts'];

export type Weight = 'light' | 'heavy' | 'media' | 'node' | 'own time';

/** A service that its worker started for other files would lose its timers, or sleep for minutes. */
const ownTimeWords = /\bmock\.timers\b|\bmock\.method\(performance\b/;
const heavyWords = ["browser.ts'", 'startTestNode('];

/** Heavy files start browsers and processes, those of a media node mostly wait for its packets. */
export function weightOf(file: string): Weight {
  if (media.includes(file)) return 'media';
  const text = readFileSync(file, 'utf8');
  if (ownTimeWords.test(text)) return 'own time';
  if (file.startsWith('e2e/')) return 'heavy';
  if (!heavyWords.some((word) => text.includes(word))) return 'light';
  return file.startsWith('apps/sfu/') ? 'node' : 'heavy';
}

/** What the tests of one worker start once for all of them, and the words of the files that do. */
const startedOnce = {
  stage: /\b(openSdk|sharedStage)\(/,
  'npm start': /playground-kit\.ts'/,
  dashboard: /\bstartDashboard\(/,
} as const;

/** What a file needs that its worker may have started for another one already; null where it needs no such thing. */
export function needOf(file: string): string | null {
  const text = readFileSync(file, 'utf8');
  return Object.entries(startedOnce).find(([, words]) => words.test(text))?.[0] ?? null;
}
