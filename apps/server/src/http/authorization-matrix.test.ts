import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  allRoutes,
  type Credential,
  type DashboardRole,
  errors,
  paramNames,
  type RouteRow,
  roleMay,
  splitAt,
} from '@parley/contract';
import { createFakeClock } from '../../testkit/fake-clock.ts';
import type { Person, TestProject } from '../../testkit/people.ts';
import { type RoomsService, startRooms } from '../../testkit/rooms.ts';
import { sampleBody } from '../../testkit/sample-body.ts';
import { startService } from '../../testkit/service.ts';
import { createWorld, type World } from '../../testkit/world.ts';

/**
 * Every route × every kind of credential × whose thing it names. What must come out is computed from the route's row
 * alone, so that a new route is in the matrix the moment it has one.
 */
const rows = (Object.entries(allRoutes) as [string, RouteRow][]).map(([name, row]) => ({
  name,
  row,
  ...splitAt(row),
  params: paramNames(splitAt(row).path),
}));
type Row = (typeof rows)[number];
const guarded = rows.filter(({ row }) => !row.by.includes('none'));

const HOUR_MS = 3_600_000;
const ROLES: readonly DashboardRole[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'VIEWER'];
/** What a caller names and nobody owns: users of one's own application, media nodes. */
const OWNERLESS = new Set(['userId', 'name', 'identity', 'emoji', 'trackId']);

/** No scope speaks of these: the member's role in the conversation decides (S60). */
const BY_ROLE = new Set([
  'updateConversation',
  'addConversationMember',
  'changeConversationMember',
  'removeConversationMember',
]);

let service: RoomsService;
let mine: TestProject;
let own: World;
let sibling: World;
let foreign: World;
let outsider: Person;
let removed: Person;
const people = new Map<DashboardRole, Person>();
/** Credentials that were once right, or look so: with the code of their refusal. */
const dead: { what: string; bearer: string; codes: readonly string[] }[] = [];
let asked = 0;

before(async () => {
  service = await startRooms({ env: { RATE_LIMIT_WINDOW_SECONDS: '1' } });
  [mine, outsider] = [await service.newProject(), await service.newPerson('outsider')];
  own = await createWorld(service, mine, 'DEVELOPMENT');
  sibling = await createWorld(service, mine, 'PRODUCTION');
  foreign = await createWorld(service, await service.newProject(), 'DEVELOPMENT');
  for (const role of ROLES) people.set(role, role === 'OWNER' ? mine.owner : await mine.member(role));
  removed = await mine.member('ADMIN');
  await mine.owner.api.call('removeProjectMember', { projectId: mine.id, userId: removed.userId });
  await collectDead();
});
after(() => service.stop());

async function collectDead(): Promise<void> {
  const revoked = await mine.owner.api.call('createApiKey', {
    projectId: mine.id,
    body: { name: 'revoked', environment: 'DEVELOPMENT' },
  });
  await mine.owner.api.call('revokeApiKey', { projectId: mine.id, publicId: revoked.publicId });
  const gone = await service.newProject();
  const goneWorld = await createWorld(service, gone, 'DEVELOPMENT');
  await gone.owner.api.call('archiveProject', { projectId: gone.id });
  // A process whose clock is far behind: what it mints for an hour has long expired here.
  const past = await startService({ beside: service, clock: createFakeClock(Date.now() - 12 * HOUR_MS) });
  const person = await past.newPerson('late');
  const api = past.as(own.apiKey);
  const chat = await api.call('mintChatToken', { body: { userId: 'ada' } });
  const rtc = await api.call('mintRtcToken', {
    roomId: own.ids['roomId'] ?? '',
    body: { participantIdentity: 'ada', ttlSeconds: 30 },
  });
  await past.stop();
  const flip = (text: string): string => `${text.slice(0, -6)}${text.slice(-6).split('').reverse().join('')}!`;
  dead.push(
    { what: 'nothing', bearer: '', codes: ['SVC_UNAUTHENTICATED'] },
    { what: 'a revoked key', bearer: revoked.key, codes: ['SVC_API_KEY_REVOKED'] },
    { what: 'a forged key', bearer: flip(own.apiKey), codes: ['SVC_INVALID_API_KEY', 'SVC_UNAUTHENTICATED'] },
    { what: 'the key of an archived project', bearer: gone.apiKey, codes: ['SVC_INVALID_API_KEY'] },
    { what: 'a chat token of an archived project', bearer: goneWorld.chatToken, codes: ['SVC_INVALID_TOKEN'] },
    { what: 'an RTC token of an archived project', bearer: goneWorld.rtcToken, codes: ['SVC_INVALID_TOKEN'] },
    { what: 'an expired session', bearer: person.accessToken, codes: ['SVC_TOKEN_EXPIRED', 'SVC_SESSION_EXPIRED'] },
    { what: 'an expired chat token', bearer: chat.token, codes: ['SVC_TOKEN_EXPIRED'] },
    { what: 'an expired RTC token', bearer: rtc.token, codes: ['SVC_TOKEN_EXPIRED'] },
    ...[own.chatToken, own.rtcToken, mine.owner.accessToken].map((bearer) => ({
      what: 'a forged token',
      bearer: flip(bearer),
      codes: ['SVC_INVALID_TOKEN', 'SVC_INVALID_SFU_SECRET', 'SVC_UNAUTHENTICATED'],
    })),
  );
}

interface Answer {
  status: number;
  code: string | null;
  /** The envelope without what differs from one request to the next. */
  rest: string;
}

/** Asks, waits out its budget, and checks what every answer promises. */
async function ask({ row, method, path }: Row, ids: Readonly<Record<string, string>>, bearer: string): Promise<Answer> {
  asked += 1;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'none'));
  const sent = method === 'GET' ? {} : sampleBody(row);
  for (;;) {
    const response = await service.fetch(filled, {
      method,
      headers: {
        ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
        ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...sent,
    });
    if (row.streams !== undefined && response.ok) {
      await response.body?.cancel();
      return { status: response.status, code: null, rest: '' };
    }
    const text = await response.text();
    const label = `${method} ${filled} → ${response.status} ${text.slice(0, 200)}`;
    assert.ok(response.status < 500 || response.status === 503, label);
    if (response.status < 400) return { status: response.status, code: null, rest: text };
    const { requestId, path: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
    assert.equal(requestId, response.headers.get('x-request-id'), label);
    assert.ok(Object.hasOwn(errors, String(rest['code'])), label);
    if (response.status !== 429)
      return { status: response.status, code: String(rest['code']), rest: JSON.stringify(rest) };
    await sleep(200);
  }
}

/** The same ids, all of them of the right shape and none of them anybody's. */
const missingOf = (ids: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(ids).map(([name, id]) => [name, OWNERLESS.has(name) ? id : id.replace(/[0-9a-z]{4}$/i, '0000')]),
  );

const bearerOf = (kind: Credential, world: World): string =>
  ({
    apiKey: world.apiKey,
    chatToken: world.chatToken,
    rtcToken: world.rtcToken,
    session: mine.owner.accessToken,
    sfuSecret: service.config.sfuSecrets[0] ?? '',
    none: '',
  })[kind];

test('[SEC-10] a credential that is no longer, or never was, one is 401 on every route', async () => {
  for (const route of guarded)
    for (const { what, bearer, codes } of dead) {
      const { status, code } = await ask(route, own.ids, bearer);
      assert.equal(status, 401, `${route.name} with ${what}: ${status} ${code}`);
      const expected = route.row.by.includes('sfuSecret') ? [...codes, 'SVC_INVALID_SFU_SECRET'] : codes;
      assert.ok(expected.includes(code ?? ''), `${route.name} with ${what}: ${code}`);
    }
});

test('[SEC-10] a valid credential of another kind is 403 on every route', async () => {
  const kinds: readonly Credential[] = ['apiKey', 'chatToken', 'rtcToken', 'session', 'sfuSecret'];
  for (const route of guarded)
    for (const kind of kinds.filter((kind) => !route.row.by.includes(kind))) {
      const { code } = await ask(route, own.ids, bearerOf(kind, own));
      assert.equal(code, 'SVC_WRONG_CREDENTIAL_TYPE', `${route.name} with ${kind}`);
    }
});

test('[SEC-10] who is no member of a project finds none, and a role without the permission is told which', async () => {
  for (const route of guarded.filter(({ params }) => params.includes('projectId'))) {
    const missing = await ask(route, missingOf(own.ids), outsider.accessToken);
    assert.equal(missing.code, 'SVC_PROJECT_NOT_FOUND', route.name);
    for (const { accessToken } of [outsider, removed])
      assert.deepEqual(await ask(route, own.ids, accessToken), missing, route.name);
    const { needs } = route.row;
    assert.ok(needs, `${route.name} names a project and needs no permission`);
    for (const role of ROLES.filter((role) => !roleMay(role, needs))) {
      const { code, rest } = await ask(route, own.ids, people.get(role)?.accessToken ?? '');
      assert.equal(code, 'SVC_PERMISSION_DENIED', `${route.name} as ${role}`);
      assert.equal((JSON.parse(rest) as { permission: string }).permission, needs);
    }
  }
});

test("[SEC-10] another project's or environment's things answer as things that do not exist", async () => {
  let compared = 0;
  for (const route of guarded) {
    const [thing] = route.params.filter((name) => name !== 'projectId');
    if (thing === undefined || OWNERLESS.has(thing)) continue;
    for (const kind of route.row.by) {
      if (kind === 'sfuSecret') continue;
      // A dashboard session may see both environments of its project.
      const others = kind === 'session' ? [foreign] : [foreign, sibling];
      const project = { projectId: own.ids['projectId'] ?? '' };
      for (const bearer of kind === 'chatToken' ? [own.chatToken, own.readChatToken] : [bearerOf(kind, own)]) {
        const missing = await ask(route, { ...missingOf(own.ids), ...project }, bearer);
        assert.ok(missing.status >= 400, `${route.name}: ${missing.status} for what does not exist`);
        for (const other of others) {
          assert.deepEqual(await ask(route, { ...other.ids, ...project }, bearer), missing, `${route.name} by ${kind}`);
          compared += 1;
        }
      }
    }
  }
  assert.ok(compared > 100, `only ${compared} were compared`);
});

test('[SEC-10] a chat token made narrow reaches nothing beyond its conversations and scopes', async () => {
  for (const route of guarded.filter(({ row }) => row.by.includes('chatToken'))) {
    const [thing] = route.params;
    if (thing === undefined) continue;
    const elsewhere = await ask(route, own.ids, own.narrowChatToken);
    assert.ok(
      [400, 403, 404].includes(elsewhere.status),
      `${route.name}: ${elsewhere.status} outside its conversations`,
    );
    if (route.method === 'GET' || BY_ROLE.has(route.name)) continue;
    const reading = await ask(route, own.ids, own.readChatToken);
    assert.ok([400, 403].includes(reading.status), `${route.name}: ${reading.status} with chat:read alone`);
  }
});

test('[SEC-10] the right credential is let in on every route', async () => {
  let answered = 0;
  // What ends things comes last: a room's end takes its RTC tokens with it.
  const last = ['archiveProject', 'endAllSessions'];
  const rank = ({ method, name, row }: Row): number =>
    last.includes(name) ? 2 + last.indexOf(name) : method === 'DELETE' && !row.by.includes('rtcToken') ? 1 : 0;
  for (const route of [...guarded].sort((a, b) => rank(a) - rank(b)))
    for (const kind of route.row.by) {
      const { status, code } = await ask(route, own.ids, bearerOf(kind, own));
      const isDeclared = isNotAnOperators(route, code) || (kind === 'chatToken' && BY_ROLE.has(route.name));
      const isAllowed = status !== 401 && (status !== 403 || isDeclared);
      assert.ok(isAllowed, `${route.name} by ${kind}: ${status} ${code}`);
      if (status < 300) answered += 1;
    }
  assert.ok(answered > guarded.length / 2, `only ${answered} of ${guarded.length} did what they are for`);
});

/** Draining is the instance operator's, who no project's owner need be. */
const isNotAnOperators = ({ row }: Row, code: string | null): boolean =>
  row.needs === 'server:manage' && code === 'SVC_PERMISSION_DENIED';

test('[SEC-10] the matrix is as large as the table', () => {
  assert.equal(rows.length, Object.keys(allRoutes).length);
  assert.ok(asked > guarded.length * 15, `${asked} requests for ${guarded.length} routes`);
});
