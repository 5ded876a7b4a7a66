import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allRoutes, fail } from '@parley/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { lazy } from '../../core/lazy.ts';
import { escapeHtml, sendPage } from '../page.ts';
import { type DocsPage, documentsIn, nameOf } from './documents.ts';
import { docsPage, type NavGroup } from './layout.ts';
import { readingOrder } from './reading-order.ts';
import { groupPage, groupsOf, groupTitle, referenceIndex } from './reference.ts';
import { docsCss } from './style.ts';

interface DocsDeps {
  /** Where the Markdown is. `guides` and the generated `reference` are in the navigation; the rest is linked to. */
  folder: string;
  /** The dashboard's own fonts, by the name they are served under. */
  fonts: Readonly<Record<string, string>>;
  publicUrl: string;
}

/** The routes and errors have pages of their own, straight from the contract. */
const fromContract = ['/docs/reference/routes', '/docs/reference/errors'];

/** The documentation at /docs: guides and reference, offline, rendered when first asked for. */
export function mountDocs(app: FastifyInstance, { folder, fonts, publicUrl }: DocsDeps): void {
  const pages = lazy(() => allPages(folder, publicUrl));
  const send = (reply: FastifyReply, path: string): FastifyReply =>
    sendPage(reply, pages().get(path) ?? fail('SVC_NOT_FOUND'));

  app.get('/docs', async (_request, reply) => send(reply, '/docs'));
  app.get('/docs/*', async (request, reply) => send(reply, `/docs/${(request.params as { '*': string })['*']}`));
  app.get('/docs/reference.css', async (_request, reply) => reply.type('text/css; charset=utf-8').send(docsCss));
  // For language models: what to read first (llmstxt.org).
  const llms = lazy(() => readFileSync(join(folder, 'llms.txt'), 'utf8'));
  app.get('/llms.txt', async (_request, reply) => reply.type('text/plain; charset=utf-8').send(llms()));
  for (const [name, path] of Object.entries(fonts)) {
    const bytes = lazy(() => readFileSync(path));
    app.get(`/docs/${name}`, async (_request, reply) =>
      reply.type('font/woff2').header('cache-control', 'public, max-age=86400').send(bytes()),
    );
  }
}

function allPages(folder: string, publicUrl: string): ReadonlyMap<string, string> {
  const documents = documentsIn(folder).filter(({ href }) => !fromContract.includes(href));
  const guides = documents.filter(({ href }) => href.startsWith('/docs/guides/')).sort(byReadingOrder);
  const tables = documents.filter(({ href }) => href.startsWith('/docs/reference/'));
  const groups = groupsOf(allRoutes);
  const nav: NavGroup[] = [
    { heading: 'Guides', links: guides.filter(({ href }) => href.split('/').length === 4).map(linkTo) },
    {
      heading: 'API',
      links: [
        { href: '/docs/reference', label: 'All routes and errors' },
        ...groups.map(([name]) => ({ href: `/docs/reference/${name}`, label: groupTitle(name) })),
      ],
    },
    { heading: 'Tables', links: tables.map(linkTo) },
  ];
  const page = (here: string, title: string, main: string): [string, string] => [
    here,
    docsPage({ here, title, nav, main }),
  ];
  return new Map([
    page('/docs', 'Documentation', home(guides, tables)),
    ...documents.map(({ href, title, html }) => page(href, title, html)),
    page('/docs/reference', 'API reference', referenceIndex(groups)),
    ...groups.map((group) => page(`/docs/reference/${group[0]}`, groupTitle(group[0]), groupPage(group, publicUrl))),
  ]);
}

const linkTo = ({ href, title }: DocsPage) => ({ href, label: title });

function byReadingOrder(one: DocsPage, other: DocsPage): number {
  const rank = ({ href }: DocsPage): number => {
    const place = readingOrder.indexOf(nameOf(href));
    return place === -1 ? readingOrder.length : place;
  };
  return rank(one) - rank(other) || one.title.localeCompare(other.title);
}

function home(guides: readonly DocsPage[], tables: readonly DocsPage[]): string {
  const card = ({ href, title, lead }: { href: string; title: string; lead: string }): string =>
    `<li><a href="${href}"><strong>${escapeHtml(title)}</strong><span>${escapeHtml(lead)}</span></a></li>`;
  const routes = {
    href: '/docs/reference',
    title: 'API reference',
    lead: 'Every route with its fields, credentials, budgets and errors.',
  };
  const list = (heading: string, cards: readonly { href: string; title: string; lead: string }[]): string =>
    cards.length === 0 ? '' : `<h2>${heading}</h2><ul class="cards">${cards.map(card).join('')}</ul>`;
  return `<h1>Documentation</h1><p class="lead">Rooms, chat, live streams and webhooks for your own application. Everything here is served by this installation and works offline.</p>${list(
    'Guides',
    guides.filter(({ href }) => href.split('/').length === 4),
  )}${list('Reference', [routes, ...tables])}`;
}
