import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually, processWorkMs } from '../apps/server/testkit/kit/eventually.ts';
import { isWhole } from '../apps/server/testkit/kit/part.ts';
import { canaryRows, type Planted, plantedIn } from './secrets/canaries.ts';
import { formsOf, type Leak, leaksIn, type Piece } from './secrets/leak-search.ts';
import { misuse } from './secrets/misuse.ts';
import type { Mode } from './secrets/outside.ts';
import { type Scene, startScene } from './secrets/scene.ts';
import { leftSinks, liveSinks, type Sink } from './secrets/sinks.ts';
import { runWorkload, type Workload } from './secrets/workload.ts';

const mode: Mode = process.env['PARLEY_TEST_DATABASE_URL'] ? 'production' : 'embedded';
const sinks = Object.entries({ ...liveSinks, ...leftSinks }).filter(([, { only = mode }]) => only === mode);

describe(`[SEC-2] secrets, ${mode}`, () => {
  let scene: Scene;
  let workload: Workload;
  let canaries: Planted[];
  const contents = new Map<string, Piece[]>();

  const read = async (table: Readonly<Record<string, Sink>>): Promise<void> => {
    for (const [name, sink] of sinks) if (table[name]) contents.set(name, await sink.read(scene, workload));
  };

  before(async () => {
    scene = await startScene(mode);
    workload = await runWorkload(scene);
    canaries = plantedIn(workload, scene);
    await misuse(scene, workload, isWhole ? canaries : canaries.filter(({ hasStandIn }) => !hasStandIn));
    await read(liveSinks);
    await loseTheOutside(scene, workload);
    workload.stream.stop();
    assert.equal(await scene.server.kill('SIGTERM'), 0);
    await scene.node.kill('SIGTERM');
    await read(leftSinks);
  });
  after(() => scene?.close());

  test('every row of the table was planted', () => {
    const rows = Object.entries(canaryRows).filter(([, { only = mode }]) => only === mode);
    assert.deepEqual(
      [...new Set(canaries.map(({ name }) => name))],
      rows.map(([name]) => name),
    );
    for (const [name, { like }] of rows)
      if (like !== undefined) assert.ok(isOneOfItsOwn(canaries, like), `${name} is like ${like}, which is put nowhere`);
    for (const { secret } of canaries) formsOf(secret);
  });

  for (const [name] of sinks)
    test(`none is in: ${name}`, () => assert.deepEqual(leaksIn(contents.get(name) ?? [], canaries), []));

  test('what people write is in no output, span or metric', () => {
    const text = { name: 'message text', secret: workload.chat.text, shownBy: [] };
    assert.notDeepEqual(leaksIn(contents.get('webhook receiver') ?? [], [text]), []);
    for (const name of ['server output', 'media node output', 'traces', 'pages and metrics'])
      assert.deepEqual(leaksIn(contents.get(name) ?? [], [text]), [], name);
  });

  test('what is let through on purpose is found in every sink', () => {
    for (const [name, { dye = scene.dye }] of sinks) {
      const leaks = leaksIn(contents.get(name) ?? [], [{ name: 'dye', secret: dye, shownBy: [] }]);
      assert.ok(leaks.length > 0, `nothing was read of: ${name}`);
    }
  });

  test('each row names only places where its secret was', () => {
    const unguarded = canaries.map((canary) => ({ ...canary, shownBy: [] }));
    const leaks = leaksIn([...contents.values()].flat(), unguarded);
    const shown = new Set(leaks.map(({ canary }) => canary));
    for (const { name, shownBy } of canaries)
      assert.equal(shown.has(name), shownBy.length > 0, `${name} was shown nowhere: is it what it says?`);
  });
});

const isOneOfItsOwn = (canaries: readonly Planted[], row: string): boolean =>
  canaries.some(({ name, hasStandIn }) => name === row && !hasStandIn);

/** All that the service speaks to is gone, and it has much to log about that. */
async function loseTheOutside(scene: Scene, workload: Workload): Promise<void> {
  await scene.outside.vanish();
  const anonymous = scene.as();
  await anonymous.call('requestPasswordReset', { body: { email: workload.account.email } });
  await eventually(() => scene.server.output().includes('mail was not sent'), { withinMs: processWorkMs });
  await scene.as(workload.account.accessToken).call('getProjectDiagnostics', { projectId: workload.ids.projectId });
}

test('a secret is found in every form it could leave in', () => {
  const secret = 'a-canary/with+signs=1234567890';
  const around = (text: string) => `before ${text} after`;
  const forms: Record<string, string> = {
    plain: secret,
    hex: Buffer.from(secret).toString('hex'),
    'upper hex': Buffer.from(secret).toString('hex').toUpperCase(),
    'URL-encoded': encodeURIComponent(secret),
    base64: Buffer.from(secret).toString('base64'),
    ...Object.fromEntries(
      ['x', 'xy', 'user:'].map((before) => [
        `base64 behind ${before}`,
        Buffer.from(`${before}${secret}!`).toString('base64'),
      ]),
    ),
    base64url: Buffer.from(`??>${secret}`).toString('base64url'),
    'cut short': secret.slice(0, -2),
  };
  const canary = { name: 'canary', secret, shownBy: ['its answer'] };
  for (const [form, text] of Object.entries(forms)) {
    const leaks: Leak[] = leaksIn([{ where: 'a log', text: around(text) }], [canary]);
    assert.equal(leaks[0]?.where, 'a log', form);
    const bytes = Buffer.concat([Buffer.from([0, 1, 255]), Buffer.from(text), Buffer.from([0])]);
    assert.equal(leaksIn([{ where: 'a file', text: bytes }], [canary]).length > 0, true, `${form} in bytes`);
    assert.deepEqual(leaksIn([{ where: 'its answer', text: around(text) }], [canary]), [], form);
  }
  assert.deepEqual(leaksIn([{ where: 'a log', text: around('a-canary/of-another-kind') }], [canary]), []);
});
