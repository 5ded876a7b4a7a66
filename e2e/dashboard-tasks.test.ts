import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, describe, test } from 'node:test';
import { mintChatToken } from '@parley/server';
import { eventually, pageMs } from '../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { startReceiver } from '../apps/server/testkit/peers/receiver.ts';
import { assertAccessible } from './accessibility.ts';
import { skipWithoutBrowser } from './browser.ts';
import { type DashboardKit, startDashboard } from './dashboard-kit.ts';

describe('dashboard tasks', { skip: skipWithoutBrowser() }, () => {
  let kit: DashboardKit;
  let project: TestProject;
  before(async () => {
    kit = await startDashboard();
    project = await kit.service.newProject();
  });
  afterEach(() => kit?.leave());
  after(() => kit?.close());

  test('[DASH-97] [DASH-103] [DASH-104] a user is banned and let in again, a report resolved, and a word list and a hook are set; a viewer only looks', async () => {
    const { api, id } = project;
    const { id: room } = await api.call('createConversation', { body: { members: ['eve', 'bob'], name: 'noisy' } });
    const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'buy now', senderId: 'eve' } });
    const { token } = await api.call('mintChatToken', { body: { userId: 'bob' } });
    await kit.service.as(token).call('reportMessage', { messageId, body: { reason: 'spam' } });
    const visit = await kit.visit({ as: project.owner });
    const page = await visit.open(`/p/${id}/moderation?env=development`, 'Moderation');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Resolve the report of eve' }).click();
    await dialog.getByLabel('Action').selectOption('ban');
    await dialog.getByLabel('Where').selectOption('all');
    await dialog.getByLabel('Reason').fill('Sells things');
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByLabel('Status').selectOption('resolved');
    await page.getByText('Sender banned').waitFor();

    await page.getByRole('tab', { name: 'Bans' }).click();
    await page.getByRole('cell', { name: 'Sells things' }).waitFor();
    await page.getByRole('button', { name: 'Lift for eve' }).click();
    await dialog.getByRole('button', { name: 'Lift' }).click();
    await page.getByText('Nobody is banned from all chat').waitFor();
    await page.getByRole('tab', { name: 'Mutes' }).click();
    await page.getByRole('button', { name: 'Mute a user' }).click();
    await dialog.getByRole('button', { name: 'Mute', exact: true }).click();
    await dialog.getByText('Enter the id that your backend mints tokens for.').waitFor();
    await dialog.getByLabel('User id').fill('eve');
    await dialog.getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByRole('cell', { name: 'Dashboard' }).waitFor();

    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'New word list' }).click();
    await dialog.getByLabel('Name').fill('shop');
    await dialog.getByLabel('Patterns').fill('(a)\\1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    // What the service says of a pattern stands at the field.
    await dialog.locator('.field', { hasText: 'Patterns' }).locator('.field-error').waitFor();
    await dialog.getByLabel('Patterns').fill('');
    await dialog.getByLabel('Words and phrases').fill('sale\nbargain\n');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '2 words' }).waitFor();
    await page.getByRole('button', { name: 'Set a hook' }).click();
    await dialog.getByLabel('URL').fill('https://backend.example.com/moderate');
    await dialog.getByLabel('Without an answer').selectOption('closed');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const secret = page.getByRole('dialog', { name: 'Signing secret' });
    const text = (await secret.getByRole('status', { name: 'secret' }).textContent()) ?? '';
    await secret.getByLabel('I have stored it').check();
    await secret.getByRole('button', { name: 'Done' }).click();
    await page.getByText('refuses messages when it fails').waitFor();
    assert.ok(text.length > 20 && !(await page.content()).includes(text), 'the secret was shown once');
    await page.getByRole('button', { name: 'Set a scan hook' }).click();
    await dialog.getByLabel('URL').fill('https://backend.example.com/scan');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await secret.getByLabel('I have stored it').check();
    await secret.getByRole('button', { name: 'Done' }).click();
    await page.getByText('keeps files back when it fails').waitFor();
    const previews = page.getByRole('form', { name: 'Link previews' });
    await previews.getByLabel('Link previews').selectOption('on');
    await previews.getByRole('button', { name: 'Save' }).click();
    await page.locator('.figure', { hasText: 'Link previews' }).getByText('On').waitFor();

    await page.getByRole('tab', { name: 'Deletions' }).click();
    await page.getByRole('button', { name: 'Delete a user’s messages' }).click();
    await dialog.getByLabel('User id').fill('eve');
    await dialog.getByRole('button', { name: 'Delete messages' }).click();
    await page.getByRole('link', { name: 'eve' }).click();
    await page.getByRole('button', { name: 'Delete all messages' }).click();
    // The id is typed, so that it is not of somebody else.
    await dialog.getByLabel('Type eve to confirm').fill('bob');
    await page.keyboard.press('Enter');
    await dialog.getByText('This is not the id of the user.').waitFor();
    await page.keyboard.press('Escape');
    await eventually(
      async () => {
        const { messages } = await api.call('listMessages', { room });
        assert.ok(messages.every(({ text }) => text === null));
      },
      { withinMs: pageMs },
    );
    visit.assertClean({ expected: /Failed to load resource/ });

    const viewer = await kit.visit({ as: await project.member('VIEWER') });
    const looked = await viewer.open(`/p/${id}/moderation?env=development&tab=mutes`, 'Moderation');
    await looked.getByRole('cell', { name: 'eve', exact: true }).waitFor();
    assert.ok(await looked.getByRole('button', { name: 'Lift for eve' }).isDisabled());
    await looked.getByRole('tab', { name: 'Rules' }).click();
    await looked.getByRole('cell', { name: '2 words' }).waitFor();
    assert.equal(await looked.getByRole('button', { name: 'New word list' }).count(), 0);
    await looked.getByRole('tab', { name: 'Deletions' }).click();
    assert.ok(await looked.getByRole('button', { name: 'Delete a user’s messages' }).isDisabled());
    viewer.assertClean();
  });

  test('[DASH-98] the rules of notifications and the keys of Apple are set; what is wrong with a key is said there', async () => {
    const visit = await kit.visit({ as: project.owner });
    const page = await visit.open(`/p/${project.id}/push?env=development`, 'Push');
    await page.getByLabel('A notification says').selectOption('PREVIEW');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The push settings are saved').first().waitFor();
    assert.equal((await project.api.call('getPushSettings')).content, 'PREVIEW');
    await page.getByRole('button', { name: 'Set up Apple (APNs)' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Team id').fill('TEAM123456');
    await dialog.getByLabel('Key id').fill('KEY1234567');
    await dialog.getByLabel('Key', { exact: true }).fill('not a key');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('.p8 file that Apple gives').waitFor();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await dialog.getByLabel('Key', { exact: true }).fill(pem);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Team TEAM123456, key KEY1234567' }).waitFor();
    visit.assertClean({ expected: /Failed to load resource/ });
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

  test('[DASH-53] a signing key is made, shown once, listed and revoked beside the API keys', async () => {
    const visit = await kit.visit({ as: project.owner });
    const page = await visit.open(`/p/${project.id}/api-keys?env=development`, 'API keys');
    await page.getByRole('button', { name: 'New signing key' }).click();
    const form = page.getByRole('dialog', { name: 'New signing key for development' });
    await form.getByLabel('Name').fill('Backend');
    await form.getByRole('button', { name: 'Create signing key' }).click();
    const shown = page.getByRole('dialog', { name: 'Signing key Backend' });
    const signingKey = (await shown.getByRole('status', { name: 'signing key' }).textContent()) ?? '';
    await shown.getByLabel('I have stored it').check();
    await shown.getByRole('button', { name: 'Done' }).click();
    const { token } = mintChatToken({ signingKey, userId: 'ada' });
    await kit.service.as(token).call('listConversations');
    const table = page.getByRole('table', { name: 'Signing keys for development' });
    await table.getByText('HS256').waitFor();
    assert.ok(!(await page.content()).includes(signingKey.split('.')[1] ?? '?'));
    await table.getByRole('button', { name: 'Revoke signing key Backend' }).click();
    const confirm = page.getByRole('dialog', { name: 'Revoke Backend?' });
    await confirm.getByRole('textbox').fill('Backend');
    await confirm.getByRole('button', { name: 'Revoke signing key' }).click();
    await table.getByText('Revoked').waitFor();
    await assert.rejects(kit.service.as(token).call('listConversations'), { code: 'SVC_TOKEN_REVOKED' });
    visit.assertClean();
  });

  test('[DASH-54] an API key is made with bounds in its dialog; a wrong one is said there, and the list shows them', async () => {
    const visit = await kit.visit({ as: project.owner });
    const page = await visit.open(`/p/${project.id}/api-keys?env=development`, 'API keys');
    await page.getByRole('button', { name: 'New key', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'New API key for development' });
    await form.getByLabel('Name').fill('Doorman');
    await form.getByText('Bounds', { exact: true }).click();
    await assertAccessible(page, 'the bounds of a new key');
    await form.getByLabel('tokens', { exact: true }).check();
    await form.getByLabel('Expires').fill('2020-01-01T00:00');
    await form.getByLabel('Allowed networks').fill('office');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByText('Choose a time in the future.').waitFor();
    await form.getByLabel('Expires').fill('2999-01-01T00:00');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByText('office is neither an address nor a network').waitFor();
    await form.getByLabel('Allowed networks').fill('127.0.0.0/8\n::1');
    await form.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: 'API key Doorman' });
    const key = (await shown.getByRole('status', { name: 'API key' }).textContent()) ?? '';
    await shown.getByLabel('I have stored it').check();
    await shown.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Doorman' });
    for (const bound of ['tokens', /^until/, 'from 127.0.0.0/8, ::1/128']) await row.getByText(bound).waitFor();
    const api = kit.service.as(key);
    await api.call('mintChatToken', { body: { userId: 'ada' } });
    await assert.rejects(api.call('listRooms'), { code: 'SVC_SCOPE_MISSING' });
    visit.assertClean({ expected: /Failed to load resource/ });
  });

  test('[DASH-55] the audit log is downloaded as NDJSON, with the filters of its page', async () => {
    const visit = await kit.visit({ as: project.owner });
    const page = await visit.open(`/p/${project.id}/audit-log?action=project.created`, 'Audit log');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export last 30 days' }).click();
    const download = await downloading;
    assert.equal(download.suggestedFilename(), `audit-${project.id}.ndjson`);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
    const query = { action: 'project.created' };
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      await project.owner.api.call('listAuditLogs', { projectId: project.id, query }),
    );
    assert.equal(lines.length, 1);
    visit.assertClean();
  });

  test('[DASH-78] [DASH-79] an alert is made, silenced, changed and deleted by keyboard, and what is wrong is said at its field', async () => {
    const visit = await kit.visit({ as: project.owner });
    const page = await visit.open(`/p/${project.id}/alerts?env=development`, 'Alerts');
    const press = async (name: string, within: ReturnType<typeof page.getByRole> | typeof page = page) => {
      await within.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    };
    await press('New alert');
    const form = page.getByRole('dialog', { name: 'New alert for development' });
    await form.getByLabel('Name').focus();
    await page.keyboard.press('Enter');
    await form.getByText('Give the alert a name').waitFor();
    await page.keyboard.type('Too many files');
    await page.keyboard.press('Tab');
    await form.getByLabel('When').selectOption('USAGE_ABOVE');
    await form.getByLabel('Of what').selectOption('storedBytes');
    await assertAccessible(page, 'the form of an alert');
    await form.getByLabel('More than, in GB stored').focus();
    await page.keyboard.type('2.5');
    await form.getByLabel('Mail to').focus();
    await page.keyboard.type('stranger@example.com');
    await press('Create alert', form);
    await form.getByText('not stranger@example.com').waitFor();
    await form.getByLabel('Mail to').fill(project.owner.email);
    await press('Create alert', form);
    await form.waitFor({ state: 'detached' });
    await page.getByText('Over 2.5 GB stored a month').waitFor();
    await page.getByRole('link', { name: 'Too many files' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Nothing has happened yet').waitFor();
    await press('Silence');
    const silence = page.getByRole('dialog', { name: 'Silence this alert' });
    await assertAccessible(page, 'the silence of an alert');
    await press('Silence', silence);
    // A dialog that closes gives the focus back.
    await silence.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'Silenced' }).waitFor();
    const [alert] = await project.api.call('listAlerts');
    assert.deepEqual([alert?.bound, alert?.state, alert?.emails], [2.5e9, 'SILENCED', [project.owner.email]]);
    await press('Change');
    const change = page.getByRole('dialog', { name: 'Change alert' });
    assert.equal(await change.getByLabel('More than, in GB stored').inputValue(), '2.5');
    await change.getByLabel('In a').selectOption('DAY');
    await press('Save', change);
    await change.waitFor({ state: 'detached' });
    await page.getByText('Over 2.5 GB stored a day').waitFor();
    await press('Delete');
    await press('Delete alert', page.getByRole('dialog', { name: 'Delete this alert?' }));
    await page.getByText('No alert for development yet').waitFor();
    visit.assertClean({ expected: /Failed to load resource/ });
    await kit.leave();
    const viewer = await kit.visit({ as: await project.member('VIEWER') });
    const seen = await viewer.open(`/p/${project.id}/alerts?env=development`, 'Alerts');
    assert.ok(await seen.getByRole('button', { name: 'New alert' }).isDisabled());
    viewer.assertClean();
  });

  test('[DASH-80] usage shows no cost until there are prices, then with a total, by day and by key, and as CSV', async () => {
    const used = await kit.service.newProject(project.owner);
    const { id: room } = await used.api.call('createConversation', { body: { name: 'talk' } });
    for (const text of ['one', 'two']) await used.api.call('sendMessage', { room, body: { text, senderId: 'ada' } });
    await kit.service.service.usage.storeCounts();
    const visit = await kit.visit({ as: used.owner });
    const page = await visit.open(`/p/${used.id}/usage?env=development`, 'Usage');
    const byDay = page.getByRole('table', { name: 'Days with usage, newest first' });
    await byDay.waitFor();
    assert.equal(await byDay.getByRole('columnheader', { name: 'Cost' }).count(), 0);
    await page.getByRole('button', { name: 'Prices' }).click();
    const form = page.getByRole('dialog', { name: 'Prices of usage' });
    await form.getByLabel('Currency').fill('eur');
    await form.getByLabel('1,000 messages').fill('0,5');
    await form.getByRole('button', { name: 'Save prices' }).click();
    await form.getByText('Enter a number with at most six decimals').waitFor();
    await assertAccessible(page, 'prices');
    await form.getByLabel('1,000 messages').fill('0.5');
    await form.getByRole('button', { name: 'Save prices' }).click();
    await byDay.getByRole('columnheader', { name: 'Cost' }).waitFor();
    await page.getByText('0.001 EUR').first().waitFor();
    await page.getByLabel('By API key').check();
    await page.getByRole('table', { name: 'Usage by API key' }).getByRole('cell', { name: '0.001 EUR' }).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const lines = (await readFile(await (await downloading).path(), 'utf8')).trimEnd().split('\r\n');
    assert.equal(lines.length, 2);
    assert.match(lines[1] ?? '', /,messages,2,messages,0\.5,"1,000 messages",EUR,0\.001000$/);
    visit.assertClean();
  });
});
