import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { errors } from '@parley/contract';
import { createApi } from '@parley/server';
import type { ServerProcess } from '../apps/server/testkit/kit/process.ts';
import { sharedDevServer } from './playground-kit.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('..', import.meta.url));

interface Block {
  guide: string;
  /** `ts server`, `sh run`, `sh`, `json`, … */
  language: string;
  code: string;
  /** The file it is a copy of. */
  includes: string | null;
}

function blocksOf(path: string): Block[] {
  const text = readFileSync(join(repository, path), 'utf8');
  return [...text.matchAll(/(?:<!-- include (\S+) -->\n)?^```(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, includes = null, language = '', code = '']) => ({ guide: basename(path, '.md'), language, code, includes }),
  );
}

const guides = globSync('docs/guides/*.md', { cwd: repository });
const blocks = guides.flatMap(blocksOf);
const guidesWith = (language: string): Map<string, Block[]> =>
  Map.groupBy(
    blocks.filter((block) => block.language === language),
    ({ guide }) => guide,
  );

/** Commands that need what a test has not: a registry, a Docker daemon, a cluster, root, minutes; backups and packages have tests of their own. */
const notRun =
  /^((export BACKUP_PASSPHRASE=|(DATA_DIR=\S+ )?parley (backup|restore) )|(NODE_ENV=production PUBLIC_URL=\S+ )?npm (install|start)|npx @parley\/cli (dev$|doctor --from )|cd |cp |docker |helm |kubectl |sudo |npx parley (loadtest|doctor --from )|#|$)/;

/** As a newcomer makes it in the dashboard. */
async function newSigningKey(baseUrl: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { SVC_DEV_EMAIL: email = '', SVC_DEV_PASSWORD: password = '', SVC_PROJECT_ID: projectId = '' } = env;
  const { accessToken } = await createApi({ baseUrl }).call('login', { body: { email, password } });
  const body = { name: 'guides', environment: 'DEVELOPMENT', algorithm: 'HS256' } as const;
  return (
    (await createApi({ baseUrl, credential: accessToken }).call('createSigningKey', { projectId, body })).key ?? ''
  );
}

const border = '--- the next guide ---\n';

/** In one process: one of their own each would load the SDKs again, for most of what it costs. */
const importEach = `
  for (const guide of process.argv.slice(1)) {
    process.stdout.write(${JSON.stringify(border)});
    await import(guide);
  }`;

describe('[DOCS-10] every snippet of the guides', { timeout: 240_000 }, () => {
  let server: ServerProcess;
  let place: string;
  let snippets: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    server = await sharedDevServer();
    // Where a newcomer would be: a folder with .parley in it, and parley on the path.
    place = await mkdtemp(join(tmpdir(), 'parley-guides-'));
    await mkdir(join(place, '.parley'));
    await cp(join(server.dataDir, 'dev.env'), join(place, '.parley', 'dev.env'));
    await mkdir(join(place, 'bin'));
    await writeFile(
      join(place, 'bin', 'npx'),
      `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(repository, 'packages/cli/src/main.ts')}" "$@"\n`,
      { mode: 0o755 },
    );
    const devEnv = await server.devEnv();
    snippets = await mkdtemp(join(repository, 'examples', 'snippets-'));
    env = {
      ...process.env,
      ...devEnv,
      SVC_SIGNING_KEY: await newSigningKey(server.url, devEnv),
      // The printed address is localhost; a doctor here looks at a service that is not running in its folder.
      SVC_URL: server.url,
      PATH: `${join(place, 'bin')}:${process.env['PATH']}`,
    };
  });
  after(async () => {
    for (const folder of [place, snippets]) await rm(folder, { recursive: true, force: true });
  });

  test('is one that is run, or is known not to be', () => {
    assert.ok(guides.length >= 12 && blocks.length >= 25, `${guides.length} guides, ${blocks.length} snippets`);
    for (const { guide, language, code, includes } of blocks) {
      if (['ts', 'tsx', 'css', 'python', 'nginx'].includes(language))
        assert.equal(code, readFileSync(join(repository, includes ?? '-'), 'utf8'), guide);
      else if (language === 'sh')
        for (const line of code.split('\n')) assert.match(line.trim(), notRun, `${guide}: run it, or say why not`);
      else assert.ok(['ts server', 'sh run', 'json'].includes(language), `${guide}: ${language}`);
    }
  });

  test('of a backend compiles and runs, one guide after the other', async () => {
    const found = guidesWith('ts server');
    assert.ok(found.size >= 5);
    for (const [guide, parts] of found) {
      const code = parts.map(({ code: text }) => text).join('\n');
      await writeFile(join(snippets, `${guide}.ts`), `${code}\nexport {};\n`);
    }
    // Not that of `npm run check`: each would throw away what the other knows of the packages.
    const compilerOptions = { tsBuildInfoFile: '../../node_modules/.cache/guides.tsbuildinfo' };
    const config = { extends: '../../tsconfig.json', compilerOptions, include: ['.'], exclude: [] };
    await writeFile(join(snippets, 'tsconfig.json'), JSON.stringify(config));
    await run(join(repository, 'node_modules/.bin/tsc'), ['-p', snippets]).catch(({ stdout }) => assert.fail(stdout));
    const files = [...found.keys()].map((guide) => pathToFileURL(join(snippets, `${guide}.ts`)).href);
    const { stdout: all } = await run(process.execPath, ['--input-type=module', '-e', importEach, ...files], {
      env,
    }).catch((error) => assert.fail(`${error.stdout}${error.stderr}`));
    const printed = all.split(border).slice(1);
    assert.equal(printed.length, found.size);
    for (const [index, guide] of [...found.keys()].entries()) {
      const stdout = printed[index] ?? '';
      assert.ok(stdout.length > 0, `${guide} prints what it found`);
      assert.ok(!/\bfalse\b/.test(stdout) || guide === 'rooms' || guide === 'live-streams', `${guide}: ${stdout}`);
    }
  });

  test('of a shell runs', async () => {
    const found = guidesWith('sh run');
    assert.ok(found.size >= 4);
    await symlink(join(repository, 'node_modules'), join(place, 'node_modules'));
    for (const [guide, parts] of found) {
      for (const { code } of parts) {
        const shell = { cwd: place, env: { ...env, PORT: String(server.port), DATA_DIR: join(place, '.parley') } };
        const script = code.replaceAll('$SVC_URL', server.url);
        await run('bash', ['-euo', 'pipefail', '-c', script], shell).catch((error) =>
          assert.fail(`${guide}: ${error.stdout}${error.stderr}`),
        );
      }
    }
  });

  test('and its page is served, as is llms.txt', async () => {
    for (const path of ['quick-start', 'deploy', 'protocol-chat', 'errors/SVC_ROOM_NOT_FOUND'])
      assert.equal((await fetch(`${server.url}/docs/guides/${path}`)).status, 200, path);
    assert.match(await (await fetch(`${server.url}/llms.txt`)).text(), /^# Parley\n/);
  });

  test('and every link between the guides leads somewhere; every error has its page', () => {
    for (const path of guides) {
      const text = readFileSync(join(repository, path), 'utf8');
      for (const [, target = ''] of text.matchAll(/\]\(((?!https?:|\/|#)[^)#]+)/g)) {
        const file = join(repository, 'docs/guides', target);
        assert.ok(globSync(file).length > 0, `${path} → ${target}`);
      }
    }
    for (const code of Object.keys(errors))
      assert.match(readFileSync(join(repository, `docs/guides/errors/${code}.md`), 'utf8'), /## What to do\n\n\S/);
  });
});
