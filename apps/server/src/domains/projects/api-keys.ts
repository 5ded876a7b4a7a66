import { type ApiKey, type CreateApiKey, environmentTags, fail, type NewApiKey, roleMay } from '@parley/contract';
import type { ProjectSessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, page, recorded } from '../../core/handlers.ts';
import { type Ids, randomBase62 } from '../../core/ids.ts';
import { type Access, hashSecret } from './access.ts';
import { findKeyOf, insertKey, listKeys, markRevoked } from './api-key-store.ts';
import { findProject } from './project-store.ts';

export interface ApiKeyDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  access: Access;
}

export function createApiKeys({ db, clock, ids, cursors, access }: ApiKeyDeps) {
  async function create(caller: ProjectSessionCaller, draft: CreateApiKey): Promise<Answer<NewApiKey>> {
    const environment = draft.environment ?? caller.environment;
    if (!roleMay(caller.role, 'api_key:create', environment))
      fail('SVC_PERMISSION_DENIED', { permission: 'api_key:create' });
    const project = await findProject(db, caller.projectId);
    if (project?.status !== 'ACTIVE') fail('SVC_PROJECT_ARCHIVED');
    const [publicId, secret] = [randomBase62(16), randomBase62(43)];
    const stored = await insertKey(db, {
      id: ids.newUuid(),
      publicId,
      projectId: caller.projectId,
      environment,
      name: draft.name,
      secretHash: hashSecret(secret),
      createdBy: caller.userId,
      createdByEmail: caller.email,
      at: iso(clock.now()),
    });
    const key = `svk_${environmentTags[environment]}_${publicId}.${secret}`;
    return recorded({ ...stored, key }, { resourceId: publicId, environment });
  }

  async function list(
    caller: ProjectSessionCaller,
    { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string },
  ) {
    const scope = `api-keys/${caller.projectId}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);
    const rows = await listKeys(db, caller.projectId, after, limit + 1);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.createdAt, last.id]));
    return page(items, nextCursor);
  }

  async function revoke(caller: ProjectSessionCaller, publicId: string): Promise<Answer<ApiKey>> {
    const isNew = await markRevoked(db, caller.projectId, publicId, iso(clock.now()));
    access.forgetProject(caller.projectId);
    const key = (await findKeyOf(db, caller.projectId, publicId)) ?? fail('SVC_API_KEY_NOT_FOUND');
    return recorded(key, isNew ? { resourceId: publicId, environment: key.environment } : null);
  }

  return { create, list, revoke };
}
