import { allRoutes, type Credential, type RouteRow, splitAt } from '@parley/contract';
import fc from 'fast-check';
import { sql } from '../../src/core/sql.ts';
import type { RoomsService } from '../clients/rooms.ts';
import type { Person } from '../kit/people.ts';
import { sampleBody } from '../kit/sample-body.ts';
import { fuzzFiles } from './files.ts';
import { type FuzzOutcome, noOutcome, sendAll, type Try } from './request.ts';
import { createStage, type Props, SDP_OFFER } from './stage.ts';
import { anyText, type Hints, nasty, nearObject } from './values.ts';

/** Wide enough that requests are read and not only counted. */
export const FUZZ_LIMITS = {
  RATE_LIMIT_WINDOW_SECONDS: '1',
  CHAT_SEND_RATE_LIMIT: '100000',
  CHAT_REACT_RATE_LIMIT: '100000',
  CHAT_TYPE_RATE_LIMIT: '100000',
  CHAT_SUBSCRIBE_RATE_LIMIT: '100000',
  CHAT_CONNECT_RATE_LIMIT: '100000',
  CHAT_EDIT_RATE_LIMIT: '100000',
  CHAT_DELETE_RATE_LIMIT: '100000',
  CHAT_READ_RATE_LIMIT: '100000',
  CHAT_PRESENCE_RATE_LIMIT: '100000',
  CHAT_HISTORY_RATE_LIMIT: '100000',
  CHAT_UNSUBSCRIBE_RATE_LIMIT: '100000',
  CHAT_MANAGE_RATE_LIMIT: '100000',
  CHAT_DIRECT_RATE_LIMIT: '100000',
  CHAT_SEARCH_RATE_LIMIT: '100000',
  CHAT_REPORT_RATE_LIMIT: '100000',
  CHAT_TOKEN_RATE_LIMIT: '100000',
  SIGNALING_MAX_MESSAGES_PER_WINDOW: '100000',
  // Nobody takes the deliveries: the endpoint is to stay for the routes that ask for it.
  WEBHOOK_DISABLE_AFTER_FAILURES: '100000',
} as const;

const ODD_HEADERS: readonly Record<string, string>[] = [
  { 'idempotency-key': 'one' },
  { 'content-type': 'text/plain' },
  { origin: 'null' },
  { 'x-request-id': 'x'.repeat(300) },
];

/** Routes that no request of ours can get to work, and why. */
const OUT_OF_REACH: Readonly<Record<string, string>> = {
  'createFirstAccount by none': 'takes a token that only a server prints',
  'verifyEmail by none': 'takes a token that only a mail has',
  'readVerificationLink by none': 'takes a token that only a mail has',
  'readSharedCall by none': 'takes the token of a link',
  'confirmPasswordReset by none': 'takes a token that only a mail has',
  'finishLogin by none': 'takes a proof that only the person has',
  'loginWithPasskey by none': 'takes what only an authenticator makes',
  'addPasskey by session': 'takes what only an authenticator makes',
  'stepUp by session': 'takes a proof that only the person has',
  'startOAuth by none': 'no provider is set up',
  'exchangeOAuth by none': 'no provider is set up',
  'createConversation by chatToken': 'needs a scope that no token has',
};

/** Fields of a body that are needed though the schema leaves them open. */
const NEEDED: Readonly<Record<string, object>> = {
  sendMessage: { text: 'hello' },
  editMessage: { text: 'hello' },
  openDirectConversation: { userIds: ['ada', 'grace'] },
  putChatUsers: { users: [{ userId: 'ada', name: 'Ada' }] },
  scheduleMessage: { text: 'hello', sendAt: new Date(Date.now() + 3_600_000).toISOString() },
  changeScheduled: { text: 'hello', sendAt: new Date(Date.now() + 3_600_000).toISOString() },
  updateProjectSecurity: { requireSecondFactor: false },
  putPushDevice: { kind: 'FCM', token: 'a-token' },
};
/** The same of a query. */
const NEEDED_IN_QUERY: Readonly<Record<string, Record<string, string>>> = { searchMessages: { q: 'hello' } };
/** An API key says for whom it acts. */
const FOR_WHOM: readonly string[] = ['userId', 'senderId', 'uploaderId'];

interface RouteFuzz {
  service: RoomsService;
  /** The first account of the service: may drain nodes. */
  operator: Person;
  seed: number;
  /** Requests to every route. */
  perRoute: number;
  /** Each route by one kind of credential, and by the next one the route after it; by all of its kinds by default. */
  isInTurns?: boolean;
  /** Names of routes; all of them by default. */
  only?: readonly string[];
  onProgress?(requests: number): void;
}

/** Asks every route what its schema nearly takes, with each kind of credential it accepts. */
export async function fuzzRoutes({
  service,
  operator,
  seed,
  perRoute,
  isInTurns = false,
  only,
  onProgress,
}: RouteFuzz): Promise<FuzzOutcome> {
  const outcome = noOutcome();
  const stage = await createStage(service, operator);
  for (const [at, [name, row]] of routesInOrder().entries()) {
    if (only?.includes(name) === false) continue;
    const each = Math.ceil(perRoute / row.by.length);
    for (const [index, kind] of row.by.entries()) {
      if (isInTurns && index !== at % row.by.length) continue;
      const props = await stage.props(name);
      const tries = fc.sample(tryOf(row, kind, props), { seed: seed + index, numRuns: each });
      const plain = plainTry(name, row, kind, props);
      // What ends its thing does so last; what has a budget is asked before it is spent.
      const all = row.budget === undefined ? [...tries, plain] : [plain, ...tries];
      const label = `${name} by ${kind}`;
      await sendAll(service, label, all, outcome);
      // An answer that came late, and was asked for again, may have spent what can be used once.
      if (!isReached(outcome.reached.get(label) ?? []))
        await sendAll(service, label, [plainTry(name, row, kind, await stage.props(name))], outcome);
    }
    onProgress?.(outcome.requests);
  }
  await fuzzFiles({ service, api: service.as(stage.world.apiKey), seed, perRoute, outcome });
  await stage.close();
  await tidyFleet(service, operator);
  return outcome;
}

const isReached = (statuses: Iterable<number>): boolean => [...statuses].some((status) => status < 400);

/** Routes that never did what they are for: asked at a closed door only, they prove nothing. */
export const unreached = ({ reached }: FuzzOutcome): string[] =>
  [...reached].flatMap(([name, statuses]) =>
    isReached(statuses) || Object.hasOwn(OUT_OF_REACH, name) ? [] : [`${name}: ${[...statuses].join(' ')}`],
  );

/** Nodes that are none come last: rooms would be placed on them. */
function routesInOrder(): [string, RouteRow][] {
  const rows = Object.entries(allRoutes) as [string, RouteRow][];
  const isOfNodes = ([, { at, by }]: [string, RouteRow]): boolean =>
    by.includes('sfuSecret') || /drain$/.test(at.split(' ')[1] ?? '');
  return [...rows.filter((one) => !isOfNodes(one)), ...rows.filter(isOfNodes)];
}

async function tidyFleet({ adapters, as, node }: RoomsService, operator: Person): Promise<void> {
  await adapters.db.execute(sql`delete from media_servers where name <> ${node.name}`);
  await as(operator.accessToken).call('undrainServer', { name: node.name });
  await node.heartbeat();
}

/** Nothing odd: what an application would send. */
function plainTry(name: string, row: RouteRow, kind: Credential, { ids, bearers, headers }: Props): Try {
  const { method, path } = splitAt(row);
  const sample = JSON.parse(sampleBody(row).body ?? '{}') as Record<string, unknown>;
  const known = Object.keys(sample).flatMap((field) => (ids[field] === undefined ? [] : [[field, ids[field]]]));
  const whom = (schema: RouteRow['query']): Record<string, string> =>
    Object.fromEntries(
      FOR_WHOM.filter((field) => kind === 'apiKey' && field in (schema?.properties ?? {})).map((field) => [
        field,
        'ada',
      ]),
    );
  const body = { ...sample, ...whom(row.body), ...Object.fromEntries(known), ...NEEDED[name] };
  return {
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_, part: string) => encode(ids[part] ?? 'x')),
    query: new URLSearchParams({ ...whom(row.query), ...NEEDED_IN_QUERY[name] }).toString(),
    body: row.speaks ? SDP_OFFER : row.body ? JSON.stringify(body) : undefined,
    headers: { ...headersFor(row, kind, bearers), ...headers },
    isStream: row.streams !== undefined,
  };
}

function headersFor(row: RouteRow, kind: Credential, bearers: Props['bearers']): Record<string, string> {
  return {
    'content-type': row.speaks ?? 'application/json',
    ...(kind === 'none' ? {} : { authorization: `Bearer ${bearers[kind]}` }),
  };
}

function tryOf(row: RouteRow, kind: Credential, { ids, bearers, headers }: Props): fc.Arbitrary<Try> {
  const { method, path } = splitAt(row);
  const parts = path.split('/').map((part) => partOf(part, ids));
  const query = row.query ? nearObject(row.query, ids) : fc.constant({});
  const plain = headersFor(row, kind, bearers);
  const odd = fc.oneof(
    { arbitrary: fc.constant({}), weight: 8 },
    { arbitrary: fc.constantFrom(...ODD_HEADERS), weight: 1 },
  );
  return fc.record({
    method: fc.constant(method),
    path: fc.tuple(...parts).map((pieces) => pieces.join('/')),
    query: query.map((value) => new URLSearchParams(asTexts(value)).toString()),
    body: row.speaks ? sdp : bodyOf(row, ids),
    headers: odd.map((more) => ({ ...plain, ...headers, ...more })),
    isStream: fc.constant(row.streams !== undefined),
  });
}

function bodyOf(row: RouteRow, ids: Hints): fc.Arbitrary<string | undefined> {
  if (!row.body) return fc.constant(undefined);
  const json = nearObject(row.body, ids).map((value) => JSON.stringify(value));
  const raw = fc.oneof(anyText(200), fc.json({ maxDepth: 4 }), fc.constant('{"a":'));
  return fc.oneof({ arbitrary: json, weight: 9 }, { arbitrary: raw, weight: 1 });
}

/** An offer, whole or with a line lost, doubled, spoilt or cut off. */
const sdp: fc.Arbitrary<string> = fc.oneof(
  fc.constant(SDP_OFFER),
  fc.tuple(fc.nat(200), fc.constantFrom('lose', 'double', 'spoil', 'end'), nasty).map(([at, how, text]) => {
    const lines = SDP_OFFER.split('\r\n');
    const line = at % lines.length;
    const value = lines[line] ?? '';
    if (how === 'end') return lines.slice(0, line).join('\r\n');
    const instead = { lose: [], double: [value, value], spoil: [`${value.slice(0, 4)}${text}`] }[how] ?? [];
    return lines.toSpliced(line, 1, ...instead).join('\r\n');
  }),
  anyText(300),
);

/** The world's own id mostly, so that requests get past the door. */
function partOf(part: string, ids: Hints): fc.Arbitrary<string> {
  const name = /^\{(\w+)\}$/.exec(part)?.[1];
  if (name === undefined) return fc.constant(part);
  const right = { arbitrary: fc.constant(ids[name] ?? 'x'), weight: 8 };
  return fc.oneof(right, { arbitrary: fc.oneof(nasty, fc.string({ maxLength: 140 })), weight: 1 }).map(encode);
}

/** A lone surrogate cannot be encoded, and no client could send it. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed()) || '%20';

const asTexts = (value: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      (typeof one === 'string' ? one : JSON.stringify(one)).toWellFormed(),
    ]),
  );
