/**
 * Pictures of every page: `node e2e/dashboard-screenshots.ts [folder] [page…]`. Without a folder it renews the small set
 * that the README shows.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createSettableClock } from '../apps/server/src/core/clock.ts';
import { stopShared } from '../apps/server/testkit/kit/worker-life.ts';
import type { ProtocolNode } from '../apps/server/testkit/peers/protocol-node.ts';
import { makeHistory } from './dashboard-history.ts';
import { startCallingDashboard, startDashboard, type VisitOptions } from './dashboard-kit.ts';
import { fillProject } from './dashboard-seed.ts';

const [folder = 'docs/screenshots', ...named] = process.argv.slice(2);
const isReadme = folder === 'docs/screenshots';
const readmeSet = [
  'overview',
  'test-call',
  'call',
  'chat-explorer',
  'webhook',
  'requests',
  'request',
  'fleet',
  'server',
  'alerts',
  'usage',
];
const wanted = named.length > 0 ? named : isReadme ? readmeSet : null;
const isWanted = (name: string): boolean => wanted === null || wanted.includes(name);
const looks: Readonly<Record<string, VisitOptions>> = {
  light: { width: 1440 },
  dark: { theme: 'dark', width: 1440 },
  narrow: { width: 320 },
  'narrow-dark': { theme: 'dark', width: 320 },
};
mkdirSync(folder, { recursive: true });

async function take(page: Page, name: string, look: string): Promise<void> {
  await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: !isReadme });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) console.log(`${name} ${look}: wider than the window by ${over}`);
}

/** Dialogs with what they say about a mistake. */
async function wrongCode(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
  await page.getByLabel('Code').fill('12');
  await page.getByRole('button', { name: 'Turn on' }).click();
}
async function namelessKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New key', exact: true }).click();
  await page.getByRole('dialog').getByText('Bounds', { exact: true }).click();
  await page.getByLabel('Allowed networks').fill('office');
  await page.getByLabel('Expires').fill('2020-01-01T00:00');
  await page.getByRole('button', { name: 'Create key' }).click();
}

/** With all that a ban asks for. */
async function resolving(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Resolve the report/ }).click();
  await page.getByLabel('Action').selectOption('ban');
}

/** Counts are stored every few seconds. */
async function counted(page: Page): Promise<void> {
  await page.locator('.figure .no-data').first().waitFor({ state: 'detached' });
  await page.getByText('0 attempts failed', { exact: true }).waitFor({ state: 'detached' });
}

/** A node that is busy enough to be looked at: of each core, of packets and of loss. */
const busyNode = (node: ProtocolNode) => async (page: Page) => {
  const cores = { cpuPercent: 47.5, coreCpuPercents: [72, 31, 64, 23], memoryPercent: 38 };
  const packets = { packetsInPerSecond: 8_400, packetsOutPerSecond: 61_000, lossInPercent: 1.5, lossOutPercent: 0.3 };
  const traffic = { networkInBps: 38e6, networkOutBps: 310e6, activeRooms: 12, activeParticipants: 97 };
  node.reports = { ...cores, ...packets, ...traffic };
  await node.heartbeat();
  await page.getByText('8,400/s').first().waitFor();
};

/** Addresses of a project in which something happens, and what is opened there first. */
function pagesOf(id: string, lively: Awaited<ReturnType<typeof fillProject>>, busy: (page: Page) => Promise<void>) {
  const { room, conversation, stream, webhook, connectionId, errorId, callId, requestId, alert } = lively;
  const press = (key: string) => (page: Page) => page.keyboard.press(key);
  const click = (name: string) => (page: Page) => page.getByRole('button', { name }).click();
  const at = (path: string): string => `/p/${id}/${path}`;
  const rows: readonly (readonly [name: string, path: string, open?: (page: Page) => Promise<void>])[] = [
    ['projects', '/projects'],
    ['account', '/account'],
    ['authenticator', '/account', wrongCode],
    ['overview', at('overview'), counted],
    ['palette', at('overview'), press('Control+k')],
    ['rooms', at('rooms')],
    ['shortcuts', at('rooms'), press('?')],
    ['room', at(`rooms/${room.id}`)],
    ['room-timeline', at(`rooms/${room.id}?tab=timeline`)],
    ['room-conversation', at(`rooms/${room.id}?tab=conversation`)],
    ['chat-explorer', at('chat')],
    ['chat-sessions', at('chat?tab=sessions')],
    ['conversation', at(`chat/${conversation.id}`)],
    ['conversation-messages', at(`chat/${conversation.id}?tab=messages`)],
    ['conversation-presence', at(`chat/${conversation.id}?tab=presence`)],
    ['conversation-sanctions', at(`chat/${conversation.id}?tab=sanctions`)],
    ['users', at('users')],
    ['user', at('users/ada')],
    ['user-sanctions', at('users/mallory?tab=sanctions')],
    ['moderation', at('moderation')],
    ['moderation-resolved', at('moderation?status=resolved')],
    ['resolve', at('moderation'), resolving],
    ['bans', at('moderation?tab=bans')],
    ['mutes', at('moderation?tab=mutes')],
    ['new-ban', at('moderation?tab=bans'), click('Ban a user')],
    ['deletions', at('moderation?tab=deletions')],
    ['delete-messages', at('users/mallory'), click('Delete all messages')],
    ['scan-hook', at('moderation?tab=rules'), click('Change scan hook')],
    ['moderation-rules', at('moderation?tab=rules')],
    ['word-list', at('moderation?tab=rules'), click('Change insults')],
    ['hook', at('moderation?tab=rules'), (page) => page.getByRole('button', { name: 'Change', exact: true }).click()],
    ['push', at('push')],
    ['fcm', at('push'), click('Set up Firebase (FCM)')],
    ['data-jobs', at('data-jobs')],
    ['streams', at('live-streams')],
    ['new-stream', at('live-streams'), click('New stream')],
    ['stream', at(`live-streams/${stream.id}`)],
    ['stream-hosts', at(`live-streams/${stream.id}?tab=hosts`)],
    ['calls', at('calls')],
    ['call', at(`calls/${callId}`)],
    ['connections', at('connections')],
    ['connection', at(`connections/${connectionId}`)],
    ['requests', at('requests')],
    ['request', at(`requests/${requestId}`)],
    ['errors', at('errors')],
    ['error', at(`errors/${errorId}`)],
    ['metrics', at('metrics')],
    ['alerts', at('alerts')],
    ['new-alert', at('alerts'), click('New alert')],
    ['alert', at(`alerts/${alert.id}`)],
    ['silence', at(`alerts/${alert.id}`), click('Silence')],
    ['usage', at('usage')],
    ['usage-by-key', at('usage?by=key')],
    ['prices', at('usage'), click('Prices')],
    ['api-keys', at('api-keys')],
    ['new-key', at('api-keys?env=development'), namelessKey],
    ['webhooks', at('webhooks')],
    ['webhook', at(`webhooks/${webhook.id}`)],
    ['delivery', at(`webhooks/${webhook.id}`), (page) => page.locator('tbody .row-link').first().click()],
    ['webhook-settings', at(`webhooks/${webhook.id}?tab=settings`)],
    ['recover', at(`webhooks/${webhook.id}`), click('Recover')],
    ['members', at('members')],
    ['audit-log', at('audit-log')],
    ['fleet', at('fleet'), busy],
    ['server', at('fleet/node-1'), busy],
    ['settings', at('settings')],
    // The last of a project: what names no environment is of the one last looked at.
    ['api-keys-production', at('api-keys?env=production')],
    ['docs', '/docs'],
    ['docs-reference', '/docs/reference'],
    ['docs-rooms', '/docs/reference/rooms'],
    ['mail', '/dev/mail'],
  ];
  return rows.filter(([name]) => isWanted(name));
}

async function everyPage(): Promise<void> {
  const clock = createSettableClock();
  const kit = await startDashboard({ clock });
  const project = await kit.service.newProject();
  const { id, owner } = project;
  await owner.api.call('updateProject', { projectId: id, body: { name: 'Acme meetings' } });
  await owner.api.call('addProjectMember', {
    projectId: id,
    body: { email: 'grace@example.com', role: 'DEVELOPER' },
  });
  const callId = await makeHistory(kit.service, project, clock);
  const lively = { ...(await fillProject(kit.service, project)), callId };
  for (const [look, options] of Object.entries(looks)) {
    const visit = await kit.visit({ as: owner, ...options });
    for (const [name, path, open] of pagesOf(id, lively, busyNode(kit.service.node))) {
      const page = await visit.open(path);
      // The stream of changes stays open, so the network is never idle.
      await page.waitForLoadState('load');
      await page.locator('[aria-busy="true"], [data-busy="true"]').first().waitFor({ state: 'detached' });
      await open?.(page);
      await take(page, name, look);
    }
    visit.assertClean();
    await visit.context.close();
    const stranger = await kit.visit(options);
    for (const name of ['login', 'register', 'forgot-password'].filter(isWanted)) {
      await take(await stranger.open(`/${name}`), name, look);
    }
    await stranger.context.close();
  }
  await lively.close();
  await kit.close();
}

/** Needs a media node that carries media. */
async function testCall(): Promise<void> {
  const kit = await startCallingDashboard();
  const project = await kit.service.newProject();
  await project.owner.api.call('updateProject', { projectId: project.id, body: { name: 'Acme meetings' } });
  for (const [look, options] of Object.entries(looks)) {
    // A room of its own: who was in the last one is missed there for a while.
    const room = await project.api.call('createRoom', { body: { name: 'standup' } });
    const visit = await kit.visit({ as: project.owner, ...options });
    const page = await visit.open(`/p/${project.id}/rooms/${room.id}?env=development&tab=test-call`, room.name);
    await page.getByRole('button', { name: 'Join the call' }).waitFor();
    if (!isReadme) await take(page, 'before-call', look);
    await page.getByRole('button', { name: 'Join the call' }).click();
    await page.getByRole('button', { name: 'Add a test participant' }).click();
    const picture = page.getByLabel(/^Picture of test-/);
    await picture.waitFor();
    // What is out of sight gets no picture.
    await page.getByRole('button', { name: 'Leave call' }).scrollIntoViewIfNeeded();
    await picture.evaluate(
      (video: HTMLVideoElement) => new Promise((resolve) => video.requestVideoFrameCallback(resolve)),
    );
    await take(page, 'test-call', look);
    await visit.context.close();
    await project.api.call('closeRoom', { id: room.id });
  }
  await kit.close();
}

await everyPage();
if (isWanted('test-call')) await testCall();
await stopShared();
