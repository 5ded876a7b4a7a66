/** The security guide: each promise with its rules and the tests that quote them. */
import { readFileSync } from 'node:fs';
import { code, table } from './reference-pages.ts';
import { listQuotes } from './rule-quotes.ts';

interface Promised {
  promise: string;
  /** What is shown, and how far. */
  bar: string;
  rules: readonly string[];
}

const promises: readonly Promised[] = [
  {
    promise: 'No acknowledged write is lost',
    bar: 'Processes killed again and again under load: nothing lost, nothing twice, numbers dense',
    rules: ['STO-1', 'MSG-14', 'CHATWS-11'],
  },
  {
    promise: 'Catch-up has no hole',
    bar: 'Any number of writers and processes: nothing missed, nothing repeated',
    rules: ['CHATWS-2', 'CHATWS-4', 'SIG-16'],
  },
  {
    promise: 'Webhooks at least once, with a stable event id',
    bar: 'Killed workers and failing receivers: every delivery ends, none before its backoff',
    rules: ['WH-4', 'WH-8'],
  },
  {
    promise: 'One effect for one key',
    bar: 'Concurrent repeats of an Idempotency-Key or clientMessageId: one effect, equal answers',
    rules: ['REQ-7', 'MSG-5'],
  },
  {
    promise: 'Tenants are apart',
    bar: 'Every route with every credential and owner: what is foreign answers like what is missing',
    rules: ['SEC-10'],
  },
  {
    promise: 'Bad input never breaks',
    bar: 'Every route and frame is fuzzed: no 5xx, an envelope or a close code for everything',
    rules: ['SEC-11', 'REQ-2', 'REQ-3'],
  },
  {
    promise: 'No request leaves for an internal address',
    bar: 'Literals, DNS answers, rebinding and redirects: no connection in production',
    rules: ['WH-10', 'WH-11'],
  },
  {
    promise: 'Limits are exact',
    bar: 'Over several processes, whatever `X-Forwarded-For` says',
    rules: ['REQ-6', 'STA-1', 'SOCK-9'],
  },
  {
    promise: 'Revocation takes effect',
    bar: 'No join after it has answered; a live session is cut within 2 s on every process',
    rules: ['TOK-3', 'PRJ-1', 'AUTH-5', 'AUTH-8'],
  },
  {
    promise: 'What was granted ends with its grant',
    bar: 'Tokens, keys, members and projects: with their sessions, refreshes, WHIP and WHEP; a kick is not undone by the same token',
    rules: ['REV-1', 'REV-2', 'REV-3', 'REV-4', 'REV-5', 'REV-6'],
  },
  {
    promise: 'A key can be made to do little',
    bar: 'Every API-key route against every scope; an expiry that also ends streams and refreshes; networks of IPv4 and IPv6',
    rules: ['PRJ-10', 'PRJ-11', 'PRJ-12', 'PRJ-13'],
  },
  {
    promise: 'A user can be shut out',
    bar: 'One call ends all tokens, sessions and sockets of a user within 2 s on every process, and bans until a time',
    rules: ['USER-1', 'USER-2', 'USER-3', 'USER-4'],
  },
  {
    promise: 'No connection can end a process',
    bar: 'Any bytes on any port, authenticated or not, the media node and its link to the server included: at most that connection ends',
    rules: ['SEC-20', 'FLEET-20', 'FLEET-21', 'FLEET-22', 'MED-60', 'MED-61', 'MED-62'],
  },
  {
    promise: 'An address belongs to who proves it',
    bar: 'Nothing set before the proof survives it; registering again changes nothing that another began',
    rules: ['AUTH-17', 'AUTH-22', 'AUTH-23', 'DASH-10'],
  },
  {
    promise: 'An account is hard to take',
    bar: 'Guesses are slowed, common passwords refused, unknown browsers mailed; changing the password ends every other session',
    rules: ['AUTH-2', 'AUTH-10', 'AUTH-25', 'AUTH-26', 'AUTH-27'],
  },
  {
    promise: 'A stolen password is not enough',
    bar: 'Passkeys, authenticator apps and recovery codes; a project can require them, and what is dangerous asks again after ten minutes',
    rules: [
      'AUTH-28',
      'AUTH-29',
      'AUTH-30',
      'AUTH-31',
      'AUTH-32',
      'AUTH-33',
      'AUTH-34',
      'AUTH-35',
      'AUTH-36',
      'DASH-18',
      'DASH-19',
    ],
  },
  {
    promise: 'Tokens signed by a backend are bounded like ours',
    bar: 'Lifetime, permissions, algorithm and project are decided by the key; revocable by key and by id, used or not',
    rules: ['SIGN-1', 'SIGN-2', 'SIGN-3', 'SIGN-4', 'SIGN-5', 'SIGN-6', 'SIGN-7', 'SIGN-8'],
  },
  {
    promise: 'What happened can be read afterwards',
    bar: 'Administrative actions, sign-ins and failures, ended sessions, first networks of keys: append-only until they expire, without secrets, bounded under attack; exported and sent to who may read it',
    rules: ['AUD-1', 'AUD-2', 'AUD-5', 'AUD-6', 'AUD-7', 'AUD-8', 'AUD-9', 'AUD-10', 'AUD-11', 'AUD-12', 'AUD-13'],
  },
  {
    promise: 'Registration can be closed',
    bar: 'By invitation, by domain or altogether, with providers too; no answer tells who is invited',
    rules: ['AUTH-24', 'DASH-16'],
  },
  {
    promise: 'Development mode is for this machine',
    bar: 'Its routes answer loopback names only; a public address or a forgotten NODE_ENV is refused at start',
    rules: ['CFG-3', 'DEV-2'],
  },
  {
    promise: 'What a backend states, a participant cannot change',
    bar: 'Metadata, permissions and identity come from the token',
    rules: ['SIG-5', 'SIG-17'],
  },
  {
    promise: 'One slow reader harms nobody',
    bar: 'At most 1 MiB is queued for it; then its socket is closed, or it misses data',
    rules: ['SOCK-13', 'MED-64'],
  },
  {
    promise: 'Every amplifier has a budget',
    bar: 'Edits, presence, reads, malformed frames, uploads, mail and data without a channel are counted before they cost',
    rules: ['MSG-19', 'SOCK-17', 'MED-63', 'AUTH-19', 'ATT-9', 'ATT-10', 'PRJ-7', 'PRJ-8'],
  },
  {
    promise: 'Secrets stay secret',
    bar: 'Shown once, sealed or hashed at rest, in no log, list or error',
    rules: ['SEC-1', 'SEC-2', 'WH-3'],
  },
  {
    promise: 'The secret key can be changed',
    bar: 'With the old and the new one nobody is signed out and no webhook secret is lost; afterwards the old one is worth nothing',
    rules: ['SEC-30'],
  },
  {
    promise: 'Nothing goes out in clear, and no door is left open',
    bar: 'HSTS, TLS for mail, metrics by token or inside, forwarded addresses from named proxies, TURN to the media of its own node only',
    rules: ['SEC-31', 'MAIL-4', 'OBS-16', 'DEP-4', 'TURN-4'],
  },
];

const document = 'docs/behaviour.md';

export function securityGuide(): string {
  const quotes = listQuotes();
  const behaviour = readFileSync(document, 'utf8');
  const rows = promises.map(({ promise, bar, rules }) => {
    const missing = rules.filter((rule) => !behaviour.includes(`**${rule}**`));
    if (missing.length > 0) throw new Error(`tools/security-guide.ts: ${missing.join(', ')} is not in ${document}`);
    const tests = new Set(quotes.filter(({ rule }) => rules.includes(rule)).map(({ path }) => path));
    return [promise, bar, rules.join(', '), [...tests].sort().map(code).join(', ')];
  });
  return `<!-- Generated by tools/generate.ts from tools/security-guide.ts and the tests. Do not edit. -->

# Security

What Parley promises, and which test proves it. The rules are in ${document}, where each says what exactly holds; \`npm test\` runs the tests.

${table(['Promise', 'Shown by', 'Rules', 'Tests'], rows)}
## Before you go live

\`parley doctor\` checks a deployment, and [the deployment guide](/docs/guides/deploy) has the checklist. Report a weakness privately, not as a public issue.
`;
}
