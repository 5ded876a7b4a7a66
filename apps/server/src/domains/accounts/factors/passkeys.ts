import {
  type AddPasskey,
  fail,
  type PasskeyAssertion,
  type PasskeyCreation,
  type PasskeyRequest,
} from '@parley/contract';
import type { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Tx } from '../../../core/db.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Log } from '../../../core/log.ts';
import { challengeMs } from './challenges.ts';
import { findPasskey, insertPasskey, notePasskeyUse, type PasskeyRow } from './passkey-store.ts';

interface PasskeysDeps {
  clock: Clock;
  ids: Ids;
  log: Log;
  config: { publicUrl: string };
}

/** WebAuthn for the host of PUBLIC_URL. */
export type Passkeys = ReturnType<typeof createPasskeys>;

/** Ed25519, P-256, RSA: what authenticators have. */
const algorithms = [-8, -7, -257];
/** With the first passkey: it brings a tenth of all modules of the service. */
const loadWebauthn = () => import('@simplewebauthn/server');
const loadHelpers = () => import('@simplewebauthn/server/helpers');
const described = ({ credentialId }: PasskeyRow) => ({ type: 'public-key' as const, id: credentialId });

export function createPasskeys({ clock, ids, log, config }: PasskeysDeps) {
  const { hostname: rpId, origin } = new URL(config.publicUrl);
  /** Browsers make passkeys for names only. */
  const isAvailable = !/^[\d.]+$|^\[/.test(rpId);

  /** The library throws for whatever is wrong with an answer. */
  async function verified<T>(verify: () => Promise<T>): Promise<T> {
    try {
      return await verify();
    } catch (error) {
      log.debug({ error }, 'a passkey was refused');
      return fail('SVC_INVALID_SECOND_FACTOR');
    }
  }

  const creation = (
    challenge: string,
    user: { id: string; email: string; name: string | null },
    others: readonly PasskeyRow[],
  ): PasskeyCreation => ({
    challenge,
    rp: { id: rpId, name: 'Parley' },
    user: {
      id: Buffer.from(user.id.replaceAll('-', ''), 'hex').toString('base64url'),
      name: user.email,
      displayName: user.name ?? user.email,
    },
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: others.map(described),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    attestation: 'none',
    timeout: challengeMs,
  });

  const request = (
    challenge: string,
    allowed: readonly PasskeyRow[],
    userVerification: PasskeyRequest['userVerification'],
  ): PasskeyRequest => ({
    challenge,
    rpId,
    allowCredentials: allowed.map(described),
    userVerification,
    timeout: challengeMs,
  });

  async function add(tx: Tx, userId: string, { name, credential }: AddPasskey, challenge: string): Promise<PasskeyRow> {
    // Outside of what is refused: a module that is missing is our fault, not the passkey's.
    const { verifyRegistrationResponse } = await loadWebauthn();
    const { decodeAttestationObject: decode } = await loadHelpers();
    const { verified: isRight, registrationInfo } = await verified(async () => {
      assertUnattested(decode(bytesOf(credential.response.attestationObject)));
      return verifyRegistrationResponse({
        response: { ...credential, clientExtensionResults: {} },
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserVerification: false,
        supportedAlgorithmIDs: algorithms,
      });
    });
    if (!isRight) return fail('SVC_INVALID_SECOND_FACTOR');
    const { id, publicKey, counter } = registrationInfo.credential;
    const passkey = {
      id: ids.newUuid(),
      userId,
      credentialId: id,
      publicKey: Buffer.from(publicKey).toString('base64url'),
      counter,
      name,
      createdAt: iso(clock.now()),
    };
    if (!(await insertPasskey(tx, passkey))) fail('SVC_FACTOR_EXISTS');
    return { ...passkey, lastUsedAt: null };
  }

  const known = async (tx: Tx, { id }: PasskeyAssertion): Promise<PasskeyRow> =>
    (await findPasskey(tx, id)) ?? fail('SVC_INVALID_SECOND_FACTOR');

  /** Whose passkey it says it is; nothing is proven yet. */
  const ownerOf = async (tx: Tx, assertion: PasskeyAssertion): Promise<string> => (await known(tx, assertion)).userId;

  /** Takes a passkey's answer to the challenge and says whose it is. */
  async function take(
    tx: Tx,
    assertion: PasskeyAssertion,
    expected: { challenge: string; isVerifying: boolean },
  ): Promise<string> {
    const passkey = await known(tx, assertion);
    const { verifyAuthenticationResponse } = await loadWebauthn();
    const { verified: isRight, authenticationInfo } = await verified(() =>
      verifyAuthenticationResponse({
        response: { ...assertion, clientExtensionResults: {} },
        expectedChallenge: expected.challenge,
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserVerification: expected.isVerifying,
        credential: { id: passkey.credentialId, publicKey: bytesOf(passkey.publicKey), counter: passkey.counter },
      }),
    );
    const isNoted = isRight && (await notePasskeyUse(tx, passkey.id, authenticationInfo.newCounter, iso(clock.now())));
    return isNoted ? passkey.userId : fail('SVC_INVALID_SECOND_FACTOR');
  }

  return { isAvailable, creation, request, add, ownerOf, take };
}

const bytesOf = (base64url: string) => new Uint8Array(Buffer.from(base64url, 'base64url'));

/** We ask for no attestation. One with certificates would have the library fetch addresses that the sender chose. */
function assertUnattested(attestation: ReturnType<typeof decodeAttestationObject>): void {
  const format = attestation.get('fmt');
  if (format !== 'none' && format !== 'packed') throw new Error(`attestation format ${format}`);
  if (attestation.get('attStmt').get('x5c') !== undefined) throw new Error('attestation with certificates');
}

/** The challenge that a passkey says it answers. */
export function challengeIn(clientDataJSON: string): string {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    if (typeof data === 'object' && data !== null && 'challenge' in data && typeof data.challenge === 'string')
      return data.challenge;
  } catch {
    // Not what a browser writes.
  }
  return fail('SVC_INVALID_SECOND_FACTOR');
}
