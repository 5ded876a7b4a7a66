import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IceServer, MintRtcToken, Room } from '@parley/contract';
import { type Api, readEvents } from '@parley/server';
import { everyPermission, joinRoom } from '../../apps/server/testkit/clients/signal-client.ts';
import { openSocket } from '../../apps/server/testkit/clients/socket-client.ts';
import { eventually, processWorkMs } from '../../apps/server/testkit/kit/eventually.ts';
import { liveWithMoreOfChat, signatureIn } from './more-of-chat.ts';
import { newSecret } from './outside.ts';
import { refused } from './refused.ts';
import type { Scene } from './scene.ts';
import { liveWithFactors, liveWithSigningKeys } from './signing-and-factors.ts';

/** Uses the service as people, applications and media do, and records every secret it receives. */
export async function runWorkload(scene: Scene) {
  const account = await liveAsPerson(scene);
  const operator = scene.as(account.accessToken);
  const { id: projectId } = await operator.call('createProject', { body: { name: scene.dye } });
  const keys = await liveWithKeys(scene, operator, projectId);
  const api = scene.as(keys.apiKey);
  const stream = followEvents(scene, keys.apiKey);
  const webhook = await liveWithWebhook(scene, operator, projectId);
  const signing = await liveWithSigningKeys(scene, operator, projectId);
  const media = await liveWithMedia(scene, { api, operator, projectId });
  const chat = await liveWithChat(scene, api);
  const streams = await liveWithStreams(api);
  const provider = scene.mode === 'embedded' ? await liveWithProvider(scene) : null;
  const development = scene.mode === 'embedded' ? await liveAsDeveloper(scene) : null;
  const factors = await liveWithFactors(scene, operator, account);
  await eventually(() => stream.text().includes(scene.dye) && hasArrived(scene), { withinMs: processWorkMs });
  const ids = { projectId, ...keys.ids, ...webhook.ids, ...media.ids, ...chat.ids, ...streams.ids };
  return { account, keys, webhook, signing, factors, media, chat, streams, provider, development, stream, ids };
}
export type Workload = Awaited<ReturnType<typeof runWorkload>>;

async function liveAsPerson(scene: Scene) {
  const anonymous = scene.as();
  const email = `${scene.dye}@example.com`;
  const [password, mistyped, newPassword] = ['password', 'mistyped', 'new-password'].map(newSecret) as [
    string,
    string,
    string,
  ];
  await anonymous.call('register', { body: { email, password } }, { requestId: scene.dye });
  await refused(anonymous.call('login', { body: { email, password } }));
  await refused(anonymous.call('login', { body: { email, password: mistyped } }));
  const verifyToken = await mailedToken(scene, email, 'verify');
  await anonymous.call('verifyEmail', { body: { token: verifyToken } });
  await refused(anonymous.call('verifyEmail', { body: { token: verifyToken } }));
  await anonymous.call('requestPasswordReset', { body: { email } });
  const resetToken = await mailedToken(scene, email, 'reset');
  await anonymous.call('confirmPasswordReset', { body: { token: resetToken, password: newPassword } });
  await refused(anonymous.call('confirmPasswordReset', { body: { token: resetToken, password } }));
  const stolen = await refreshTwice(scene, { email, password: newPassword });
  const { headers, body } = await anonymous.request('login', { body: { email, password: newPassword } });
  return {
    email,
    password,
    mistyped,
    newPassword,
    verifyToken,
    resetToken,
    accessToken: body.accessToken,
    refreshToken: cookieIn(headers),
    stolenRefreshToken: stolen.first,
    rotatedRefreshToken: stolen.second,
  };
}

/** A refresh token that is used again ends its session, which is worth a line in the log. */
async function refreshTwice(scene: Scene, body: { email: string; password: string }) {
  const anonymous = scene.as();
  const first = await anonymous.request('login', { body });
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const second = await anonymous.request('refreshSession', {}, { headers: { cookie } });
  await refused(anonymous.call('refreshSession', {}, { headers: { cookie } }));
  return { first: cookieIn(first.headers), second: cookieIn(second.headers) };
}

const cookieIn = (headers: Headers): string => /=([^;]+);/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';

const mailedToken = (scene: Scene, email: string, page: string): Promise<string> =>
  eventually(
    () => {
      const texts = scene.outside.smtp.messages().flatMap(({ to, text }) => (to === email ? [text] : []));
      const links = texts.flatMap((text) => [...text.matchAll(/\/([\w-]+)\?token=([\w-]+)/g)]);
      return links.find(([, name = '']) => name.includes(page))?.[2] ?? Promise.reject(new Error(texts.join('\n')));
    },
    { withinMs: processWorkMs },
  );

async function liveWithKeys(scene: Scene, operator: Api, projectId: string) {
  const create = () =>
    operator.call(
      'createApiKey',
      { projectId, body: { name: scene.dye, environment: 'DEVELOPMENT' } },
      { idempotencyKey: scene.dye },
    );
  const { key, publicId } = await create();
  assert.equal((await create()).key, key, 'a repeat gives the same answer');
  const doomed = await operator.call('createApiKey', { projectId, body: { name: 'doomed' } });
  await operator.call('revokeApiKey', { projectId, publicId: doomed.publicId });
  await refused(scene.as(doomed.key).call('getOwnProject'));
  await refused(scene.as(key.slice(0, -1)).call('getOwnProject'));
  return { apiKey: key, revokedKey: doomed.key, ids: { publicId } };
}

async function liveWithWebhook(scene: Scene, operator: Api, projectId: string) {
  const [headerValue, newHeaderValue] = ['header', 'new-header'].map(newSecret) as [string, string];
  const { receiver } = scene.outside;
  // What an endpoint answers is none of ours to keep: this one answers with all that it was sent.
  receiver.answer = ({ headers, body }) => ({ status: 500, body: `${JSON.stringify(headers)}${body}` });
  const url = `${receiver.url}/${scene.dye}`;
  const made = await operator.call('createWebhook', {
    projectId,
    body: { url, environment: 'DEVELOPMENT', headers: { 'x-gateway-key': headerValue } },
  });
  const webhookId = made.id;
  const test = async (received: number) => {
    const { id } = await operator.call('testWebhook', { projectId, webhookId });
    await eventually(() => receiver.requests.length >= received, { withinMs: processWorkMs });
    return id;
  };
  await test(1);
  receiver.answer = 204;
  const rotate = () => operator.call('rotateWebhookSecret', { projectId, webhookId }, { idempotencyKey: 'rotate' });
  const rotated = await rotate();
  assert.equal((await rotate()).secret, rotated.secret, 'a repeat gives the same answer');
  await operator.call('updateWebhook', {
    projectId,
    webhookId,
    body: { headers: { 'x-gateway-key': newHeaderValue } },
  });
  const deliveryId = await test(2);
  const alert = await operator.call('createProjectAlert', {
    projectId,
    query: { environment: 'DEVELOPMENT' },
    body: { name: 'Webhooks', kind: 'WEBHOOK_FAILING', target: webhookId },
  });
  // What follows in the audit log goes there too.
  await operator.call('createWebhook', { projectId, body: { url, events: ['audit.recorded'] } });
  return {
    secret: made.secret,
    rotatedSecret: rotated.secret,
    headerValue,
    newHeaderValue,
    ids: { webhookId, deliveryId, alertId: alert.id },
  };
}

const hasArrived = ({ outside, dye }: Scene): boolean =>
  [`"${dye}"`, '"signing_key.created"'].every((text) =>
    outside.receiver.requests.some(({ body }) => body.includes(text)),
  );

interface MediaDeps {
  api: Api;
  operator: Api;
  projectId: string;
}

const offerFile = new URL(
  '../../packages/media-description/fixtures/publish-plain-offer-gathered.sdp',
  import.meta.url,
);
const sendOffer = readFileSync(offerFile, 'utf8');
const watchOffer = sendOffer.replaceAll('a=sendonly', 'a=recvonly');

async function liveWithMedia(scene: Scene, { api, operator, projectId }: MediaDeps) {
  const room = await api.call('createRoom', { body: { name: scene.dye } });
  const mint = (identity: string, permissions: MintRtcToken['permissions'] = everyPermission) =>
    api.call('mintRtcToken', { roomId: room.id, body: { participantIdentity: identity, permissions } });
  const [ada, whip, whep, revoked] = [await mint('ada'), await mint('whip'), await mint('whep'), await mint('gone')];
  const client = await eventually(() => joinRoom(scene.url, ada.token), { everyMs: 250, withinMs: processWorkMs });
  scene.keep(client);
  const icePasswords = [
    await plain(scene, room, 'whip', whip.token, sendOffer),
    await plain(scene, room, 'whep', whep.token, watchOffer),
  ];
  const test = await operator.call('mintTestToken', { projectId, roomId: room.id, body: {} });
  await api.call('revokeRtcToken', { roomId: room.id, tokenId: revoked.tokenId });
  await assert.rejects(joinRoom(scene.url, revoked.token));
  await assert.rejects(joinRoom(scene.url, (await mint('eve', { join: false })).token));
  const errorId = await eventually(
    async () => (await api.call('listErrors', {}))[0]?.id ?? Promise.reject(new Error('no error is listed')),
    { withinMs: processWorkMs },
  );
  const connectionId = randomUUID();
  await scene.as(ada.token).call('sendTelemetry', { body: { connectionId, type: 'ice.connected' } });
  // A report of how the call was makes it one that can be read.
  const sample = { type: 'stats.sample' as const, data: { everyMs: 5_000, count: 1, tracks: [] } };
  const told = { body: { connectionId: client.connectionId, ...sample } };
  await eventually(async () => assert.ok((await scene.as(ada.token).call('sendTelemetry', told)).accepted), {
    withinMs: processWorkMs,
  });
  const [call] = await operator.call('listProjectCalls', { projectId, query: { environment: 'DEVELOPMENT' } });
  const [request] = await eventually(
    async () => {
      const requests = await operator.call('listProjectRequests', { projectId, query: { environment: 'DEVELOPMENT' } });
      return requests.length > 0 ? requests : Promise.reject(new Error('no request is listed'));
    },
    { withinMs: processWorkMs },
  );
  await beatAsFormerNode(scene);
  return {
    room,
    client,
    token: ada.token,
    whipToken: whip.token,
    whepToken: whep.token,
    revokedToken: revoked.token,
    testToken: test.token,
    resumeToken: client.joined.resumeToken,
    turnCredential: credentialIn(ada.iceServers),
    icePasswords,
    ids: {
      id: room.id,
      roomId: room.id,
      tokenId: ada.tokenId,
      identity: 'ada',
      trackId: 'track_x',
      connectionId,
      callId: call?.id ?? '',
      requestId: request?.requestId ?? '',
      errorId,
      name: scene.dye,
    },
  };
}

const credentialIn = ([server]: readonly IceServer[]): string => server?.credential ?? '';

/** Plain WebRTC, with the token as its bearer; gives the password of the media path. */
async function plain(scene: Scene, room: Room, way: 'whip' | 'whep', token: string, offer: string): Promise<string> {
  const answer = await scene.fetch(`${scene.url}/v1/rooms/${room.id}/${way}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/sdp' },
    body: offer,
  });
  const text = await answer.text();
  assert.equal(answer.status, 201, text);
  return /a=ice-pwd:(\S+)/.exec(text)?.[1] ?? '';
}

/** A node that still has the secret from before the rotation. */
async function beatAsFormerNode(scene: Scene): Promise<void> {
  const former = scene.as(scene.variables['SFU_REGISTRATION_SECRET']?.split(',')[1]);
  const body = { name: 'former', region: 'default', publicHost: '127.0.0.1', internalUrl: 'http://127.0.0.1:1' };
  await former.call('registerServer', { body });
}

async function liveWithChat(scene: Scene, api: Api) {
  const conversation = await api.call('createConversation', {
    body: { name: scene.dye, members: [{ userId: 'ada', role: 'MODERATOR' }, 'grace'] },
  });
  const mint = () => api.call('mintChatToken', { body: { userId: 'ada' } });
  const [first, second] = [await mint(), await mint()];
  const socket = scene.keep(
    await openSocket(`${scene.url}/v1/chat/ws`, { protocols: ['svc.chat.v1', `bearer.${first.token}`] }),
  );
  await socket.take('hello');
  await socket.ask({ type: 'token.refresh', token: second.token });
  const late = scene.keep(await openSocket(`${scene.url}/v1/chat/ws`, { protocols: ['svc.chat.v1'] }));
  await late.ask({ type: 'auth', token: second.token });
  await socket.ask({ type: 'subscribe', conversations: [{ ref: conversation.id }] });
  const ada = scene.as(first.token);
  const text = newSecret('message-text');
  const message = await ada.call('sendMessage', { room: conversation.id, body: { text } });
  const files = await liveWithFiles(scene, ada, conversation.id);
  const more = await liveWithMoreOfChat(scene, api, ada, conversation.id, message.id);
  return {
    hookSecret: more.hookSecret,
    scanner: more.scanner,
    token: first.token,
    refreshedToken: second.token,
    text,
    socket,
    ...files,
    ids: {
      room: conversation.id,
      conversationId: conversation.id,
      userId: 'ada',
      emoji: '👍',
      attachmentId: files.attachmentId,
      ...more.ids,
    },
  };
}

async function liveWithFiles(scene: Scene, ada: Api, room: string) {
  const content = 'some bytes';
  const sha256 = createHash('sha256').update(content).digest('hex');
  const body = { filename: `${scene.dye}.txt`, mimeType: 'text/plain', size: content.length };
  const { attachment, uploadUrl, headers } = await ada.call('requestAttachment', { room, body });
  const put = () => scene.fetch(uploadUrl, { method: 'PUT', headers, body: content });
  assert.ok((await put()).ok, `${uploadUrl} takes the file (${sha256})`);
  await ada.call('completeAttachment', { attachmentId: attachment.id });
  await put();
  const { url: downloadUrl } = await ada.call('getAttachmentDownload', { attachmentId: attachment.id });
  assert.equal(await (await scene.fetch(downloadUrl)).text(), content);
  await scene.fetch(`${downloadUrl.slice(0, -3)}AAA`);
  return {
    attachmentId: attachment.id,
    uploadSignature: signatureIn(uploadUrl),
    downloadSignature: signatureIn(downloadUrl),
  };
}

async function liveWithStreams(api: Api) {
  const { id: streamId } = await api.call('createLiveStream', { body: { title: 'canaries', hostIdentity: 'host' } });
  await api.call('startLiveStream', { streamId });
  const host = await api.call('registerHost', { streamId, body: { identity: 'second', role: 'CO_HOST' } });
  const viewer = await api.call('createViewerToken', { streamId, body: { identity: 'viewer' } });
  return {
    hostTokens: [host.rtc.token, host.chat.token],
    viewerTokens: [viewer.rtc.token, viewer.chat.token],
    ids: { streamId },
  };
}

/** Signs in with a provider, rightly and with a code that is none. */
async function liveWithProvider(scene: Scene) {
  const redirectUri = `${scene.publicUrl}/oauth/callback`;
  const anonymous = scene.as();
  const begin = async () => {
    const { headers, body } = await anonymous.request('startOAuth', { provider: 'oidc', body: { redirectUri } });
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
    const back = await scene.outside.oidc.authorize(body.authorizationUrl, 'canary', {
      email: 'provider@example.com',
      email_verified: true,
    });
    return {
      cookie,
      flowCookie: cookieIn(headers),
      code: back.get('code') ?? '',
      state: back.get('state') ?? '',
      iss: back.get('iss') ?? '',
    };
  };
  const end = ({ cookie, code, state, iss }: Awaited<ReturnType<typeof begin>>) =>
    anonymous.request(
      'exchangeOAuth',
      { provider: 'oidc', body: { code, state, iss, redirectUri } },
      { headers: { cookie } },
    );
  const wrongCode = newSecret('wrong-code');
  await refused(end({ ...(await begin()), code: wrongCode }));
  const right = await begin();
  const { headers, body } = await end(right);
  return {
    ...right,
    wrongCode,
    accessToken: body.accessToken,
    refreshToken: cookieIn(headers),
  };
}

/** The printed link and what dev.env has. */
async function liveAsDeveloper(scene: Scene) {
  const code = /\/dev\/login\?code=([\w-]+)/.exec(scene.server.output())?.[1] ?? '';
  const signIn = () => scene.fetch(`${scene.url}/dev/login?code=${code}`);
  const answer = await signIn();
  assert.equal(answer.status, 303);
  await signIn();
  const env = await scene.server.devEnv();
  return {
    code,
    refreshToken: cookieIn(answer.headers),
    apiKey: env['SVC_API_KEY'] ?? '',
    password: env['SVC_DEV_PASSWORD'] ?? '',
    webhookSecret: env['SVC_WEBHOOK_SECRET'] ?? '',
  };
}

/** The event stream, read from now on until it is stopped. */
function followEvents(scene: Scene, apiKey: string): { text: () => string; stop: () => void } {
  const stopping = new AbortController();
  let text = '';
  const follow = async () => {
    const response = await fetch(`${scene.url}/v1/events`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: stopping.signal,
    });
    if (!response.ok || response.body === null) throw new Error(`the stream answers ${response.status}`);
    for await (const event of readEvents(response.body)) text += `${JSON.stringify(event)}\n`;
  };
  follow().catch((error: unknown) => {
    if (!stopping.signal.aborted) text += `broken: ${error}`;
  });
  return { text: () => text, stop: () => stopping.abort() };
}
