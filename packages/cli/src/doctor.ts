import type { Finding } from '@parley/server-app/doctor/finding';
import { type Command, type Context, jsonOption, UsageError, type Values } from './command.ts';

const marks = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

export const doctor: Command = {
  does: 'Looks at everything the service would stand on here: settings, ports, folder, database, Redis, storage, UDP, announced address, clock. With --from at a running one from the machine of a user: DNS, TLS, clock, WebSockets, UDP, TURN.',
  usage: '[--from <url> [--token <token>]] [--json]',
  options: {
    from: { type: 'string', means: 'The public address of a service, to be looked at from here; takes no settings.' },
    token: { type: 'string', means: 'With --from: an RTC token or an API key, to join a room and use its relays.' },
    ...jsonOption,
  },
  async run(values, context) {
    const { json } = values;
    let failures = 0;
    for await (const finding of await findingsOf(values, context)) {
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
  return examineFrom(url, token === undefined ? null : String(token));
}

const lineOf = ({ status, check, message, fix }: Finding): string =>
  [`${marks[status]}  ${check.padEnd(9)} ${message}`, ...(fix ? [`${''.padEnd(16)}${fix}`] : [])].join('\n');
