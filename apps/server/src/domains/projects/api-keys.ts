import { type ApiKey, type CreateApiKey, fail, type NewApiKey } from '@parley/contract';
import type { ProjectSessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, page, recorded } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import { type Access, hashSecret } from './access.ts';
import { findKeyOf, insertKey, listKeys, markRevoked } from './api-key-store.ts';
import { isExpired, readBounds } from './key-bounds.ts';
import { assertMayMakeKey, makeKey } from './key-maker.ts';
import { newKeyText } from './key-text.ts';
import type { KeyTokens } from './key-tokens.ts';

export interface ApiKeyDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  access: Access;
  keyTokens: KeyTokens;
}

export function createApiKeys({ db, clock, ids, cursors, access, keyTokens }: ApiKeyDeps) {
  async function create(caller: ProjectSessionCaller, draft: CreateApiKey): Promise<Answer<NewApiKey>> {
    const environment = draft.environment ?? caller.environment;
    assertMayMakeKey(caller.role, environment);
    const { publicId, secret, key } = newKeyText(environment);
    const row = {
      id: ids.newUuid(),
      publicId,
      projectId: caller.projectId,
      environment,
      name: draft.name,
      secretHash: hashSecret(secret),
      createdBy: caller.userId,
      createdByEmail: caller.email,
      at: iso(clock.now()),
      ...readBounds(draft, clock.now()),
    };
    const stored = await makeKey(db, caller, environment, (tx) => insertKey(tx, row));
    const { scopes, expiresAt, allowedNetworks } = draft;
    const metadata = { scopes, expiresAt, allowedNetworks };
    return recorded({ ...stored, key }, { resourceId: publicId, environment, metadata });
  }

  async function list(
    caller: ProjectSessionCaller,
    { limit = pageSizeDefault, cursor, environment: given }: { limit?: number; cursor?: string; environment?: string },
  ) {
    const environment = given === undefined ? null : caller.environment;
    const scope = `api-keys/${caller.projectId}/${environment ?? ''}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);
    const rows = await listKeys(db, caller.projectId, { environment, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.createdAt, last.id]));
    return page(items.map(withExpiry), nextCursor);
  }

  const withExpiry = (key: ApiKey): ApiKey =>
    key.status === 'ACTIVE' && isExpired(key, clock.now()) ? { ...key, status: 'EXPIRED' } : key;

  async function revoke(
    { projectId }: ProjectSessionCaller,
    publicId: string,
    { revokeTokens = false }: { revokeTokens?: boolean },
  ): Promise<Answer<ApiKey>> {
    const isNew = await markRevoked(db, projectId, publicId, iso(clock.now()));
    access.forgetProject(projectId);
    const key = (await findKeyOf(db, projectId, publicId)) ?? fail('SVC_API_KEY_NOT_FOUND');
    const areTokensNew = revokeTokens && (await keyTokens.revoke(projectId, [publicId]));
    const subject = {
      resourceId: publicId,
      environment: key.environment,
      metadata: areTokensNew ? { revokeTokens } : {},
    };
    return recorded(key, isNew || areTokensNew ? subject : null);
  }

  return { create, list, revoke };
}
