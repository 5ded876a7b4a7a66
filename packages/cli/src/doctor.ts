import { type Command, jsonOption } from './command.ts';

const marks = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

export const doctor: Command = {
  does: 'Looks at everything the service would stand on here: settings, ports, folder, database, Redis, storage, UDP, announced address, clock.',
  usage: '[--json]',
  options: jsonOption,
  async run({ json }, { env, out }) {
    const { examine } = await import('@parley/server-app/doctor');
    let failures = 0;
    for await (const finding of examine(env)) {
      if (finding.status === 'fail') failures += 1;
      out(json ? JSON.stringify(finding) : `${marks[finding.status]}  ${finding.check.padEnd(9)} ${finding.message}`);
      if (!json && finding.fix) out(`${''.padEnd(16)}${finding.fix}`);
    }
    if (!json) out(failures === 0 ? '\nNothing is in the way.' : `\n${failures} of these keep it from working.`);
    return failures === 0 ? 0 : 1;
  },
};
