/** Guides that follow from the tables, and what is quoted in the hand-written ones. */
import { globSync, readFileSync } from 'node:fs';
import {
  allRoutes,
  type ClientFrameRow,
  chatClientFrames,
  chatServerFrames,
  closeCodes,
  codesOf,
  commonClientFrames,
  type ErrorCode,
  type ErrorRow,
  errors,
  limitRows,
  type RouteRow,
  type ServerFrameRow,
  signalingClientFrames,
  signalingServerFrames,
} from '@parley/contract';
import { readingOrder } from '../apps/docs/src/reading-order.ts';
import { advice, adviceByStatus } from './error-advice.ts';
import { code, fields, header, type SchemaParts, table } from './reference-pages.ts';
import { securityGuide } from './security-guide.ts';

const errorRows = Object.entries(errors) as [ErrorCode, ErrorRow][];
const routeRows = Object.entries(allRoutes) as [string, RouteRow][];

/** Every hand-written guide, with the examples it quotes put in as they are. */
export function guidesWithExamples(): Record<string, () => string> {
  const paths = globSync('docs/guides/*.md').filter((path) => !isGenerated(path));
  return Object.fromEntries(paths.map((path) => [path, () => withExamples(readFileSync(path, 'utf8'))]));
}

const isGenerated = (path: string): boolean => Object.keys(generatedGuides).includes(path.replaceAll('\\', '/'));

const withExamples = (text: string): string =>
  text.replaceAll(
    /(<!-- include (\S+) -->\n```ts\n)[\s\S]*?```/g,
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
    `## What to do\n\n${advice[name] ?? adviceByStatus[row.status] ?? row.message}`,
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

const clientTable = (rows: Record<string, ClientFrameRow>): string =>
  table(
    ['Frame', 'Carries', 'Budget', 'Does'],
    Object.entries({ ...rows, ...commonClientFrames }).map(([name, row]: [string, ClientFrameRow]) => [
      code(name),
      fields(row.data as SchemaParts),
      row.budget === undefined ? '' : `${limitRows[row.budget].default} (${code(row.budget)})`,
      row.does,
    ]),
  );

const serverTable = (rows: Record<string, ServerFrameRow>): string =>
  table(
    ['Frame', 'Carries', 'When'],
    Object.entries(rows).map(([name, row]) => [code(name), fields(row.data as SchemaParts), row.when]),
  );

const closeTable = (): string =>
  table(
    ['Code', 'Means', 'A client'],
    Object.entries(closeCodes).map(([number, { meaning, client }]) => [number, meaning, client]),
  );

const common = (subprotocol: string, token: string): string => `## Connect

Give the token as a subprotocol, next to the protocol's name: \`Sec-WebSocket-Protocol: ${subprotocol}, bearer.<token>\`. Other ways are \`?token=\` in the address (it ends up in logs; for tools only) and a first frame (\`${token}\`). Frames are JSON text with a \`type\`. A frame with an \`id\` is answered by one with the same \`ref\`. Keep to the heartbeat interval in \`hello\`.

`;

function signalingGuide(): string {
  return `${header('Signaling protocol')}For clients that do not use our SDK: the WebSocket at \`/v1/rtc/signal\`, protocol \`svc.rtc.v1\`. Descriptions are compact JSON instead of SDP (docs/adr/0040).

${common('svc.rtc.v1', 'join')}## A call

1. \`hello\` comes when the token was accepted. Send \`join\` with a \`connectionId\` of yours; \`joined\` lists the participants and their tracks.
2. To publish, make an offer and send it in \`publish\`; the answer is in the response. One peer connection for everything you send.
3. To receive, answer each \`sub.offer\` with \`sub.answer\` and its \`revision\`. One peer connection for everything you receive.
4. Room events carry a growing \`seq\`. After a lost socket, \`join\` again within 20 s with \`resume\` (session id, resume token, last \`seq\`): missed events follow, and media never stopped.
5. \`leave\` ends the stay.

## What a client sends

${clientTable(signalingClientFrames)}
## What the server sends

${serverTable(signalingServerFrames)}
## Close codes

${closeTable()}`;
}

function chatGuide(): string {
  return `${header('Chat protocol')}For clients that do not use our SDK: the WebSocket at \`/v1/chat/ws\`, protocol \`svc.chat.v1\`.

${common('svc.chat.v1', 'auth')}## Gap-free recovery

Every visible change of a conversation has a number, \`change\`: 1, 2, 3 and so on, without gaps. Keep the last one you have.

1. \`subscribe\` with \`since\` and the last \`epoch\`. Missed changes come in \`recovered\` frames, then live frames follow.
2. A frame whose \`change\` is not the next one means a gap: read \`changes\` before showing it. Drop one that you already have.
3. \`recovered: false\`, or another \`epoch\`, means that the gap is too old: read history, and start from the \`change\` in the answer.
4. Send with a \`clientMessageId\` of yours. Without an answer, retry with the same one: it is stored once.

## What a client sends

${clientTable(chatClientFrames)}
## What the server sends

${serverTable(chatServerFrames)}
## Close codes

${closeTable()}`;
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
