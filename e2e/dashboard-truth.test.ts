import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { iso } from '../apps/server/src/core/clock.ts';
import { updateDraining } from '../apps/server/src/domains/fleet/server-store.ts';
import { joinAs, mint, newRoom, type RoomsService } from '../apps/server/testkit/clients/rooms.ts';
import { eventually, processWorkMs } from '../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { assertAccessible } from './accessibility.ts';
import { skipWithoutBrowser } from './browser.ts';
import { type DashboardKit, goTo, startDashboard } from './dashboard-kit.ts';

/** As an operator's drain does; operators are named in the configuration, and this service has none. */
const setDraining = ({ adapters, clock }: RoomsService, isDraining: boolean): Promise<unknown> =>
  updateDraining(adapters.db, 'node-1', isDraining, iso(clock.now()));

/** A drain of two rooms, one of which has gone. */
async function drainHalfOf(service: RoomsService): Promise<void> {
  service.node.reports = { activeRooms: 2 };
  await service.node.heartbeat();
  await setDraining(service, true);
  service.node.reports = { activeRooms: 1 };
  await service.node.heartbeat();
}

async function endDrain(service: RoomsService): Promise<void> {
  service.node.reports = {};
  await setDraining(service, false);
}

describe('dashboard, what it says', { skip: skipWithoutBrowser() }, () => {
  let kit: DashboardKit;
  let project: TestProject;
  before(async () => {
    kit = await startDashboard();
    project = await kit.service.newProject();
    await newRoom(project.api);
    await project.api.call('createRoom', { body: { name: 'Stand-up' } });
  });
  afterEach(() => kit?.leave());
  after(() => kit?.close());

  const at = (path: string, environment = 'development'): string => `/p/${project.id}/${path}?env=${environment}`;

  test('[DASH-61] the filter of rooms asks the server and keeps the focus', async () => {
    const { open, assertClean } = await kit.visit({ as: project.owner });
    const page = await open(at('rooms'), 'Rooms');
    const asked = page.waitForResponse((response) => response.url().includes('name=stand'));
    const filter = page.getByLabel('Name contains');
    await filter.fill('stand');
    await asked;
    await page.getByRole('link', { name: 'Stand-up' }).waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1);
    assert.ok(await filter.evaluate((field) => field === document.activeElement));
    assertClean();
  });

  test('[DASH-85] a list without a row shows no filters; one where nothing matches offers to clear them', async () => {
    const empty = await kit.service.newProject(project.owner);
    const { open, assertClean } = await kit.visit({ as: empty.owner });
    const page = await open(`/p/${empty.id}/connections?env=development`, 'Connections');
    await page.getByText('Nobody has connected yet').waitFor();
    assert.equal(await page.getByLabel('Room id').count(), 0);
    await goTo(page, `/p/${empty.id}/connections?env=development&room=nowhere`, 'Connections');
    await page.getByText('No connections match').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('Nobody has connected yet').waitFor();
    assertClean();
  });

  test('[DASH-87] [DASH-92] the dashboard speaks the language of the browser, or the chosen one, and remembers it', async () => {
    const { open, page, assertClean } = await kit.visit({ as: project.owner, locale: 'de-AT' });
    await open(at('rooms'), 'Räume');
    assert.equal(await page.locator('html').getAttribute('lang'), 'de');
    await page.getByRole('button', { name: 'Neuer Raum' }).waitFor();
    assert.ok(await page.getByRole('radio', { name: 'Entwicklung' }).isChecked());
    await page.getByRole('button', { name: 'Konto' }).click();
    await page.getByLabel('Sprache').selectOption('zh-Hans');
    await page.getByRole('heading', { level: 1, name: '房间' }).waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hans');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: '房间' }).waitFor();
    await assertAccessible(page, 'rooms in Chinese');
    await page.getByRole('button', { name: '账户' }).click();
    await page.getByLabel('语言').selectOption('en');
    await page.getByRole('heading', { level: 1, name: 'Rooms' }).waitFor();
    assertClean();
  });

  test('[DASH-74] a request id opens its request: from the list, the palette and an error', async () => {
    await project.api.call('getRoom', { id: 'nowhere' }).catch(() => undefined);
    const { open, assertClean } = await kit.visit({ as: project.owner });
    const page = await open(at('requests'), 'API requests');
    // Within a second of being made, by the stream of changes.
    const failed = page.getByRole('row').filter({ hasText: 'SVC_ROOM_NOT_FOUND' });
    await failed.first().waitFor();
    await page.getByLabel('Outcome').selectOption('FAILED');
    await page.waitForURL(/outcome=FAILED/);
    await failed.getByRole('link').first().click();
    await page.getByText('Check the id and which environment').waitFor();
    const requestId = /requests\/(req_[0-9a-f]{24})/.exec(page.url())?.[1] ?? assert.fail(page.url());
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(requestId);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'GET /v1/rooms/{id}' }).waitFor();
    await goTo(page, at('rooms/nowhere'));
    const told = page.getByRole('alert').getByRole('link', { name: /^req_/ });
    // A page that is told of a change asks again, and is refused under another id: which one it was the address says.
    await told.click();
    await page.getByRole('heading', { name: /^GET .v1.projects.*rooms/ }).waitFor();
    const missed = /requests\/(req_[0-9a-f]{24})/.exec(page.url())?.[1] ?? assert.fail(page.url());
    assert.notEqual(missed, requestId);
    assertClean({ expected: /Failed to load resource/ });
  });

  test('[DASH-75] [DASH-76] the overview follows what happens now, and first steps tick themselves', async () => {
    const { id: projectId, api, owner } = await kit.service.newProject(project.owner);
    const { open, assertClean } = await kit.visit({ as: owner });
    const page = await open(`/p/${projectId}/overview?env=development`, 'Overview');
    const now = page.getByLabel('Now', { exact: true });
    const figure = (name: string) => now.locator('.figure').filter({ hasText: name });
    await figure('Rooms with people').getByText('0 in them, 0 open').waitFor();
    const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await step('Send the first message').getByText('To do').waitFor();
    const room = await newRoom(api);
    await joinAs(kit.service, api, room, 'ada');
    const { id: talk } = await api.call('createConversation', { body: { name: 'talk' } });
    await api.call('sendMessage', { room: talk, body: { senderId: 'ada', text: 'hello' } });
    await figure('Rooms with people').getByText('1 in them, 1 open').waitFor();
    await figure('Messages a second')
      .getByRole('img', { name: 'Messages in the last hour: at most 1 a minute' })
      .waitFor();
    await step('Send the first message').getByText('Done').waitFor();
    await step('See the first participant join').getByText('Done').waitFor();
    await step('Have a webhook delivered').getByText('To do').waitFor();
    assertClean();
  });

  test('[DASH-77] [DASH-88] the page of a node shows load of before it was opened, by core and by packet', async () => {
    const cores = { cpuPercent: 12.5, coreCpuPercents: [20, 5] };
    const packets = { packetsInPerSecond: 900, packetsOutPerSecond: 2_700, lossInPercent: 1.5, lossOutPercent: 0 };
    await kit.service.node.heartbeat({
      activeRooms: 1,
      activeParticipants: 2,
      memoryPercent: 31,
      ...cores,
      ...packets,
    });
    const { open, assertClean } = await kit.visit({ as: project.owner });
    const page = await open(at('fleet/node-1'), 'node-1');
    await page.getByRole('slider', { name: 'CPU and memory, last hour' }).waitFor();
    await page.getByRole('slider', { name: 'Rooms and participants, last hour' }).waitFor();
    await page.getByRole('slider', { name: 'CPU per core, last hour' }).waitFor();
    await page.getByRole('slider', { name: 'Packets a second, last hour' }).waitFor();
    await page.getByRole('slider', { name: 'Packets lost, last hour' }).waitFor();
    await goTo(page, at('fleet'), 'Fleet');
    for (const head of ['CPU', 'Packets in / out', 'Loss in / out', 'Rooms'])
      await page.getByRole('columnheader', { name: head, exact: true }).waitFor();
    await drainHalfOf(kit.service);
    await page.getByText('1 of 2 rooms left.').waitFor();
    await goTo(page, at('fleet/node-1'), 'node-1');
    await page.getByText('1 of 2 rooms left.').waitFor();
    await endDrain(kit.service);
    assertClean();
  });

  test('[OBS-18] a step of a client whose clock is wrong stands where it happened, with both clocks', async () => {
    const room = await newRoom(project.api);
    const { token } = await mint(project.api, room, 'ada');
    const connectionId = `ahead-${room.id}`;
    const timestamp = iso(kit.service.clock.now() + 30_000);
    const body = { connectionId, type: 'signaling.connecting' as const, timestamp };
    await kit.service.as(token).call('sendTelemetry', { body });
    await eventually(() => project.api.call('getConnection', { connectionId }), { withinMs: processWorkMs });
    const { open, assertClean } = await kit.visit({ as: project.owner });
    const page = await open(at(`connections/${connectionId}`));
    await page.getByText(/the client’s clock said .* ahead$/).waitFor();
    assertClean();
  });

  test('[DASH-62] [DASH-92] an address without an environment opens the last one, and the switch marks it', async () => {
    const { open, page } = await kit.visit({ as: project.owner });
    await open(at('rooms', 'production'), 'Rooms');
    await open('/', 'Overview');
    assert.match(page.url(), /env=production$/);
    await open(`/p/${project.id}/connections?state=FAILED`, 'Connections');
    await page.waitForURL(/connections\?state=FAILED&env=production$/);
    assert.ok(await page.getByRole('radio', { name: 'Production' }).isChecked());
  });

  test('[DASH-63] the same announcement again is a change of the live region', async () => {
    const { open } = await kit.visit({ as: project.owner });
    const page = await open(at('rooms'), 'Rooms');
    const texts = await page.evaluateHandle(() => {
      const said: string[] = [];
      const region = document.querySelector('[role="status"]');
      if (region)
        new MutationObserver(() => said.push(region.textContent ?? '')).observe(region, {
          childList: true,
          characterData: true,
          subtree: true,
        });
      return said;
    });
    const copy = page.getByRole('button', { name: 'Copy room id' }).first();
    for (const times of [1, 2]) {
      await copy.click();
      await page.waitForFunction(([said, n]) => said.length >= n, [texts, times] as const);
    }
    const said = await texts.jsonValue();
    assert.equal(new Set(said.map((text) => text.trim())).size, 1);
  });

  test('[DASH-64] a page whose file is gone offers to reload, and the next page works', async () => {
    const { context, open, assertClean } = await kit.visit({ as: project.owner });
    await context.route(/\/assets\/metrics-page-.*\.js/, (route) => route.fulfill({ status: 404 }));
    const page = await open(at('rooms'), 'Rooms');
    const pages = page.getByRole('navigation').first();
    await pages.getByRole('link', { name: 'Metrics' }).click();
    const notice = page.getByRole('alert').filter({ hasText: 'could not be shown' });
    await notice.getByRole('button', { name: 'Reload' }).waitFor();
    await pages.getByRole('link', { name: 'Rooms' }).click();
    await page.getByRole('heading', { name: 'Rooms', level: 1 }).waitFor();
    assert.equal(await notice.count(), 0);
    await pages.getByRole('link', { name: 'Metrics' }).click();
    await notice.waitFor();
    await context.unroute(/\/assets\/metrics-page-.*\.js/);
    await notice.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Metrics', level: 1 }).waitFor();
    assertClean({ expected: /Failed to load resource|dynamically imported/ });
  });

  test('[DASH-50] [DASH-102] no page of chat, and no answer it is made of, holds what somebody wrote', async () => {
    const canary = 'canary-7f3a91c2';
    const { api } = project;
    const { id } = await api.call('createConversation', { body: { name: 'secret', members: ['ada'] } });
    const { id: messageId } = await api.call('sendMessage', { room: id, body: { text: canary, senderId: 'ada' } });
    await api.call('editMessage', { messageId, body: { text: `${canary} again`, metadata: { note: canary } } });
    const poll = { question: canary, options: [`${canary} yes`, `${canary} no`] };
    await api.call('sendMessage', { room: id, body: { poll, senderId: 'ada' } });
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    await api.call('scheduleMessage', { room: id, body: { text: canary, senderId: 'ada', sendAt } });
    await api.call('pinMessage', { messageId, query: { userId: 'ada' } });
    const visit = await kit.visit({ as: project.owner });
    const { page } = visit;
    const answers: Promise<string>[] = [];
    page.on('response', (response) => {
      // The stream of changes has no end to wait for.
      if (/\/v1\/(?!.*\/changes)/.test(response.url())) answers.push(response.text().catch(() => ''));
    });
    await visit.open(`/p/${project.id}/chat?env=development`, 'Chat');
    await page.getByRole('link', { name: 'secret' }).click();
    await page.getByText('1 open, 0 closed, 0 voters').waitFor();
    for (const tab of ['Messages', 'Presence', 'Sanctions', 'Members']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
      assert.doesNotMatch(await page.content(), new RegExp(canary), tab);
    }
    await page.getByRole('tab', { name: 'Messages' }).click();
    await page.getByRole('cell', { name: messageId }).waitFor();
    const { token } = await api.call('mintChatToken', { body: { userId: 'ada' } });
    const report = { reason: 'spam', note: `he wrote ${canary}` } as const;
    await kit.service.as(token).call('reportMessage', { messageId, body: report });
    await page.getByRole('link', { name: 'Moderation' }).click();
    await page.getByRole('cell', { name: messageId }).waitFor();
    await page.getByRole('button', { name: 'Resolve the report of ada' }).click();
    await page.getByRole('dialog').getByText(messageId).waitFor();
    assert.doesNotMatch(await page.content(), new RegExp(canary), 'Moderation');
    await page.keyboard.press('Escape');
    const userId = 'eve@example.com/1';
    const record = { name: canary, avatarUrl: `https://example.com/${canary}`, metadata: { note: canary } };
    await api.call('putChatUser', { userId, body: { ...record, role: 'coach' } });
    await api.call('muteInChat', { userId });
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('link', { name: userId }).waitFor();
    assert.doesNotMatch(await page.content(), new RegExp(canary), 'Users');
    await page.getByLabel('User id').fill('nobody');
    await page.getByText('No user has this id').waitFor();
    // Who has neither a record nor a session is found by their id.
    await page.getByLabel('User id').fill('ada');
    await page.getByRole('link', { name: 'ada', exact: true }).click();
    await page.getByRole('link', { name: 'secret' }).waitFor();
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('link', { name: userId }).click();
    await page.getByText('coach').waitFor();
    await page.getByRole('tab', { name: 'Sanctions' }).click();
    await page.getByRole('button', { name: `Lift for ${userId}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
    await page.getByText('Nothing holds for the user in all chat').waitFor();
    assert.doesNotMatch(await page.content(), new RegExp(canary), 'a user');
    const bodies = await Promise.all(answers);
    assert.ok(
      bodies.some((body) => body.includes(messageId)),
      'the answers were not looked at',
    );
    for (const body of bodies) assert.ok(!body.includes(canary), body.slice(0, 200));
    visit.assertClean();
  });

  test('[DASH-40] [DASH-100] [DASH-101] the page of a conversation counts what is planned in it, and lifts a mute by keyboard', async () => {
    const { api } = project;
    const { id: room } = await api.call('createConversation', { body: { members: ['eve', 'bob'], name: 'slow' } });
    await api.call('updateConversation', { room, body: { slowModeSeconds: 90 } });
    await api.call('muteInConversation', { room, userId: 'eve', body: { reason: 'Too loud' } });
    const visit = await kit.visit({ as: project.owner });
    const page = await visit.open(`/p/${project.id}/chat/${room}?env=development`, 'slow');
    await page.getByText('One message per user every 1 min 30 s').waitFor();
    await page.getByText('0 of 50').waitFor();
    await page.getByRole('tab', { name: 'Members' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('cell', { name: 'Too loud' }).waitFor();
    await assertAccessible(page, 'the sanctions of a conversation');
    const lift = page.getByRole('button', { name: 'Lift for eve' });
    await lift.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Lift this mute?' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.ok(await lift.evaluate((button) => button === document.activeElement), 'the focus goes back');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Lift' }).press('Enter');
    await page.getByText('Nobody is banned, muted or in the shadow here').waitFor();
    assert.deepEqual(await api.call('listConversationMutes', { room }), []);
    visit.assertClean();
  });
});
