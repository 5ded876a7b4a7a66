import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { idOf, pairOf, pemOf } from '../../../testkit/clients/offline.ts';
import { type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';
import { failure } from '../../../testkit/kit/failure.ts';

let service: RoomsService;
before(async () => {
  service = await sharedRooms();
});

test('[SIGN-1] a secret is shown once, a public key is taken as PEM or JWK, and both are listed, audited and revoked', async () => {
  const { id: projectId, owner } = await service.newProject();
  const { key, ...made } = await owner.api.call('createSigningKey', {
    projectId,
    body: { name: 'backend', algorithm: 'HS256' },
  });
  assert.match(key ?? '', /^sgk_[0-9a-hjkmnp-tv-z]{24}\.[A-Za-z0-9]{43}$/);
  assert.deepEqual([idOf(key ?? ''), made.environment, made.status], [made.id, 'DEVELOPMENT', 'ACTIVE']);
  const { publicKey } = pairOf.EdDSA();
  const pem = await owner.api.call('createSigningKey', {
    projectId,
    body: { name: 'pem', algorithm: 'EdDSA', environment: 'PRODUCTION', publicKey: pemOf(publicKey) },
  });
  const jwk = JSON.stringify(publicKey.export({ format: 'jwk' }));
  const same = await owner.api.call('createSigningKey', {
    projectId,
    body: { name: 'jwk', algorithm: 'EdDSA', publicKey: jwk },
  });
  assert.deepEqual([pem.key, pem.publicKey, same.publicKey], [null, pemOf(publicKey), pemOf(publicKey)]);
  const listed = await owner.api.call('listSigningKeys', { projectId });
  assert.deepEqual(listed.map(({ name }) => name).sort(), ['backend', 'jwk', 'pem']);
  assert.ok(!JSON.stringify(listed).includes((key ?? '').split('.')[1] ?? '?'));
  const revoked = await owner.api.call('revokeSigningKey', { projectId, signingKeyId: made.id });
  const again = await owner.api.call('revokeSigningKey', { projectId, signingKeyId: made.id });
  assert.deepEqual([revoked.status, again.revokedAt], ['REVOKED', revoked.revokedAt]);
  const entries = await owner.api.call('listAuditLogs', { projectId, query: { resourceId: made.id } });
  assert.deepEqual(entries.map(({ action }) => action).sort(), ['signing_key.created', 'signing_key.revoked']);
});

test('[SIGN-1] a private key, one of another kind or none is refused, and a developer makes them for development only', async () => {
  const project = await service.newProject();
  const { id: projectId, owner } = project;
  const { publicKey, privateKey } = pairOf.ES256();
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const privateJwk = JSON.stringify(privateKey.export({ format: 'jwk' }));
  for (const body of [
    { algorithm: 'ES256' as const, publicKey: privatePem },
    { algorithm: 'ES256' as const, publicKey: privateJwk },
    { algorithm: 'ES256' as const, publicKey: pemOf(pairOf.EdDSA().publicKey) },
    { algorithm: 'ES256' as const, publicKey: '{"kty":"EC"}' },
    { algorithm: 'ES256' as const },
    { algorithm: 'EdDSA' as const, publicKey: pemOf(publicKey) },
    { algorithm: 'HS256' as const, publicKey: pemOf(publicKey) },
    { algorithm: 'none' as 'HS256' },
  ])
    await assert.rejects(
      owner.api.call('createSigningKey', { projectId, body: { name: 'x', ...body } }),
      failure('SVC_VALIDATION_FAILED'),
    );
  const developer = await project.member('DEVELOPER');
  const body = { name: 'dev', algorithm: 'HS256' as const };
  const { id: signingKeyId } = await developer.api.call('createSigningKey', { projectId, body });
  await assert.rejects(
    developer.api.call('createSigningKey', { projectId, body: { ...body, environment: 'PRODUCTION' } }),
    failure('SVC_PERMISSION_DENIED'),
  );
  await assert.rejects(
    developer.api.call('revokeSigningKey', { projectId, signingKeyId }),
    failure('SVC_PERMISSION_DENIED'),
  );
});
