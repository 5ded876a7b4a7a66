import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { startReceiver } from '../apps/server/testkit/peers/receiver.ts';
import { skipWithoutBrowser } from './browser.ts';
import { type DashboardKit, startDashboard } from './dashboard-kit.ts';

describe('dashboard tasks', { skip: skipWithoutBrowser() }, () => {
  let kit: DashboardKit;
  let project: TestProject;
  before(async () => {
    kit = await startDashboard();
    project = await kit.service.newProject();
  });
  after(() => kit?.close());

  test('[DASH-50] no page of chat, and no answer it is made of, holds what somebody wrote', async () => {
    const canary = 'canary-7f3a91c2';
    const { api } = project;
    const { id } = await api.call('createConversation', { body: { name: 'secret', members: ['ada'] } });
    const { id: messageId } = await api.call('sendMessage', { room: id, body: { text: canary, senderId: 'ada' } });
    await api.call('editMessage', { messageId, body: { text: `${canary} again`, metadata: { note: canary } } });
    const visit = await kit.visit({ as: project.owner });
    const { page } = visit;
    const answers: Promise<string>[] = [];
    page.on('response', (response) => {
      if (response.url().includes('/v1/')) answers.push(response.text().catch(() => ''));
    });
    await visit.open(`/p/${project.id}/chat?env=development`, 'Chat');
    await page.getByRole('link', { name: 'secret' }).click();
    for (const tab of ['Messages', 'Presence', 'Members']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
      assert.doesNotMatch(await page.content(), new RegExp(canary), tab);
    }
    await page.getByRole('tab', { name: 'Messages' }).click();
    await page.getByRole('cell', { name: messageId }).waitFor();
    const bodies = await Promise.all(answers);
    assert.ok(
      bodies.some((body) => body.includes(messageId)),
      'the answers were not looked at',
    );
    for (const body of bodies) assert.ok(!body.includes(canary), body.slice(0, 200));
    visit.assertClean();
  });

  test('[DASH-51] a stream is described in place; what is not JSON is said before it is sent', async () => {
    const { id } = await project.api.call('createLiveStream', { body: { title: 'Draft', hostIdentity: 'ada' } });
    const visit = await kit.visit({ as: project.owner });
    const page = await visit.open(`/p/${project.id}/live-streams/${id}?env=development`, 'Draft');
    await page.getByLabel('Title').fill('Launch day');
    await page.getByLabel('Tags').fill('product, live');
    await page.getByLabel('Metadata').fill('{"not": json');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('This is not JSON.').waitFor();
    await page.getByLabel('Metadata').fill('{"season": 2}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Launch day' }).waitFor();
    const stored = await project.api.call('getLiveStream', { streamId: id });
    assert.deepEqual([stored.title, stored.tags, stored.metadata], ['Launch day', ['product', 'live'], { season: 2 }]);
    visit.assertClean();
  });

  test('[DASH-52] an endpoint gets headers that are never shown again, and what it missed', async () => {
    const receiver = await startReceiver();
    const { api } = project.owner;
    const { id } = await api.call('createWebhook', {
      projectId: project.id,
      body: { url: receiver.url, environment: 'DEVELOPMENT', events: ['live_stream.created'] },
    });
    const visit = await kit.visit({ as: project.owner });
    const page = await visit.open(`/p/${project.id}/webhooks/${id}?env=development&tab=settings`, receiver.url);
    await page.getByLabel('New headers').fill('no colon');
    await page.getByRole('button', { name: 'Save headers' }).click();
    await page.getByText('is not a name, a colon and a value').waitFor();
    await page.getByLabel('New headers').fill('X-Gateway-Key: canary-header-value');
    await page.getByRole('button', { name: 'Save headers' }).click();
    await page.getByRole('list', { name: 'Headers that are sent' }).getByText('x-gateway-key').waitFor();
    assert.doesNotMatch(await page.content(), /canary-header-value/);

    await api.call('disableWebhook', { projectId: project.id, webhookId: id });
    await project.api.call('createLiveStream', { body: { title: 'Missed', hostIdentity: 'ada' } });
    await api.call('enableWebhook', { projectId: project.id, webhookId: id });
    await page.reload();
    await page.getByRole('button', { name: 'Recover' }).click();
    const dialog = page.getByRole('dialog', { name: 'Recover events' });
    await dialog.getByLabel('Time').selectOption({ label: 'The last hour' });
    await dialog.getByRole('button', { name: 'Recover' }).click();
    await dialog
      .getByRole('status')
      .getByText(/queued/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await eventually(() => {
      const missed = receiver.requests.find(({ body }) => body.includes('"Missed"'));
      assert.equal(missed?.headers['x-gateway-key'], 'canary-header-value');
    });
    await receiver.close();
    visit.assertClean();
  });
});
