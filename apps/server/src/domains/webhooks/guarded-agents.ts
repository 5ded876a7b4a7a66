import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type AddressPolicy, isAddressAllowed } from './address-guard.ts';
import { guardedLookup, NoUsableAddress, type Resolve } from './resolver.ts';

interface GuardDeps {
  resolve: Resolve;
  /** Certificate authorities beside the public ones. */
  ca?: string;
}

/** Receivers close idle connections after two seconds at the earliest; ours must be gone before. */
const idleSocketMs = 1_000;

/** Connections that go to allowed addresses only, whatever a name server says and when. */
export function createGuardedAgents({ resolve, ca }: GuardDeps) {
  const agents = new Map<string, HttpAgent>();

  return {
    /** One per policy: a connection made under a wider one must not serve a narrower one. */
    get(isSecure: boolean, policy: AddressPolicy): HttpAgent {
      const key = JSON.stringify([isSecure, policy.allowsLoopback, policy.allowsPrivate]);
      const known = agents.get(key);
      if (known) return known;
      // An agent of our own takes no proxy from the environment.
      const options = { keepAlive: true, timeout: idleSocketMs, scheduling: 'lifo', maxFreeSockets: 64 } as const;
      const connection = { lookup: guardedLookup(resolve, policy), ...(ca === undefined ? {} : { ca: [ca] }) };
      const made = isSecure
        ? new HttpsAgent({ ...options, ...connection })
        : new HttpAgent({ ...options, ...connection });
      const connect = made.createConnection.bind(made);
      made.createConnection = (connectOptions, callback) => {
        const socket = connect(connectOptions, callback);
        if (socket) watchAddress(socket, policy);
        return socket;
      };
      agents.set(key, made);
      return made;
    },
    close(): void {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

/** Belt and braces: whatever the lookup said, the other end must be an allowed address before a byte is sent. */
function watchAddress(socket: Duplex & Partial<Pick<Socket, 'remoteAddress'>>, policy: AddressPolicy): void {
  socket.once('connect', () => {
    if (!isAddressAllowed(socket.remoteAddress ?? '', policy))
      socket.destroy(new NoUsableAddress('Connected to an address that is not allowed.'));
  });
}
