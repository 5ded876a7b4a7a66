/**
 * Pictures of every page: `node e2e/dashboard-screenshots.ts [folder] [page…]`. Without a folder it renews the small set
 * that the README shows.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startDashboard, type VisitOptions } from './dashboard-kit.ts';
import { fillProject } from './dashboard-seed.ts';

const [folder = 'docs/screenshots', ...wanted] = process.argv.slice(2);
const isReadme = folder === 'docs/screenshots';
mkdirSync(folder, { recursive: true });

const kit = await startDashboard();
const project = await kit.service.newProject();
const { id } = project;
await project.owner.api.call('updateProject', { projectId: id, body: { name: 'Acme meetings' } });
await project.owner.api.call('addProjectMember', {
  projectId: id,
  body: { email: 'grace@example.com', role: 'DEVELOPER' },
});
const lively = await fillProject(kit.service, project);

const pages: Readonly<Record<string, string>> = {
  projects: '/projects',
  account: '/account',
  overview: `/p/${id}/overview`,
  rooms: `/p/${id}/rooms`,
  room: `/p/${id}/rooms/${lively.room.id}`,
  'room-timeline': `/p/${id}/rooms/${lively.room.id}?tab=timeline`,
  'room-conversation': `/p/${id}/rooms/${lively.room.id}?tab=conversation`,
  chat: `/p/${id}/chat`,
  'chat-sessions': `/p/${id}/chat?tab=sessions`,
  conversation: `/p/${id}/chat/${lively.conversation.id}`,
  'conversation-messages': `/p/${id}/chat/${lively.conversation.id}?tab=messages`,
  'conversation-presence': `/p/${id}/chat/${lively.conversation.id}?tab=presence`,
  streams: `/p/${id}/live-streams`,
  stream: `/p/${id}/live-streams/${lively.stream.id}`,
  'stream-hosts': `/p/${id}/live-streams/${lively.stream.id}?tab=hosts`,
  connections: `/p/${id}/connections`,
  connection: `/p/${id}/connections/${lively.connectionId}`,
  errors: `/p/${id}/errors`,
  error: `/p/${id}/errors/${lively.errorId}`,
  metrics: `/p/${id}/metrics`,
  usage: `/p/${id}/usage`,
  'api-keys': `/p/${id}/api-keys`,
  'api-keys-production': `/p/${id}/api-keys?env=production`,
  webhooks: `/p/${id}/webhooks`,
  webhook: `/p/${id}/webhooks/${lively.webhook.id}`,
  'webhook-settings': `/p/${id}/webhooks/${lively.webhook.id}?tab=settings`,
  members: `/p/${id}/members`,
  'audit-log': `/p/${id}/audit-log`,
  fleet: `/p/${id}/fleet`,
  server: `/p/${id}/fleet/node-1`,
  settings: `/p/${id}/settings`,
  docs: '/docs',
  'docs-reference': '/docs/reference',
  'docs-rooms': '/docs/reference/rooms',
  mail: '/dev/mail',
};
/** What is opened on a page before it is taken. */
const opened: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  palette: (page) => page.keyboard.press('Control+k'),
  shortcuts: (page) => page.keyboard.press('?'),
  'new-stream': (page) => page.getByRole('button', { name: 'New stream' }).click(),
  recover: (page) => page.getByRole('button', { name: 'Recover' }).click(),
};
const openedOn: Readonly<Record<string, string>> = {
  palette: pages['overview'] ?? '',
  shortcuts: pages['rooms'] ?? '',
  'new-stream': pages['streams'] ?? '',
  recover: pages['webhook'] ?? '',
};
const readmeSet = ['overview', 'room', 'metrics', 'webhook'];
const looks: Readonly<Record<string, VisitOptions>> = isReadme
  ? { light: {}, dark: { theme: 'dark' } }
  : { light: {}, dark: { theme: 'dark' }, '320': { width: 320 } };

for (const [look, options] of Object.entries(looks)) {
  const visit = await kit.visit({ as: project.owner, ...options });
  for (const [name, path] of Object.entries({ ...pages, ...openedOn })) {
    if (wanted.length > 0 ? !wanted.includes(name) : isReadme && !readmeSet.includes(name)) continue;
    const page = await visit.open(path);
    await page.waitForLoadState('networkidle');
    await opened[name]?.(page);
    await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: !isReadme });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (over > 0) console.log(`${name} ${look}: wider than the window by ${over}`);
  }
  visit.assertClean();
  await visit.context.close();
}
await lively.close();
await kit.close();
