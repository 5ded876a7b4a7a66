import { randomBytes } from 'node:crypto';
import { isSvcError, Svc, viewer } from '@parley/server';
import { type Finding, fail, ok, warn } from '@parley/server-app/doctor/finding';
import { portOf } from './address.ts';
import { ask } from './front.ts';
import type { Visit } from './participant.ts';
import { relayFindings, tryRelays } from './relays.ts';

const relaysMax = 16;

/** Every way that media could take from here, as far as it shows without a credential. */
export async function checkMediaPaths(url: URL): Promise<Finding[]> {
  const relays = await relaysOf(url);
  if (relays.length === 0)
    return [
      warn(
        'relay',
        'The service names no relay: whether UDP gets through cannot be seen from here without --token.',
        'Give --token. For networks without UDP let media nodes relay (SFU_TURN_PORT), or name TURN servers in RTC_TURN_URLS.',
      ),
    ];
  return relayFindings(await tryRelays(relays, null), false);
}

/** What the service says, or the usual ports where it is too old to say. */
async function relaysOf(url: URL): Promise<readonly string[]> {
  const answer = await ask(url, '/v1/rtc/reach').catch(() => null);
  if (answer?.status === 200) return readRelays(answer.body['relays']);
  const { hostname } = url;
  return [
    ...['udp', 'tcp'].map((transport) => `turn:${hostname}:3478?transport=${transport}`),
    `turns:${hostname}:${portOf(url)}?transport=tcp`,
  ];
}

/** What a stranger says is no list until it was looked at, and may not be long. */
const readRelays = (said: unknown): readonly string[] =>
  Array.isArray(said) ? said.filter((one) => typeof one === 'string').slice(0, relaysMax) : [];

/** The same as a participant: the room's own node, real allocations, and the media ports themselves. */
export async function checkWithToken(url: URL, token: string): Promise<Finding[]> {
  const isKey = token.startsWith('svk_');
  try {
    return isKey ? await asBackend(url, token) : await asParticipant(url, token);
  } catch (error) {
    const reason = isSvcError(error) ? `${error.code}: ${error.message}` : (error as Error).message;
    return [
      fail(
        'media',
        `No room could be joined (${reason}).`,
        isKey
          ? 'Check the API key, which needs rooms and tokens.'
          : 'Check that the RTC token is of this service and new.',
      ),
    ];
  }
}

/** In a room of its own, which is gone afterwards. */
async function asBackend(url: URL, apiKey: string): Promise<Finding[]> {
  const svc = new Svc({ apiKey, baseUrl: url.origin });
  const name = `doctor-${randomBytes(6).toString('hex')}`;
  await svc.rooms.create({ name });
  try {
    const minted = await svc.rooms.tokens.create(name, { participantIdentity: 'doctor', permissions: viewer() });
    return await asParticipant(url, minted.token);
  } finally {
    await svc.rooms.close(name);
  }
}

async function asParticipant(url: URL, token: string): Promise<Finding[]> {
  // Media of our own is a native library: not everybody who looks needs it.
  const { visit } = await import('./participant.ts');
  return visit(url.origin, token, checkVisit);
}

async function checkVisit({ iceServers, mediaAddresses, isConnected }: Visit): Promise<Finding[]> {
  const relayed = await Promise.all(
    iceServers.map(({ urls, username = '', credential = '' }) =>
      tryRelays(urls, username === '' ? null : { username, credential }),
    ),
  );
  const relays = relayed.flat();
  const isRelayed = relays.some(({ problem }) => problem === null);
  return [directFinding(mediaAddresses, isConnected, isRelayed), ...relayFindings(relays, isConnected)];
}

function directFinding(addresses: readonly string[], isConnected: boolean, isRelayed: boolean): Finding {
  const where = addresses.join(', ');
  if (isConnected) return ok('media', `Media connects directly, by UDP to ${where}.`);
  return (isRelayed ? warn : fail)(
    'media',
    `Media does not connect directly, by UDP to ${where}.`,
    'Open UDP to these, in the firewall of this network and in the server’s. If no network could reach them, see SFU_PUBLIC_IP and SFU_ANNOUNCED_HOST.',
  );
}
