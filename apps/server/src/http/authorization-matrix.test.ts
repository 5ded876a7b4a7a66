import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allRoutes, type Credential, type DashboardRole, operatorPermissions, roleMay } from '@parley/contract';
import { type RoomsService, startRooms } from '../../testkit/clients/rooms.ts';
import { inTurns, isWhole, oneInTurns, someInTurns } from '../../testkit/kit/part.ts';
import { createPeople, type Person, type TestProject } from '../../testkit/kit/people.ts';
import { startService } from '../../testkit/kit/service.ts';
import { createRoomPart, createWorld, type Named, newHolder, type World } from '../../testkit/kit/world.ts';
import { type Answer, type Asker, createAsker } from '../../testkit/proofs/matrix/ask.ts';
import { collectInvalidCredentials, type Dead } from '../../testkit/proofs/matrix/dead-credentials.ts';
import { assertDoneInOne } from '../../testkit/proofs/matrix/done-in-one.ts';
import {
  BEYOND_TOKENS,
  BY_ROLE,
  isAlone,
  isEnding,
  isOfAPerson,
  isOfMembers,
  kindsOf,
  OF_MODERATORS,
} from '../../testkit/proofs/matrix/exceptions.ts';
import { ownCalls } from '../../testkit/proofs/matrix/own-calls.ts';
import { references } from '../../testkit/proofs/matrix/references.ts';
import type { Sent } from '../../testkit/proofs/matrix/requests.ts';
import {
  codeOfMissing,
  guarded,
  type Ids,
  idsOf,
  missingOf,
  OF_NOBODY,
  OWNERLESS,
  type Route,
  swapped,
  swapsOf,
  table,
} from '../../testkit/proofs/matrix/table.ts';

/**
 * Every route × every kind of credential × whose thing it names. What must come out is computed from the route's row
 * alone, so that a new route is in the matrix the moment it has one. Here refusals take turns, so that each route meets
 * some and each refusal many routes; on PostgreSQL all are asked.
 */
const ROLES: readonly DashboardRole[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'VIEWER'];
const KINDS: readonly Credential[] = ['apiKey', 'chatToken', 'rtcToken', 'session', 'sfuSecret'];

let service: RoomsService;
let asker: Asker;
let mine: TestProject;
let own: World;
/** Of the same project and environment, and in it another room, webhook, message. */
let cousin: World;
/** Of the same project, in the other environment. */
let sibling: World;
/** Of a project that has nobody in common with ours. */
let foreign: World;
/** Of a project that was archived, with its owner. */
let archived: World & { owner: Person };
let outsider: Person;
let removed: Person;
let dead: readonly Dead[];
const people = new Map<DashboardRole, Person>();
/** What did what it is for. */
const done = new Set<string>();
const ask: Asker['ask'] = (...request) => asker.ask(...request);

before(async () => {
  // Nobody listens where its webhooks go: each event is a failure of the endpoint, which must stay enabled.
  const env = {
    RATE_LIMIT_WINDOW_SECONDS: '1',
    CHAT_SEND_RATE_LIMIT: '1000',
    WEBHOOK_DISABLE_AFTER_FAILURES: '100000',
  };
  service = await startRooms({ env });
  asker = createAsker(service, service.node);
  mine = await service.newProject();
  const theirs = await createPeople(service.url).newProject();
  outsider = theirs.owner;
  own = await createWorld(service, mine, 'DEVELOPMENT');
  cousin = await createWorld(service, mine, 'DEVELOPMENT');
  sibling = await createWorld(service, mine, 'PRODUCTION');
  foreign = await createWorld(service, theirs, 'DEVELOPMENT');
  for (const role of ROLES) people.set(role, role === 'OWNER' ? mine.owner : await mine.member(role));
  removed = await mine.member('ADMIN');
  await mine.owner.api.call('removeProjectMember', { projectId: mine.id, userId: removed.userId });
  archived = await createArchived();
  dead = await collectInvalidCredentials(service, mine, own, archived);
});
after(() => service.stop());

async function createArchived(): Promise<typeof archived> {
  const gone = await service.newProject();
  const world = await createWorld(service, gone, 'DEVELOPMENT');
  await gone.owner.api.call('archiveProject', { projectId: gone.id });
  await world.leave();
  return { ...world, owner: gone.owner };
}

const bearerOf = (kind: Credential, world: World): string =>
  ({
    apiKey: world.apiKey,
    chatToken: world.chatToken,
    rtcToken: world.rtcToken,
    session: mine.owner.accessToken,
    sfuSecret: service.config.sfuSecrets[0] ?? '',
    none: '',
  })[kind];

/** Own, another project's and missing: a caller without access must not learn which it was. */
function idsOfAnyOwner(route: Route): readonly Ids[] {
  const ids = idsOf(route, own);
  return Object.keys(ids).length === 0 ? [ids] : [ids, idsOf(route, foreign), missingOf(ids)];
}

/** The same refusal for every owner of the resource. */
async function assertRefused(
  route: Route,
  all: readonly Ids[],
  bearer: string,
  expected: { status: number; code: string },
  who: string,
): Promise<Answer> {
  const answers = await Promise.all(all.map((ids) => ask(route, ids, bearer)));
  const [first] = answers;
  assert.ok(first);
  const { status, code } = first;
  assert.deepEqual({ status, code }, expected, `${route.name} with ${who}`);
  for (const answer of answers) assert.deepEqual(answer, first, `${route.name} with ${who} tells things apart`);
  return first;
}

test('[SEC-10] a credential that is no longer, or never was, one is 401 on every route, whatever it names', async () => {
  for (const [at, route] of guarded.entries()) {
    const isForNodes = route.row.by.includes('sfuSecret');
    const all = idsOfAnyOwner(route);
    const met = inTurns(dead, at, 6);
    await Promise.all(
      met.map(({ what, bearer, code, codeAtNodes = code }, place) => {
        const expected = { status: 401, code: isForNodes ? codeAtNodes : code };
        // One of them names everybody's, so that the answers can be compared; the others take turns.
        const ids = (at + place) % met.length === 0 ? all : [all[(at + place) % all.length] ?? {}];
        return assertRefused(route, ids, bearer, expected, what);
      }),
    );
  }
});

test('[SEC-10] a valid credential of another kind is 403 on every route, whatever it names', async () => {
  const expected = { status: 403, code: 'SVC_WRONG_CREDENTIAL_TYPE' };
  for (const [at, route] of guarded.entries()) {
    const all = idsOfAnyOwner(route);
    const wrong = KINDS.filter((kind) => !route.row.by.includes(kind));
    for (const [place, kind] of inTurns(wrong, at, 2).entries())
      await assertRefused(route, oneInTurns(all, at + place), bearerOf(kind, own), expected, kind);
  }
});

test('[SEC-10] who is no member of a project finds none, and a role without the permission gets its name', async () => {
  for (const [at, route] of guarded.filter(({ isInProject }) => isInProject).entries()) {
    const ids = idsOf(route, own);
    const none = { status: 404, code: 'SVC_PROJECT_NOT_FOUND' };
    const both = oneInTurns([ids, missingOf(ids)], at);
    await assertRefused(route, both, outsider.accessToken, none, 'no member');
    if (isWhole || at % 2 === 0) await assertRefused(route, both, removed.accessToken, none, 'a removed member');
    const { needs } = route.row;
    assert.ok(needs, `${route.name} names a project and needs no permission`);
    const inside = idsOfAnyOwner(route).map((all) => ({ ...all, projectId: mine.id }));
    const without = ROLES.filter((role) => !roleMay(role, needs));
    for (const role of someInTurns(without, at, 2)) {
      const denied = { status: 403, code: 'SVC_PERMISSION_DENIED' };
      const all = oneInTurns(inside, at);
      const { rest } = await assertRefused(route, all, people.get(role)?.accessToken ?? '', denied, role);
      assert.equal((JSON.parse(rest) as { permission: string }).permission, needs);
    }
  }
});

test('[OBS-56] what a role holds in development only is refused in production, also on what is its own there', async () => {
  const refused = new Set<string>();
  const denied = { status: 403, code: 'SVC_PERMISSION_DENIED' };
  const inProduction: Sent = { query: '?environment=PRODUCTION' };
  for (const route of guarded.filter(({ row }) => row.query?.properties['environment'] !== undefined))
    for (const role of ROLES) {
      const { needs } = route.row;
      if (!needs || !roleMay(role, needs) || roleMay(role, needs, 'PRODUCTION')) continue;
      const { status, code } = await ask(
        route,
        idsOf(route, sibling),
        people.get(role)?.accessToken ?? '',
        inProduction,
      );
      assert.deepEqual({ status, code }, denied, `${route.name} in production by ${role}`);
      refused.add(`${role} ${route.name}`);
    }
  for (const name of ['createProjectAlert', 'updateProjectAlert', 'deleteProjectAlert', 'silenceProjectAlert'])
    assert.ok(refused.has(`DEVELOPER ${name}`), `${name} was not refused`);
});

/** Worlds whose things a credential of ours must not find. */
function othersOf({ row, things }: Route, kind: Credential, thing: string): readonly World[] {
  if (OWNERLESS.has(thing)) return [];
  // A session sees both environments of its project, but where the query names one.
  const seesSibling = kind === 'session' && row.query?.properties['environment'] === undefined;
  const others = seesSibling ? [foreign] : [foreign, sibling];
  // An RTC token is for one room; and what is in one room or webhook is not in the next.
  return kind === 'rtcToken' || things.indexOf(thing) > 0 ? [...others, cousin] : others;
}

test("[SEC-10] another project's or environment's things answer as things that do not exist", async () => {
  let compared = 0;
  for (const [at, route] of guarded.entries()) {
    const all = route.row.by.flatMap((kind) => swapsOf(route).map((swap) => ({ kind, swap })));
    for (const { kind, swap } of someInTurns(all, at, 3)) compared += await compareOthers(route, kind, swap, at);
  }
  assert.ok(compared > 100, `only ${compared} were compared`);
});

/** Nobody's things in place of our own, then others' things: how many there were. */
async function compareOthers(route: Route, kind: Credential, swap: readonly string[], turn: number): Promise<number> {
  const [thing = ''] = swap;
  const ids = idsOf(route, own);
  const bearer = bearerOf(kind, own);
  const missing = await ask(route, swapped(ids, missingOf(ids), swap), bearer);
  const label = `${route.name} by ${kind} with another ${swap.join(' and ')}`;
  const ofNobody = OF_NOBODY[route.name];
  if (ofNobody !== undefined) assert.deepEqual([missing.status, missing.rest], [200, ofNobody], label);
  else assert.deepEqual([missing.status, missing.code], [404, codeOfMissing(route, thing)], label);
  const others = someInTurns(othersOf(route, kind, thing), turn, 2);
  for (const other of others)
    assert.deepEqual(await ask(route, swapped(ids, idsOf(route, other), swap), bearer), missing, label);
  return others.length;
}

test('[SEC-10] what is done to a user is done in one environment, no matter who has the same id elsewhere', () =>
  assertDoneInOne({ service, ask, own, session: mine.owner.accessToken, others: [foreign, sibling] }));

test("[SEC-10] what a body or a query names is there only if it is the caller's own", async () => {
  for (const [at, reference] of references.entries()) {
    const { route: name, thing, code, isInside = false } = reference;
    const route = guarded.find((one) => one.name === name);
    assert.ok(route);
    const askFor = (kind: Credential, id = ''): Promise<Answer> =>
      ask(route, idsOf(route, own), bearerOf(kind, own), reference.naming(id));
    for (const kind of someInTurns(kindsOf(route), at, 2)) {
      const label = `${name} by ${kind} names another ${thing}`;
      const missing = await askFor(kind, missingOf(own.ids)[thing]);
      assert.deepEqual(code ?? missing.rest, code === null ? '[]' : missing.code, label);
      for (const other of [foreign, sibling, ...(isInside ? [cousin] : [])])
        assert.deepEqual(await askFor(kind, other.ids[thing]), missing, label);
      assert.notDeepEqual(await askFor(kind, own.ids[thing]), missing, `${name} does not find its own ${thing}`);
    }
  }
});

test('[SEC-10] a chat token made narrow reaches nothing beyond its conversations and scopes', async () => {
  const { elsewhere, reading, sending, member, removed: former } = own.chat;
  const missing = { status: 404 };
  const noScope = { status: 403, code: 'SVC_SCOPE_MISSING' };
  for (const route of guarded.filter(({ name }) => BEYOND_TOKENS.has(name)))
    await assertRefused(route, [idsOf(route, own)], own.chatToken, noScope, 'every scope a token can have');
  // A device and a block are their user's, not of a conversation (PUSH-1, MOD-17).
  const isOfUser = (thing: string): boolean => thing === 'deviceId' || thing === 'blockedId';
  const inConversations = guarded.filter(({ things }) => things.length > 0 && !things.some(isOfUser));
  for (const [at, route] of inConversations.filter(({ row }) => row.by.includes('chatToken')).entries()) {
    const ids = idsOf(route, own);
    const all = oneInTurns([ids, idsOf(route, foreign), idsOf(route, cousin), missingOf(ids)], at);
    const [thing = ''] = route.things;
    const none = { ...missing, code: codeOfMissing(route, thing) };
    await assertRefused(route, all, elsewhere, none, 'a token for another conversation');

    const isRead = route.method === 'GET';
    if (!isRead) await assertRefused(route, all, reading, noScope, 'chat:read');
    if (isRead) await assertRefused(route, all, sending, noScope, 'chat:send');

    // What is a user's own, or known only to those who share a conversation, is not there for others.
    const outside = isOfMembers(route) ? { status: 403, code: 'SVC_NOT_A_MEMBER' } : none;
    await assertRefused(route, [ids], former, outside, 'a removed member');
    const nowhere = oneInTurns([idsOf(route, foreign), idsOf(route, sibling), missingOf(ids)], at);
    await assertRefused(route, nowhere, former, none, 'a removed member');
    if (OF_MODERATORS.has(route.name)) await assertRefused(route, all, member, none, 'a plain member');
    if (BY_ROLE.has(route.name)) {
      const forbidden = { status: 403, code: 'SVC_FORBIDDEN' };
      const somebodyElse = { ...ids, ...('userId' in ids ? { userId: 'ada' } : {}) };
      await assertRefused(route, [somebodyElse], member, forbidden, 'a plain member');
    }
  }
});

test('[SEC-10] an RTC token that may not join does not', async () => {
  for (const route of guarded.filter(({ row, method }) => row.speaks !== undefined && method === 'POST')) {
    const ids = idsOf(route, own);
    const bearer = own.joinlessRtcToken;
    const refused = { status: 403, code: 'SVC_JOIN_NOT_ALLOWED' };
    await assertRefused(route, [ids], bearer, refused, 'join: false');
    const nowhere = [idsOf(route, foreign), idsOf(route, cousin), missingOf(ids)];
    await assertRefused(route, nowhere, bearer, { status: 404, code: 'SVC_ROOM_NOT_FOUND' }, 'join: false');
  }
});

test('[PRJ-6] an archived project is read by its members, and takes nothing new', async () => {
  const { accessToken } = archived.owner;
  for (const route of guarded.filter(({ isInProject }) => isInProject)) {
    const makes = route.method === 'POST' && route.row.returns[0] === 201;
    const refuses = makes || route.row.throws?.includes('SVC_PROJECT_ARCHIVED');
    if (!refuses && route.method !== 'GET') continue;
    const { status, code } = await ask(route, idsOf(route, archived), accessToken);
    const expected = refuses ? [409, 'SVC_PROJECT_ARCHIVED'] : [200, null];
    assert.deepEqual([status, code], expected, `${route.name} in an archived project`);
  }
});

test('[SEC-10] the fleet is drained, and the security log of all read, by an operator and by nobody else', async (t) => {
  // In development everybody is one; in production the first account is.
  const production = await startService({
    beside: service,
    env: { NODE_ENV: 'production', PUBLIC_URL: 'https://parley.example' },
  });
  t.after(() => production.stop());
  const { ask: askThere } = createAsker(production, service.node);
  let asked = 0;
  for (const route of guarded.filter(({ row }) => row.needs && operatorPermissions.includes(row.needs))) {
    const ids = idsOf(route, own);
    for (const all of [ids, missingOf(ids)]) {
      const { status, code } = await askThere(route, all, outsider.accessToken);
      assert.deepEqual([status, code], [403, 'SVC_PERMISSION_DENIED'], route.name);
    }
    const { status, code } = await askThere(route, ids, mine.owner.accessToken);
    assert.deepEqual([status, code], [200, null], route.name);
    asked += 1;
  }
  assert.ok(asked > 0);
});

test('[SEC-10] the right credential does on every route what the row declares', async () => {
  const alone = guarded.filter(isAlone);
  const others = guarded.filter((route) => !isAlone(route) && !isOfAPerson(route));
  // Nothing that was refused above has changed anything: our world is still whole.
  for (const route of others.filter((route) => !isEnding(route)))
    for (const kind of kindsOf(route)) await assertDone(route, own, bearerOf(kind, own), kind);
  for (const route of guarded.filter(isOfAPerson)) await assertDoneByPerson(route);
  for (const route of alone) {
    const project = await createPeople(service.url).newProject();
    const room = await createRoomPart(service, service.as(project.apiKey), 'alone');
    const world = { ids: { ...room.ids, projectId: project.id }, idsOfRoute: room.idsOfRoute };
    const bearer = route.row.by.includes('session') ? project.owner.accessToken : room.token;
    await assertDone(route, world, bearer, 'its own credential');
    await room.client.close();
  }
  // What is in something ends before it: paths with more in them first, then what the table has last.
  const ends = others.filter(isEnding).reverse();
  ends.sort((a, b) => b.things.length - a.things.length);
  // The media node's own comes last: without it no room has a place.
  for (const kind of KINDS) {
    const endsOfKind = ends.filter(({ row }) => row.by.includes(kind));
    if (endsOfKind.length === 0) continue;
    const world = await worldToEnd(kind);
    for (const route of endsOfKind) await assertDone(route, world, bearerOf(kind, world), kind);
    await world.leave();
  }
});

/** One that nobody needs any more. A session sees both environments; of a participant by WHIP nobody hears again. */
async function worldToEnd(kind: Credential): Promise<World> {
  if (kind === 'apiKey') return sibling;
  if (kind === 'chatToken') return cousin;
  if (kind === 'session') return createWorld(service, mine, 'DEVELOPMENT');
  if (kind !== 'rtcToken') return own;
  const room = await createRoomPart(service, service.as(own.apiKey), 'last');
  const { ids, idsOfRoute } = room;
  return { ...own, ids, idsOfRoute, rtcToken: room.token, leave: () => room.client.close() };
}

/** By somebody new, who has a passkey; the rest of the world is nothing to these. */
async function assertDoneByPerson(route: Route): Promise<void> {
  const { person, passkeyId } = await newHolder(service);
  const [session] = await person.api.call('listSessions', {});
  const world = {
    ...own,
    ids: { ...own.ids, passkeyId },
    idsOfRoute: { endSession: { sessionId: session?.id ?? '' } },
  };
  const sent = await ownCalls[route.name]?.(service, person);
  await assertDone(route, world, person.accessToken, 'its own credential', sent);
}

async function assertDone(route: Route, world: Named, bearer: string, who: string, sent?: Sent): Promise<void> {
  const { status, code, rest } = await ask(route, idsOf(route, world), bearer, sent);
  assert.ok(status < 300, `${route.name} by ${who}: ${status} ${code} ${rest}`);
  done.add(route.name);
}

test('[SEC-10] the matrix is as large as the table', () => {
  assert.equal(table.length, Object.keys(allRoutes).length);
  assert.deepEqual([...done].sort(), guarded.map(({ name }) => name).sort());
  assert.ok(
    asker.asked() > guarded.length * (isWhole ? 30 : 10),
    `${asker.asked()} requests for ${guarded.length} routes`,
  );
});
