/** Pictures of every page of the playground, light and dark: `node e2e/playground-screenshots.ts FOLDER`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stopShared } from '../apps/server/testkit/kit/worker-life.ts';
import { openPlayground, type Playground, printedLink } from './playground-kit.ts';

const folder = process.argv[2] ?? 'playground-screenshots';
mkdirSync(folder, { recursive: true });

async function visit(playground: Playground, isDark: boolean): Promise<void> {
  const theme = isDark ? 'dark' : 'light';
  const context = await playground.newContext({ isDark });
  const page = await playground.newPage(context);
  const shoot = (name: string, other = page): Promise<unknown> =>
    other.screenshot({ path: join(folder, `${name}-${theme}.png`) });
  if (!isDark) await page.goto(printedLink(playground));

  await page.goto(`${playground.url}/playground`);
  await page.getByText('demo', { exact: true }).waitFor();
  await shoot('start');

  await page.goto(`${playground.url}/playground/room/demo`);
  await page.getByLabel('Test card and tone').check();
  await shoot('lobby');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('button', { name: 'Add a test participant' }).click();
  await page.locator('.parley-tile[data-identity^="test-"] video').waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('hello');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(2_500);
  await shoot('room');
  await page.getByRole('button', { name: 'Inspector' }).click();
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, `inspector-${theme}.png`), fullPage: true });
  await page.setViewportSize({ width: 320, height: 720 });
  await page.screenshot({ path: join(folder, `narrow-${theme}.png`), fullPage: true });
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.goto(`${playground.url}/playground/chat`);
  await page.getByRole('button', { name: /^Lounge/ }).click();
  await page.getByRole('textbox', { name: 'Message' }).fill('The lighthouse is lit, @');
  await page.waitForTimeout(1_000);
  await shoot('chat');
  await page.setViewportSize({ width: 390, height: 760 });
  await shoot('chat-narrow');
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.goto(`${playground.url}/playground/host`);
  await page.getByLabel('Test card and tone').check();
  await page.getByRole('button', { name: 'Open the studio' }).click();
  await page.getByRole('button', { name: 'Go live' }).click();
  await page.locator('.on-air', { hasText: 'Live' }).waitFor();
  const watch = await page.getByRole('link', { name: /playground\/watch/ }).getAttribute('href');
  const viewer = await playground.newPage(context);
  await viewer.goto(`${playground.url}${watch}`);
  await viewer.locator('.parley-stream video').waitFor();
  await viewer.waitForTimeout(2_000);
  await shoot('viewer', viewer);
  await shoot('host');
  await viewer.close();

  await page.goto(`${playground.url}/playground/check`);
  await page.getByRole('button', { name: 'Start the check' }).click();
  await page.getByText(/Everything a call needs|See what failed/).waitFor();
  await shoot('check');

  const { SVC_PROJECT_ID: projectId } = await playground.server.devEnv();
  await page.goto(`${playground.url}/p/${projectId}/rooms?env=development`);
  await page.waitForTimeout(2_000);
  await shoot('dashboard');
  await context.close();
}

const playground = await openPlayground();
try {
  await visit(playground, false);
  await visit(playground, true);
} finally {
  console.log(playground.problems);
  await stopShared();
}
