import { isMet, type Row } from './ratio.ts';

/** One file a question; each gives its rows. Name files on the command line to run only those. */
const questions: Record<string, () => Promise<{ rows: () => Promise<Row[]> }>> = {
  'socket-fan-out': () => import('./socket-fan-out.ts'),
  'chat-send': () => import('./chat-send.ts'),
  'chat-history': () => import('./chat-history.ts'),
  'chat-ejabberd': () => import('./chat-ejabberd.ts'),
  'chat-processes': () => import('./chat-processes.ts'),
  'chat-conversations': () => import('./chat-conversations.ts'),
  'chat-idle': () => import('./chat-idle.ts'),
  'chat-reconnect': () => import('./chat-reconnect.ts'),
  'stalled-socket': () => import('./stalled-socket.ts'),
  'sfu-forwarding': () => import('./sfu-forwarding.ts'),
  'webhook-queue': () => import('./webhook-queue.ts'),
  'webhook-delivery': () => import('./webhook-delivery.ts'),
  observability: () => import('./observability.ts'),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in questions));
if (unknown.length > 0) throw new Error(`no such benchmark: ${unknown.join(', ')}`);

let failed = 0;
for (const [name, load] of Object.entries(questions)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const { rows } = await load();
  for (const row of await rows()) {
    const floor =
      row.floor === null ? 'peer' : 'atLeast' in row.floor ? `≥ ${row.floor.atLeast}` : `≤ ${row.floor.atMost}`;
    console.log(
      `${isMet(row) ? 'met ' : 'MISS'}  ${row.ratio.toFixed(2).padStart(6)}  ${floor.padEnd(7)} ${row.question}`,
    );
    console.log(`                       ${row.detail}`);
    if (!isMet(row)) failed++;
  }
}
process.exitCode = failed > 0 ? 1 : 0;
