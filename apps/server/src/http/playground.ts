import { createBackend } from '@parley/playground/backend';
import { builtPlayground } from '@parley/playground/files';
import { Svc } from '@parley/server';
import type { FastifyInstance } from 'fastify';
import type { IsOwnHost } from '../core/hosts.ts';
import { lazy } from '../core/lazy.ts';
import { mountPlaygroundApi } from './playground-api.ts';
import { mountPages } from './static.ts';

interface PlaygroundDeps {
  /** Runs the playground with this key, in production too. */
  playgroundApiKey: string | null;
  /** The demo project's client in development mode, once the first run is through; null outside it. */
  demo: (() => Svc | null) | null;
  isProduction: boolean;
  publicUrl: string;
  isOwnHost: IsOwnHost;
  /** Where this process listens. */
  ownUrl: () => string;
}

/** The playground's pages and their backend: in development mode, and wherever an operator gave it a key. */
export function mountPlayground(app: FastifyInstance, deps: PlaygroundDeps): void {
  const { playgroundApiKey, demo, isProduction, publicUrl, isOwnHost, ownUrl } = deps;
  if (demo === null && playgroundApiKey === null) return;
  const keyed = lazy(() =>
    playgroundApiKey === null ? null : new Svc({ apiKey: playgroundApiKey, baseUrl: ownUrl() }),
  );
  const backend = createBackend({ svc: () => keyed() ?? demo?.() ?? null });
  mountPlaygroundApi(app, { backend, publicUrl, isOwnHost });
  mountPages(app, { prefix: '/playground', folder: builtPlayground, isProduction, publicUrl });
}
