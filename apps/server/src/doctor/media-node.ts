import { accessSync, constants } from 'node:fs';
import { isPublic } from '@parley/sfu/addresses';
import { findAddresses, machine } from '@parley/sfu/announce';
import { ConfigError, type NodeConfig, readConfig } from '@parley/sfu/config';
import { mediaPortsOf } from '@parley/sfu/ports';
import type { Config, Variables } from '../config.ts';
import { nodeVariables } from '../media-node.ts';
import { checkAnnouncedHost } from './announced-host.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { listenProblem } from './network.ts';
import { bindProblem } from './udp.ts';

/** The media node beside the server: its own settings, its ports, and what it would tell clients. */
export async function* checkNode(config: Config, variables: Variables, isRunning: boolean): AsyncGenerator<Finding> {
  let node: NodeConfig;
  try {
    node = readConfig({ ...nodeVariables({ config, variables }), CONTROL_URL: `http://127.0.0.1:${config.port}` });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    yield fail('settings', `The media node refuses its settings: ${error.message}`, 'See docs/reference/settings.md.');
    return;
  }
  for (const port of portsOf(node)) yield await checkNodePort(port, isRunning);
  if (node.turnPort === null)
    yield warn('relay', 'The relay is off: who is in a network without UDP has no media.', 'Unset SFU_TURN_PORT.');
  if (node.turnTls !== null) yield checkTurnFiles(node.turnTls);
  yield await checkAddresses(node, isRunning);
}

interface NodePort {
  check: 'udp' | 'relay' | 'control';
  what: string;
  setting: string;
  port: number;
  host: string | null;
  protocols: readonly ('UDP' | 'TCP')[];
  /** Whether another one is taken by itself. */
  mayMove: boolean;
}

function portsOf(node: NodeConfig): NodePort[] {
  const { bindAddress: host, turnPort, turnTls, internalPort, internalHost } = node;
  const media = { check: 'udp', what: 'Media', setting: 'SFU_UDP_PORT', host, protocols: ['UDP'] } as const;
  const relay = { check: 'relay', what: 'The relay', host } as const;
  const relayPort = { ...relay, setting: 'SFU_TURN_PORT', protocols: ['UDP', 'TCP'] } as const;
  const relayTls = { ...relay, setting: 'SFU_TURN_TLS_PORT', protocols: ['TCP'], mayMove: false } as const;
  const control = { check: 'control', what: 'The control port', setting: 'SFU_INTERNAL_PORT' } as const;
  return [
    ...mediaPortsOf(node).map((port) => ({ ...media, port, mayMove: node.mayMoveUdpPort })),
    ...(turnPort === null ? [] : [{ ...relayPort, port: turnPort, mayMove: node.mayMoveTurnPort }]),
    ...(turnTls === null ? [] : [{ ...relayTls, port: turnTls.port }]),
    { ...control, port: internalPort, host: internalHost, protocols: ['TCP'], mayMove: node.mayMoveInternalPort },
  ];
}

async function checkNodePort(wanted: NodePort, isRunning: boolean): Promise<Finding> {
  const { check, what, setting, port, host, protocols, mayMove } = wanted;
  const named = `${protocols.join(' and ')} port ${port}`;
  const problems = await Promise.all(
    protocols.map((protocol) =>
      protocol === 'UDP' ? bindProblem(host, port) : listenProblem(host ?? undefined, port),
    ),
  );
  const problem = problems.find((one) => one !== null);
  if (!problem) return ok(check, `${what}: ${named} is free.`);
  if (problem.code !== 'EADDRINUSE')
    return fail(check, `${what}: ${named} cannot be used (${problem.code}).`, `Set ${setting} to one that can.`);
  if (isRunning) return ok(check, `${what}: ${named} is in use, as it should be while the service runs.`);
  if (mayMove) return ok(check, `${what}: ${named} is in use; in development the next free one is taken.`);
  return fail(check, `${what}: ${named} is in use by another process.`, `Set ${setting} to a free one.`);
}

function checkTurnFiles({ certFile, keyFile }: NonNullable<NodeConfig['turnTls']>): Finding {
  try {
    for (const file of [certFile, keyFile]) accessSync(file, constants.R_OK);
    return ok('relay', `The relay takes TLS with ${certFile}.`);
  } catch (error) {
    const { path = certFile } = error as NodeJS.ErrnoException;
    return fail('relay', `${path} cannot be read.`, 'Set SFU_TURN_TLS_CERT and SFU_TURN_TLS_KEY to files that can.');
  }
}

/** As the node finds them; what the control plane sees of it is known only when it runs. */
async function checkAddresses(node: NodeConfig, isRunning: boolean): Promise<Finding> {
  if (node.announcedHost !== null) return checkAnnouncedHost(node.announcedHost, isRunning ? null : node.udpPort);
  const addresses = await findAddresses(node, machine, null).catch((error: Error) => error);
  if (addresses instanceof Error) return fail('address', addresses.message, 'Set SFU_ANNOUNCED_HOST or SFU_PUBLIC_IP.');
  const told = `Clients are told ${addresses.join(', ')}`;
  if (node.publicAddresses !== 'auto' || addresses.some(isPublic)) return ok('address', `${told}.`);
  return warn(
    'address',
    `${told}, which only this network reaches.`,
    'Set SFU_PUBLIC_IP to the public address, or SFU_STUN_SERVER to a server that sees it.',
  );
}

/** What the running service says of its media: a call without it would only be silent. */
export async function checkRunningMedia({ port }: Config): Promise<Finding> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) })
    .then((response) => response.json() as Promise<{ media?: { status: string; message?: string } }>)
    .catch(() => null);
  switch (answer?.media?.status) {
    case 'OK':
      return ok('media', 'A media node takes rooms.');
    case 'STARTING':
      return warn('media', 'The media node is still starting.', 'Look again in a few seconds.');
    default:
      return fail(
        'media',
        answer?.media?.message ?? 'The running service does not say how its media is.',
        'Calls would have no sound and no picture. See the log of the media node, and its SFU_ settings.',
      );
  }
}
