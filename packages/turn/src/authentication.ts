import { passwordOf, userOf } from './credentials.ts';
import { isSigned, longTermKey } from './integrity.ts';
import { createNonces } from './nonces.ts';
import type { TurnClient, TurnClock } from './ports.ts';
import { type Refusal, refusal } from './refusals.ts';
import { ATTRIBUTE, findText, type NewAttribute, type StunMessage } from './stun.ts';

export interface Authenticated {
  username: string;
  /** The username without its expiry. */
  user: string;
  key: Buffer;
}

interface AuthenticatorDeps {
  clock: TurnClock;
  secrets: readonly Buffer[];
  realm: string;
}

/** Types below this must be understood (RFC 8489 14). */
const OPTIONAL = 0x8000;
const KNOWN = new Set<number>(Object.values(ATTRIBUTE));
const NONCE_BYTES_MAX = 128;

/** Long-term credentials (RFC 8489 9.2.4) that are made of a shared secret and carry their expiry. */
export function createAuthenticator({ clock, secrets, realm }: AuthenticatorDeps) {
  const nonces = createNonces(() => clock.wall());

  const challenge = (client: TurnClient): NewAttribute[] => [
    [ATTRIBUTE.realm, Buffer.from(realm)],
    [ATTRIBUTE.nonce, Buffer.from(nonces.issue(client.address.address))],
  ];

  /** While an allocation lasts its credential does too: a call does not end because its credential would not begin one. */
  return (
    client: TurnClient,
    message: StunMessage,
    bytes: Buffer,
    holder: Authenticated | undefined,
  ): Authenticated | Refusal => {
    const username = findText(message, ATTRIBUTE.username);
    const nonce = findText(message, ATTRIBUTE.nonce);
    const isUnsigned = !message.attributes.some(({ type }) => type === ATTRIBUTE.messageIntegrity);
    if (isUnsigned) return refusal(401, challenge(client));
    if (username === undefined || nonce === undefined || findText(message, ATTRIBUTE.realm) === undefined)
      return refusal(400);
    if (nonce.length > NONCE_BYTES_MAX || !nonces.isGood(client.address.address, nonce))
      return refusal(438, challenge(client));
    if (holder && holder.username !== username) return refusal(441);
    const known = holder ?? candidate(username, bytes, message);
    if (!known || !isSigned(bytes, message, known.key)) return refusal(401, challenge(client));
    const unknown = message.attributes.map(({ type }) => type).filter((type) => type < OPTIONAL && !KNOWN.has(type));
    return unknown.length > 0 ? refusal(420, [[ATTRIBUTE.unknownAttributes, uint16s(unknown)]]) : known;
  };

  function candidate(username: string, bytes: Buffer, message: StunMessage): Authenticated | undefined {
    const user = userOf(username, clock.wall());
    if (user === undefined) return undefined;
    const keys = secrets.map((secret) => longTermKey(username, realm, passwordOf(secret, username)));
    const key = keys.find((one) => isSigned(bytes, message, one));
    return key && { username, user, key };
  }
}

function uint16s(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}
