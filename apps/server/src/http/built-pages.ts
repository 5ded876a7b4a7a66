import type { FastifyReply } from 'fastify';

/** What `read` makes of the folder of a build, once; null while there is no build. */
export function onceBuilt<T>(folder: () => string | null, read: (folder: string) => T): () => T | null {
  let loaded: { value: T } | null = null;
  return () => {
    const path = loaded === null ? folder() : null;
    if (path !== null) loaded = { value: read(path) };
    return loaded?.value ?? null;
  };
}

/** The page loads itself again until there is a build. */
export const asUnavailablePage = (reply: FastifyReply): FastifyReply =>
  reply.code(503).headers({ 'retry-after': '2', refresh: '2' });

export const beingBuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title><link rel="stylesheet" href="/docs/reference.css"></head>
<body><main><h1>This page is being built</h1><p>This happens once and takes a few seconds. The page loads by itself when it is ready; the API works already. If it stays like this, the terminal says why.</p></main></body></html>`;
