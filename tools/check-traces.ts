/** The ways through the files in ARCHITECTURE.md name files that exist, and `message.send` stays short. */
import { finishCheck } from './repository-files.ts';
import { readTraces, tracesDocument } from './traces.ts';

const sendFilesMax = 22;

const traces = readTraces();
const problems = traces.flatMap(({ title, rows, beside, mentioned }) =>
  [...rows.flat(), ...beside, ...mentioned]
    .filter(({ path }) => path === null)
    .map(({ name }) => `${tracesDocument}, ${title}: there is no ${name}`),
);
const send = traces.find(({ title }) => title.startsWith('`message.send`'));
if (!send) problems.push(`${tracesDocument}: there is no trace of message.send`);
else {
  const carriers = send.rows.flat().length;
  const others = send.beside.length;
  if (carriers > sendFilesMax)
    problems.push(`${tracesDocument}: message.send passes ${carriers} files, more than ${sendFilesMax}`);
  // That each of them runs, and no other, is a test's to see: `domains/chat/messages/way.test.ts`.
  if (!send.text.includes(`Beside these ${carriers}, code of ${others} files runs`))
    problems.push(
      `${tracesDocument}: message.send names ${carriers} files and ${others} beside them, and says otherwise`,
    );
}
if (traces.length < 4) problems.push(`${tracesDocument}: saw only ${traces.length} traces: the check is broken`);

const steps = traces.reduce((sum, { rows }) => sum + rows.length, 0);
const files = traces.reduce((sum, { rows, beside }) => sum + rows.flat().length + beside.length, 0);
finishCheck(problems, `${traces.length} traces, ${steps} steps, ${files} files`);
