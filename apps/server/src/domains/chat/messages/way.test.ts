import assert from 'node:assert/strict';
import { Session } from 'node:inspector/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tracedFiles } from '../../../../../../tools/traces.ts';
import { createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { openSocket } from '../../../../testkit/clients/socket-client.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';

const sources = fileURLToPath(new URL('../../../', import.meta.url));
const isProduction = ['DATABASE', 'REDIS'].every((one) => process.env[`PARLEY_TEST_${one}_URL`] !== undefined);
const sendsMin = 6;
/** What else runs in this process, such as chores of other tests' service, is not there on each of so many. */
const sendsMax = 60;

let here: TestService;
let there: TestService;
before(async () => {
  if (!isProduction) return;
  // Chores, which run by this clock, are not part of a send.
  const clock = createFakeClock();
  here = await startService({ clock, env: { CHAT_SEND_RATE_LIMIT: '1000' } });
  there = await startService({ clock, beside: here });
});
after(async () => {
  if (!isProduction) return;
  await there.stop();
  await here.stop();
});

/** Files of the server, by their path, with a function that ran since the last call. */
async function ranFiles(session: Session): Promise<Set<string>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result.filter(({ functions }) =>
    // The whole module is a function, too: it starts where the file does, and runs when it is imported.
    functions.some(({ ranges: [range] }) => range && range.count > 0 && range.startOffset > 0),
  );
  const paths = ran.filter(({ url }) => url.startsWith('file:')).map(({ url }) => fileURLToPath(url));
  return new Set(
    paths
      .filter((path) => path.startsWith(sources) && !path.endsWith('.test.ts'))
      .map((path) => path.slice(sources.length)),
  );
}

test('the files that a message passes, and those they call, are the ones that ARCHITECTURE.md names', {
  skip: !isProduction && 'The way is the one with PostgreSQL and Redis.',
}, async () => {
  const chat = await createChatKit(here);
  const { id } = await chat.conversation();
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  const sender = await bob.connect();
  const receiver = await openSocket(`${there.url}/v1/chat/ws?token=${alice.token}`);
  await receiver.take('hello');
  for (const client of [sender, receiver]) await subscribe(client, id);
  const send = async () => {
    await sender.ask({ type: 'message.send', conversation: id, text: 'hi' });
    await Promise.all([sender.take('message'), receiver.take('message')]);
  };
  // What is read once is in memory from here on.
  await send();

  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const named = tracedFiles('`message.send`').map((path) => path.replace('apps/server/src/', ''));
  const ran = new Set<string>();
  let unnamed: string[] | null = null;
  for (let at = 0; at < sendsMin || (at < sendsMax && unnamed?.length !== 0); at++) {
    await ranFiles(session);
    await send();
    const files = await ranFiles(session);
    for (const path of files) ran.add(path);
    unnamed = (unnamed ?? [...files]).filter((path) => files.has(path) && !named.includes(path));
  }
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();

  assert.deepEqual(unnamed?.sort(), [], 'these run on each send and are not named');
  const idle = named.filter((path) => !ran.has(path));
  assert.deepEqual(idle, [], 'these are named, and do not run on a send');
  await Promise.all([sender.close(), receiver.close()]);
});
