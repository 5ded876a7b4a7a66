import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mint, newRoom, offerPlainly, type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';

let service: RoomsService;
let withRelays: TestService;
before(async () => {
  service = await sharedRooms();
  const env = { RTC_TURN_URLS: 'turn:relay.example.com,turns:relay.example.com', RTC_TURN_SECRET: 's'.repeat(32) };
  withRelays = await startService({ beside: service, env });
});
after(() => withRelays.stop());

test('[RTC-96] the answer names the relays, the location takes candidates, and refusals say what is wanted', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'ada', { permissions: { publish: true } });
  for (const way of ['whip', 'whep'] as const) {
    const answer = await offerPlainly(withRelays, room.id, way, token);
    assert.equal(answer.status, 201, await answer.clone().text());
    const links = answer.headers.get('link')?.split(', ') ?? [];
    assert.equal(links.length, 2);
    const secret = '; rel="ice-server"; username="[^"]+"; credential="[^"]+"; credential-type="password"$';
    assert.match(links[1] ?? '', new RegExp(`^<turns:relay\\.example\\.com>${secret}`));

    const location = answer.headers.get('location') ?? '';
    const patch = (type: string, body: string, credential = token) =>
      withRelays.fetch(location, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${credential}`, 'content-type': type, origin: 'http://localhost:5173' },
        body,
      });
    const trickle = 'application/trickle-ice-sdpfrag';
    const taken = await patch(trickle, 'a=ice-ufrag:offr\r\n');
    assert.deepEqual([taken.status, await taken.text()], [204, '']);
    assert.match(taken.headers.get('access-control-expose-headers') ?? '', /\blink\b/);
    assert.equal((await patch(trickle, 'a=candidate:1\r\n')).status, 400);
    const other = (await (await patch('application/sdp', 'v=0')).json()) as { code: string; message: string };
    assert.deepEqual([other.code, other.message], ['SVC_UNSUPPORTED_MEDIA_TYPE', `Send the body as ${trickle}.`]);
    const refused = await patch(trickle, 'a=ice-ufrag:offr\r\n', 'nonsense');
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer']);
  }
});

test('[RTC-96] refusals of an offer say which media type is wanted, and which authentication', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'ada', { permissions: { publish: true } });
  for (const way of ['whip', 'whep'] as const) {
    const post = (type: string, credential: string) =>
      service.fetch(`/v1/rooms/${room.id}/${way}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${credential}`, 'content-type': type },
        body: 'v=0\r\n',
      });
    const other = await post('application/json', token);
    assert.equal(other.status, 415);
    assert.equal(((await other.json()) as { message: string }).message, 'Send the body as application/sdp.');
    const refused = await post('application/sdp', 'nonsense');
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer']);
  }
});

test('[RTC-96] [REQ-6] PATCH and DELETE of a location have a budget, and cost one row however full the room is', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'ada', { permissions: { publish: true } });
  const location = (await offerPlainly(service, room.id, 'whip', token)).headers.get('location') ?? '';
  const authorization = `Bearer ${token}`;
  const patch = () =>
    service.fetch(location, {
      method: 'PATCH',
      headers: { authorization, 'content-type': 'application/trickle-ice-sdpfrag' },
      body: 'a=ice-ufrag:offr\r\n',
    });
  const patched = await patch();
  assert.deepEqual([patched.status, patched.headers.get('x-ratelimit-limit')], [204, '120']);
  const end = (path: string) => service.fetch(path, { method: 'DELETE', headers: { authorization } });
  assert.equal((await end(`${location}x`)).status, 404, 'another session of the same identity');
  const ended = await end(location);
  assert.deepEqual([ended.status, ended.headers.get('x-ratelimit-limit')], [200, '120']);
  assert.equal((await end(location)).status, 404);
});
