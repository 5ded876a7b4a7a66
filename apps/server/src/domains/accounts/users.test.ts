import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVisitor, mailedToken, newEmail } from '../../../testkit/clients/visitor.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';

const password = 'correct horse battery';

const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://parley.example',
  SECRET_KEY: 'a secret key that only this test knows about',
  SFU_REGISTRATION_SECRET: 'a node secret that only this test knows about',
};

async function registered(service: TestService, email = newEmail()): Promise<string> {
  const { status } = await createVisitor(service).post('/v1/auth/register', { email, password });
  assert.equal(status, 201);
  return email;
}

async function verified(service: TestService, email = newEmail()): Promise<string> {
  await registered(service, email);
  const token = await mailedToken(service, email);
  assert.equal((await createVisitor(service).post('/v1/auth/verify-email', { token, password })).status, 200);
  return email;
}

async function signIn(service: TestService, email: string) {
  const { status, body } = await createVisitor(service).post('/v1/auth/login', { email, password });
  assert.equal(status, 200);
  return body;
}

const isOperator = async (service: TestService, email: string): Promise<boolean> =>
  (await signIn(service, email)).user.isOperator;

test('[AUTH-14] in production the first account, and no other, is the operator', async () => {
  const service = await startService({ env: { ...production, AUTH_REQUIRE_VERIFIED_EMAIL: 'false' } });
  const first = await Promise.all(Array.from({ length: 5 }, () => registered(service)));
  const operators = await Promise.all(first.map((email) => isOperator(service, email)));
  assert.equal(operators.filter(Boolean).length, 1);
  assert.equal(await isOperator(service, await registered(service)), false);
  await service.stop();
});

test('[AUTH-14] the first account counts from when it is proven; in development everybody is an operator', async () => {
  const development = await startService({ env: { AUTH_REQUIRE_VERIFIED_EMAIL: 'true' } });
  await registered(development);
  const [proven, later] = [await verified(development), await verified(development)];
  assert.equal(await isOperator(development, later), true);

  const { SECRET_KEY: _, SFU_REGISTRATION_SECRET: __, ...env } = production;
  const service = await startService({ beside: development, env });
  assert.equal(await isOperator(service, proven), true);
  assert.equal(await isOperator(service, later), false);
  await service.stop();
  await development.stop();
});

test('[AUTH-14] OPERATOR_EMAILS names the operators instead, once their addresses are proven', async () => {
  // Of its own: the first account is that of its database.
  const development = await startService();
  const [first, named, unproven] = [await verified(development), await verified(development), newEmail()];
  await registered(development, unproven);

  const { SECRET_KEY: _, SFU_REGISTRATION_SECRET: __, ...env } = production;
  const service = await startService({
    beside: development,
    env: { ...env, AUTH_REQUIRE_VERIFIED_EMAIL: 'false', OPERATOR_EMAILS: `${named.toUpperCase()}, ${unproven}` },
  });
  assert.equal(await isOperator(service, named), true);
  assert.equal(await isOperator(service, unproven), false);
  assert.equal(await isOperator(service, first), false);
  await service.stop();
  await development.stop();
});

for (const requiresProof of [true, false]) {
  const when = requiresProof ? 'the address is proven' : 'the account is made';
  test(`[AUTH-15] an invitation takes effect when ${when}`, async () => {
    const service = await startService({ env: { AUTH_REQUIRE_VERIFIED_EMAIL: String(requiresProof) } });
    const owner = service.as((await signIn(service, await verified(service))).accessToken);
    const { id } = await owner.call('createProject', { body: { name: 'Shared' } });
    const email = newEmail('invited');
    const statusOf = async () =>
      (await owner.call('listProjectMembers', { projectId: id })).find((member) => member.email.toLowerCase() === email)
        ?.status;
    await owner.call('addProjectMember', { projectId: id, body: { email, role: 'VIEWER' } });
    assert.equal(await statusOf(), 'INVITED');

    await registered(service, email.toUpperCase());
    if (requiresProof) {
      assert.equal(await statusOf(), 'INVITED');
      const token = await mailedToken(service, email, 2);
      await createVisitor(service).post('/v1/auth/verify-email', { token, password });
    }
    assert.equal(await statusOf(), 'ACTIVE');
    const invited = service.as((await signIn(service, email)).accessToken);
    assert.equal((await invited.call('getProject', { projectId: id })).role, 'VIEWER');
    await service.stop();
  });
}
