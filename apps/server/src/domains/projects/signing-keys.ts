import { createPublicKey, type KeyObject } from 'node:crypto';
import {
  type CreateSigningKey,
  fail,
  type NewSigningKey,
  type SigningAlgorithm,
  type SigningKey,
} from '@parley/contract';
import type { ProjectSessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, page, recorded } from '../../core/handlers.ts';
import { type Ids, randomBase62 } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import { refuse } from '../../core/validation.ts';
import { assertMayMakeKey, makeKey } from './key-maker.ts';
import type { KeyTokens } from './key-tokens.ts';
import {
  findSigningKeyOf,
  insertSigningKey,
  listSealedSecrets,
  listSigningKeys,
  markSigningKeyRevoked,
  replaceSealedSecret,
} from './signing-key-store.ts';

export interface SigningKeyDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  keyring: Keyring;
  keyTokens: KeyTokens;
}

/** Keys by which a backend mints tokens without asking us. */
export function createSigningKeys({ db, clock, ids, cursors, keyring, keyTokens }: SigningKeyDeps) {
  async function create(caller: ProjectSessionCaller, draft: CreateSigningKey): Promise<Answer<NewSigningKey>> {
    const { name, algorithm } = draft;
    const environment = draft.environment ?? caller.environment;
    assertMayMakeKey(caller.role, environment);
    const publicKey = readPublicKey(algorithm, draft.publicKey);
    const id = ids.newId('signingKey');
    const secret = publicKey === null ? randomBase62(43) : null;
    const row = {
      id,
      projectId: caller.projectId,
      environment,
      name,
      algorithm,
      sealedSecret: secret === null ? null : keyring.seal(secret),
      publicKey,
      createdBy: caller.userId,
      createdByEmail: caller.email,
      at: iso(clock.now()),
    };
    const stored = await makeKey(db, caller, environment, (tx) => insertSigningKey(tx, row));
    const key = secret === null ? null : `${id}.${secret}`;
    return recorded({ ...stored, key }, { resourceId: id, environment, metadata: { algorithm } });
  }

  async function list(
    caller: ProjectSessionCaller,
    { limit = pageSizeDefault, cursor, environment: given }: { limit?: number; cursor?: string; environment?: string },
  ) {
    const environment = given === undefined ? null : caller.environment;
    const scope = `signing-keys/${caller.projectId}/${environment ?? ''}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);
    const rows = await listSigningKeys(db, caller.projectId, { environment, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.createdAt, last.id]));
    return page(items, nextCursor);
  }

  /** With its tokens, always: a holder of the key could sign one more. */
  async function revoke({ projectId }: ProjectSessionCaller, id: string): Promise<Answer<SigningKey>> {
    const isNew = await markSigningKeyRevoked(db, projectId, id, iso(clock.now()));
    const key = (await findSigningKeyOf(db, projectId, id)) ?? fail('SVC_SIGNING_KEY_NOT_FOUND');
    // Also the second time: the first may have been interrupted.
    await keyTokens.end(projectId, [id]);
    return recorded(key, isNew ? { resourceId: id, environment: key.environment } : null);
  }

  /** While SECRET_KEY is rotated: what the one before it sealed is sealed anew. */
  async function renewSealed(): Promise<number> {
    let count = 0;
    if (!keyring.isRotating) return count;
    for (const secret of await listSealedSecrets(db)) {
      const fresh = keyring.renew(secret.sealed);
      if (fresh !== null) count += await replaceSealedSecret(db, secret, fresh);
    }
    return count;
  }

  return { create, list, revoke, renewSealed };
}

/** SPKI in PEM; null for an algorithm that has a secret instead. */
function readPublicKey(algorithm: SigningAlgorithm, given: string | undefined): string | null {
  if (algorithm === 'HS256') return given === undefined ? null : wrongKey('HS256 has a secret, which we make.');
  if (given === undefined) return wrongKey(`${algorithm} needs a public key.`);
  const key = parsePublicKey(given.trim());
  if (!key || !fits(algorithm, key))
    return wrongKey(`publicKey must be ${kinds[algorithm]}: SPKI in PEM, or a JWK as JSON; never the private key.`);
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

const kinds = { EdDSA: 'an Ed25519 public key', ES256: 'a P-256 public key' } as const;

const fits = (algorithm: SigningAlgorithm, { asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  algorithm === 'EdDSA'
    ? asymmetricKeyType === 'ed25519'
    : asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';

/** Null for what is no public key. A private one would be taken for its public half, so it is looked for. */
function parsePublicKey(text: string): KeyObject | null {
  try {
    if (text.startsWith('{')) {
      const jwk = JSON.parse(text) as Record<string, unknown>;
      return 'd' in jwk ? null : createPublicKey({ key: jwk, format: 'jwk' });
    }
    return text.startsWith('-----BEGIN PUBLIC KEY-----') ? createPublicKey(text) : null;
  } catch {
    return null;
  }
}

const wrongKey = (message: string): never => refuse([{ field: 'publicKey', rule: 'key', message }]);
