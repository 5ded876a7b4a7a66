import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Svc } from '@parley/server';
import { clientOf } from './account.ts';
import { accountOptions, type Command, type Context, jsonOption } from './command.ts';

const lookEveryMs = 500;

/** Resolves when the job has come to an end, whichever. */
async function finished(svc: Svc, jobId: string, { signal, isTerminal, error }: Context) {
  let shown = -1;
  for (;;) {
    const job = await svc.dataJobs.get(jobId);
    if (job.state === 'DONE' || job.state === 'FAILED') return job;
    if (isTerminal && job.progress !== shown) error(`${job.progress} lines`);
    shown = job.progress;
    await pause(lookEveryMs, undefined, { signal });
  }
}

export const importFile: Command = {
  does: 'Imports conversations with their history from an NDJSON file; what is there already stays as it is.',
  usage: '<file>',
  options: { ...accountOptions, ...jsonOption },
  words: { least: 1, most: 1 },
  async run(values, context, [path = '']) {
    const body = new Uint8Array(await readFile(path));
    const svc = clientOf(values, context);
    const { job, uploadUrl, method, headers } = await svc.chat.imports.create({ size: body.byteLength });
    const { signal } = context;
    const stored = await fetch(uploadUrl, { method, headers, body, signal });
    if (!stored.ok) throw new Error(`The storage answered ${stored.status} to the upload.`);
    await svc.chat.imports.start(job.id);
    const ended = await finished(svc, job.id, context);
    if (values['json'] === true) context.out(JSON.stringify(ended));
    else if (ended.state === 'DONE') context.out(`${ended.progress} lines are imported.`);
    else context.error(ended.error ?? 'The import failed.');
    return ended.state === 'DONE' ? 0 : 1;
  },
};
