import { type Finding, fail, ok, warn } from '@parley/server-app/doctor/finding';
import { type Credential, TurnClient } from '@parley/turn/client';
import { ATTRIBUTE, METHOD } from '@parley/turn/stun';
import { endpoint } from './address.ts';
import { openWire, type Target } from './wires.ts';

const answerMsMax = 6_000;
const unauthorized = 401;
const nobody: Credential = { username: '', credential: '' };

interface Relay extends Target {
  url: string;
  /** STUN servers relay nothing. */
  isTurn: boolean;
}

export interface Attempt {
  relay: Relay;
  /** Null when it answered as it should. */
  problem: string | null;
  /** This machine's address as the relay sees it. */
  seenAs: string | null;
}

const pattern = /^(stun|turns?):(\[[\da-f:.]+\]|[^:?]+)(?::(\d{1,5}))?(?:\?transport=(udp|tcp))?$/i;

/** Null when it is no URL of RFC 7064 or RFC 7065. */
function readRelay(url: string): Relay | null {
  const [, scheme = '', host, port, transport = 'udp'] = pattern.exec(url) ?? [];
  if (host === undefined) return null;
  const isTls = scheme === 'turns';
  return {
    url,
    isTurn: scheme !== 'stun',
    transport: isTls ? 'tls' : transport === 'tcp' ? 'tcp' : 'udp',
    host: host.replaceAll(/^\[|\]$/g, ''),
    port: Number(port ?? (isTls ? 5349 : 3478)),
  };
}

/** Without a credential a relay that asks for one has proven the path; with one it has to relay. */
export const tryRelays = (urls: readonly string[], credential: Credential | null): Promise<Attempt[]> =>
  Promise.all(urls.flatMap((url) => readRelay(url) ?? []).map((relay) => attempt(relay, credential)));

async function attempt(relay: Relay, credential: Credential | null): Promise<Attempt> {
  try {
    const client = new TurnClient(await openWire(relay), credential ?? nobody, answerMsMax);
    try {
      const problem = relay.isTurn ? await allocate(client, credential) : null;
      const seenAs = problem === null ? ((await client.mapped())?.address ?? null) : null;
      return { relay, problem, seenAs };
    } finally {
      client.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { relay, problem: code ?? message.replace(/\.$/, ''), seenAs: null };
  }
}

async function allocate(client: TurnClient, credential: Credential | null): Promise<string | null> {
  if (credential === null) {
    const transport = [ATTRIBUTE.requestedTransport, Buffer.from([17, 0, 0, 0])] as const;
    const { error } = await client.exchange(METHOD.allocate, [transport]);
    return error === unauthorized ? null : `it answers ${error}`;
  }
  const { error } = await client.allocate();
  if (error === 0) await client.refresh(0);
  return error === 0 ? null : `it refuses an allocation with ${error}`;
}

const words = { udp: 'UDP', tcp: 'TCP', tls: 'TLS' } as const;

/** `isCovered`: media has another way, so that a closed one is no more than a pity. */
export function relayFindings(attempts: readonly Attempt[], isCovered: boolean): Finding[] {
  const hasWay = isCovered || attempts.some(({ problem }) => problem === null);
  return attempts.map(({ relay, problem, seenAs }) => {
    const check = relay.transport === 'udp' ? 'udp' : 'relay';
    const where = `${relay.isTurn ? 'TURN' : 'STUN'} by ${words[relay.transport]} at ${endpoint(relay.host, relay.port)}`;
    if (problem === null) return ok(check, `${where} answers${seenAs ? ` and sees this machine at ${seenAs}` : ''}.`);
    return (hasWay ? warn : fail)(check, `${where} is not reached (${problem}).`, whatToOpen(relay));
  });
}

function whatToOpen({ transport, host, port }: Relay): string {
  if (transport === 'udp')
    return `Open UDP ${port} to ${host}, and the media’s own UDP ports (4443 and up, one a core): without UDP calls go by TCP, which stutters where packets are lost.`;
  const who = `Open TCP ${port} to ${host}: who is in a network without UDP has calls by this alone.`;
  return transport === 'tls' ? `${who} The certificate there must be for ${host}.` : who;
}
