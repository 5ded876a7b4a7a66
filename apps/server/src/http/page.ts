import { escapeHtml } from '@parley/page-build/html';
import type { FastifyReply } from 'fastify';

/** Our own pages load nothing from elsewhere and run nothing inline. */
const policy =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const sendPage = (reply: FastifyReply, html: string): FastifyReply =>
  reply
    .type('text/html; charset=utf-8')
    .headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
    .send(html);

/** A page without scripts in the style of the reference. */
export const page = (title: string, main: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><link rel="icon" href="/favicon.svg" type="image/svg+xml"><link rel="stylesheet" href="/docs/reference.css"></head>
<body><a class="skip" href="#content">Skip to content</a>${main}</body></html>`;
