import { escapeHtml } from '@parley/page-build/html';
import { type WebhookEvent, webhookHandler } from '@parley/server';
import type { FastifyInstance } from 'fastify';
import type { IsOwnHost } from '../core/hosts.ts';
import { onlyAt } from './own-host.ts';
import { page, sendPage } from './page.ts';

export interface DevEventsDeps {
  /** The endpoint's signing secret, once there is an endpoint. */
  secret: () => string;
  onEvent: (event: WebhookEvent) => Promise<void>;
}

const keptMax = 200;

/** The built-in receiver: webhooks as an application would take them, shown as a page. Never mounted in production. */
export function mountDevEvents(app: FastifyInstance, { secret, onEvent }: DevEventsDeps, isOwnHost: IsOwnHost): void {
  const guarded = { onRequest: onlyAt(isOwnHost) };
  const kept: WebhookEvent[] = [];
  const receive = async (event: WebhookEvent): Promise<void> => {
    kept.unshift(event);
    kept.length = Math.min(kept.length, keptMax);
    await onEvent(event);
  };

  app.post('/dev/events', guarded, async (request, reply) => {
    // The secret is made by the first run, after this was mounted.
    const handler = webhookHandler({ secret: secret(), on: { '*': receive } });
    reply.hijack();
    await handler.node(request.raw, reply.raw);
  });
  app.get('/dev/events.json', guarded, async () => kept);
  app.get('/dev/events', guarded, async (_request, reply) => sendPage(reply, eventsPage(kept)));
}

function eventsPage(events: readonly WebhookEvent[]): string {
  const rows = events.map(
    (event, index) => `<details${index === 0 ? ' open' : ''}>
<summary>${escapeHtml(event.type)} <span>${escapeHtml(event.id)}, <time datetime="${event.createdAt}">${event.createdAt}</time></span></summary>
<pre tabindex="0">${escapeHtml(JSON.stringify(event, null, 2))}</pre></details>`,
  );
  const empty = '<p>No event yet. Send a message in the playground, and it appears here.</p>';
  return page(
    'Events',
    `<header><h1>Events</h1><p>What the demo webhook endpoint received, newest first, signature checked; kept in memory by development mode. Reload for newer ones.</p></header>
<main id="content">${rows.length === 0 ? empty : rows.join('\n')}</main>`,
  );
}
