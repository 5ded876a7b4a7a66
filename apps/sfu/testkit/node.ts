import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../../server/testkit/kit/eventually.ts';
import { ownPort } from '../../server/testkit/kit/ports.ts';
import { type NodeConfig, readConfig } from '../src/config.ts';
import { systemClock } from '../src/media/clock.ts';
import { type MediaNode, startNode } from '../src/node.ts';
import { type ControlClient, type ControlClientOptions, connectControl } from './control-client.ts';

export const TEST_SECRET = 'a-secret-for-tests-of-at-least-32-bytes';

export interface TestNode {
  node: MediaNode;
  config: NodeConfig;
  problems: string[];
  connect(options?: Partial<ControlClientOptions>): Promise<ControlClient>;
  stop(): Promise<void>;
}

/** A whole node with its media process, without a fleet around it. */
export async function startTestNode(variables: Record<string, string> = {}, registers = false): Promise<TestNode> {
  const config = readConfig({
    SFU_NAME: 'test-node',
    SFU_REGISTRATION_SECRET: TEST_SECRET,
    SFU_INTERNAL_PORT: '0',
    SFU_UDP_PORT: String(await ownPort()),
    // Where a test makes the network fail, a relay would be a way around it.
    SFU_TURN_PORT: 'off',
    ...variables,
  });
  const problems: string[] = [];
  const log = (level: string, message: string) => {
    if (level !== 'info') problems.push(message);
  };
  const node = await startNode({ config, clock: systemClock, log, registers });
  return {
    node,
    config,
    problems,
    connect: (options) =>
      connectControl({ internalUrl: node.internalUrl, node: config.name, secret: TEST_SECRET, ...options }),
    stop: () => node.stop(),
  };
}

/** Waits until `check` holds, and says what it waited for when it never does. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  what: string,
  timeoutMs = patienceMs,
): Promise<NonNullable<T>> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const value = await check();
    if (value) return value as NonNullable<T>;
    if (Date.now() > until) throw new Error(`Waited ${timeoutMs} ms: ${what}`);
    await sleep(50);
  }
}
