import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createChatKit } from '../../../../testkit/chat/chat.ts';
import { openSocket } from '../../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { withoutDeadline } from '../../../core/delete-in-batches.ts';
import { aliveEveryMs } from './connections.ts';

const clock = createFakeClock();
const marks = 'chat-processes';
let service: TestService;
let other: TestService;
before(async () => {
  service = await startService({ clock });
  other = await startService({ clock, beside: service });
});
after(async () => {
  await other.stop();
  await service.stop();
});

/** The chore, in the first process. */
async function run(name: string): Promise<void> {
  const chore = service.service.chores.find((one) => one.name === name);
  assert.ok(chore);
  await chore.run(withoutDeadline);
}

test('[RUN-36] chat sockets of another process stay open when Redis has lost that it is alive', async () => {
  const chat = await createChatKit(service);
  const { token } = await chat.user('alice');
  const alice = await openSocket(`${other.url}/v1/chat/ws?token=${token}`);
  await alice.take('hello');
  const { project } = chat;
  const closeCodes = async () =>
    (await project.owner.api.call('listChatConnections', { projectId: project.id })).map(({ closeCode }) => closeCode);
  await clock.advance(1_000);
  await eventually(async () => assert.deepEqual(await closeCodes(), [null]));

  const { expiringSets } = service.adapters;
  const lose = async () => {
    const all = await expiringSets.members(marks);
    await expiringSets.removeAll(all.map(({ member }) => ({ set: marks, member })));
  };
  const look = () => run('chat-stranded-connections');
  for (let times = 0; times < 2; times++) {
    await lose();
    // However often it is looked at, until the other has had the time to say so again.
    for (let looks = 0; looks < 3; looks++) await look();
    assert.deepEqual(await closeCodes(), [null]);
    await clock.advance(aliveEveryMs);
    await eventually(async () => assert.equal((await expiringSets.members(marks)).length, 2));
    await look();
    assert.deepEqual(await closeCodes(), [null]);
  }

  await alice.close();
});

test('[RUN-36] what ended processes said of themselves is not kept', async () => {
  const { expiringSets } = service.adapters;
  await expiringSets.touch(marks, 'ended', 1);
  await clock.advance(1_000);
  await eventually(async () => assert.deepEqual(await expiringSets.includes(marks, ['ended']), [false]));
  await run('chat-stranded-connections');
  assert.deepEqual(await expiringSets.sweep(marks, 10), []);
});
