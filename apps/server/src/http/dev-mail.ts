import { escapeHtml } from '@parley/page-build/html';
import type { FastifyInstance } from 'fastify';
import type { IsOwnHost } from '../core/hosts.ts';
import type { Mailbox } from '../core/ports.ts';
import { onlyAt } from './own-host.ts';
import { page, sendPage } from './page.ts';

/** The development mailbox: what would have been mailed, newest first. Never mounted in production. */
export function mountMailbox(app: FastifyInstance, mailbox: Mailbox, isOwnHost: IsOwnHost): void {
  const guarded = { onRequest: onlyAt(isOwnHost) };
  app.get('/dev/mail.json', guarded, async () => mailbox.list());
  app.get('/dev/mail', guarded, async (_request, reply) => sendPage(reply, mailPage(mailbox)));
}

function mailPage(mailbox: Mailbox): string {
  const messages = mailbox.list().map(
    ({ to, subject, text, createdAt }, index) => `<details${index === 0 ? ' open' : ''}>
<summary>${escapeHtml(subject)} <span>to ${escapeHtml(to)}, <time datetime="${createdAt}">${createdAt}</time></span></summary>
<pre tabindex="0">${linked(escapeHtml(text))}</pre></details>`,
  );
  const empty = '<p>No mail yet. Register an account or ask for a password reset, and it appears here.</p>';
  return page(
    'Mail',
    `<header><h1>Mail</h1><p>Kept in memory by development mode; nothing was sent. Reload for newer mail.</p></header>
<main id="content">${messages.length === 0 ? empty : messages.join('\n')}</main>`,
  );
}

const linked = (html: string): string =>
  html.replaceAll(/https?:\/\/[^\s<"]+/g, (url) => `<a href="${url}">${url}</a>`);
