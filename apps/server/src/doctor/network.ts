import { createServer } from 'node:net';
import type { Config } from '../config.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Whether a Parley process answers on this machine's port. */
export async function isOurs(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2_000) });
    return answer.headers.has('x-request-id') && ((await answer.json()) as { status?: string }).status === 'OK';
  } catch {
    return false;
  }
}

/** Why a server could not listen there; null when it could. */
export const listenProblem = (host: string | undefined, port: number): Promise<NodeJS.ErrnoException | null> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });

export async function checkPort({ host, port }: Config, isRunning: boolean): Promise<Finding> {
  const problem = await listenProblem(host, port);
  if (problem === null) return ok('port', `Port ${port} is free.`);
  if (isRunning) return ok('port', `A Parley process listens on port ${port}.`);
  if (problem.code === 'EADDRINUSE')
    return fail('port', `Port ${port} is in use by another process.`, `Use PORT=${port + 1}, or stop that process.`);
  const fix =
    problem.code === 'EACCES'
      ? `Give the process CAP_NET_BIND_SERVICE, or set TLS and map ${port} to another PORT.`
      : 'Set PORT and HOST to what is free.';
  return fail('port', `Port ${port} of ${host} cannot be used (${problem.code}).`, fix);
}

/** Plain http beside TLS; null where nothing is to be said. */
export async function checkPlainPort({ host, plainPort, tls }: Config, isRunning: boolean): Promise<Finding | null> {
  if (plainPort === null || tls.kind === 'off' || isRunning) return null;
  const problem = await listenProblem(host, plainPort);
  if (problem === null) return ok('port', `Port ${plainPort} is free, for plain http.`);
  return warn(
    'port',
    `Port ${plainPort} cannot be used (${problem.code}): who types http:// finds nobody, and names are proven on the TLS port alone.`,
    'Stop what has it, give the process the right to it, or set HTTP_PORT=0.',
  );
}
