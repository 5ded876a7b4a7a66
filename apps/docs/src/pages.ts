import { allRoutes } from '@parley/contract';
import { escapeHtml } from '@parley/page-build/html';
import { type DocsPage, documentsIn, nameOf } from './documents.ts';
import { docsPage, type NavGroup } from './layout.ts';
import { readingOrder } from './reading-order.ts';
import { groupPage, groupsOf, groupTitle, referenceIndex } from './reference.ts';

/** The routes and errors have pages of their own, straight from the contract. */
const fromContract = ['/docs/reference/routes', '/docs/reference/errors'];

/**
 * Every page of the documentation by its address. `guides` and the generated `reference` are in the navigation; the
 * rest of the folder is linked to.
 */
export function allPages(folder: string): ReadonlyMap<string, string> {
  const documents = documentsIn(folder).filter(({ href }) => !fromContract.includes(href));
  const guides = documents.filter(isGuide).sort(byReadingOrder);
  const tables = documents.filter(({ href }) => href.startsWith('/docs/reference/'));
  const groups = groupsOf(allRoutes);
  const nav: NavGroup[] = [
    { heading: 'Guides', links: guides.map(linkTo) },
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
    ...groups.map((group) => page(`/docs/reference/${group[0]}`, groupTitle(group[0]), groupPage(group))),
  ]);
}

/** Directly in the folder: the pages of single error codes are below it. */
const isGuide = ({ href }: DocsPage): boolean => /^\/docs\/guides\/[^/]+$/.test(href);

const linkTo = ({ href, title }: DocsPage) => ({ href, label: title });

function byReadingOrder(one: DocsPage, other: DocsPage): number {
  const rank = ({ href }: DocsPage): number => {
    const place = readingOrder.indexOf(nameOf(href));
    return place === -1 ? readingOrder.length : place;
  };
  return rank(one) - rank(other) || one.title.localeCompare(other.title);
}

type Card = Pick<DocsPage, 'href' | 'title' | 'lead'>;

const routesCard: Card = {
  href: '/docs/reference',
  title: 'API reference',
  lead: 'Every route with its fields, credentials, budgets and errors.',
};

const home = (guides: readonly Card[], tables: readonly Card[]): string =>
  `<h1>Documentation</h1><p class="lead">Rooms, chat, live streams and webhooks for your own application. Everything here is served by this installation and works offline.</p>${cards('Guides', guides)}${cards('Reference', [routesCard, ...tables])}`;

function cards(heading: string, list: readonly Card[]): string {
  const items = list.map(
    ({ href, title, lead }) =>
      `<li><a href="${href}"><strong>${escapeHtml(title)}</strong><span>${escapeHtml(lead)}</span></a></li>`,
  );
  return `<h2>${heading}</h2><ul class="cards">${items.join('')}</ul>`;
}
