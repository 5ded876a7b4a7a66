import { text } from 'node:stream/consumers';
import type { Finding } from '@parley/server-app/doctor/finding';
import { type Command, type Context, jsonOption, UsageError, type Values } from './command.ts';

const marks = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

export const doctor: Command = {
  does: 'Looks at everything the service would stand on here: settings, ports, folder, database, Redis, storage, UDP, announced address, clock. With --from at a running one from the machine of a user: DNS, TLS, clock, WebSockets, UDP, TURN.',
  usage: '[--from <url> [--token -]] [--json]',
  options: {
    from: { type: 'string', means: 'The public address of a service, to be looked at from here; takes no settings.' },
    token: {
      type: 'string',
      means:
        'With --from: an RTC token or an API key, to join a room and use its relays. Better in PARLEY_TOKEN, or by - from standard input: others on this machine see what is typed here. SVC_API_KEY is taken where SVC_URL is the same service.',
    },
    ...jsonOption,
  },
  async run(values, context) {
    const { json } = values;
    let failures = 0;
    for await (const found of await findingsOf(values, context)) {
      const finding = printable(found);
      if (finding.status === 'fail') failures += 1;
      context.out(json ? JSON.stringify(finding) : lineOf(finding));
    }
    if (!json)
      context.out(failures === 0 ? '\nNothing is in the way.' : `\n${failures} of these keep it from working.`);
    return failures === 0 ? 0 : 1;
  },
};

async function findingsOf({ from, token }: Values, { env }: Context): Promise<AsyncIterable<Finding>> {
  if (from === undefined) {
    if (token !== undefined) throw new UsageError('--token goes with --from.');
    const { examine } = await import('@parley/server-app/doctor');
    return examine(env);
  }
  const url = URL.parse(String(from));
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UsageError('--from takes an https address.');
  const { examineFrom } = await import('./reach/index.ts');
  return examineFrom(url, await tokenFor(url, token, env));
}

async function tokenFor(url: URL, given: Values[string], env: Context['env']): Promise<string | null> {
  if (given === '-') return (await text(process.stdin)).trim();
  // A key is for its own service, and for no other that one looks at.
  const isOwn = URL.parse(env['SVC_URL'] ?? '')?.origin === url.origin;
  const token = given ?? env['PARLEY_TOKEN'] ?? (isOwn ? env['SVC_API_KEY'] : undefined);
  return token === undefined || token === '' ? null : String(token);
}

/** A service may say anything, and a terminal obeys what it is sent. */
const plain = (said: string): string => said.replaceAll(/\p{C}/gu, '\ufffd');

const printable = (finding: Finding): Finding => ({
  ...finding,
  message: plain(finding.message),
  ...(finding.fix ? { fix: plain(finding.fix) } : {}),
});

const lineOf = ({ status, check, message, fix }: Finding): string =>
  [`${marks[status]}  ${check.padEnd(9)} ${message}`, ...(fix ? [`${''.padEnd(16)}${fix}`] : [])].join('\n');
