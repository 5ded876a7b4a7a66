/** The ways through the files in ARCHITECTURE.md name files that exist, and `message.send` stays short. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { finishCheck } from './repository-files.ts';

const document = 'ARCHITECTURE.md';
/** Where a path of a row may start; a bare name is beside the one before it in its row. */
const roots = ['.', 'apps/server/src', 'apps/sfu/src/media'];
const sendFilesMax = 22;

const sections = readFileSync(document, 'utf8').split(/^## /m).slice(1);
const traces = sections
  .map((text) => ({
    title: text.slice(0, text.indexOf('\n')),
    rows: text.split('\n').filter((line) => /^\| \d/.test(line)),
  }))
  .filter(({ rows }) => rows.length > 0);

function missingIn(row: string): string[] {
  let folder = '.';
  return [...(row.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].flatMap(([, path = '']) => {
    const found = [folder, ...roots].map((root) => join(root, path)).find((candidate) => existsSync(candidate));
    if (found !== undefined) folder = dirname(found);
    return found === undefined ? [path] : [];
  });
}

const problems = traces.flatMap(({ title, rows }) =>
  rows.flatMap((row) => missingIn(row).map((path) => `${document}, ${title}: there is no ${path}`)),
);
const send = traces.find(({ title }) => title.startsWith('`message.send`'));
if (!send) problems.push(`${document}: there is no trace of message.send`);
else if (send.rows.length > sendFilesMax)
  problems.push(`${document}: message.send passes ${send.rows.length} files, more than ${sendFilesMax}`);
if (traces.length < 4) problems.push(`${document}: saw only ${traces.length} traces: the check is broken`);

finishCheck(problems, `${traces.length} traces, ${traces.reduce((sum, { rows }) => sum + rows.length, 0)} steps`);
