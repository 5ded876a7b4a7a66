import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';
import { bareEnv } from '../apps/server/testkit/kit/process.ts';

/** A real media node: its own process, so that it can be killed. */
export interface NodeProcess {
  readonly name: string;
  /** Everything it printed so far. */
  output(): string;
  /** Ends it; resolves when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** The same node again, on its old ports. */
  start(): void;
}

/** Settings of a server that runs its media node beside it, on ports of its own that stay over restarts. */
export const embeddedNode = async (): Promise<Record<string, string>> => ({
  SFU_EMBEDDED: 'true',
  SFU_UDP_PORT: String(await ownPort()),
  SFU_INTERNAL_PORT: String(await ownPort()),
  SFU_TURN_PORT: String(await ownPort()),
});

const nodeFile = fileURLToPath(new URL('../apps/sfu/src/main.ts', import.meta.url));

/** Starts a node that registers by itself, and waits for nothing. */
export async function startNodeProcess({
  name,
  secret,
  controlUrl,
}: {
  name: string;
  secret: string;
  controlUrl: string;
}): Promise<NodeProcess> {
  const env = {
    ...bareEnv(),
    SFU_NAME: name,
    SFU_REGISTRATION_SECRET: secret,
    CONTROL_URL: controlUrl,
    SFU_INTERNAL_PORT: String(await ownPort()),
    SFU_UDP_PORT: String(await ownPort()),
    SFU_TURN_PORT: String(await ownPort()),
    SFU_ANNOUNCED_HOST: '127.0.0.1',
  };
  let text = '';
  const spawned = (): ChildProcess => {
    const started = spawn(process.execPath, [nodeFile], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (chunk) => {
        text += chunk;
      });
    return started;
  };
  let child = spawned();
  return {
    name,
    output: () => text,
    async kill(signal = 'SIGKILL') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
    start() {
      child = spawned();
    },
  };
}
