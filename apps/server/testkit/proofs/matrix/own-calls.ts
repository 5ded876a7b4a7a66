import type { RouteName } from '@parley/contract';
import { codeAt } from '../../clients/factors.ts';
import { createSoftPasskey } from '../../clients/soft-passkey.ts';
import type { Person } from '../../kit/people.ts';
import type { TestService } from '../../kit/service.ts';
import type { Sent } from './requests.ts';

type OwnCall = (service: TestService, person: Person) => Promise<Sent | undefined>;

const json = (body: object): Sent => ({ query: '', contentType: 'application/json', body: JSON.stringify(body) });

/** A code of an authenticator app that was begun just now. */
async function newCode({ clock }: TestService, { api }: Person): Promise<string> {
  const { secret } = await api.call('startTotp');
  return codeAt(secret, clock.now());
}

/** By route: what only the person can send, who has a second factor and proved it just now. Undefined: what the row says. */
export const ownCalls: Readonly<Partial<Record<RouteName, OwnCall>>> = {
  changePassword: async (_service, { password }) =>
    json({ currentPassword: password, password: `${password} and more` }),
  startTotp: async () => undefined,
  confirmTotp: async (service, person) => json({ code: await newCode(service, person) }),
  removeTotp: async (service, person) => {
    await person.api.call('confirmTotp', { body: { code: await newCode(service, person) } });
    return undefined;
  },
  startPasskey: async () => undefined,
  addPasskey: async ({ config }, { api }) => {
    const { origin } = new URL(config.publicUrl);
    return json({ name: 'Another', credential: createSoftPasskey(origin).create(await api.call('startPasskey')) });
  },
  renamePasskey: async () => undefined,
  removePasskey: async () => undefined,
  renewRecoveryCodes: async () => undefined,
  stepUp: async (_service, { api }) => {
    const { recoveryCodes } = await api.call('renewRecoveryCodes');
    return json({ recoveryCode: recoveryCodes[0] });
  },
};
