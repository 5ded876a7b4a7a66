import assert from 'node:assert/strict';
import { signalingPath } from '@parley/contract';
import { WebSocket } from 'ws';
import { eventually, processWorkMs } from '../../apps/server/testkit/kit/eventually.ts';
import type { Planted } from './canaries.ts';
import type { Scene } from './scene.ts';
import type { Workload } from './workload.ts';

interface WrongPlace {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Where careless callers put a secret. Each of these is refused, and neither refusal nor log may repeat it. */
const wrongPlaces = (whole: string, { apiKey, projectId }: { apiKey: string; projectId: string }): WrongPlace[] => {
  const [inUrl, nearly] = [encodeURIComponent(whole), `${whole}x`];
  const bearer = { authorization: `Bearer ${apiKey}` };
  const post = (path: string, body: unknown, headers = {}): WrongPlace => ({
    method: 'POST',
    path,
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return [
    { path: `/v1/project?token=${inUrl}&access_token=${inUrl}&key=${inUrl}` },
    { path: '/v1/project', headers: { authorization: `Bearer ${nearly}` } },
    { path: '/v1/project', headers: { authorization: nearly } },
    { path: '/v1/project', headers: { authorization: `Basic ${Buffer.from(`user:${whole}`).toString('base64')}` } },
    { path: '/v1/project', headers: { 'x-api-key': whole, cookie: `token=${inUrl}`, referer: `http://x/?t=${inUrl}` } },
    { path: `/v1/rooms/${inUrl}`, headers: bearer },
    { path: `/v1/chat/messages/${inUrl}`, headers: bearer },
    { path: `/v1/rooms?cursor=${inUrl}`, headers: bearer },
    { path: `/v1/rooms?limit=${inUrl}`, headers: bearer },
    { path: `/v1/nowhere/${inUrl}?token=${inUrl}` },
    { path: `/dev/login?code=${inUrl}` },
    { path: `/v1/chat/downloads/att_none?exp=9999999999&sig=${inUrl}` },
    { method: 'PUT', path: `/v1/chat/uploads/att_none?exp=9999999999&sig=${inUrl}`, body: whole },
    post('/v1/auth/login', { email: whole, password: nearly }),
    post('/v1/auth/login', { email: 'nobody@example.com', password: { secret: whole } }),
    post('/v1/auth/login', `{"email":"nobody@example.com","password":"${whole}`),
    post('/v1/auth/login', `password=${inUrl}`, { 'content-type': 'application/x-www-form-urlencoded' }),
    post('/v1/auth/register', { email: whole, password: whole }),
    post('/v1/auth/verify-email', { token: nearly }),
    post('/v1/auth/password-reset/confirm', { token: nearly, password: nearly }),
    post('/v1/auth/refresh', {}, { cookie: `parley_refresh=${inUrl}x; __Host-parley_refresh=${inUrl}x` }),
    post('/v1/auth/oauth/oidc/exchange', { code: whole, state: nearly, redirectUri: whole }),
    post(`/v1/auth/oauth/${inUrl}/start`, { redirectUri: whole }),
    post('/v1/rooms', { name: [whole], maxParticipants: whole }, bearer),
    post('/v1/rooms', `{"name":${whole}}`, bearer),
    post('/v1/chat/tokens', { userId: { token: whole }, scopes: [whole] }, bearer),
    post(`/v1/projects/${projectId}/webhooks`, { url: `http://user:${inUrl}@127.0.0.1/`, [whole]: whole }, bearer),
    post('/v1/rtc/servers/register', { name: whole }, { authorization: `Bearer ${nearly}` }),
  ];
};

/** Puts every canary in every wrong place. */
export async function misuse(scene: Scene, workload: Workload, canaries: readonly Planted[]): Promise<void> {
  const known = { apiKey: workload.keys.apiKey, projectId: workload.ids.projectId };
  for (const { name, whole } of canaries) {
    for (const place of wrongPlaces(whole, known)) {
      const { path, method = 'GET', headers = {}, body } = place;
      const answer = await scene.fetch(`${scene.url}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body }),
      });
      const isRefused = answer.status >= 400 && answer.status < 500;
      assert.ok(isRefused, `${name} in ${method} ${path} ${body ?? ''}: ${answer.status}`);
    }
    await misuseSockets(scene, workload, whole);
  }
}

/** The same for both sockets: before authentication and after. */
async function misuseSockets(scene: Scene, workload: Workload, whole: string): Promise<void> {
  const inUrl = encodeURIComponent(whole);
  const frames = [
    `{"type":"auth","token":"${whole}`,
    { type: whole, token: whole },
    { type: 'auth', token: `${whole}x` },
  ];
  const asked = [
    { type: whole, id: '1' },
    { type: 'subscribe', id: '2', conversations: whole, tracks: whole },
    { type: 'join', id: '3', token: `${whole}x`, connectionId: [whole], resume: { resumeToken: whole } },
  ];
  await Promise.all([
    sendFrames(scene, `/v1/chat/ws?token=${inUrl}`, ['svc.chat.v1', `bearer.${inUrl}x`], []),
    sendFrames(scene, `${signalingPath}?token=${inUrl}`, ['svc.rtc.v1', `bearer.${inUrl}x`], []),
    sendFrames(scene, '/v1/chat/ws', ['svc.chat.v1'], frames),
    sendFrames(scene, signalingPath, ['svc.rtc.v1'], frames),
    sendFrames(scene, '/v1/chat/ws', ['svc.chat.v1', `bearer.${workload.chat.token}`], asked),
    sendFrames(scene, signalingPath, ['svc.rtc.v1', `bearer.${workload.media.token}`], asked),
  ]);
}

/** Opens a socket, sends what it should not, and keeps every word of the answer. */
async function sendFrames(scene: Scene, path: string, protocols: string[], frames: (object | string)[]): Promise<void> {
  const ws = new WebSocket(`${scene.url.replace('http', 'ws')}${path}`, protocols);
  const received: string[] = [];
  ws.on('error', () => {});
  ws.on('close', (code, reason) => received.push(`${code} ${reason}`));
  ws.on('message', (data) => received.push(String(data)));
  ws.on('unexpected-response', async (_request, response) => {
    received.push(JSON.stringify(response.headers));
    for await (const chunk of response) received.push(String(chunk));
    ws.terminate();
  });
  ws.on('open', () => {
    for (const frame of frames) ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  });
  const isRefusal = (text: string) => /"type":"error"|^\d{4} |"code":/.test(text);
  await eventually(() => received.some(isRefusal), { withinMs: processWorkMs });
  ws.terminate();
  scene.answers.push({ where: `refusal by the socket ${path.split('?')[0]}`, text: received.join('\n') });
}
