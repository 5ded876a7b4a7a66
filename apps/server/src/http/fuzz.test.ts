import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RoomsService, startRooms } from '../../testkit/clients/rooms.ts';
import { chatFrameChecker, signalingFrameChecker } from '../../testkit/fuzz/frame-checker.ts';
import { fuzzLink } from '../../testkit/fuzz/link.ts';
import { fuzzPlayground } from '../../testkit/fuzz/playground.ts';
import { FUZZ_LIMITS, fuzzRoutes, unreached } from '../../testkit/fuzz/routes.ts';
import { fuzzSockets } from '../../testkit/fuzz/sockets.ts';
import { isWhole } from '../../testkit/kit/part.ts';
import type { Person } from '../../testkit/kit/people.ts';
import { createWorld, type World } from '../../testkit/kit/world.ts';
import type { Db, Queryable } from '../core/db.ts';
import type { Sql } from '../core/sql.ts';

/** The seeded part of `tools/proof/fuzz.ts`: the same every time, so that a failure can be looked at. */
const SEED = 20_261_115;
/** Besides the one that does its work with each credential, or where not all is asked with one of them. */
const PER_ROUTE = isWhole ? 4 : 1;
const SOCKET_FRAMES = isWhole ? 700 : 250;

let service: RoomsService;
let operator: Person;
/** Of the playground and the sockets. */
let world: World;
/** Statements that fail as only a bug of ours would, while there is one. */
let broken: RegExp | null = null;

before(async () => {
  service = await startRooms({
    env: FUZZ_LIMITS,
    wrap: (adapters) => ({ ...adapters, db: breakable(adapters.db) }),
  });
  operator = await service.newPerson('operator');
  world = await createWorld(service, await service.newProject(), 'DEVELOPMENT');
});
after(() => service.stop());

function breakable(db: Db): Db {
  const guard = ({ text }: Sql): void => {
    if (broken?.test(text)) throw new TypeError('broken on purpose');
  };
  const guarded = <Q extends Queryable>(target: Q): Q => ({
    ...target,
    query: async (statement: Sql) => {
      guard(statement);
      return target.query(statement);
    },
    execute: async (statement: Sql) => {
      guard(statement);
      return target.execute(statement);
    },
  });
  return {
    ...guarded(db),
    transaction: (work) => db.transaction((tx) => work(guarded(tx))),
    batch: async (statements) => {
      statements.forEach(guard);
      return db.batch(statements);
    },
  };
}

test('[SEC-11] whatever a route is asked, it answers, with the envelope, and never 5xx', async () => {
  const outcome = await fuzzRoutes({ service, operator, seed: SEED, perRoute: PER_ROUTE, isInTurns: !isWhole });
  assert.deepEqual(outcome.faults.slice(0, 3), []);
  assert.ok(outcome.requests > PER_ROUTE * 140, `only ${outcome.requests} requests`);
  // A fuzz that is refused at the door proves little: every route did its work, with each credential it takes.
  assert.deepEqual(unreached(outcome), []);
});

test("[SEC-11] whatever the playground's backend is asked, it answers, and never 5xx", async () => {
  const { faults, reached, requests } = await fuzzPlayground({
    service,
    world,
    seed: SEED,
    perRoute: isWhole ? 12 : 6,
  });
  assert.deepEqual(faults.slice(0, 3), []);
  assert.ok(requests > 60, `only ${requests} requests`);
  const statuses = new Set([...reached.values()].flatMap((set) => [...set]));
  for (const status of [200, 400, 404]) assert.ok(statuses.has(status), `nothing was answered with ${status}`);
});

const sockets = (frames: number) => fuzzSockets({ service, world, seed: SEED, frames });

test('[SEC-11] whatever a socket is sent, it answers or says why it closes', async () => {
  const { frames, done, beforeAuth, unreadable, cut, faults } = await sockets(SOCKET_FRAMES);
  assert.deepEqual(faults.slice(0, 3), []);
  assert.ok(frames >= SOCKET_FRAMES && done > frames / 8, `${done} of ${frames} frames did anything`);
  assert.ok(beforeAuth >= 5 && unreadable >= 2, `${beforeAuth} before authentication, ${unreadable} unreadable`);
  assert.deepEqual(
    [4400, 4401, 1009].filter((code) => !cut.has(code)),
    [],
    'binary, unauthenticated and oversized frames each cut a socket',
  );
});

test('[SEC-20] whatever a media node says, the server lives, and only the participants on that node hear of it', async () => {
  const { api } = await service.newProject();
  const { frames, passedOn, faults } = await fuzzLink({ service, api, seed: SEED, frames: 160 });
  assert.deepEqual(faults.slice(0, 3), []);
  assert.ok(frames >= 160 && passedOn > 0, `${frames} frames, ${passedOn} passed on`);
});

test('[SEC-11] the fuzz sees a route and a frame that fail', async () => {
  broken = /update conversation_members set last_read_seq/;
  try {
    const routes = await fuzzRoutes({ service, operator, seed: SEED, perRoute: PER_ROUTE, only: ['markRead'] });
    assert.ok(
      routes.faults.some((fault) => fault.startsWith('markRead') && fault.includes('SVC_INTERNAL')),
      routes.faults[0],
    );
    const { faults } = await sockets(isWhole ? 300 : 150);
    assert.ok(
      faults.some((fault) => fault.startsWith('a fault of ours') && fault.includes('"code":"INTERNAL"')),
      faults[0],
    );
  } finally {
    broken = null;
  }
});

test('[SEC-11] the fuzz sees an end that nobody declared, and a frame that is not as declared', () => {
  for (const checker of [chatFrameChecker, signalingFrameChecker]) {
    for (const code of [1005, 1006, 1011, 4500, 4503, 4999]) assert.ok(checker.end({ code, reason: '' }), String(code));
    for (const code of [1000, 1009, 4400, 4401, 4429]) assert.equal(checker.end({ code, reason: '' }), null);
    const error = { type: 'error', code: 'FORBIDDEN', svcCode: 'SVC_FORBIDDEN', message: '', retryable: false, ts: 1 };
    assert.equal(checker.frame(error), null);
    assert.match(checker.frame({ ...error, svcCode: 'SVC_NOVEL', code: 'NOVEL' }) ?? '', /unknown code/);
    assert.match(checker.frame({ ...error, code: 'NOT_FOUND' }) ?? '', /in short/);
    assert.match(checker.frame({ ...error, message: 1 }) ?? '', /schema/);
    assert.match(checker.frame({ type: 'surprise' }) ?? '', /no such frame/);
  }
});
