import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '../kit/eventually.ts';
import { brief } from '../kit/process.ts';
import type { WriterMessage } from '../kit/writer.ts';

const writerFile = fileURLToPath(new URL('../kit/writer.ts', import.meta.url));
/** Opening a database after a crash, on a busy machine. */
const patience = { withinMs: 30_000 };

/** A process that writes to a data folder, or to the database of a URL, until it is killed. */
function startWriter(target: string, round: number) {
  const stored: string[] = [];
  let found: string[] | undefined;
  const child = fork(writerFile, [target, String(round)], {
    execArgv: brief(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', (message: WriterMessage) => {
    if (message.kind === 'found') found = message.ids;
    else stored.push(message.id);
  });
  const exit = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  return { stored, found: () => found, kill };
}

/** A small part of tools/proof/killed-writer.ts. */
export const killsInSuite = 1;

/**
 * Kills one writer after the other: each finds what was acknowledged to those before it.
 * @param meanwhile is done beside each of them, before it is killed.
 */
export async function killRepeatedly(
  target: string,
  kills: number,
  meanwhile: (writer: { stored: readonly string[] }) => Promise<void> = async () => {},
): Promise<void> {
  const promised = new Set<string>();
  for (let round = 0; round <= kills; round++) {
    const writer = startWriter(target, round);
    try {
      const found = new Set(await eventually(() => writer.found() ?? assert.fail('not started'), patience));
      const lost = [...promised].filter((id) => !found.has(id));
      assert.deepEqual(lost, [], `lost after round ${round}`);
      await eventually(() => assert.ok(writer.stored.length > 20 + round * 7), patience);
      await meanwhile(writer);
    } finally {
      await writer.kill();
    }
    for (const id of writer.stored) promised.add(id);
  }
  assert.ok(promised.size > kills * 20);
}
