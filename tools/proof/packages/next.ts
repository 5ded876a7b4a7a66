import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { install, type Prepared, sdkTarballs } from './prepared.ts';

const files = {
  'layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;',
  // A server component that imports both SDKs, rendered when it is built: there is no window.
  'page.js': `
    import { ParleyError } from '@parley/client';
    import { Chat } from '@parley/client/chat';
    import { Parley } from '@parley/server';
    import { Call } from './call.js';
    export default () => {
      const parley = new Parley({ apiKey: 'svk_dev_a.b' });
      return <main>{parley.environment} {typeof Chat} {typeof ParleyError}<Call /></main>;
    };`,
  'call.js': `
    'use client';
    import { Room } from '@parley/client';
    import { useStore } from '@parley/client/react';
    import { useState } from 'react';
    export function Call() {
      const [room] = useState(() => new Room({ url: 'http://localhost', token: 'x' }));
      return <p>{useStore(room.state).connection}</p>;
    }`,
};

/** Next.js builds a page with a server component and a client component of the SDKs, and renders it. */
export async function proveNext(prepared: Prepared): Promise<void> {
  const next = ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'];
  const folder = install(join(prepared.work, 'next'), [...sdkTarballs(prepared), ...next]);
  mkdirSync(join(folder, 'app'));
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, 'app', name), code.replace(/^\s+/, ''));
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' };
  execFileSync(join(folder, 'node_modules', '.bin', 'next'), ['build'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const html = readFileSync(join(folder, '.next', 'server', 'app', 'index.html'), 'utf8').replaceAll('<!-- -->', '');
  assert.match(html, /development function function<p>idle/);
  console.log('  Next.js: a server component and a client component, rendered without a window');
}
