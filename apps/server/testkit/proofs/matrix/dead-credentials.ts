import { createKeyring } from '../../../src/core/keyring.ts';
import type { TokenFamily } from '../../../src/core/tokens.ts';
import { createFakeClock } from '../../kit/fake-clock.ts';
import type { TestProject } from '../../kit/people.ts';
import { startService, type TestService } from '../../kit/service.ts';
import type { World } from '../../kit/world.ts';

/** A credential that was once right, or looks so, with the code of its refusal. */
export interface Dead {
  what: string;
  bearer: string;
  code: string;
  /** Where media nodes come in, what is no token at all may have been meant as their secret. */
  codeAtNodes?: string;
}

const HOUR_MS = 3_600_000;

/** Everything that must be 401: ended, expired, of something that is gone, or made up. */
export async function collectInvalidCredentials(
  service: TestService,
  project: TestProject,
  own: World,
  archived: World,
): Promise<Dead[]> {
  const session = project.owner.accessToken;
  return [
    { what: 'nothing', bearer: '', code: 'SVC_UNAUTHENTICATED' },
    { what: 'a made-up text', bearer: 'made-up', code: 'SVC_INVALID_TOKEN', codeAtNodes: 'SVC_INVALID_SFU_SECRET' },
    ...forgedKeys(own.apiKey, project.apiKey),
    { what: 'a forged session', bearer: forged('session', session), code: 'SVC_INVALID_TOKEN' },
    { what: 'a forged chat token', bearer: forged('chat', own.chatToken), code: 'SVC_INVALID_TOKEN' },
    { what: 'a forged RTC token', bearer: forged('rtc', own.rtcToken), code: 'SVC_INVALID_TOKEN' },
    { what: 'a chat token by the key of RTC tokens', bearer: confused(service, own), code: 'SVC_INVALID_TOKEN' },
    ...(await ended(service, project, own)),
    ...ofArchivedProject(archived),
    ...(await expired(service, own)),
  ];
}

/** Of the right shape in every part; the parts do not belong together. */
function forgedKeys(key: string, other: string): Dead[] {
  const [head = '', secret = ''] = [key.split('.')[0], other.split('.')[1]];
  const code = 'SVC_INVALID_API_KEY';
  return [
    { what: "a key with another key's secret", bearer: `${head}.${secret}`, code },
    { what: 'a key that nobody has', bearer: `svk_dev_${'0'.repeat(16)}.${secret}`, code },
    { what: 'a key that says another environment', bearer: key.replace('svk_dev_', 'svk_prod_'), code },
  ];
}

/** The same claims, signed as we sign, with a key that is not ours. */
function forged(family: TokenFamily, token: string, keyring = createKeyring('the secret of another service')): string {
  const signed = token.slice(0, token.lastIndexOf('.'));
  return `${signed}.${keyring.mac(family, signed).toString('base64url')}`;
}

/** Right but for the family of the key: ours, for another kind of token. */
const confused = ({ config }: TestService, { chatToken }: World): string =>
  forged('rtc', chatToken, createKeyring(config.secretKey));

async function ended(service: TestService, project: TestProject, { apiKey, ids }: World): Promise<Dead[]> {
  const { id: projectId, owner } = project;
  const newKey = { projectId, body: { name: 'dead', environment: 'DEVELOPMENT' } } as const;
  const revoked = await owner.api.call('createApiKey', newKey);
  await owner.api.call('revokeApiKey', { projectId, publicId: revoked.publicId });
  const admin = await project.member('ADMIN');
  const orphan = await admin.api.call('createApiKey', newKey);
  await owner.api.call('removeProjectMember', { projectId, userId: admin.userId });
  const api = service.as(apiKey);
  const roomId = ids['roomId'] ?? '';
  const rtc = await api.call('mintRtcToken', { roomId, body: { participantIdentity: 'revoked' } });
  await api.call('revokeRtcToken', { roomId, tokenId: rtc.id });
  const leaver = await service.newPerson('leaver');
  await leaver.api.call('logout', {});
  return [
    { what: 'a revoked key', bearer: revoked.key, code: 'SVC_API_KEY_REVOKED' },
    { what: 'the key of a removed member', bearer: orphan.key, code: 'SVC_INVALID_API_KEY' },
    { what: 'a revoked RTC token', bearer: rtc.token, code: 'SVC_TOKEN_REVOKED' },
    { what: 'a session that was logged out', bearer: leaver.accessToken, code: 'SVC_SESSION_EXPIRED' },
  ];
}

const ofArchivedProject = ({ apiKey, chatToken, rtcToken }: World): Dead[] => [
  { what: 'the key of an archived project', bearer: apiKey, code: 'SVC_INVALID_API_KEY' },
  { what: 'a chat token of an archived project', bearer: chatToken, code: 'SVC_INVALID_TOKEN' },
  { what: 'an RTC token of an archived project', bearer: rtcToken, code: 'SVC_INVALID_TOKEN' },
];

/** Made by a process whose clock is far behind: what it mints for an hour has long expired here. */
async function expired(service: TestService, { apiKey, ids }: World): Promise<Dead[]> {
  const past = await startService({ beside: service, clock: createFakeClock(Date.now() - 12 * HOUR_MS) });
  const person = await past.newPerson('late');
  const api = past.as(apiKey);
  const chat = await api.call('mintChatToken', { body: { userId: 'late' } });
  const rtc = await api.call('mintRtcToken', {
    roomId: ids['roomId'] ?? '',
    body: { participantIdentity: 'late', ttlSeconds: 30 },
  });
  const { id: projectId, owner } = await past.newProject(person);
  const expiresAt = new Date(past.clock.now() + HOUR_MS).toISOString();
  const key = await owner.api.call('createApiKey', { projectId, body: { name: 'late', expiresAt } });
  await past.stop();
  const code = 'SVC_TOKEN_EXPIRED';
  return [
    { what: 'an expired key', bearer: key.key, code: 'SVC_API_KEY_EXPIRED' },
    { what: 'an expired session', bearer: person.accessToken, code },
    { what: 'an expired chat token', bearer: chat.token, code },
    { what: 'an expired RTC token', bearer: rtc.token, code },
  ];
}
