/** A whole service in its own process that records events on command, so that it can be killed while it does. */
import { openAdapters } from '../../src/adapters/open.ts';
import { compose } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createLog } from '../../src/core/log.ts';
import { record, streamEvents } from '../clients/webhooks.ts';
import { pairsOf, progressOf } from './delivery-pairs.ts';

export type StormOrder =
  | { order: 'emit'; projectId: string; count: number; prefix: string }
  | { order: 'progress' }
  | { order: 'pairs'; projectId: string; after: string; limit: number };

const config = readConfig(process.env);
const log = createLog(config.logLevel);
const adapters = await openAdapters(config, { clock: systemClock, log });
const service = await compose({ config, adapters, clock: systemClock, log });
await service.start();
process.send?.({ url: service.address().url });

const answers = {
  async emit({ projectId, count, prefix }: Extract<StormOrder, { order: 'emit' }>) {
    const events = streamEvents(count, prefix);
    for (let at = 0; at < count; at += 50) await record({ service }, { id: projectId }, events.slice(at, at + 50));
    return { emitted: count };
  },
  progress: () => progressOf(adapters.db),
  pairs: ({ projectId, after, limit }: Extract<StormOrder, { order: 'pairs' }>) =>
    pairsOf(adapters.db, projectId, { after, limit }),
};

process.on('message', (message: StormOrder & { id: number }) => {
  const run = answers[message.order] as (order: StormOrder) => Promise<unknown>;
  run(message).then(
    (answer) => process.send?.({ id: message.id, answer }),
    (error) => process.send?.({ id: message.id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
