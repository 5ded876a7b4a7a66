import { escapeHtml } from '@parley/page-build/html';

export interface NavGroup {
  heading: string;
  links: readonly { href: string; label: string }[];
}

/** A page of the documentation: what there is on the left, the page on the right. Without scripts. */
export function docsPage(options: { title: string; here: string; nav: readonly NavGroup[]; main: string }): string {
  const { title, here, nav, main } = options;
  const groups = nav
    .filter(({ links }) => links.length > 0)
    .map(
      ({ heading, links }) =>
        `<h2>${escapeHtml(heading)}</h2><ul>${links
          .map(({ href, label }) => {
            const current = href === here ? ' aria-current="page"' : '';
            return `<li><a href="${href}"${current}>${escapeHtml(label)}</a></li>`;
          })
          .join('')}</ul>`,
    )
    .join('');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Parley docs</title><link rel="icon" href="/favicon.svg" type="image/svg+xml"><link rel="stylesheet" href="/docs/reference.css"></head>
<body class="docs"><a class="skip" href="#content">Skip to content</a>
<header class="bar"><a class="brand" href="/docs">Parley <span>docs</span></a><a href="/">Dashboard</a></header>
<div class="frame"><nav aria-label="Documentation">${groups}</nav><main id="content" tabindex="-1">${main}</main></div></body></html>`;
}
