import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import type { IceServer } from '@parley/contract';
import { MEDIA_TURN_PATH, MEDIA_TURN_UPGRADE } from '@parley/contract/media-control';
import { signMediaControl } from '@parley/contract/media-control-auth';
import { TURN_CREDENTIAL_MS, turnCredential, turnSecretOf } from '@parley/turn/credentials';
import type { Clock } from '../../core/clock.ts';
import { randomBase62 } from '../../core/ids.ts';
import { insideNetworks } from '../../core/networks.ts';
import type { HostGuard } from './internal-url.ts';
import type { Nodes } from './nodes.ts';
import type { StoredServer } from './server-store.ts';

interface TurnDeps {
  clock: Clock;
  guard: HostGuard;
  nodes: Pick<Nodes, 'reach'>;
  /** The first is current. */
  secrets: readonly string[];
  /** Where clients reach TURN by TLS on a server's own port; null when no server ends TLS itself. */
  frontDoor: { host: string; port: number } | null;
  listLive: () => Promise<readonly StoredServer[]>;
}

export interface Turn {
  /** How clients reach the relays of this node; none while it cannot be reached. */
  urls(node: string): Promise<readonly string[]>;
  /** The relays that lead to this node, with credentials for one session. */
  iceServers(node: string, sessionId: string): Promise<IceServer[]>;
  /** A connection to the node's relay for a client that a server has accepted; null when no node can be meant. */
  openPipe(client: { address: string; port: number }): Promise<Socket | null>;
}

const connectTimeoutMs = 2_000;

/** False for a relay by an address that only its own network reaches, which strangers need not know. */
export const isOutside = (url: string): boolean => {
  const [, host = ''] = /^(?:stun|turn)s?:(\[[^\]]+\]|[^:?]+)/.exec(url) ?? [];
  return !insideNetworks.includes(host.replaceAll(/^\[|\]$/g, ''));
};

/** The TURN relays of the media nodes: each reaches the media of its own node and nothing else. */
export function createTurn(deps: TurnDeps): Turn {
  const { clock, nodes, secrets, frontDoor, listLive } = deps;
  const key = turnSecretOf(secrets[0] ?? '');

  /** A server cannot see for which node a connection is: it can be one's own door only while there is one node. */
  async function onlyNode(): Promise<StoredServer | null> {
    const [first, second] = await listLive();
    return first && !second ? first : null;
  }

  async function urlsOf(node: string): Promise<string[]> {
    const { turn } = await nodes.reach(node);
    if (!turn) return [];
    const isBehindDoor = frontDoor !== null && (await onlyNode())?.name === node;
    return isBehindDoor ? [...turn.urls, `turns:${frontDoor.host}:${frontDoor.port}?transport=tcp`] : turn.urls;
  }

  return {
    urls: (node) => urlsOf(node).catch(() => []),
    async iceServers(node, sessionId) {
      const urls = await urlsOf(node);
      return urls.length === 0 ? [] : [{ urls, ...turnCredential(key, sessionId, clock.now() + TURN_CREDENTIAL_MS) }];
    },
    async openPipe(client) {
      const node = await onlyNode();
      if (node === null) return null;
      for (const secret of secrets) {
        const answer = await connect(deps, node, client, secret);
        // While a secret is being rotated the node may know only the older one.
        if (answer !== 401) return typeof answer === 'number' ? null : answer;
      }
      return null;
    },
  };
}

/** The connection, or the status that it was refused with. */
async function connect(
  { clock, guard }: TurnDeps,
  { name, internalUrl }: StoredServer,
  client: { address: string; port: number },
  secret: string,
): Promise<Socket | number> {
  guard.check(internalUrl);
  const url = new URL(internalUrl);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${MEDIA_TURN_PATH}`;
  url.searchParams.set('client', client.address);
  url.searchParams.set('port', String(client.port));
  const addresses = await guard.addressesOf(url.hostname);
  const authorization = `Bearer ${await signMediaControl(secret, name, clock.now(), randomBase62(22))}`;
  const request = url.protocol === 'https:' ? requestSecure : requestPlain;
  const asked = request(url, {
    agent: false,
    timeout: connectTimeoutMs,
    headers: { authorization, connection: 'upgrade', upgrade: MEDIA_TURN_UPGRADE },
    // Pinned: the name may not resolve to another address between the check and the connection.
    lookup: (_host, options, found) =>
      options.all ? found(null, addresses) : found(null, addresses[0]?.address ?? '', addresses[0]?.family),
  });
  return new Promise((resolve, reject) => {
    asked.once('upgrade', (_response, socket, head) => {
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once('timeout', () => asked.destroy(new Error(`the media node ${name} does not take a TURN connection`)));
    asked.once('error', reject);
    asked.end();
  });
}
