import assert from 'node:assert/strict';
import { Secret, TOTP } from 'otpauth';
import type { Clock } from '../../src/core/clock.ts';
import type { FakeClock } from '../kit/fake-clock.ts';
import type { TestService } from '../kit/service.ts';
import { createSoftPasskey, type SoftPasskey } from './soft-passkey.ts';
import { createVisitor, mailedToken, newEmail, type Visit, type Visitor } from './visitor.ts';

export const password = 'correct horse battery';
/** How long a code of an authenticator app is good. */
export const stepMs = 30_000;

/** A person in one browser, signed in. */
export interface Signed {
  email: string;
  visitor: Visitor;
  headers: { authorization: string };
}

/** People with second factors. */
export type FactorKit = ReturnType<typeof createFactorKit>;

export const answer = ({ status, body }: Visit): [status: number, code: string | null] => [status, body?.code ?? null];

/** What an authenticator app with the secret shows. */
export const codeAt = (secret: string, timestamp: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });

export function createFactorKit(service: TestService, clock: Clock & Pick<FakeClock, 'advance'>) {
  /** A proven account and the browser it was proven in. */
  async function proven(): Promise<Signed> {
    const [email, visitor] = [newEmail(), createVisitor(service)];
    await visitor.post('/v1/auth/register', { email, password });
    const token = await mailedToken(service, email);
    const { body } = await visitor.post('/v1/auth/verify-email', { token, password });
    return { email, visitor, headers: { authorization: `Bearer ${body.accessToken}` } };
  }

  const login = (email: string, visitor = createVisitor(service)): Promise<Visit> =>
    visitor.post('/v1/auth/login', { email, password });
  const post = ({ visitor, headers }: Signed, path: string, body?: unknown): Promise<Visit> =>
    visitor.post(path, body, headers);
  const codeOf = (secret: string, offMs = 0): string => codeAt(secret, clock.now() + offMs);

  /** Turns an authenticator app on; time moves on so that its next code is a new one. */
  async function withApp(person: Signed): Promise<{ secret: string; recoveryCodes: string[] }> {
    const { body: started } = await post(person, '/v1/auth/totp');
    const { status, body } = await post(person, '/v1/auth/totp/confirm', { code: codeOf(started.secret) });
    assert.equal(status, 200, JSON.stringify(body));
    await clock.advance(stepMs);
    return { secret: started.secret, recoveryCodes: body.recoveryCodes };
  }

  async function withPasskey(person: Signed, name = 'Laptop'): Promise<{ passkey: SoftPasskey; id: string }> {
    const passkey = createSoftPasskey(new URL(service.config.publicUrl).origin);
    const { body: options } = await post(person, '/v1/auth/passkeys/options');
    const { status, body } = await post(person, '/v1/auth/passkeys', { name, credential: passkey.create(options) });
    assert.equal(status, 201, JSON.stringify(body));
    return { passkey, id: body.passkey.id };
  }

  const finish = (challenge: string, proof: object, visitor = createVisitor(service)): Promise<Visit> =>
    visitor.post('/v1/auth/login/second-factor', { challenge, ...proof });

  return { proven, login, post, codeOf, withApp, withPasskey, finish };
}
