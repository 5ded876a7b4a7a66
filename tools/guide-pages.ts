/** Guides that follow from the tables, and what is quoted in the hand-written ones. */
import { globSync, readFileSync } from 'node:fs';
import { allRoutes, codesOf, type ErrorCode, type ErrorRow, errors, limitRows, type RouteRow } from '@parley/contract';
import { adviceOn } from '@parley/contract/error-advice';
import { readingOrder } from '../apps/docs/src/reading-order.ts';
import { chatGuide, signalingGuide } from './protocol-guides.ts';
import { code, header, table } from './reference-pages.ts';
import { securityGuide } from './security-guide.ts';

const errorRows = Object.entries(errors) as [ErrorCode, ErrorRow][];
const routeRows = Object.entries(allRoutes) as [string, RouteRow][];

/** Every hand-written guide, with the examples it quotes put in as they are. */
export function guidesWithExamples(): Record<string, () => string> {
  const paths = globSync('docs/guides/*.md').filter((path) => !isGenerated(path));
  return Object.fromEntries(paths.map((path) => [path, () => withExamples(readFileSync(path, 'utf8'))]));
}

const isGenerated = (path: string): boolean => Object.keys(generatedGuides).includes(path.replaceAll('\\', '/'));

/** Tables in hand-written guides: each stands behind `<!-- table <name> -->`, up to the next empty line. */
const tables: Readonly<Record<string, () => string>> = {
  'webhook-limits': () =>
    table(
      ['What', 'Default', 'Variable'],
      Object.entries(limitRows)
        .filter(([name]) => name.startsWith('WEBHOOK_'))
        .map(([name, row]) => [row.bounds, `${row.default} ${row.unit}`, code(name)]),
    ),
};

const withTables = (text: string): string =>
  text.replaceAll(
    /(<!-- table (\S+) -->\n)(?:\|.*\n)*/g,
    (_, head: string, name: string) => `${head}${tables[name]?.()}`,
  );

const withExamples = (text: string): string =>
  withTables(text).replaceAll(
    /(<!-- include (\S+) -->\n```(?:tsx?|css|python)\n)[\s\S]*?```/g,
    (_, head: string, path: string) => `${head}${readFileSync(path, 'utf8')}\`\`\``,
  );

/** One page a code. */
export function errorPages(): Record<string, () => string> {
  return Object.fromEntries(
    errorRows.map(([name, row]) => [`docs/guides/errors/${name}.md`, () => errorPage(name, row)]),
  );
}

function errorPage(name: ErrorCode, row: ErrorRow): string {
  const raising = routeRows.filter(([, route]) => codesOf(route).includes(name));
  const extra = Object.keys(row.fields ?? {});
  const parts = [
    `Status ${row.status}, ${code(row.legacy)} in \`legacyCode\`. ${row.isRetryable ? 'The same call may succeed later.' : 'The same call will fail again.'}`,
    `> ${row.message}`,
    `## What to do\n\n${adviceOn(name)}`,
    ...(extra.length > 0 ? [`## Adds\n\n${extra.map((field) => `- ${code(field)}`).join('\n')}`] : []),
    `## Raised by\n\n${raisedBy(raising)}`,
  ];
  return `${header(name)}${parts.join('\n\n')}\n`;
}

function raisedBy(raising: readonly [string, RouteRow][]): string {
  if (raising.length === 0) return 'Sockets, or requests that reach no route.';
  if (raising.length > 40)
    return `${raising.length} of ${routeRows.length} routes: it follows from the credential, the body or the service itself.`;
  return raising.map(([, { at }]) => `- ${code(at)}`).join('\n');
}

function errorIndex(): string {
  const rows = errorRows.map(([name, row]) => [`[${name}](errors/${name}.md)`, String(row.status), row.message]);
  return `${header('Error codes')}Every error has a code to switch on, a message for people, and a request id for support. The SDKs throw \`SvcError\` with \`code\`, \`retryable\`, \`requestId\` and \`docsUrl\`, which links here.

\`\`\`json
{ "code": "SVC_ROOM_NOT_FOUND", "legacyCode": "NOT_FOUND", "message": "Room not found.", "requestId": "req_…", "path": "/v1/rooms/x" }
\`\`\`

${table(['Code', 'Status', 'Means'], rows)}`;
}

function limitsGuide(): string {
  const limits = Object.entries(limitRows).map(([name, row]) => [row.bounds, `${row.default} ${row.unit}`, code(name)]);
  const budgets = routeRows
    .filter(([, { budget }]) => budget !== undefined)
    .map(([, { at, budget, by }]) => [code(at), String(budget), by.join(', ')]);
  const userBudgets = routeRows.flatMap(([, { at, userBudget }]) =>
    userBudget ? [[code(at), String(limitRows[userBudget].default), code(userBudget)]] : [],
  );
  return `${header('Limits')}What is bounded, by how much, and which variable changes it. A request over a limit gets an error that says which and when to retry; nothing is dropped silently but data messages that came over a data channel, which has no answer; those are counted.

## Ceilings

${table(['What', 'Default', 'Variable'], limits)}
## Budgets of routes

Requests in each window of ${limitRows.RATE_LIMIT_WINDOW_SECONDS.default} s, for each key, user or address. The answer's \`x-ratelimit-remaining\` is what is left, a 429 has \`retryAfterSeconds\`. Routes that are not listed have none.

${table(['Route', 'Requests', 'By'], budgets)}
## Budgets of chat users

What one user may do in each window with chat tokens, over these routes and over the [frames of the chat socket](/docs/guides/protocol-chat) with the same variable together. An API key has no such budget.

${table(['Route', 'Requests', 'Variable'], userBudgets)}`;
}

export const generatedGuides: Readonly<Record<string, () => string>> = {
  'docs/guides/error-codes.md': errorIndex,
  'docs/guides/limits.md': limitsGuide,
  'docs/guides/protocol-signaling.md': signalingGuide,
  'docs/guides/protocol-chat.md': chatGuide,
  'docs/guides/security.md': securityGuide,
};

/** Entry point for language models (llmstxt.org). */
export function llmsText(): string {
  const guide = (name: string): string => {
    const [, title = name, lead = ''] = /^# (.*)\n\n(.*)/m.exec(readFileSync(`docs/guides/${name}.md`, 'utf8')) ?? [];
    return `- [${title}](/docs/guides/${name}): ${lead}`;
  };
  const sdk = routeRows.flatMap(([, { sdk: name, does }]) =>
    name === undefined ? [] : [`- \`svc.${name}\`: ${does}`],
  );
  return `# Parley

> A self-hosted backend for real-time communication in your own application: RTC rooms, chat with history, live streams, signed webhooks, observability. Your backend uses \`@parley/server\` with an API key and mints short-lived tokens; pages use \`@parley/client\`. \`npm install && npm start\` runs everything.

Easily missed: an RTC token may not publish unless \`permissions\` says so; API keys never go into pages; a development and a production key share no data; webhooks are at least once, so remember event ids; ids and names are interchangeable in paths of rooms and conversations.

## Guides

${readingOrder.map(guide).join('\n')}
- [Limits](/docs/guides/limits): ceilings, budgets and their variables.
- [Error codes](/docs/guides/error-codes): each with a page that says what to do.

## Reference

- [Routes and errors](/docs/reference): every route with its fields, credentials, budgets and errors.
- [OpenAPI 3.1](/openapi.json)
- [Signaling protocol](/docs/guides/protocol-signaling) and [chat protocol](/docs/guides/protocol-chat), for clients without an SDK.

## Methods of the server SDK

${sdk.join('\n')}
`;
}
