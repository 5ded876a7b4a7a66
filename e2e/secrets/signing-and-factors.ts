import assert from 'node:assert/strict';
import { type Api, ApiError, mintChatToken } from '@parley/server';
import { codeAt } from '../../apps/server/testkit/clients/factors.ts';
import { refused } from './refused.ts';
import type { Scene } from './scene.ts';

/** A backend that mints by itself. */
export async function liveWithSigningKeys(scene: Scene, operator: Api, projectId: string) {
  const create = (name: string) =>
    operator.call(
      'createSigningKey',
      { projectId, body: { name, algorithm: 'HS256' } },
      { idempotencyKey: `signing-${name}` },
    );
  const [made, doomed] = [await create(scene.dye), await create('doomed')];
  assert.equal((await create(scene.dye)).key, made.key, 'a repeat gives the same answer');
  const mint = (key: string | null) => mintChatToken({ signingKey: key ?? '', userId: 'offline' }).token;
  const [chatToken, refusedToken] = [mint(made.key), mint(doomed.key)];
  await scene.as(chatToken).call('listConversations', {});
  await operator.call('revokeSigningKey', { projectId, signingKeyId: doomed.id });
  await refused(scene.as(refusedToken).call('listConversations', {}));
  return { key: made.key ?? '', revokedKey: doomed.key ?? '', chatToken };
}

/** Two factors: an app, a recovery code that signs in, and new ones. */
export async function liveWithFactors(
  scene: Scene,
  operator: Api,
  { email, newPassword: password }: { email: string; newPassword: string },
) {
  const { secret: totpSecret } = await operator.call('startTotp');
  await refused(operator.call('confirmTotp', { body: { code: '000000' } }));
  const { recoveryCodes } = await operator.call('confirmTotp', { body: { code: codeAt(totpSecret, Date.now()) } });
  const [usedCode = ''] = recoveryCodes ?? [];
  const anonymous = scene.as();
  const asked = await anonymous.call('login', { body: { email, password } }).catch((error: unknown) => error);
  assert.ok(asked instanceof ApiError);
  const { challenge } = asked.body as typeof asked.body & { challenge: string };
  await refused(anonymous.call('finishLogin', { body: { challenge, code: '000000' } }));
  await anonymous.call('finishLogin', { body: { challenge, recoveryCode: usedCode } });
  await refused(anonymous.call('finishLogin', { body: { challenge, recoveryCode: usedCode } }));
  const renewed = await operator.call('renewRecoveryCodes');
  return { totpSecret, usedCode, renewedCode: renewed.recoveryCodes[0] ?? '', challenge };
}
